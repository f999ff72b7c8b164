package import VaultFormat

extension VaultPolicy {
    /// The rules of a vault that comes to a level: nobody is asked at ``VaultLevel/device``, the owner at
    /// ``VaultLevel/owner``, and a secret at ``VaultLevel/secret``. The app lock is on exactly where somebody is asked.
    /// What does not hang on the level stays.
    /// - Parameter steps: Ways of the owner that are set up.
    package func at(_ level: VaultLevel, owner steps: Set<OwnerStep>) -> VaultPolicy {
        var policy = self
        policy.isLockEnabled = level != .device
        policy.usesBiometrics = level != .device && steps.contains(.biometrics)
        switch level {
        case .device: policy.fallback = .nobody
        case .owner:
            let rules = FallbackPolicy.owner.rules.filter { rule in
                switch rule.step {
                case .biometrics: steps.contains(.biometrics)
                case .devicePasscode: steps.contains(.devicePasscode)
                default: true
                }
            }
            let leading = FallbackPolicy.Rule.leading(steps.contains(.devicePasscode) ? rules : rules.map(\.lastWay))
            policy.fallback = (try? FallbackPolicy(leading)) ?? .strict
        case .secret: policy.fallback = .strict
        }
        return policy
    }

    /// Whether the rules may stand at a level; nil where they may, else what is wrong.
    package func obstacle(at level: VaultLevel) -> String? {
        switch level {
        case .device:
            if selfDestruct { return "self-destruct is on, and there is nothing to guess: turn it off first" }
            if isLockEnabled || !fallback.asksNobody { return "a vault that opens without asking has no lock" }
        case .owner, .secret:
            if fallback.asksNobody { return "nothing would ask for anything" }
        }
        return nil
    }
}

extension FallbackPolicy.Rule {
    /// The phrase, where no passcode of the device follows biometrics: then it is what a finger that runs out leads to.
    fileprivate var lastWay: FallbackPolicy.Rule {
        guard step == .recoveryPhrase else { return self }
        return FallbackPolicy.Rule(step, assurance: assurance, when: conditions.union([.failed, .expired]))
    }

    /// The first step needs no reason.
    fileprivate static func leading(_ rules: [FallbackPolicy.Rule]) -> [FallbackPolicy.Rule] {
        guard let first = rules.first else { return [] }
        let free = FallbackPolicy.Rule(first.step, assurance: first.assurance, withinHours: first.withinHours)
        return [free] + rules.dropFirst()
    }
}
