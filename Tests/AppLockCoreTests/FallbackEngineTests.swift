import Testing
import VaultFormat

@testable import AppLockCore

/// Policies, capabilities and outcomes, all of them together: what a decision may never be.
@Suite struct FallbackEngineTests {
    private static func capability(_ kind: Int, _ step: FallbackStep) -> StepCapability {
        switch kind {
        case 0: .available(step == .openCompartment ? .none : step.isJudgedBySystem ? .presence : .keyBound)
        case 1: .missing(why: "m")
        case 2: .lockedOut(why: "l")
        case 3: .notEnrolled(why: "n")
        case 4: .busy(why: "b")
        default: .available(.hardwareLimited)
        }
    }

    /// Every way to give each step of a chain one of the first `kinds` capabilities.
    private static func capabilities(
        _ steps: ArraySlice<FallbackStep>, kinds: Int
    ) -> [[FallbackStep: StepCapability]] {
        guard let first = steps.first else { return [[:]] }
        return capabilities(steps.dropFirst(), kinds: kinds).flatMap { rest in
            (0..<kinds).map { kind in rest.merging([first: capability(kind, first)]) { $1 } }
        }
    }

    private static func possibleOutcomes(_ step: FallbackStep) -> [StepOutcome] {
        StepOutcome.allCases.filter { outcome in
            switch outcome {
            case .biometricFailed: step == .biometrics
            case .wrongSecret: step != .biometrics && step != .openCompartment
            default: true
            }
        }
    }

    /// Follows every outcome of every prompt to the end.
    private func explore(_ facts: FallbackFacts, depth: Int, _ seen: inout Int) {
        let decision = FallbackDecision(facts)
        seen += 1
        check(decision, facts)
        guard case .ask(let step) = decision.action else { return }
        guard depth > 0 else { return }
        let mayRetry = facts.outcomes.allSatisfy { $0.outcome != .retry } && facts.outcomes.count < 2
        for outcome in Self.possibleOutcomes(step) where outcome != .retry || mayRetry {
            var next = facts
            next.outcomes.append(FallbackFacts.Asked(step, outcome))
            explore(next, depth: depth - 1, &seen)
        }
    }

    private func check(_ decision: FallbackDecision, _ facts: FallbackFacts) {
        let policy = facts.policy.fallback
        func require(_ condition: Bool, _ rule: String) {
            if !condition { Issue.record("\(rule): \(decision.action) for \(facts)") }
        }
        require(decision.lines.map(\.step) == policy.rules.map(\.step), "one line for each step")
        let cancelled = facts.outcomes.last?.outcome == .cancelled
        let openAfterCancel = policy[.openCompartment]?.conditions.contains(.cancelled) ?? false
        switch decision.action {
        case .ask(let step):
            require(!cancelled, "cancel leads to no prompt")
            require(step != .openCompartment, "the open compartment asks for nothing")
            guard let rule = policy[step] else { return require(false, "asked for what the policy does not name") }
            if case .available(let assurance)? = facts.capabilities[step] {
                require(assurance >= rule.assurance && assurance >= facts.needed, "asked for less than is needed")
            } else {
                require(false, "asked for what is not available")
            }
            require(step != .biometrics || facts.policy.usesBiometrics, "the switch is off")
            if step.isJudgedBySystem {
                require(facts.nonMatches < 5, "after 5 non-matches only the passcode")
                if let hours = rule.withinHours {
                    let age = facts.secondsSincePasscode
                    require(age != nil && age! < UInt64(hours) * 3600, "too long since the passcode")
                }
            }
            checkWay(decision, policy, require)
        case .useOpenCompartment:
            require(policy[.openCompartment] != nil, "the policy has no open compartment")
            require(facts.needed == .none, "the open compartment gives nothing that is protected")
            if case .available? = facts.capabilities[.openCompartment] {} else { require(false, "it is not there") }
            require(!cancelled || openAfterCancel, "cancel leads down without words")
            checkWay(decision, policy, require)
        case .stop(let stop):
            require(stop.code != .inconsistent, "an outcome that was asked for is none that cannot be")
            require(stop.step != nil && stop.condition != nil, "every end names its step and reason")
            require(!cancelled || stop.code == .cancelled || openAfterCancel, "a cancel is called something else")
            require(!stop.description.isEmpty, "every end has words")
        }
    }

    /// Each step on the way gave a reason that the next one names, and what lies between names it not.
    private func checkWay(
        _ decision: FallbackDecision, _ policy: FallbackPolicy, _ require: (Bool, String) -> Void
    ) {
        var reason: FallbackCondition?
        for (line, rule) in zip(decision.lines, policy.rules) {
            switch line.finding {
            case .used, .asked, .passedOver:
                if let reason { require(rule.conditions.contains(reason), "\(rule.step) does not name \(reason)") }
                switch line.finding {
                case .used: return
                case .asked(let outcome): reason = outcome.condition
                case .passedOver(let condition, let why):
                    reason = condition
                    require(!why.isEmpty, "no reason is given")
                default: break
                }
            case .notCalledFor(let condition):
                require(
                    reason == condition && !rule.conditions.contains(condition), "skipped although it is called for")
            case .notReached: if reason != nil { require(false, "left out") }
            }
        }
        require(false, "nothing is used")
    }

