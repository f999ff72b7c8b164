extension FallbackPolicy: Codable {
    /// As ``init(json:)``: what is unknown, doubled or missing is an error and not passed over.
    /// - Throws: ``FallbackPolicyError``, and what the decoder throws.
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }

    /// The object that ``init(json:)`` takes.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

    /// Reads a policy out of a JSON text; Docs/app-lock.md 6 describes it.
    /// - Throws: ``FallbackPolicyError`` with the place.
    public init(json bytes: [UInt8]) throws(FallbackPolicyError) {
        let value: JSONValue
        do throws(JSONReader.Failure) {
            value = try JSONReader.parse(bytes)
        } catch {
            let before = bytes.prefix(error.offset)
            let line = before.count { $0 == 0x0A } + 1
            let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
            throw FallbackPolicyError(
                error.doubledKey == nil ? .malformed : .doubledKey, at: "line \(line), byte \(column)",
                error.doubledKey ?? "")
        }
        try self.init(value)
    }

    init(_ value: JSONValue) throws(FallbackPolicyError) {
        let object = try Fields(value, at: "", keys: ["version", "steps"])
        guard case .integer(let version) = try object.required("version") else { throw object.wrongType("version") }
        guard version == 1 else { throw FallbackPolicyError(.unknownVersion, at: "version", "\(version)") }
        guard case .list(let steps) = try object.required("steps") else { throw object.wrongType("steps") }
        var rules: [Rule] = []
        for (index, step) in steps.enumerated() { rules.append(try Rule(step, at: "steps[\(index)]")) }
        try self.init(rules)
    }

    /// The object that ``init(json:)`` takes.
    package var json: JSONValue {
        .object([
            JSONValue.Member("version", .integer(1)), JSONValue.Member("steps", .list(rules.map(\.json))),
        ])
    }

    /// The policy as a JSON text for people: the reasons of a step on a line of their own.
    package var jsonText: String {
        let lines = rules.map { "    " + $0.text }.joined(separator: ",\n")
        return "{\n  \"version\": 1,\n  \"steps\": [\n\(lines)\n  ]\n}\n"
    }
}

/// The members of one object, all of them known.
private struct Fields {
    private let members: [JSONValue.Member]
    private let place: String

    init(_ value: JSONValue, at place: String, keys: [String]) throws(FallbackPolicyError) {
        guard case .object(let members) = value else {
            throw FallbackPolicyError(.wrongType, at: place.isEmpty ? "the text" : place)
        }
        self.place = place.isEmpty ? "" : place + "."
        self.members = members
        for (index, member) in members.enumerated() {
            let place = self.place + member.key
            guard keys.contains(member.key) else { throw FallbackPolicyError(.unknownKey, at: place) }
            guard !members[..<index].contains(where: { $0.key == member.key }) else {
                throw FallbackPolicyError(.doubledKey, at: place)
            }
        }
    }

    func optional(_ key: String) -> JSONValue? { members.first { $0.key == key }?.value }

    func required(_ key: String) throws(FallbackPolicyError) -> JSONValue {
        guard let value = optional(key) else { throw FallbackPolicyError(.missingKey, at: place + key) }
        return value
    }

    func wrongType(_ key: String) -> FallbackPolicyError { FallbackPolicyError(.wrongType, at: place + key) }

    func text(_ key: String) throws(FallbackPolicyError) -> String {
        guard case .text(let text) = try required(key) else { throw wrongType(key) }
        return text
    }
}

extension FallbackPolicy.Rule {
    fileprivate init(_ value: JSONValue, at place: String) throws(FallbackPolicyError) {
        let object = try Fields(value, at: place, keys: ["step", "assurance", "when", "withinHours", "onCancel"])
        let word = try object.text("step")
        guard let step = FallbackStep.allCases.first(where: { $0.name == word }) else {
            throw FallbackPolicyError(.unknownStep, at: place + ".step", word)
        }
        let level = try object.text("assurance")
        guard let assurance = Assurance(name: level) else {
            throw FallbackPolicyError(.unknownAssurance, at: place + ".assurance", level)
        }
        let conditions = try Self.conditions(object, at: place + ".when")
        if object.optional("onCancel") != nil, !conditions.contains(.cancelled) {
            throw FallbackPolicyError(.needlessWords, at: place + ".onCancel")
        }
        if step == .openCompartment, conditions.contains(.cancelled) {
            guard case .text(FallbackPolicy.cancelWords)? = object.optional("onCancel") else {
                throw FallbackPolicyError(.cancelWithoutWords, at: place + ".onCancel")
            }
        }
        self.init(step, assurance: assurance, when: conditions, withinHours: try Self.hours(object, at: place))
    }

    private static func hours(_ object: Fields, at place: String) throws(FallbackPolicyError) -> UInt16? {
        guard let value = object.optional("withinHours") else { return nil }
        guard case .integer(let number) = value else { throw object.wrongType("withinHours") }
        guard let hours = UInt16(exactly: number), FallbackPolicy.hours.contains(hours) else {
            throw FallbackPolicyError(.outOfRange, at: place + ".withinHours", "\(number)")
        }
        return hours
    }

    private static func conditions(
        _ object: Fields, at place: String
    ) throws(FallbackPolicyError) -> Set<FallbackCondition> {
        guard let value = object.optional("when") else { return [] }
        guard case .list(let words) = value else { throw object.wrongType("when") }
        var conditions: Set<FallbackCondition> = []
        for (index, word) in words.enumerated() {
            let place = "\(place)[\(index)]"
            guard case .text(let word) = word else { throw FallbackPolicyError(.wrongType, at: place) }
            guard let condition = FallbackCondition.allCases.first(where: { $0.name == word }) else {
                throw FallbackPolicyError(.unknownCondition, at: place, word)
            }
            guard conditions.insert(condition).inserted else {
                throw FallbackPolicyError(.doubledCondition, at: place, word)
            }
        }
        return conditions
    }

    fileprivate var text: String {
        guard case .object(let members) = json else { return "" }
        let parts = members.map { member in
            let ownLine = member.key == "when" || member.key == "onCancel"
            return (ownLine ? "\n      " : " ") + "\"\(member.key)\": \(member.value.line)"
        }
        return "{" + parts.joined(separator: ",") + " }"
    }

    fileprivate var json: JSONValue {
        var members = [
            JSONValue.Member("step", .text(step.name)), JSONValue.Member("assurance", .text(assurance.name)),
        ]
        if let withinHours { members.append(JSONValue.Member("withinHours", .integer(Int(withinHours)))) }
        if !conditions.isEmpty {
            let words = conditions.sorted { $0.rawValue < $1.rawValue }.map { JSONValue.text($0.name) }
            members.append(JSONValue.Member("when", .list(words)))
        }
        if conditions.contains(.cancelled) {
            members.append(JSONValue.Member("onCancel", .text(FallbackPolicy.cancelWords)))
        }
        return .object(members)
    }
}

extension JSONValue {
    /// For what a policy is made of: its texts are words of ours and need no escapes.
    fileprivate var line: String {
        switch self {
        case .object(let members):
            "{" + members.map { "\"\($0.key)\": \($0.value.line)" }.joined(separator: ", ") + "}"
        case .list(let values): "[" + values.map(\.line).joined(separator: ", ") + "]"
        case .text(let text): "\"\(text)\""
        case .integer(let number): "\(number)"
        case .bool(let bool): "\(bool)"
        case .null, .otherNumber: "null"
        }
    }
}
