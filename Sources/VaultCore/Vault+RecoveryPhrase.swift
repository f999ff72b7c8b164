package import Cryptography
package import SecretMemory
internal import VaultFormat
package import VaultStorage

extension Vault {
    /// Whether this is the vault's recovery phrase, before anything else is asked for.
    /// - Throws: `wrongPhrase`, `noRecoveryPhrase`, `damaged`.
    package func check(phrase: borrowing RecoveryPhrase) throws(VaultError) {
        _ = try unwrap(phrase, HeaderFile.read(in: home))
    }

    /// Gives the vault this recovery phrase, in place of the one that it has or where it has none. Old copies of the header
    /// still open with the old one; ``rekey(passcode:spending:newPasscode:phrase:isNewPhrase:)`` ends that.
    ///
    /// - Parameters:
    ///   - phrase: A new one (``newRecoveryPhrase()``), which the owner has been shown already.
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    /// - Throws: As ``changePasscode(from:spending:to:)``.
    package func enrollRecoveryPhrase(
        _ phrase: borrowing RecoveryPhrase, passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        let verified = try verifyForChange(passcode, spending: &attempt)
        var header = attempt.header.header
        try claim(&header, verified.standing, verified.keys.headerKeys)
        header.set(try Vault.recoverySlot(phrase, wrapping: verified.master, header: header))
        try replace(&attempt, with: header, noting: .recoveryPhraseSet(isThere: true), verified.keys) {
            covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
    }

    /// Takes the recovery phrase out of the vault: its passcode is the only lasting way in from then on. A forgotten
    /// passcode, used-up attempts and, under a chip, the loss of the chip are then the loss of everything in it.
    ///
    /// Old copies of the header still open with the phrase.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - insisting: Whether the user wants just that. Otherwise nothing is removed.
    /// - Throws: `lastWayIn` without `insisting`, `noRecoveryPhrase` where there is none, with nothing spent; as
    ///   ``changePasscode(from:spending:to:)``.
    package func removeRecoveryPhrase(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, insisting: Bool
    ) throws(VaultError) {
        do throws(VaultError) {
            guard attempt.header.header.recoverySlot != nil else { throw .noRecoveryPhrase }
            guard insisting else {
                throw VaultError(
                    .lastWayIn,
                    "without its recovery phrase the vault is lost if its passcode is forgotten, its attempts run out or its "
                        + "chip breaks. Nothing was changed")
            }
        } catch {
            try? attempt.refund()
            throw error
        }
        let verified = try verifyForChange(passcode, spending: &attempt)
        var header = attempt.header.header
        try claim(&header, verified.standing, verified.keys.headerKeys)
        header.slots.removeAll { $0.kind == .recoveryPhrase }
        try replace(&attempt, with: header, noting: .recoveryPhraseSet(isThere: false), verified.keys) {
            covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
    }
}

extension VaultError {
    static let noRecoveryPhrase = VaultError(
        .noRecoveryPhrase, "this vault has no recovery phrase")
}
