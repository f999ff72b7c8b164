public import SecretMemory
internal import KeyStores
internal import VaultFormat
public import Cryptography

extension Vault {
    /// Spends one passcode attempt, durably, before anything is checked.
    ///
    /// The attempt holds the vault's header for itself until it is consumed or dropped. Dropped unused, it stays spent.
    /// - Throws: `delayed` and `attemptsExhausted` with what is left, `readOnly` where it could not be recorded, `busy`,
    ///   `damaged` (found before anything is spent), `wiped`, `rollbackSuspected`, `hardwareUnavailable`.
    public func burnAttempt() throws(VaultError) -> BurnedAttempt {
        do throws(VaultError) {
            return try burn()
        } catch  where error.code == .wiped {
            throw Wipe.finish(in: home, settings) ?? error
        }
    }

    private func burn() throws(VaultError) -> BurnedAttempt {
        let header = try LockedHeader(in: home)
        guard let slot = header.header.passcodeSlot else {
            throw VaultError(.damaged, "this vault has no passcode; use the recovery phrase")
        }
        if let costs = slot.derivation {
            try format(HeaderFile.name) { () throws(FormatError) in try settings.limits.check(costs) }
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
            try updateAnchor(found, ledger: attempt.ledgerSequence)
        } catch {
            try? attempt.refund()  // no attempt that the key store does not know of
            throw error
        }
        return attempt
    }

    /// Counts a biometric prompt that ended without a match after its own tries: one attempt while self-destruct is on,
    /// unless the rules switch that off. Such prompts burn nothing before; a single non-match, a cancel, or a sensor that
    /// is busy, locked out or missing is never told here.
    ///
    /// - Returns: Attempts left, or nil where such failures do not count.
    /// - Throws: `wiped` when it was the last one; `damaged`, `busy`, `readOnly` and the like: it could not be recorded.
    ///   The owner is then asked for the passcode, which needs the ledger too.
    @discardableResult
    public func countFailedBiometrics() throws(VaultError) -> Int? {
        try Wipe.finishIfBegun(in: home, settings)
        let locked = try LockedHeader(in: home)
        let policy = locked.header.policy
        guard policy.selfDestruct && policy.countsBiometricFailures else { return nil }
        let budget = try AttemptLedger.countFailure(in: home, header: locked.header, clock: settings.clock)
        if budget.decision(at: settings.clock.now()) == .destroy { throw destroy(locked) }
        log.append(.biometricFailed)
        return budget.remaining
    }

    /// Opens the vault with the passcode. Takes as long as the key derivation.
    /// - Throws: `wrongPasscode` with the attempts that remain, `wiped` when it was the last one and self-destruct is on,
    ///   `damaged` when the passcode is right but the header or the database is not (nothing is counted),
    ///   `invalidPasscode`, `outOfMemory`.
    /// - Parameters:
    ///   - passcode: What the owner typed.
    ///   - attempt: Spent on it.
    ///   - evenIfDamaged: Whether a database that is not as its last writer left it is opened all the same, for reading
    ///     and for ``verify(progress:)``; nothing can be written then.
    public func unlock(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, evenIfDamaged: Bool = false
    ) throws(VaultError) {
        let opened = try verify(passcode, spending: &attempt)
        let success = Success(by: .passcode, after: attempt.budgetBefore)
        try install(opened.keys, evenIfDamaged: evenIfDamaged, noting: success)
        let header = attempt.header.header
        _ = consume attempt  // nobody waits for the header meanwhile
        if evenIfDamaged { return }
        renewOwner(opened.master, header)
        takeInOpenItems()
    }

    /// Opens the vault with its recovery phrase; attempts are not counted, 256 bits cannot be guessed.
    /// - Throws: `wrongPhrase`, `damaged`; a header that was changed is refused here and repaired by
    ///   ``recover(phrase:newPasscode:)``.
    /// - Parameters:
    ///   - phrase: The vault's phrase.
    ///   - evenIfDamaged: As ``unlock(passcode:spending:evenIfDamaged:)``.
    public func unlock(phrase: borrowing RecoveryPhrase, evenIfDamaged: Bool = false) throws(VaultError) {
        try Wipe.finishIfBegun(in: home, settings)
        let header = try HeaderFile.read(in: home)
        let master = try unwrap(phrase, header)
        let success = Success(by: .recoveryPhrase, after: budget(header))
        try install(
            open(header, master: master, proving: .keyBound), evenIfDamaged: evenIfDamaged, noting: success)
        // The phrase gives the passcode's attempts back. On a disk that cannot be written there is none to give.
        if let locked = try? LockedHeader(in: home, patience: 1000) {
            try? AttemptLedger.reset(in: home, header: locked.header, clock: settings.clock)
            try? resetAnchor(locked.header)
        }
        if !evenIfDamaged { takeInOpenItems() }
    }

    /// A right passcode's fruits.
    struct Verified: ~Copyable {
        let master: SecretBytes
        let keys: UnlockedKeys
        /// Why the ledger still has the counts from before; nil when they are gone, as they should be.
        let unsettled: VaultError?
    }

