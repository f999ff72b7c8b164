package import Cryptography
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

extension Vault {
    /// Whether this is the vault's recovery phrase, before anything else is asked for.
    /// - Throws: `wrongPhrase`, `noRecoveryPhrase`, `damaged`.
    package func check(phrase: borrowing RecoveryPhrase) throws(VaultError) {
        _ = try unwrap(phrase, HeaderFile.read(in: home))
    }

    /// Gives the vault this recovery phrase, in place of the one that it has or where it has none. Old copies of the
    /// header still open with the old one; ``rekey(passcode:spending:newPasscode:phrase:isNewPhrase:)`` ends that.
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

    /// As ``enrollRecoveryPhrase(_:passcode:spending:)``, with the strongest proof that the vault has.
    /// - Parameters:
    ///   - phrase: A new one, which the user has written down.
    ///   - proof: Made after that: nobody writes 24 words within its lifetime.
    ///   - canAskOwner: Whether the device can ask its owner: then a change needs the owner's confirmation.
    /// - Throws: `proofTooWeak`, `proofExpired`, `locked`, `movedElsewhere`, `hardwareUnclaimed`, and what writing can
    ///   throw.
    package func enrollRecoveryPhrase(
        _ phrase: borrowing RecoveryPhrase, proving proof: consuming Proof, canAskOwner: Bool
    ) throws(VaultError) {
        guard let opening = gate.current else { throw .locked }
        let way = proof.way
        let master = try proof.redeem(for: opening, at: settings.clock.now())
        var locked = try LockedHeader(in: home)
        var header = locked.header
        let keys = try HeaderKeys(master: master, vault: header.vault)
        guard keys.authenticates(header) else { throw .movedElsewhere }
        guard RequiredProof(RequiredProof.Facts(header, canAskOwner: canAskOwner)).ways.contains(way) else {
            throw .proofTooWeak
        }
        let standing = standing(of: header, [keys.noteKey])
        if standing == .own { try followAnchor(header, ledger: 0) }
        try claim(&header, standing, keys)
        header.set(try Vault.recoverySlot(phrase, wrapping: master, header: header))
        try locked.replace(header) { covered throws(VaultError) in try keys.mac(covered) }
        if standing == .own { try? followAnchor(locked.header, ledger: 0) }
        note(Success(.recoveryPhraseSet(isThere: true), after: budget(locked.header)), opening.keys)
    }

    /// Takes the recovery phrase out of the vault: its passcode is the only lasting way in from then on. A forgotten
    /// passcode, used-up attempts and, under a chip, the loss of the chip are then the loss of everything in it.
    ///
    /// The vault gets new keys (``finishRekey(progress:)`` moves what is stored), so that the phrase and an old copy of
    /// the header open nothing that is written from now on. A PIN goes: its slot cannot be made for them without it.
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
        try renewKeys(passcode, verified, &attempt) { _, _ throws(VaultError) in }
        log.append(.recoveryPhraseSet(isThere: false))
    }
}

extension VaultError {
    static let noRecoveryPhrase = VaultError(
        .noRecoveryPhrase, "this vault has no recovery phrase")
}
