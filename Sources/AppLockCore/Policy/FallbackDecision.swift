package import VaultFormat

/// What to do next, and the outcome of each step on the way to it.
package struct FallbackDecision: Sendable, Hashable {
    /// The next thing to do. There is no case that unlocks: only keys do that.
    package enum Action: Sendable, Hashable {
        /// Ask for this.
        case ask(FallbackStep)
        /// Work with the open compartment; the protected one stays locked.
        case useOpenCompartment
        /// Stay locked, for this reason.
        case stop(FallbackStop)
    }

    /// The outcome of one step.
    package enum Finding: Sendable, Hashable {
        /// It is what is asked or used now; proves this much.
        case used(Assurance)
        /// It was asked and ended so.
        case asked(StepOutcome)
        /// It could not be asked.
        case passedOver(FallbackCondition, why: String)
        /// What went before gives no reason for it.
        case notCalledFor(after: FallbackCondition)
        /// Nothing came so far.
        case notReached
    }

    /// One step of the policy and its finding.
    package struct Line: Sendable, Hashable {
        /// The step.
        package let step: FallbackStep
        /// Its outcome.
        package let finding: Finding
    }

    /// What to do.
    package let action: Action
    /// One for each step of the policy, in its order.
    package let lines: [Line]
}

/// Why nothing is asked and nothing opens: the defined end of a chain.
package struct FallbackStop: Error, Sendable, Hashable {
    /// The kind of end.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The owner turned away.
        case cancelled = "cancelled"
        /// A definite refusal, and no further step for it.
        case refused = "refused"
        /// The last step could not be asked, and no further step for that.
        case nothingLeft = "nothingLeft"
        /// An outcome of a step that the policy does not have, or one that its step never has: nothing is decided by
        /// it.
        case inconsistent = "inconsistent"
    }

    /// The kind of end.
    package let code: Code
    /// The step at which it ended.
    package let step: FallbackStep?
    /// Why that step led no further.
    package let condition: FallbackCondition?
}

extension FallbackDecision {
    /// Goes through the policy's steps in order and stops at the first that can be asked.
    ///
    /// A step that ended, or cannot be asked, gives a reason; the next step is the first one behind it that names this
    /// reason. Where none does the vault stays locked. Cancelling leads to nothing but the open compartment, and there
    /// only where the policy says so.
    package init(_ facts: FallbackFacts) {
        var engine = Engine(facts)
        action = engine.run()
        lines = engine.lines
    }
}

private struct Engine {
    let facts: FallbackFacts
    let rules: [FallbackPolicy.Rule]
    var findings: [FallbackDecision.Finding]
    /// The step that the owner refused.
    private var refusal: FallbackStep?

    init(_ facts: FallbackFacts) {
        self.facts = facts
        rules = facts.policy.fallback.rules
        findings = rules.map { _ in .notReached }
    }

    var lines: [FallbackDecision.Line] {
        zip(rules, findings).map { FallbackDecision.Line(step: $0.step, finding: $1) }
    }

    mutating func run() -> FallbackDecision.Action {
        for asked in facts.outcomes where !isPossible(asked) { return stop(.inconsistent, asked.step, nil) }
        // Rules of a vault that asks nobody: it opens by its level, never by a step.
        guard !rules.isEmpty else { return stop(.nothingLeft, nil, nil) }
        let action = nextStep(from: 0)
        // A refusal of the owner ends it where it was given, even if by now another way leads past that step.
        if let last = facts.outcomes.last, last.outcome.isCancel, last.step != refusal,
            let index = rules.firstIndex(where: { $0.step == last.step })
        {
            findings = rules.map { _ in .notReached }
            return nextStep(from: index)
        }
        return action
    }