    /// Checks the passcode, or the PIN, against its slot and settles the attempt either way.
    func verify(
        _ secret: borrowing SecretBytes, _ kind: SlotKind = .passcode, spending attempt: inout BurnedAttempt
    ) throws(VaultError) -> Verified {
        let header = attempt.header.header
        do throws(VaultError) {
            guard try attempt.home.isSameFolder(as: home) else {
                throw VaultError(.noVault, "this attempt was burned for another vault")
            }
            try Vault.check(passcode: secret)
            guard let slot = header.slots.first(where: { $0.kind == kind }) else {
                throw kind == .hardware ? .noPIN : .damaged("the passcode slot is missing")
            }
            if let costs = slot.derivation {
                try format(HeaderFile.name) { () throws(FormatError) in try settings.limits.check(costs) }
            }
            let factor = try SlotKey.stretch(secret, for: slot)
            let tag = try SlotKey.repeatTag(factor: factor, slot: slot)
            let hasShare = slot.flags.contains(.hardwareShare)
            let isRepeat =
                hasShare ? wrongTag.matches(tag) : attempt.knownWrong.map { constantTimeEquals(tag, $0) } ?? false
            if isRepeat {
                try attempt.refund()
                log.append(.repeated)
                throw Vault.wrong(kind, attempt, again: true)
            }
            var left: Int?
            let key = try slotKey(factor, slot, left: &left)
            guard let key, key.matches(slot) else {
                if hasShare { wrongTag.set(tag) }
                var isRecorded = true
                do throws(VaultError) {
                    try attempt.refuse(tag: hasShare ? nil : tag)
                } catch { isRecorded = false }  // it stays spent all the same
                // Before the log is written: nothing comes between the limit and the keys' end.
                if isRecorded, attempt.mustDestroy { throw destroy(attempt.header) }
                log.append(.refused)
                throw Vault.wrong(kind, attempt, again: false, left: left)
            }
            wrongTag.set(nil)
            let master = try key.unwrap(slot, vault: header.vault, policyDigest: header.policy.digest())
            let keys = try open(header, master: master, proving: assurance(of: slot))
            // A ledger that cannot be written any more must not keep the owner out: the attempt stays spent.
            var unsettled: VaultError?
            do throws(VaultError) { try attempt.settle() } catch { unsettled = error }
            sweepHardware(header)
            return Verified(master: master, keys: keys, unsettled: unsettled)
        } catch let error where error.code != .wrongPasscode && error.code != .wiped {
            try? attempt.refund()  // never checked, or checked and right: not a failure
            throw error
        }
    }

    /// The slot's key, with the hardware's share where one is mixed in; nil when the hardware says that the secret is
    /// wrong, and how many more it takes, where it tells.
    private func slotKey(
        _ factor: borrowing SecretBytes, _ slot: Slot, left: inout Int?
    ) throws(VaultError) -> SlotKey? {
        guard slot.flags.contains(.hardwareShare) else { return try SlotKey(factor: factor, slot: slot) }
        guard let tier = settings.tier else { throw .noTier(slot.kind) }
        guard let object = slot.hardwareObject else { throw .damaged("the slot does not say where its share is") }
        let authorisation = try SlotKey.authorisation(factor: factor, slot: slot)
        let answer = try keyStore { () throws(KeyStoreError) in
            try tier.redeem(object, authorisation: authorisation)
        }
        switch consume answer {
        case .share(let share): return try SlotKey(factor: factor, slot: slot, share: share)
        case .wrongSecret(let remaining):
            left = remaining
            return nil
        case .destroyed: throw .hardwareDestroyed(slot.kind)
        case .foreign: throw .foreignHardware(slot.kind)
        }
    }

    /// - Parameter chip: How many more the chip takes, where it was asked: a success with another secret set the ledger
    ///   back and not the chip.
    private static func wrong(
        _ kind: SlotKind, _ attempt: borrowing BurnedAttempt, again: Bool, left chip: Int? = nil
    ) -> VaultError {
        let left = min(attempt.remainingAttempts, chip ?? .max)
        let delay = attempt.delayLeft
        var reason = kind == .hardware ? "wrong PIN" : "wrong passcode"
        if again { reason += " (the same as before: not counted again)" }
        reason += left == 1 ? "; 1 attempt remains" : "; \(left) attempts remain"
        if left < attempt.remainingAttempts { reason += " at the chip" }
        reason += attempt.warning
        if delay > 0 { reason += ", the next one in \(seconds(delay))" }
        return VaultError(
            .wrongPasscode, reason, remainingAttempts: left, retryAfter: delay > 0 ? .milliseconds(delay) : nil)
    }

    static func check(passcode: borrowing SecretBytes) throws(VaultError) {
        guard (1...1024).contains(passcode.count) else {
            throw VaultError(.invalidPasscode, "a passcode has 1 to 1024 bytes")
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
        let unlocked = try UnlockedVault(keys, in: home, evenIfDamaged: evenIfDamaged)
        if let success { note(success, keys) }
        gate.open(unlocked)
    }
}

extension VaultError {
    /// What is left to an owner whose slot the hardware does not open.
    private static func others(_ kind: SlotKind) -> String {
        kind == .hardware ? "use the passcode" : "use the recovery phrase"
    }

    private static func this(_ kind: SlotKind) -> String { kind == .hardware ? "this PIN" : "this passcode" }

    static func noTier(_ kind: SlotKind) -> VaultError {
        VaultError(.hardwareUnavailable, "\(this(kind)) needs a chip that cannot be asked here; \(others(kind))")
    }

    static func foreignHardware(_ kind: SlotKind) -> VaultError {
        VaultError(
            .hardwareUnavailable,
            "\(this(kind)) belongs to another machine's chip, or this one's was cleared; \(others(kind))")
    }

    static func hardwareDestroyed(_ kind: SlotKind) -> VaultError {
        VaultError(
            .hardwareDestroyed,
            "the chip does not answer for \(this(kind)) any more: its limit was reached, or it was cleared; "
                + (kind == .hardware
                    ? "use the passcode, and holdfast enroll pin for another PIN"
                    : "use the recovery phrase (holdfast recover)"))
    }

    static let headerAltered = VaultError.damaged(
        "the header was changed by something else than Holdfast; use holdfast recover with the phrase")
}

func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe constantTimeEquals(left.span.bytes, right.span.bytes)
}
