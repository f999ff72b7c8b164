internal import Holdfast
internal import HoldfastDoctor

/// The security chip that the passcode can be put under.
enum SecurityChip {
    /// Why it cannot be used; nil where it can. Blocks for ``HoldfastDoctor/Examination/patience`` at most.
    static func obstacle(_ app: HoldfastApp) -> OwnerObstacle? {
        let request = Examination.Request(home: app.vault.home.path)
        // Not every machine has one that is looked at.
        guard let finding = Examination.run(request, only: .tpm) else { return .missing }
        return switch finding.state {
        case .good: nil
        case .missing, .unready: .missing
        case .broken, .slow: .busy
        }
    }
}

extension SecuritySettingsModel {
    /// Puts the passcode under the chip, with the recovery phrase.
    @concurrent
    nonisolated static func enrollChip(
        _ vault: Vault, _ passcode: borrowing SecretBytes, _ phrase: borrowing RecoveryPhrase?
    ) async throws(VaultError) {
        switch phrase {
        case .none: throw VaultError(.malformedPhrase, "the recovery phrase is missing")
        case .some(let phrase):
            let attempt = try vault.burnAttempt()
            try vault.enrollHardware(passcode: passcode, spending: attempt, phrase: phrase)
        }
    }
}
