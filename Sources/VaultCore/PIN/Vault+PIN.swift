internal import Cryptography
internal import KeyStores
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
package import VaultStorage

extension Vault {
    /// Gives the vault a short PIN beside its passcode, in place of the one that it may have. The machine's TPM holds a
    /// share without which the PIN opens nothing and counts wrong PINs itself: a copy of the vault cannot be searched
    /// elsewhere, and after the limit of the rules the PIN opens nothing any more, with self-destruct on or off. The
    /// passcode and the recovery phrase still do.
    ///
    /// A PIN opens the vault and changes nothing in it that needs the passcode. It ends with another attempt limit,
    /// with new keys, and with a recovery by the phrase.
    /// - Parameters:
    ///   - pin: 4 to 64 bytes; not one character over and over, no run such as 1234, and not the passcode.
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    /// - Throws: `invalidPasscode` for a PIN that cannot be one, `hardwareUnavailable` without a chip that counts, with
    ///   nothing spent; as ``changePasscode(from:spending:to:)``.
    package func enrollPIN(
        _ pin: borrowing SecretBytes, passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        do throws(VaultError) { try PINRules.check(pin, beside: passcode) } catch {
            try? attempt.refund()
            throw error
        }
        let tier = try tier(for: &attempt)
        let verified = try verifyForChange(passcode, spending: &attempt)
        // No tag of a passcode may lie in the ledger any more: it could be that of the PIN.
        if let unsettled = verified.unsettled { throw unsettled }
        var header = attempt.header.header
        try claim(&header, verified.standing, verified.keys.headerKeys)
        do throws(VaultError) {
            let maker = shareMaker(tier, header, verified.keys)
            header.set(try newPINSlot(pin, wrapping: verified.master, header: header, maker))
            try replace(&attempt, with: header, noting: .pinSet(isThere: true), verified.keys) {
                covered throws(VaultError) in
                try verified.keys.headerKeys.mac(covered)
            }
        } catch {
            sweepHardware(
                afterFailing: attempt.header, nil, of: header.owner, verified.keys.headerKeys.noteKey)
            throw error
        }
    }

    /// Takes the PIN away, and the chip's share of it.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    /// - Throws: `noPIN` where there is none, with nothing spent; as ``changePasscode(from:spending:to:)``.
    package func removePIN(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        guard attempt.header.header.pinSlot != nil else {
            try? attempt.refund()
            throw .noPIN
        }
        let verified = try verifyForChange(passcode, spending: &attempt)
        var header = attempt.header.header
        try claim(&header, verified.standing, verified.keys.headerKeys)
        header.slots.removeAll { $0.kind == .pin }
        try replace(&attempt, with: header, noting: .pinSet(isThere: false), verified.keys) {
            covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
    }

    /// Opens the vault with its PIN. It proves what the chip proves, and arms no way in for the owner's finger: that
    /// takes the passcode.
    ///
    /// Wrong ones are counted by the chip, for the PIN, and by the ledger, for the vault: delays run, and self-destruct
    /// fires at the limit. A right one sets both back.
    /// - Parameters:
    ///   - pin: What the user typed.
    ///   - attempt: Spent on it.
    ///   - evenIfDamaged: As ``unlock(passcode:spending:evenIfDamaged:)``.
    /// - Throws: `wrongPasscode`, with the attempts that remain by whichever count has fewer; `noPIN`;
    ///   `hardwareUnavailable`; `hardwareDestroyed` when the chip answers for this PIN no more; as
    ///   ``unlock(passcode:spending:evenIfDamaged:)``.
    package func unlock(
        pin: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, evenIfDamaged: Bool = false
    ) throws(VaultError) {
        let opened = try verify(pin, .pin, spending: &attempt)
        let success = Success(by: .pin, after: attempt.budgetBefore)
        let wasCopy = isCopy(attempt.header.header)
        try install(opened.keys, evenIfDamaged: evenIfDamaged, noting: success)
        finishUnlock(
            by: .pin, opened.keys, opened.master, held: attempt.header, wasCopy: wasCopy, isDamaged: evenIfDamaged)
    }

    private func newPINSlot(
        _ pin: borrowing SecretBytes, wrapping master: borrowing SecretBytes, header: Header, _ maker: ShareMaker
    ) throws(VaultError) -> Slot {
        guard let id = header.pinSlot?.id ?? header.freeSlotID else {
            throw VaultError(.tooLarge, "the header has no room for another slot")
        }
        let empty = try Vault.emptySlot(id, .pin, [.bindsPolicy], newCosts(header))
        let factor = try SlotKey.stretch(pin, for: empty)
        let made = try Vault.share(factor, empty, of: header, maker)
        do throws(VaultError) {
            return try PINSlot.make(empty, under: made, factor: factor, wrapping: master, of: header)
        } catch {
            maker.discard(made.object)
            throw error
        }
    }
}

extension Header {
    /// Fits the slot of a PIN to the rules. The chip's limit cannot be changed: with another one the PIN goes.
    /// - Returns: Whether it went.
    mutating func fitPINSlot(
        _ master: borrowing SecretBytes, limit old: Int
    ) throws(VaultError) -> Bool {
        guard let slot = pinSlot else { return false }
        guard policy.attemptLimit == old else {
            slots.removeAll { $0.kind == .pin }
            return true
        }
        set(try PINSlot.rewrap(slot, master, of: self))
        return false
    }

    /// The first number that a slot beside passcode and phrase can have.
    var freeSlotID: UInt8? { (UInt8(3)...15).first { id in !slots.contains { $0.id == id } } }
}

extension VaultError {
    static let noPIN = VaultError(
        .noPIN, "this vault has no PIN")
}
