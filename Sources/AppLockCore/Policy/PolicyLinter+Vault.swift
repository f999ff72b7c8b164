internal import VaultFormat

extension PolicyLinter {
    func minima(_ policy: VaultPolicy) -> [PolicyIssue] {
        var issues: [PolicyIssue] = []
        let minima = policy.collectionMinima.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let steps = policy.fallback.rules.filter { $0.step != .openCompartment }
        for (collection, minimum) in minima where minimum > .none {
            let name = "collection \"\(PolicyLinter.printable(collection))\" (\(minimum.words))"
            for rule in steps where rule.assurance < minimum && rule.step.isJudgedBySystem {
                issues.append(
                    PolicyIssue(
                        code: .stepBelowMinimum,
                        words: "\(rule.step.words) (\(rule.assurance.words)) does not open \(name)"))
            }
            if !steps.contains(where: { given(by: $0.step) >= minimum }) {
                issues.append(
                    PolicyIssue(code: .minimumOutOfReach, words: "no step opens \(name) on this machine"))
            }
        }
        let highest = (minima.map(\.value) + steps.filter { $0.step.isJudgedBySystem }.map(\.assurance)).max() ?? .none
        if keepsOwnerSlotOnDisk, highest > .presence {
            issues.append(
                PolicyIssue(
                    code: .ownerSlotOnDisk,
                    words: "an owner slot that stays on the disk is presence only, and \(highest.words) is asked for"))
        }
        return issues
    }

    private func given(by step: FallbackStep) -> Assurance {
        switch capabilities[step] {
        case .available(let assurance): assurance
        // It becomes available again without any change.
        case .lockedOut, .busy: step.isJudgedBySystem ? .presence : .keyBound
        case .notEnrolled, .missing, nil: .none
        }
    }

    func attempts(_ policy: VaultPolicy) -> [PolicyIssue] {
        var issues: [PolicyIssue] = []
        if policy.selfDestruct && policy.attemptLimit == 3 {
            if hasRecoveryPhrase && policy.fallback[.recoveryPhrase] != nil {
                issues.append(
                    PolicyIssue(
                        code: .selfDestructLowLimit, words: "three wrong passcodes destroy the vault and what is in it")
                )
            } else {
                issues.append(
                    PolicyIssue(
                        code: .selfDestructWithoutRecovery,
                        words:
                            "three wrong passcodes destroy the vault, and who is unsure of the passcode has no recovery "
                            + "phrase to use instead; allow more attempts or add the step"))
            }
        }
        if policy.delays.allSatisfy({ $0 == 0 }) {
            issues.append(PolicyIssue(code: .noDelays, words: "wrong passcodes can be tried without a pause"))
        }
        return issues
    }

    func lock(_ policy: VaultPolicy) -> [PolicyIssue] {
        guard policy.lockTiming == .never else { return [] }
        var issues: [PolicyIssue] = []
        if policy.isLockEnabled {
            issues.append(
                PolicyIssue(code: .lockNever, words: "the app lock is on and set to never lock by itself"))
        }
        if policy.collectionMinima.values.contains(where: { $0 > .none }) {
            issues.append(
                PolicyIssue(
                    code: .minimumNeverLocks,
                    words:
                        "the vault never locks by itself; collections with a minimum stay open while the process lives")
            )
        }
        return issues
    }

    /// A collection's name must not steer a terminal.
    private static func printable(_ name: String) -> String {
        name.unicodeScalars.map { $0.isASCII && ($0.value < 0x20 || $0.value == 0x7F) ? "?" : String($0) }.joined()
    }
}
