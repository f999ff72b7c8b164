extension FallbackPolicy {
    /// Canonical bytes within the policy of a header: equal policies have equal bytes.
    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.integer(UInt8(rules.count))
        for rule in rules {
            writer.integer(rule.step.rawValue)
            writer.integer(rule.assurance.rawValue)
            writer.integer(rule.conditions.reduce(UInt8(0)) { $0 | 1 << $1.rawValue })
            writer.integer(rule.withinHours ?? 0)
        }
        return writer.bytes
    }

    init(reading reader: inout ByteReader) throws(FormatError) {
        var rules: [Rule] = []
        for _ in 0..<Int(try reader.integer(UInt8.self)) {
            guard let step = FallbackStep(rawValue: try reader.integer(UInt8.self)),
                let assurance = Assurance(rawValue: try reader.integer(UInt8.self))
            else { throw .invalid(field: "policy fallback") }
            let mask = try reader.integer(UInt8.self)
            let hours = try reader.integer(UInt16.self)
            rules.append(
                Rule(
                    step, assurance: assurance,
                    when: Set(FallbackCondition.allCases.filter { mask & 1 << $0.rawValue != 0 }),
                    withinHours: hours == 0 ? nil : hours))
        }
        if rules.isEmpty {
            self = .nobody
            return
        }
        do throws(FallbackPolicyError) {
            try self.init(rules)
        } catch { throw .invalid(field: "policy fallback") }
    }
}
