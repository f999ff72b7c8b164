internal import Cryptography
internal import KeyStores
internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
internal import VaultStorage
internal import VaultWipe

// A counted secret, checked: what was burned for it is settled, refused, or given back.
extension Vault {
    /// What a correct secret unlocks.
    struct Verified: ~Copyable {
        let master: SecretBytes
        let keys: UnlockedKeys
        /// Why the ledger still has the counts from before; nil when they are gone, as they should be.
        let unsettled: VaultError?
        /// Whether the folder is the genuine header's home.
        let standing: HomeStanding
    }

    /// As ``verify(_:_:spending:)``, for a change of the header.
    /// - Throws: `hardwareUnclaimed` too, with nothing changed: what such a change revokes would stay alive in
    ///   hardware.
    func verifyForChange(
        _ passcode: borrowing SecretBytes, spending attempt: inout BurnedAttempt
    ) throws(VaultError) -> Verified {
        let verified = try verify(passcode, spending: &attempt)
        guard verified.standing != .unsettled else { throw .hardwareUnclaimed }
        return verified
    }

    /// Checks the passcode, or the PIN, against its slot and settles the attempt either way.
    func verify(
        _ secret: borrowing SecretBytes, _ kind: SlotKind = .passcode, spending attempt: inout BurnedAttempt
    ) throws(VaultError) -> Verified {
        let header = attempt.header.header
        // Whether it was counted for good, or may have been where no refund reaches.
        var isSpent = false
        do throws(VaultError) {
            guard try attempt.home.isSameFolder(as: home) else {
                throw VaultError(.otherVault, "this attempt was burned for another vault")
            }
            try Vault.check(passcode: secret)
            let slot = try countedSlot(kind, header)
            let factor = try SlotKey.stretch(secret, for: slot)
            let tag = try SlotKey.repeatTag(factor: factor, slot: slot)
            let isRepeated = wrongTag.matches(tag, of: slot)
            var left: Int?
            var right: SlotKey?
            if !isRepeated { right = try slotKey(factor, header, slot, left: &left, isSpent: &isSpent) }
            if !right.matches(slot) { right = try slotKey(asTyped: secret, slot) }
            guard let key = right.take(), key.matches(slot) else {
                if isRepeated {
                    try attempt.refund()
                    log.append(.repeated)
                    throw Vault.wrong(kind, attempt, again: true, left: remainingAtChip(kind))
                }
                wrongTag.set(tag, of: slot)
                var isRecorded = true
                isSpent = true  // checked, whatever it comes to
                do throws(VaultError) {
                    try attempt.refuse()
                } catch { isRecorded = false }  // it still stays spent
                // Before the log is written: nothing comes between the limit and the keys' end.
                if isRecorded, attempt.mustDestroy {
                    let decision = destroysByRules(attempt.header.header, attempt.budget)
                    if decision == .destroy { throw destroy(attempt.header) }
                    log.append(.refused)
                    throw .notDestroyed(decision, hasPhrase: attempt.header.header.recoverySlot != nil)
                }
                log.append(.refused)
                throw Vault.wrong(kind, attempt, again: false, left: left)
            }
            wrongTag.forget()
            let master = try key.unwrap(slot, vault: header.vault, policyDigest: header.policy.digest())
            let keys = try open(header, master: master, proving: assurance(of: slot))
            // A ledger that cannot be written any more must not keep the owner out: the attempt stays spent.
            var unsettled: VaultError?
            do throws(VaultError) { try attempt.settle() } catch { unsettled = error }
            let standing = standing(of: header, [keys.headerKeys.noteKey])
            // Elsewhere the note waits until the user has said which folder the hardware belongs to.
            if standing == .own { sweepHardware(header, of: header.owner, keys.headerKeys.noteKey) }
            return Verified(master: master, keys: keys, unsettled: unsettled, standing: standing)
        } catch let error where error.code != .wrongPasscode && error.code != .wiped {
            // Never checked, or checked and right: not a failure.
            if !isSpent { try? attempt.refund() }
            throw error
        }
    }

    private func countedSlot(_ kind: SlotKind, _ header: Header) throws(VaultError) -> Slot {
        guard let slot = header.slots.first(where: { $0.kind == kind }) else {
            throw kind == .pin ? .noPIN : .noPasscode
        }
        if let costs = slot.derivation {
            try format(HeaderFile.name, settings.limits.check(costs))
        }
        return slot
    }

    /// The slot's key, with the hardware's share where one is mixed in; nil when the hardware says that the secret is
    /// wrong.
    /// - Parameters:
    ///   - left: How many more the hardware takes, where it tells.
    ///   - isSpent: Whether the hardware was asked and may or may not have counted.
    private func slotKey(
        _ factor: borrowing SecretBytes, _ header: Header, _ slot: Slot, left: inout Int?, isSpent: inout Bool
    ) throws(VaultError) -> SlotKey? {
        guard slot.flags.contains(.hardwareShare) else { return try SlotKey(factor: factor, slot: slot) }
        guard let tier = settings.tier else { throw .noTier(slot.kind) }
        guard let object = slot.hardwareObject else { throw .damaged("the slot does not say where its share is") }
        let authorisation = try SlotKey.authorisation(factor: factor, slot: slot)
        let answer: Redemption
        do throws(KeyStoreError) {
            answer = try tier.redeem(object, of: header.vault, authorisation: authorisation)
        } catch {
            isSpent = error.code == .unanswered
            throw VaultError(error)
        }
        switch consume answer {
        case .share(let share):
            let key = try SlotKey(factor: factor, slot: slot, share: share)
            // The hardware has found it right: what does not fit is the slot.
            guard key.matches(slot) else { throw .damaged("the slot in the header was changed") }
            return key
        case .wrongSecret(let remaining):
            left = remaining
            return nil
        case .destroyed: throw .hardwareDestroyed(slot.kind)
        case .foreign: throw .foreignHardware(slot.kind)
        }
    }

    /// The slot's key of the bytes as they were typed, where their composed form opens nothing: a second try of the
    /// same attempt. Not under a chip, which counts each.
    private func slotKey(asTyped secret: borrowing SecretBytes, _ slot: Slot) throws(VaultError) -> SlotKey? {
        guard !slot.flags.contains(.hardwareShare) else { return nil }
        switch try SlotKey.stretch(asTyped: secret, for: slot) {
        case .some(let factor): return try SlotKey(factor: factor, slot: slot)
        case .none: return nil
        }
    }

    /// - Parameter chip: How many more the chip takes, where it was asked: a success with another secret set the ledger
    ///   back and not the chip.
    private static func wrong(
        _ kind: SlotKind, _ attempt: borrowing BurnedAttempt, again: Bool, left chip: Int?
    ) -> VaultError {
        let left = min(attempt.remainingAttempts, chip ?? .max)
        let delay = attempt.delayLeft
        var reason = kind == .pin ? "wrong PIN" : "wrong passcode"
        if again { reason += " (the same as before: not counted again)" }
        reason += left == 1 ? "; 1 attempt remains" : "; \(left) attempts remain"
        if left < attempt.remainingAttempts { reason += " at the chip" }
        reason += attempt.warning
        if delay > 0 { reason += ", the next one in \(seconds(delay))" }
        return VaultError(
            .wrongPasscode, reason, remainingAttempts: left, retryAfter: delay > 0 ? .milliseconds(delay) : nil)
    }
}

extension Optional<SlotKey> {
    fileprivate borrowing func matches(_ slot: Slot) -> Bool {
        switch self {
        case .some(let key): key.matches(slot)
        case .none: false
        }
    }
}
