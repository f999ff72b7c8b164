/// Ways to unlock, in order, with the conditions under which each may be used. A value of it is always well-formed.
public struct FallbackPolicy: Sendable, Hashable {
    /// One step and what is asked of it.
    public struct Rule: Sendable, Hashable {
        /// The way.
        public let step: FallbackStep
        /// What it must prove at least; where it proves less it counts as unavailable.
        public let assurance: Assurance
        /// Why the step before may lead here. Empty for the first step, which needs no reason.
        package let conditions: Set<FallbackCondition>
        /// Hours since the vault's passcode was last given, after which this step is not asked; nil for no end.
        package let withinHours: UInt16?

        /// What ``FallbackPolicy/init(_:)`` then checks.
        public init(
            _ step: FallbackStep, assurance: Assurance, when conditions: Set<FallbackCondition> = [],
            withinHours: UInt16? = nil
        ) {
            self.step = step
            self.assurance = assurance
            self.conditions = conditions
            self.withinHours = withinHours
        }
    }

    /// The steps in their order; each at most once. None in a vault that asks nobody.
    public let rules: [Rule]

    /// Hours that a rule may name: up to thirty days.
    package static let hours: ClosedRange<UInt16> = 1...720

    /// The sentence that a policy's JSON must carry where cancelling leads to the open compartment.
    package static let cancelWords = "cancelling uses the open compartment and opens nothing of the protected one"

    /// - Throws: ``FallbackPolicyError`` with the place of the first rule that cannot be.
    public init(_ rules: [Rule]) throws(FallbackPolicyError) {
        guard !rules.isEmpty else { throw FallbackPolicyError(.emptyChain, at: "steps") }
        for (index, rule) in rules.enumerated() {
            let place = "steps[\(index)]"
            guard !rules[..<index].contains(where: { $0.step == rule.step }) else {
                throw FallbackPolicyError(.doubledStep, at: place + ".step", rule.step.name)
            }
            try rule.validate(isFirst: index == 0, at: place)
        }
        self.rules = rules
    }

    /// For constants of ours, which the tests put through ``init(_:)``.
    init(known rules: [Rule]) { self.rules = rules }

    /// Whether there is no step: the vault opens without asking.
    package var asksNobody: Bool { rules.isEmpty }

    /// Whether a step of the device's owner is taken though it proves nothing.
    var takesNoProof: Bool { rules.contains { $0.step.isJudgedBySystem && $0.assurance == .none } }

    /// The rule of a step; nil where the policy does not name it.
    package subscript(step: FallbackStep) -> Rule? { rules.first { $0.step == step } }
}

extension FallbackPolicy.Rule {
    func validate(isFirst: Bool, at place: String) throws(FallbackPolicyError) {
        guard step.possibleAssurance.contains(assurance) else {
            throw FallbackPolicyError(.impossibleAssurance, at: place + ".assurance", assurance.name)
        }
        if isFirst, !conditions.isEmpty { throw FallbackPolicyError(.conditionOnFirstStep, at: place + ".when") }
        if !isFirst, conditions.isEmpty { throw FallbackPolicyError(.noCondition, at: place + ".when") }
        if step != .openCompartment, conditions.contains(.cancelled) {
            throw FallbackPolicyError(.cancelledElsewhere, at: place + ".when", FallbackCondition.cancelled.name)
        }
        if step == .openCompartment, conditions.contains(.requested) {
            throw FallbackPolicyError(.requestedOpen, at: place + ".when", FallbackCondition.requested.name)
        }
        guard let withinHours else { return }
        guard step.isJudgedBySystem else { throw FallbackPolicyError(.needlessAge, at: place + ".withinHours") }
        guard FallbackPolicy.hours.contains(withinHours) else {
            throw FallbackPolicyError(.outOfRange, at: place + ".withinHours", "\(withinHours)")
        }
    }
}

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

extension FallbackPolicy {
    /// No step: of a vault at the level ``VaultLevel/device``, which asks nobody. Nobody sets it by itself: it comes
    /// and goes with the level.
    package static let nobody = FallbackPolicy(known: [])

    /// The device's owner, confirmed by the system: a finger or a face, then the device's passcode. The phrase where
    /// neither can be asked for.
    package static let owner = FallbackPolicy(known: [
        Rule(.biometrics, assurance: .none),
        Rule(.devicePasscode, assurance: .none, when: noMatch),
        Rule(.recoveryPhrase, assurance: .keyBound, when: noPasscode),
    ])

    /// Only what the owner knows: the passcode, and the phrase where no passcode is taken.
    package static let strict = FallbackPolicy(known: [
        Rule(.appPasscode, assurance: .keyBound),
        Rule(.recoveryPhrase, assurance: .keyBound, when: noPasscode),
    ])

    /// Biometrics first, then the device's passcode, within three days of the last passcode; then as ``strict``.
    package static let convenient = FallbackPolicy(known: [
        Rule(.biometrics, assurance: .presence, withinHours: 72),
        Rule(.devicePasscode, assurance: .presence, when: noMatch, withinHours: 72),
        Rule(.appPasscode, assurance: .keyBound, when: noMatch),
        Rule(.recoveryPhrase, assurance: .keyBound, when: noPasscode),
    ])

    /// As ``convenient``, and whatever goes wrong the app gets the open compartment. The protected one stays locked.
    package static let neverBlocks = FallbackPolicy(
        known: convenient.rules + [
            Rule(.openCompartment, assurance: .none, when: Set(FallbackCondition.allCases).subtracting([.requested]))
        ])

    private static let noMatch: Set<FallbackCondition> = [
        .unavailable, .notEnrolled, .systemLockout, .hardwareBusy, .failed, .expired, .requested,
    ]
    private static let noPasscode: Set<FallbackCondition> = [.unavailable, .notEnrolled, .systemLockout, .requested]

    /// The policies that have a name.
    package static let presets: [(name: String, policy: FallbackPolicy)] = [
        ("strict", .strict), ("convenient", .convenient), ("neverBlocks", .neverBlocks),
    ]

    /// The name of the preset that equals this policy; nil for one of its own.
    package var presetName: String? { FallbackPolicy.presets.first { $0.policy == self }?.name }
}