    private mutating func nextStep(from start: Int) -> FallbackDecision.Action {
        var index = start
        while true {
            let step = rules[index].step
            let reason: FallbackCondition
            if let outcome = facts.outcomes.last(where: { $0.step == step })?.outcome, let condition = outcome.condition
            {
                findings[index] = .asked(outcome)
                reason = condition
            } else {
                switch state(of: rules[index]) {
                case .usable(let assurance):
                    findings[index] = .used(assurance)
                    return step == .openCompartment ? .useOpenCompartment : .ask(step)
                case .unusable(let condition, let why):
                    findings[index] = .passedOver(condition, why: why)
                    reason = condition
                }
            }
            if reason == .cancelled { refusal = step }
            guard let next = next(after: index, because: reason) else {
                return refusal.map { end(at: $0, because: .cancelled) } ?? end(at: step, because: reason)
            }
            // Once more than the policy's own check: after a refusal of the owner nothing is asked, by no way round.
            if let refusal, rules[next].step != .openCompartment { return end(at: refusal, because: .cancelled) }
            for skipped in (index + 1)..<next { findings[skipped] = .notCalledFor(after: reason) }
            index = next
        }
    }

    /// Whether the policy has the step, and it can end so. What cannot be is no ground to go anywhere.
    private func isPossible(_ asked: FallbackFacts.Asked) -> Bool {
        guard facts.policy.fallback[asked.step] != nil else { return false }
        return switch asked.outcome {
        case .biometricFailed: asked.step == .biometrics
        case .wrongSecret: [.devicePasscode, .appPasscode, .recoveryPhrase].contains(asked.step)
        default: asked.step != .openCompartment
        }
    }

    private func next(after index: Int, because reason: FallbackCondition) -> Int? {
        rules.indices[(index + 1)...].first { rules[$0].conditions.contains(reason) }
    }

    private enum State {
        case usable(Assurance)
        case unusable(FallbackCondition, why: String)
    }

    private func state(of rule: FallbackPolicy.Rule) -> State {
        let capability = facts.capabilities[rule.step] ?? .missing(why: "it was not looked for")
        // What is not there at all is said first.
        if case .missing(let why) = capability { return .unusable(.unavailable, why: why) }
        if let obstacle = ruledOut(rule) { return obstacle }
        switch capability {
        case .notEnrolled(let why): return .unusable(.notEnrolled, why: why)
        case .lockedOut(let why): return .unusable(.systemLockout, why: why)
        case .busy(let why): return .unusable(.hardwareBusy, why: why)
        case .missing(let why): return .unusable(.unavailable, why: why)
        case .available(let assurance):
            // The open compartment proves nothing, whatever it is said to be.
            let assurance = rule.step == .openCompartment ? .none : assurance
            guard assurance >= rule.assurance else {
                return .unusable(
                    .unavailable, why: "it is \(assurance.words) here and the policy asks for \(rule.assurance.words)")
            }
            guard assurance >= facts.needed else {
                return .unusable(
                    .unavailable, why: "it is \(assurance.words) here and \(facts.needed.words) is needed")
            }
            return .usable(assurance)
        }
    }

    /// What keeps a step from being asked even where the machine could.
    private func ruledOut(_ rule: FallbackPolicy.Rule) -> State? {
        guard rule.step.isJudgedBySystem else { return nil }
        if rule.step == .biometrics, !facts.policy.usesBiometrics {
            return .unusable(.unavailable, why: "the vault's rules have it switched off")
        }
        // Where the rules know no passcode of the vault's, the device's is the way on.
        let isLast = rule.step == .devicePasscode && facts.policy.fallback[.appPasscode] == nil
        if facts.nonMatches >= FallbackFacts.mostNonMatches, !isLast {
            return .unusable(
                .expired, why: "\(facts.nonMatches) samples did not match; only the passcode is asked for now")
        }
        if let hours = rule.withinHours {
            guard let age = facts.secondsSincePasscode else {
                return .unusable(.expired, why: "the passcode was not given since the machine or the app started")
            }
            guard age < UInt64(hours) * 3600 else {
                return .unusable(.expired, why: "the passcode was last given more than \(hours) hours ago")
            }
        }
        return nil
    }

    private func end(at step: FallbackStep, because reason: FallbackCondition) -> FallbackDecision.Action {
        switch reason {
        case .cancelled: stop(.cancelled, step, reason)
        case .failed: stop(.refused, step, reason)
        default: stop(.nothingLeft, step, reason)
        }
    }

    private func stop(
        _ code: FallbackStop.Code, _ step: FallbackStep?, _ condition: FallbackCondition?
    ) -> FallbackDecision.Action {
        .stop(FallbackStop(code: code, step: step, condition: condition))
    }
}
