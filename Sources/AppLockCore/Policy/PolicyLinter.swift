package import VaultCore
package import VaultFormat

/// Finds what is dangerous or pointless in a vault's rules.
package struct PolicyLinter: Sendable {
    /// Whether the vault has a passcode.
    package var hasPasscode: Bool
    /// Whether the vault has a recovery phrase.
    package var hasRecoveryPhrase: Bool
    /// Whether a slot that opens without a secret of the owner's lies on the disk.
    package var keepsOwnerSlotOnDisk: Bool
    /// Whether the vault opens without asking.
    package var asksNobody: Bool
    /// What the steps can do on this machine.
    package var capabilities: [FallbackStep: StepCapability]

    /// For a vault in this state.
    package init(_ status: Vault.Status) {
        self.init(
            hasPasscode: status.slots.contains(.passcode), hasRecoveryPhrase: status.slots.contains(.recoveryPhrase),
            keepsOwnerSlotOnDisk: status.slots.contains(.deviceOwner), asksNobody: status.slots.contains(.device),
            capabilities: [FallbackStep: StepCapability](status))
    }

    init(
        hasPasscode: Bool = true, hasRecoveryPhrase: Bool = true, keepsOwnerSlotOnDisk: Bool = false,
        asksNobody: Bool = false, capabilities: [FallbackStep: StepCapability]
    ) {
        self.hasPasscode = hasPasscode
        self.hasRecoveryPhrase = hasRecoveryPhrase
        self.keepsOwnerSlotOnDisk = keepsOwnerSlotOnDisk
        self.asksNobody = asksNobody
        self.capabilities = capabilities
    }

    /// Whether the device's owner opens the vault, and no passcode does: their steps have no age, and end with the
    /// device's passcode.
    private var opensForOwner: Bool { keepsOwnerSlotOnDisk && !hasPasscode && !asksNobody }

    /// Errors first.
    package func issues(_ policy: VaultPolicy) -> [PolicyIssue] {
        // Nobody is asked, so nothing is in the rules that could be wrong: they come and go with the level.
        if asksNobody && policy.fallback.asksNobody {
            return hasRecoveryPhrase ? [] : [PolicyLinter.noPhrase(lost: "a lost device")]
        }
        let all = chain(policy) + ageing(policy) + minima(policy) + attempts(policy) + lock(policy)
        return all.filter(\.isError) + all.filter { !$0.isError }
    }

    private func chain(_ policy: VaultPolicy) -> [PolicyIssue] {
        let rules = policy.fallback.rules
        let steps = rules.map(\.step)
        var issues: [PolicyIssue] = []
        if let open = steps.firstIndex(of: .openCompartment), open < steps.count - 1 {
            let behind = steps[(open + 1)...].map(\.words).joined(separator: ", ")
            issues.append(
                PolicyIssue(
                    code: .openCompartmentNotLast,
                    words: "the open compartment must be the last step; \(behind) behind it would never be asked for"))
        }
        let hasPasscodeStep = steps.contains(.appPasscode) && hasPasscode
        let hasPhraseStep = steps.contains(.recoveryPhrase) && hasRecoveryPhrase
        if opensForOwner {
            if !rules.contains(where: { opens(policy, $0) }) {
                issues.append(
                    PolicyIssue(
                        code: .noSecretStep,
                        words: "the vault has no passcode, and no step asks the device's owner: nothing would open"))
            }
        } else if !hasPasscodeStep && !hasPhraseStep {
            issues.append(
                PolicyIssue(
                    code: .noSecretStep,
                    words: "no step asks for the passcode or the recovery phrase: after a restart nothing would open"))
        } else if !hasPasscodeStep {
            issues.append(
                PolicyIssue(
                    code: .passcodeMissing,
                    words: "no step asks for the passcode: after a restart only the recovery phrase opens"))
        }
        if !hasRecoveryPhrase {
            issues.append(PolicyLinter.noPhrase(lost: opensForOwner ? "a lost device" : "a lost passcode"))
        } else if !steps.contains(.recoveryPhrase) {
            issues.append(
                PolicyIssue(
                    code: .recoveryPhraseMissing,
                    words: "no step asks for the recovery phrase; it still opens the vault when its owner enters it"))
        }
        for (index, rule) in rules.enumerated().dropFirst() {
            let reasons = rules[..<index].reduce(into: Set<FallbackCondition>()) { $0.formUnion($1.step.endings) }
            if rule.conditions.isDisjoint(with: reasons) {
                issues.append(
                    PolicyIssue(code: .unreachableStep, words: "no step before it ever leads to \(rule.step.words)"))
            }
            if rule.step != .openCompartment,
                let stronger = rules[..<index].first(where: { $0.assurance > rule.assurance })
            {
                issues.append(
                    PolicyIssue(
                        code: .weakerStep,
                        words: "\(rule.step.words) (\(rule.assurance.words)) proves less than \(stronger.step.words) "
                            + "(\(stronger.assurance.words)), which it stands in for"))
            }
            if rule.conditions.contains(.cancelled) {
                issues.append(
                    PolicyIssue(code: .cancelUsesOpenCompartment, words: FallbackPolicy.cancelWords))
            }
        }
        return issues
    }

    private static func noPhrase(lost: String) -> PolicyIssue {
        PolicyIssue(code: .recoveryPhraseMissing, words: "the vault has no recovery phrase: \(lost) is the end")
    }

    /// Whether a step of the device's owner opens a vault without a passcode: it has no age there.
    private func opens(_ policy: VaultPolicy, _ rule: FallbackPolicy.Rule) -> Bool {
        guard rule.step.isJudgedBySystem, rule.withinHours == nil, rule.assurance <= .presence else { return false }
        return rule.step != .biometrics || policy.usesBiometrics
    }

    /// Steps judged by the system, and the switch of one of them.
    private func ageing(_ policy: VaultPolicy) -> [PolicyIssue] {
        let rules = policy.fallback.rules
        var issues: [PolicyIssue] = []
        let endsAge: [FallbackStep] =
            opensForOwner ? [.devicePasscode, .recoveryPhrase] : [.appPasscode, .recoveryPhrase]
        for (index, rule) in rules.enumerated() where rule.step.isJudgedBySystem {
            let leads = rules[(index + 1)...].contains {
                $0.conditions.contains(.expired) && endsAge.contains($0.step)
            }
            // Without a passcode the device's own is the last step, and it does not run out.
            let isLast = opensForOwner && rule.step == .devicePasscode
            if !leads && !isLast {
                issues.append(
                    PolicyIssue(
                        code: .expiredLeadsNowhere,
                        words: "when \(rule.step.words) has run out (after a restart, its hours, or 5 samples without "
                            + "a match) no step with a secret follows; add \"expired\" to one"))
            }
            if rule.withinHours == nil && !opensForOwner {
                issues.append(
                    PolicyIssue(
                        code: .noMaximumAge,
                        words: "\(rule.step.words) has no withinHours: the passcode is never asked for again"))
            }
        }
        let hasStep = policy.fallback[.biometrics] != nil
        if policy.usesBiometrics && !hasStep {
            issues.append(
                PolicyIssue(code: .biometricsNotInPolicy, words: "biometrics are on and no step uses them"))
        } else if !policy.usesBiometrics && hasStep {
            issues.append(
                PolicyIssue(code: .biometricsSwitchedOff, words: "a step uses biometrics, and they are off"))
        }
        return issues
    }
}

extension FallbackStep {
    /// Reasons that this step can give to those behind it.
    fileprivate var endings: Set<FallbackCondition> {
        switch self {
        case .biometrics, .devicePasscode: Set(FallbackCondition.allCases)
        case .appPasscode, .recoveryPhrase: Set(FallbackCondition.allCases).subtracting([.expired])
        case .openCompartment: []
        }
    }
}