    private func policy(_ fallback: FallbackPolicy) -> VaultPolicy {
        var policy = VaultPolicy.standard
        policy.fallback = fallback
        policy.usesBiometrics = true
        return policy
    }

    @Test(arguments: FallbackPolicy.presets.map(\.policy) + [reversedDevice, demanding])
    func presetsUnderEveryCapabilityAndOutcome(_ fallback: FallbackPolicy) {
        var seen = 0
        let steps = fallback.rules.map(\.step)[...]
        for (kinds, depth) in [(2, 8), (steps.count > 4 ? 5 : 6, 1)] {
            for capabilities in Self.capabilities(steps, kinds: kinds) {
                for age in depth == 1 ? [nil, 72 * 3600 - 1, 72 * 3600] as [UInt64?] : [60] {
                    for (nonMatches, needed) in [(0, Assurance.none), (5, .none), (4, .keyBound)] {
                        var facts = FallbackFacts(
                            policy: policy(fallback), capabilities: capabilities, secondsSincePasscode: age,
                            nonMatches: nonMatches, needed: needed)
                        explore(facts, depth: depth, &seen)
                        facts.policy.usesBiometrics = false
                        if depth == 1 && nonMatches == 0 { explore(facts, depth: depth, &seen) }
                    }
                }
            }
        }
        print("fallback explorer: \(fallback.presetName ?? "own"): \(seen) decisions")
        #expect(seen > 50)
    }

    private static let reversedDevice = try! FallbackPolicy([
        FallbackPolicy.Rule(.appPasscode, assurance: .keyBound),
        FallbackPolicy.Rule(.devicePasscode, assurance: .presence, when: [.requested, .systemLockout]),
        FallbackPolicy.Rule(.openCompartment, assurance: .none, when: [.failed]),
    ])

    /// Asks for more than some machines give.
    private static let demanding = try! FallbackPolicy([
        FallbackPolicy.Rule(.biometrics, assurance: .hardwareBound),
        FallbackPolicy.Rule(.appPasscode, assurance: .hardwareLimited, when: [.unavailable, .failed]),
        FallbackPolicy.Rule(.recoveryPhrase, assurance: .keyBound, when: [.unavailable]),
    ])

    /// Every chain of up to three steps with every mix of some conditions.
    @Test func smallPoliciesUnderEveryCapabilityAndOutcome() throws {
        var seen = 0
        var policies = 0
        let conditions: [Set<FallbackCondition>] = [
            [.failed], [.unavailable], [.systemLockout, .requested], [.unavailable, .failed, .expired, .cancelled],
        ]
        func extend(_ rules: [FallbackPolicy.Rule], _ left: Int) throws {
            for step in FallbackStep.allCases where !rules.contains(where: { $0.step == step }) {
                let assurance = step.possibleAssurance.lowerBound
                for set in rules.isEmpty ? [[]] : conditions {
                    let allowed = set.subtracting(step == .openCompartment ? [.requested] : [.cancelled])
                    let next =
                        rules + [
                            FallbackPolicy.Rule(
                                step, assurance: assurance, when: allowed,
                                withinHours: step == .biometrics && rules.isEmpty ? 1 : nil)
                        ]
                    let fallback = try FallbackPolicy(next)
                    policies += 1
                    for capabilities in Self.capabilities(next.map(\.step)[...], kinds: left == 0 ? 2 : 3) {
                        let facts = FallbackFacts(
                            policy: policy(fallback), capabilities: capabilities, secondsSincePasscode: 60)
                        explore(facts, depth: 4, &seen)
                    }
                    if left > 0 { try extend(next, left - 1) }
                }
            }
        }
        try extend([], 2)
        print("fallback explorer: \(policies) small policies, \(seen) decisions")
        #expect(policies > 1000 && seen > 10_000)
    }

