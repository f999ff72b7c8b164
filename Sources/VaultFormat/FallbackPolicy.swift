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
