internal import Holdfast

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
