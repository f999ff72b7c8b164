public import Cryptography
public import SecretMemory
public import VaultCore
public import VaultFormat
public import VaultStorage

/// What the owner changes with the passcode. Each call spends one attempt before the passcode is checked, as an unlock
/// does; a right one gives it back. The lock must be open: a change never opens it.
extension AppLock {
    /// Proves with the passcode that the owner is there, for one change of the identity or the export of the log's key.
    /// - Throws: `locked`; `wrongPasscode`, with the attempts that remain; `delayed` and `attemptsExhausted`; `wiped`
    ///   where it was the last one and self-destruct is on; `keysChanged`, `damaged`, `readOnly`, `busy`,
    ///   `hardwareUnavailable`.
    public func prove(passcode: borrowing SecretBytes) throws(VaultError) -> Proof {
        try changing { () throws(VaultError) in
            try vault.prove(passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// As ``prove(passcode:)``, with the vault's recovery phrase, whose attempts are not counted.
    /// - Throws: `locked`, `wrongPhrase`, `noRecoveryPhrase`, `damaged`, `keysChanged`, `wiped`.
    public func prove(phrase: borrowing RecoveryPhrase) throws(VaultError) -> Proof {
        try changing { () throws(VaultError) in try vault.prove(phrase: phrase) }
    }

    /// Gives the vault another passcode. An old copy of its header still opens with the old one;
    /// ``rekey(passcode:newPasscode:phrase:isNewPhrase:)`` ends that.
    /// - Throws: As ``prove(passcode:)``; `invalidPasscode` for one that is empty or longer than 1024 bytes; `diskFull`
    ///   and `inputOutput`, with nothing changed.
    public func changePasscode(
        from current: borrowing SecretBytes, to new: borrowing SecretBytes
    ) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.changePasscode(from: current, spending: vault.burnAttempt(), to: new)
        }
    }

    /// Changes the rules in the vault's header.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - change: Edits the rules as they are. Self-destruct is not switched here: that takes a countdown
    ///     (``begin(_:passcode:countdown:)``).
    /// - Throws: As ``changePasscode(from:to:)``; `invalidPolicy` for rules outside their range or another
    ///   self-destruct, with nothing changed; what `change` throws.
    /// - Returns: The rules that are now in effect.
    @discardableResult
    public func changePolicy(
        passcode: borrowing SecretBytes, _ change: @Sendable (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> VaultPolicy {
        let policy = try changing { () throws(VaultError) in
            try vault.changePolicy(
                passcode: passcode, spending: vault.burnAttempt(), renewingOwner: true, change)
        }
        noteOwner()
        adoptSettings()
        return policy
    }

    /// Gives the vault new keys, so that old copies of its header open nothing that is written from now on. What is
    /// stored moves to the new keys in ``VaultCore/Vault/finishRekey(progress:)``.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - newPasscode: The next one; may be the same.
    ///   - phrase: The vault's phrase, or a new one that the user has written down.
    ///   - isNewPhrase: When false, `phrase` must be the vault's own.
    /// - Throws: As ``changePasscode(from:to:)``; `wrongPhrase`; `tooLarge` while an earlier change of keys is
    ///   unfinished and the header has no room for another.
    public func rekey(
        passcode: borrowing SecretBytes, newPasscode: borrowing SecretBytes, phrase: borrowing RecoveryPhrase,
        isNewPhrase: Bool
    ) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.rekey(
                passcode: passcode, spending: vault.burnAttempt(), newPasscode: newPasscode, phrase: phrase,
                isNewPhrase: isNewPhrase)
        }
    }
}

/// Ways into the vault beside its passcode.
extension AppLock {
    /// Gives the vault this recovery phrase, in place of the one that it may have.
    /// - Parameters:
    ///   - phrase: A new one that the user has written down.
    ///   - passcode: The present passcode.
    /// - Throws: As ``changePasscode(from:to:)``.
    package func enrollRecoveryPhrase(
        _ phrase: borrowing RecoveryPhrase, passcode: borrowing SecretBytes
    ) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.enrollRecoveryPhrase(phrase, passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// Takes the recovery phrase out of the vault. A forgotten passcode then means that everything in it is lost. The
    /// vault gets new keys, so that the phrase opens nothing that is written from now on, and a PIN is removed; what is
    /// stored moves to them in ``VaultCore/Vault/finishRekey(progress:)``.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - insisting: Whether the user wants just that; otherwise nothing is removed.
    /// - Throws: As ``changePasscode(from:to:)``; `lastWayIn` without `insisting`, `noRecoveryPhrase`, with nothing
    ///   spent.
    public func removeRecoveryPhrase(passcode: borrowing SecretBytes, insisting: Bool) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.removeRecoveryPhrase(passcode: passcode, spending: vault.burnAttempt(), insisting: insisting)
        }
    }

