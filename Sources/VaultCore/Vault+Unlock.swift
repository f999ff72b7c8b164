package import Cryptography
internal import KeyStores
package import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultWipe
internal import VaultLog
package import VaultStorage

extension Vault {
    /// Spends one passcode attempt, durably, before anything is checked.
    ///
    /// The attempt keeps the header locked until it is consumed or dropped. Dropped unused, it stays spent.
    /// - Throws: `delayed` and `attemptsExhausted` with what is left, `readOnly` where it could not be recorded,
    ///   `busy`, `damaged` (found before anything is spent), `wiped`, `rollbackSuspected`, `hardwareUnavailable`.
    package func burnAttempt() throws(VaultError) -> BurnedAttempt {
        do throws(VaultError) {
            return try burn()
        } catch  where error.code == .wiped {
            if let ending = Wipe.finish(in: home, settings) { throw ending }
            throw notDestroyed() ?? error
        }
    }

    private func burn() throws(VaultError) -> BurnedAttempt {
        let header = try LockedHeader(in: home)
        guard let slot = header.header.passcodeSlot else {
            throw .noPasscode
        }
        if let costs = slot.derivation {
            try format(HeaderFile.name, settings.limits.check(costs))
        }
        let found = header.header
        if settings.anchor != nil || found.flags.contains(.generationAnchored) {
            do throws(VaultError) {
                try checkAnchor(found, ledger: AttemptLedger.sequence(in: home, vault: found.vault))
            } catch {
                noteRefusal(error)
                throw error
            }
        }
        var attempt: BurnedAttempt
        do throws(VaultError) {
            attempt = try AttemptLedger.burn(in: home, header: header, clock: settings.clock)
        } catch {
            noteRefusal(error)
            throw error
        }
        do throws(VaultError) {
            try advanceAnchor(found, ledger: attempt.ledgerSequence)
        } catch {
            try? attempt.refund()  // no attempt that the key store does not know of
            throw error
        }
        return attempt
    }

    /// Counts a biometric prompt that ended without a match after its own tries: one attempt while self-destruct is on,
    /// unless the rules switch that off. Such prompts burn nothing before; a single non-match, a cancel, or a sensor
    /// that is busy, locked out or missing is never told here.
    ///
    /// - Returns: Attempts left, or nil where such failures do not count.
    /// - Throws: `wiped` when it was the last one; `damaged`, `busy`, `readOnly` or a similar code: it could not be
    ///   recorded. The owner is then asked for the passcode, which needs the ledger too.
    @discardableResult
    package func countFailedBiometrics() throws(VaultError) -> Int? {
        try Wipe.finishIfBegun(in: home, settings)
        let locked = try LockedHeader(in: home)
        let policy = locked.header.policy
        guard policy.selfDestruct && policy.countsBiometricFailures else { return nil }
        let budget = try AttemptLedger.countFailure(in: home, header: locked.header, clock: settings.clock)
        if budget.decision(at: settings.clock.now()) == .destroy, destroysByRules(locked.header, budget) == .destroy {
            throw destroy(locked)
        }
        log.append(.biometricFailed)
        return budget.remaining
    }

    /// Opens the vault with the passcode. Takes as long as the key derivation.
    /// - Throws: `wrongPasscode` with the attempts that remain, `wiped` when it was the last one and self-destruct is
    ///   on, `damaged` when the passcode is right but the header or the database is not (nothing is counted),
    ///   `rollbackSuspected` when one of the two was put back to an earlier state, `invalidPasscode`, `outOfMemory`.
    /// - Parameters:
    ///   - passcode: What the user typed.
    ///   - attempt: Spent on it.
    ///   - evenIfDamaged: Whether to open a database that is not as its last writer left it, for reading and for
    ///     ``verify(progress:)``; nothing can be written then.
    package func unlock(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, evenIfDamaged: Bool = false
    ) throws(VaultError) {
        _ = try unlocking(passcode, spending: attempt, evenIfDamaged: evenIfDamaged)
    }

    /// As ``unlock(passcode:spending:evenIfDamaged:)``.
    /// - Returns: The master key.
    func unlocking(
        _ passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, evenIfDamaged: Bool
    ) throws(VaultError) -> SecretBytes {
        let opened = try verify(passcode, spending: &attempt)
        let success = Success(by: .passcode, after: attempt.budgetBefore)
        let wasCopy = isCopy(attempt.header.header)
        try install(opened.keys, evenIfDamaged: evenIfDamaged, noting: success)
        let master = try opened.master.copied()
        finishUnlock(
            by: .passcode, opened.keys, master, held: attempt.header, wasCopy: wasCopy, isDamaged: evenIfDamaged)
        return master
    }

