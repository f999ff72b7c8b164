internal import VaultCore
package import VaultFormat
package import VaultStorage

extension VaultPolicy {
    /// Adds this owner step to the policy, and no other one.
    /// - Parameter keeps: Whether it is to survive restarts: the hours since the passcode then end nothing.
    /// - Throws: `stepNotInPolicy` where the rules have an order of their own that does not name it.
    package mutating func accept(_ step: OwnerStep, keeps: Bool) throws(VaultError) {
        if step == .biometrics { usesBiometrics = true }
        if fallback[step.fallback] == nil {
            guard let next = fallback.steps.flatMap({ fallback.withSteps($0.union([step])) }) else {
                throw VaultError(
                    .stepNotInPolicy,
                    "the vault has a fallback policy of its own, and it does not name \(step.fallback.words)")
            }
            fallback = next
        }
        if keeps { fallback = fallback.withoutHours([step.fallback]) }
    }

    /// Removes it.
    /// - Throws: `invalidPolicy` where nothing would be left.
    package mutating func refuse(_ step: OwnerStep) throws(VaultError) {
        if step == .biometrics { usesBiometrics = false }
        if let next = fallback.steps.flatMap({ fallback.withSteps($0.subtracting([step])) }) {
            fallback = next
        } else if step == .devicePasscode {
            // In a custom policy the switch is enough for fingers; the account has none.
            do throws(FallbackPolicyError) { fallback = try fallback.without(step.fallback) } catch {
                throw VaultError(.invalidPolicy, "\(error); nothing was changed")
            }
        }
    }
}

extension FallbackPolicy {
    /// The ways of the owner, where this is ``convenient`` with some of them, or ``strict``, which has none; nil for
    /// rules of the owner's own making.
    fileprivate var steps: Set<OwnerStep>? {
        let steps = Set(OwnerStep.allCases.filter { self[$0.fallback] != nil })
        let isOurs = FallbackPolicy.convenient(steps)?.withoutHours() == withoutHours()
        return isOurs ? steps : nil
    }

    /// The convenient policy with only these owner steps.
    private static func convenient(_ steps: Set<OwnerStep>) -> FallbackPolicy? {
        if steps.isEmpty { return .strict }
        return OwnerStep.allCases.filter { !steps.contains($0) }.reduce(Optional.some(.convenient)) { policy, step in
            policy.flatMap { try? $0.without(step.fallback) }
        }
    }

    /// As ``convenient(_:)``, with the hours that this one has.
    fileprivate func withSteps(_ steps: Set<OwnerStep>) -> FallbackPolicy? {
        let endless = rules.filter { $0.withinHours == nil }.map(\.step)
        return FallbackPolicy.convenient(steps)?.withoutHours(endless)
    }

    /// The same without an end of its time for these steps.
    fileprivate func withoutHours(_ steps: [FallbackStep] = FallbackStep.allCases) -> FallbackPolicy {
        let rules = rules.map { rule in
            steps.contains(rule.step) ? Rule(rule.step, assurance: rule.assurance, when: rule.conditions) : rule
        }
        return (try? FallbackPolicy(rules)) ?? self
    }

    /// The same without a step. The first one that is left needs no reason.
    fileprivate func without(_ step: FallbackStep) throws(FallbackPolicyError) -> FallbackPolicy {
        let left = rules.filter { $0.step != step }
        return try FallbackPolicy(
            left.enumerated().map { index, rule in
                index > 0
                    ? rule : Rule(rule.step, assurance: rule.assurance, when: [], withinHours: rule.withinHours)
            })
    }
}