    /// Gives the vault a short PIN under the device's TPM, which counts its tries. It opens the vault
    /// (``unlock(_:_:)``) and allows no change.
    /// - Parameters:
    ///   - pin: 4 to 64 bytes; not one character over and over, no run such as 1234, and not the passcode.
    ///   - passcode: The present passcode.
    /// - Throws: As ``changePasscode(from:to:)``; `invalidPasscode` for such a PIN, `hardwareUnavailable` without a TPM
    ///   that counts, with nothing spent.
    public func enrollPIN(_ pin: borrowing SecretBytes, passcode: borrowing SecretBytes) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.enrollPIN(pin, passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// Takes the PIN away.
    /// - Throws: As ``changePasscode(from:to:)``; `noPIN` where there is none, with nothing spent.
    public func removePIN(passcode: borrowing SecretBytes) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.removePIN(passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// Puts the passcode under the device's TPM: a copied vault can then not be searched, and the TPM counts wrong
    /// passcodes.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - phrase: The vault's recovery phrase, which shows that another way in remains.
    /// - Throws: As ``changePasscode(from:to:)``; `wrongPhrase`, `noRecoveryPhrase`, `hardwareUnavailable`.
    public func enrollHardware(
        passcode: borrowing SecretBytes, phrase: borrowing RecoveryPhrase
    ) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), phrase: phrase)
        }
    }

    /// As ``enrollHardware(passcode:phrase:)``, for a user who does not show the phrase or has none: losing the TPM
    /// then means losing the vault.
    /// - Throws: As there, and `lastWayIn` without `insisting`, with nothing spent.
    public func enrollHardware(passcode: borrowing SecretBytes, insisting: Bool) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.enrollHardware(passcode: passcode, spending: vault.burnAttempt(), insisting: insisting)
        }
    }

    /// Says that the folder is the vault itself, where another key than its own lies in it (`hardwareUnclaimed`): its
    /// own is put back.
    /// - Throws: As ``changePasscode(from:to:)``; `damaged` where the header has another home's key.
    public func claimHardware(passcode: borrowing SecretBytes) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.claimHardware(passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// Says that the folder is a copy (`hardwareUnclaimed`): it gets a key of its own, and what hardware holds stays
    /// with the vault that it was copied from.
    /// - Throws: As ``changePasscode(from:to:)``; `hardwareUnavailable`.
    public func leaveHardware(passcode: borrowing SecretBytes) throws(VaultError) -> Vault.LeftHardware {
        try changing { () throws(VaultError) in
            try vault.leaveHardware(passcode: passcode, spending: vault.burnAttempt())
        }
    }

    /// Takes the passcode out of the TPM again; it then opens the vault on any machine.
    /// - Throws: As ``changePasscode(from:to:)``.
    public func removeHardware(passcode: borrowing SecretBytes) throws(VaultError) {
        try changing { () throws(VaultError) in
            try vault.removeHardware(passcode: passcode, spending: vault.burnAttempt())
        }
    }
}

/// The end of the vault, at its owner's wish. It may be locked.
extension AppLock {
    /// Destroys the vault: its keys first, then everything else of it, and the app's ``VaultHeader/WipeTarget``s.
    /// - Parameters:
    ///   - passcode: The passcode; an attempt is spent on it.
    ///   - announce: Called with the key that the receipt will be verified with, before anything is erased; an error
    ///     that it throws stops the wipe.
    /// - Throws: As ``prove(passcode:)``; what writing can throw, with nothing erased. Once erasing has begun, nothing
    ///   is thrown.
    public func wipe(
        passcode: borrowing SecretBytes, announce: @Sendable (Vault.WipeReceiptKey) throws(VaultError) -> Void
    ) throws(VaultError) -> Vault.WipeReport {
        try wiping { () throws(VaultError) in
            try vault.wipe(passcode: passcode, spending: vault.burnAttempt(), announce: announce)
        }
    }

    /// As ``wipe(passcode:announce:)``, with the recovery phrase, whose attempts are not counted.
    /// - Throws: `wrongPhrase`, `noRecoveryPhrase`, `damaged`; what writing can throw, with nothing erased.
    public func wipe(
        phrase: borrowing RecoveryPhrase, announce: @Sendable (Vault.WipeReceiptKey) throws(VaultError) -> Void
    ) throws(VaultError) -> Vault.WipeReport {
        try wiping { () throws(VaultError) in try vault.wipe(phrase: phrase, announce: announce) }
    }

    /// As ``wipe(passcode:announce:)``, for a vault without a passcode. The lock must be open.
    /// - Parameters:
    ///   - proof: ``prove(_:)`` or ``prove(phrase:)``; it is used up.
    ///   - announce: As for ``wipe(passcode:announce:)``.
    /// - Throws: `proofTooWeak` where the vault has a passcode; `proofExpired`, `locked`, `movedElsewhere`; what
    ///   writing can throw, with nothing erased.
    public func wipe(
        proving proof: consuming Proof, announce: @Sendable (Vault.WipeReceiptKey) throws(VaultError) -> Void
    ) async throws(VaultError) -> Vault.WipeReport {
        let canAskOwner = await canAskOwner(proof.way)
        var carried: Proof? = consume proof
        return try wiping { () throws(VaultError) in
            guard let proof = carried.take() else { throw .proofTooWeak }
            return try vault.wipe(proving: proof, canAskOwner: canAskOwner, announce: announce)
        }
    }

    private func wiping(_ wipe: () throws(VaultError) -> Vault.WipeReport) throws(VaultError) -> Vault.WipeReport {
        do throws(VaultError) {
            let report = try wipe()
            noteWipe()
            return report
        } catch {
            if outcome(of: error) == .wipeRequired { noteWipe() }
            throw error
        }
    }

    /// Makes a change while the lock is open; the machine learns of a vault that destroyed itself over it.
    private func changing<R: ~Copyable>(_ change: () throws(VaultError) -> R) throws(VaultError) -> R {
        guard vault.isUnlocked else { throw .locked }
        do throws(VaultError) { return try change() } catch {
            if outcome(of: error) == .wipeRequired { noteWipe() }
            throw error
        }
    }

    private func noteWipe() {
        run(.wipeBegan)
        if wipeIsOver() { run(.wipeFinished) }
    }
}
