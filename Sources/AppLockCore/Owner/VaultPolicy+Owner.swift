package import DeviceOwner
package import VaultCore
package import VaultFormat

extension VaultPolicy {
    /// Takes a way of the owner into the rules.
    /// - Parameter keeps: Whether it is to survive restarts: the hours since the passcode then end nothing.
    /// - Throws: `invalidPolicy` where the rules have an order of their own that does not name it.
    package mutating func take(_ step: OwnerStep, keeps: Bool) throws(VaultError) {
        if step == .biometrics { usesBiometrics = true }
        if fallback[step.fallback] == nil {
            guard fallback == .strict else {
                throw VaultError(
                    .invalidPolicy,
                    "the vault has a fallback policy of its own that does not name \(step.fallback.name); add the step "
                        + "with holdfast lock-policy set fallback")
            }
            fallback = .convenient
        }
        if keeps { fallback = fallback.withoutHours(step.fallback) }
    }

    /// Takes it out of them.
    /// - Throws: `invalidPolicy` where nothing would be left.
    package mutating func refuse(_ step: OwnerStep) throws(VaultError) {
        if step == .biometrics { usesBiometrics = false }
        // The switch is enough for fingers; a step with nothing behind it would only be a riddle.
        guard step == .devicePasscode || fallback == .convenient && !asks(for: .devicePasscode) else { return }
        do throws(FallbackPolicyError) { fallback = try fallback.without(step.fallback) } catch {
            throw VaultError(.invalidPolicy, "\(error); nothing was changed")
        }
    }
}

extension FallbackPolicy {
    /// The same without an end of its time for a step.
    fileprivate func withoutHours(_ step: FallbackStep) -> FallbackPolicy {
        let rules = rules.map { rule in
            rule.step == step ? Rule(rule.step, assurance: rule.assurance, when: rule.conditions) : rule
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