    @Test func cancellingLeadsNowhereBelow() {
        let all: [FallbackStep: StepCapability] = .init(
            uniqueKeysWithValues: FallbackStep.allCases.map { ($0, Self.capability(0, $0)) })
        for (name, preset) in FallbackPolicy.presets {
            let first = preset.rules[0].step
            let facts = FallbackFacts(
                policy: policy(preset), capabilities: all, outcomes: [.init(first, .cancelled)],
                secondsSincePasscode: 60)
            let action = FallbackDecision(facts).action
            if name == "neverBlocks" {
                #expect(action == .useOpenCompartment)
            } else {
                #expect(action == .stop(FallbackStop(code: .cancelled, step: first, condition: .cancelled)))
            }
        }
        // A step before it that can be asked again by now changes nothing about the refusal.
        let facts = FallbackFacts(
            policy: policy(.strict), capabilities: all, outcomes: [.init(.recoveryPhrase, .cancelled)])
        #expect(
            FallbackDecision(facts).action
                == .stop(FallbackStop(code: .cancelled, step: .recoveryPhrase, condition: .cancelled)))
    }

    @Test func nothingKnownIsNothingOpened() {
        for (name, preset) in FallbackPolicy.presets {
            let decision = FallbackDecision(FallbackFacts(policy: policy(preset), capabilities: [:]))
            guard case .stop(let stop) = decision.action else {
                Issue.record("\(name): \(decision.action)")
                continue
            }
            #expect(stop.code == .nothingLeft)
        }
    }

    @Test func outcomesThatCannotBeDecideNothing() {
        let all: [FallbackStep: StepCapability] = .init(
            uniqueKeysWithValues: FallbackStep.allCases.map { ($0, Self.capability(0, $0)) })
        for outcome: FallbackFacts.Asked in [
            .init(.biometrics, .wrongSecret), .init(.appPasscode, .biometricFailed),
            .init(.openCompartment, .unavailable),
        ] {
            let decision = FallbackDecision(
                FallbackFacts(policy: policy(.neverBlocks), capabilities: all, outcomes: [outcome]))
            #expect(decision.action == .stop(FallbackStop(code: .inconsistent, step: outcome.step, condition: nil)))
        }
        let foreign = FallbackFacts(
            policy: policy(.strict), capabilities: all, outcomes: [.init(.devicePasscode, .wrongSecret)])
        #expect(
            FallbackDecision(foreign).action
                == .stop(FallbackStop(code: .inconsistent, step: .devicePasscode, condition: nil)))
    }

    @Test func onlyDefiniteFailuresCount() {
        var policy = VaultPolicy.standard
        for selfDestruct in [false, true] {
            for counts in [false, true] {
                policy.selfDestruct = selfDestruct
                policy.countsBiometricFailures = counts
                let counted = FallbackStep.allCases.flatMap { step in
                    StepOutcome.allCases.filter { $0.isCounted(for: step, under: policy) }.map { "\(step) \($0)" }
                }
                let expected = ["appPasscode wrongSecret"]
                #expect(
                    Set(counted)
                        == Set(selfDestruct && counts ? expected + ["biometrics biometricFailed"] : expected))
            }
        }
    }

    @Test func theExplanationSaysWhyAndHowStrong() {
        var capabilities: [FallbackStep: StepCapability] = [
            .biometrics: .missing(why: "not built into this version"),
            .devicePasscode: .busy(why: "another prompt is up"), .appPasscode: .available(.keyBound),
            .openCompartment: .available(.none),
        ]
        var facts = FallbackFacts(policy: policy(.neverBlocks), capabilities: capabilities, secondsSincePasscode: 5)
        #expect(
            FallbackDecision(facts).explanation(under: .neverBlocks) == [
                "Unlocking asks for the passcode.",
                "Not biometrics: not built into this version.",
                "Not the device's passcode: another prompt is up.",
                "The recovery phrase is offered instead if a step before it is unavailable, is not set up, is locked out or "
                    + "is skipped by choice.",
                "The open compartment is used instead if a step before it is unavailable, is not set up, is locked out, "
                    + "is busy, fails or has expired (too long without the passcode).",
                "The policy says in writing: cancelling uses the open compartment and opens nothing of the protected one.",
                "How strong this is here: key-bound; the key is derived from a secret; anyone who copies the disk "
                    + "can guess without limit.",
            ])
        facts.outcomes = [.init(.appPasscode, .wrongSecret)]
        let open = FallbackDecision(facts).explanation(under: .neverBlocks)
        #expect(open.first == "Uses the open compartment. The protected one stays locked.")
        #expect(open.contains("The passcode was wrong."))
        #expect(
            open.contains("Not the recovery phrase: the policy does not offer it when the step before fails."))
        #expect(open.last?.hasPrefix("How strong this is here: unprotected") == true)
        capabilities[.appPasscode] = .lockedOut(why: "no attempt is left; only the recovery phrase opens")
        let strict = FallbackFacts(policy: policy(.strict), capabilities: capabilities)
        #expect(
            FallbackDecision(strict).explanation(under: .strict) == [
                "Stays locked: the recovery phrase is unavailable, and the policy has no step for that.",
                "Not the passcode: no attempt is left; only the recovery phrase opens.",
                "Not the recovery phrase: it was not looked for.", "Cancelling leaves everything locked.",
                "Nothing opens now.",
            ])
    }
}