    /// Opens the vault with its recovery phrase; attempts are not counted, 256 bits cannot be guessed.
    /// - Throws: `wrongPhrase`, `rollbackSuspected`, `damaged`; a header that was changed is refused here and repaired
    ///   by ``recover(phrase:newPasscode:)``.
    /// - Parameters:
    ///   - phrase: The vault's phrase.
    ///   - evenIfDamaged: As ``unlock(passcode:spending:evenIfDamaged:)``.
    package func unlock(phrase: borrowing RecoveryPhrase, evenIfDamaged: Bool = false) throws(VaultError) {
        _ = try unlocking(phrase, evenIfDamaged: evenIfDamaged)
    }

    /// As ``unlock(phrase:evenIfDamaged:)``.
    /// - Returns: The master key.
    func unlocking(_ phrase: borrowing RecoveryPhrase, evenIfDamaged: Bool) throws(VaultError) -> SecretBytes {
        try Wipe.finishIfBegun(in: home, settings)
        let header = try HeaderFile.read(in: home)
        let master = try unwrap(phrase, header)
        let success = Success(by: .recoveryPhrase, after: budget(header))
        let keys = try open(header, master: master, proving: .keyBound)
        let wasCopy = isCopy(header)
        try install(keys, evenIfDamaged: evenIfDamaged, noting: success)
        finishUnlock(by: .recoveryPhrase, keys, master, wasCopy: wasCopy, isDamaged: evenIfDamaged)
        return master
    }

    static func check(passcode: borrowing SecretBytes) throws(VaultError) {
        guard UnlockSecret.sizes.contains(passcode.count) else {
            throw VaultError(
                .invalidPasscode,
                "a passcode has \(UnlockSecret.sizes.lowerBound) to \(UnlockSecret.sizes.upperBound) bytes")
        }
    }

    /// The master key out of the recovery slot.
    func unwrap(_ phrase: borrowing RecoveryPhrase, _ header: Header) throws(VaultError) -> SecretBytes {
        guard let slot = header.recoverySlot else { throw .noRecoveryPhrase }
        let factor = try SlotKey.expand(phrase, vault: header.vault)
        let key = try SlotKey(factor: factor, slot: slot)
        guard key.matches(slot) else {
            log.append(.wrongPhrase)
            throw VaultError(.wrongPhrase, "this is not the recovery phrase of this vault")
        }
        return try key.unwrap(slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    /// Checks the header's MAC before any other use of the master key, then opens the keybag.
    func open(
        _ header: Header, master: borrowing SecretBytes, proving assurance: Assurance
    ) throws(VaultError) -> UnlockedKeys {
        let headerKeys = try HeaderKeys(master: master, vault: header.vault)
        guard headerKeys.authenticates(header) else { throw .headerAltered }
        let keybag = try Keybag(opened: headerKeys.openKeybag(of: header))
        let admission = Admission(
            assurance, policy: header.policy.collectionMinima, settings: settings.minima)
        return try UnlockedKeys(header: header, headerKeys: headerKeys, keybag: keybag, admission: admission)
    }

    /// Written down before anything can be read with the keys.
    func install(
        _ keys: UnlockedKeys, evenIfDamaged: Bool = false, noting success: Success?
    ) throws(VaultError) {
        let unlocked = try joined(keys, evenIfDamaged: evenIfDamaged)
        if let success { note(success, keys) }
        gate.open(unlocked)
    }

    /// Keys of a header that was authenticated, with the records that are there.
    /// - Throws: `rollbackSuspected` where the records are under other keys than the header that is on the disk still
    ///   has; `keysChanged` where another process has written another header since; `damaged`.
    func joined(_ keys: UnlockedKeys, evenIfDamaged: Bool = false) throws(VaultError) -> UnlockedVault {
        do throws(VaultError) { return try UnlockedVault(keys, in: home, evenIfDamaged: evenIfDamaged) } catch {
            // A change of keys writes the header first, so records are never ahead of the newest one.
            guard error.code == .keysChanged, let header = try? HeaderFile.read(in: home),
                header.vault == keys.vault, header.generation == keys.generation
            else { throw error }
            log.append(.rollbackReported)
            throw .rollback("its header and its records are not of the same time")
        }
    }
}

extension VaultError {
    static let noPasscode = VaultError(.noPasscode, "this vault has no passcode; nothing was changed")

    static let headerAltered = VaultError.damaged(
        "the header was changed by something else than Holdfast")
}

func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe constantTimeEquals(left.span.bytes, right.span.bytes)
}

extension Vault {
    /// Opens the vault with a secret as it was entered. A counted one spends an attempt first. Takes as long as the key
    /// derivation.
    /// - Parameters:
    ///   - kind: Which secret this is.
    ///   - secret: UTF-8, as entered.
    ///   - evenIfDamaged: As ``unlock(passcode:spending:evenIfDamaged:)``.
    /// - Throws: What ``burnAttempt()`` throws, for a counted secret; `malformedPhrase` for a phrase that cannot be
    ///   read; as ``unlock(passcode:spending:evenIfDamaged:)``, ``unlock(pin:spending:evenIfDamaged:)`` and
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
