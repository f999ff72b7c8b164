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

    /// Says what the folder is. In a copy a PIN and a kept way in of the system's owner go.
    @concurrent
    nonisolated static func settle(
        _ vault: Vault, _ passcode: borrowing SecretBytes, _ decision: HardwareDecision
    ) async throws(VaultError) {
        let attempt = try vault.burnAttempt()
        switch decision {
        case .claim: try vault.claimHardware(passcode: passcode, spending: attempt)
        case .leave: _ = try vault.leaveHardware(passcode: passcode, spending: attempt)
        }
    }
}

// The PIN under the security chip.
extension SecuritySettingsModel {
    /// - Returns: Why not; nil when it was done.
    @concurrent
    nonisolated static func setPIN(
        _ vault: Vault, _ pin: borrowing SecretBytes, _ passcode: borrowing SecretBytes
    ) async -> VaultProblem? {
        do throws(VaultError) {
            let attempt = try vault.burnAttempt()
            try vault.enrollPIN(pin, passcode: passcode, spending: attempt)
            return nil
        } catch {
            // One word for both secrets; a passcode that cannot be one is empty, or too long to have been typed.
            let isOfPIN = error.code == .invalidPasscode && UnlockSecret.sizes.contains(passcode.count)
            return isOfPIN ? .invalidPIN : VaultProblem(error)
        }
    }

    @concurrent
    nonisolated static func removePIN(
        _ vault: Vault, _ passcode: borrowing SecretBytes
    ) async throws(VaultError) {
        let attempt = try vault.burnAttempt()
        try vault.removePIN(passcode: passcode, spending: attempt)
    }
}
