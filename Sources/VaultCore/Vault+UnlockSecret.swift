package import SecretMemory
package import VaultFormat
internal import Cryptography
package import VaultStorage

extension Vault {
    /// Opens the vault with a secret as it was entered. A counted one spends an attempt first. Takes as long as the key
    /// derivation.
    /// - Parameters:
    ///   - kind: Which secret this is.
    ///   - secret: UTF-8, as entered.
    ///   - evenIfDamaged: As ``unlock(passcode:spending:evenIfDamaged:)``.
    /// - Throws: What ``burnAttempt()`` throws, for a counted secret; `malformedPhrase` for a phrase that cannot be read; as
    ///   ``unlock(passcode:spending:evenIfDamaged:)``, ``unlock(pin:spending:evenIfDamaged:)`` and
    ///   ``unlock(phrase:evenIfDamaged:)``.
    package func unlock(
        _ kind: UnlockSecret, _ secret: borrowing SecretBytes, evenIfDamaged: Bool = false
    ) throws(VaultError) {
        switch kind {
        case .passcode: try unlock(passcode: secret, spending: burnAttempt(), evenIfDamaged: evenIfDamaged)
        case .pin: try unlock(pin: secret, spending: burnAttempt(), evenIfDamaged: evenIfDamaged)
        case .recoveryPhrase:
            let phrase: RecoveryPhrase
            do throws(RecoveryPhraseError) { phrase = try RecoveryPhrase(parsing: secret) } catch {
                if case .memory(let failure) = error { throw VaultError(failure) }
                throw VaultError(.malformedPhrase, "\(error)")
            }
            try unlock(phrase: phrase, evenIfDamaged: evenIfDamaged)
        }
    }
}
