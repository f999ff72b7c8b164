package import Cryptography
package import DeviceOwner
internal import KeyStores
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

extension Vault {
    /// Whether a way in for the owner lies on the disk.
    package var keepsOwner: Bool {
        (try? HeaderFile.read(in: home).slots.contains { $0.kind == .deviceOwner }) ?? false
    }

    /// Puts a way in for the owner into the header, where it survives restarts. It proves presence and no more: both
    /// halves of its key are at hand for every program of the user, but for what the key store asks.
    ///
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - enrollment: What is enrolled now; nil where no finger is to count.
    /// - Throws: `hardwareUnavailable` without a TPM or an open keyring, because a file beside the header would protect
    ///   nothing at all; as ``changePasscode(from:spending:to:)``.
    package func keepOwner(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, enrollment: OwnerEnrollment?
    ) throws(VaultError) {
        let verified = try verifyForChange(passcode, spending: &attempt)
        guard let store = try? shareStores?.best(), store.kind != .file else {
            throw VaultError(.hardwareUnavailable, "neither a TPM nor an open keyring is there to keep a share")
        }
        var header = attempt.header.header
        try claim(&header, verified.standing, verified.keys.headerKeys)
        header.slots.removeAll { $0.kind == .deviceOwner }
        let secret = try Vault.newKey()
        let share = try Vault.newKey()
        let (owner, noteKey) = (header.owner, verified.keys.headerKeys.noteKey)
        let asked = Set(OwnerStep.allCases.filter(header.policy.asks))
        let item = try makeShare(
            share, in: store, under: .owner(asked.isEmpty ? Set(OwnerStep.allCases) : asked), for: owner,
            noting: HardwareNote.genuine(in: home, [noteKey]) ?? HardwareNote(), [noteKey])
        do throws(VaultError) {
            header.set(
                try header.ownerSlot(item, secret, enrollment, share, wrapping: verified.master))
            try replace(&attempt, with: header, noting: nil, verified.keys) { covered throws(VaultError) in
                try verified.keys.headerKeys.mac(covered)
            }
        } catch {
            sweepHardware(afterFailing: attempt.header, nil, of: owner, noteKey)
            throw error
        }
        // A way in that only our own process guards lowers the level.
        followFloor(attempt.header.header)
    }

    /// Takes the owner's way in off the disk. The vault gets new keys (``finishRekey(progress:)`` moves what is
    /// stored), so that what opened it before, with an old copy of the header, opens nothing that is written from now
    /// on. A PIN goes.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - phrase: The vault's words, typed for this change: without them they no longer open the vault.
    ///   - insisting: Whether the vault may lose its phrase. Otherwise nothing is changed without it.
    /// - Throws: `lastWayIn` for a vault with a phrase that is not given, without `insisting`, with nothing spent;
    ///   `wrongPhrase`; as ``changePasscode(from:spending:to:)``.
    package func dropKeptOwner(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt,
        phrase: consuming RecoveryPhrase? = nil, insisting: Bool = false
    ) throws(VaultError) {
        let present = attempt.header.header
        let isGiven = phrase.isThere
        guard isGiven || insisting || present.recoverySlot == nil || present.ownerSlots.isEmpty else {
            try? attempt.refund()
            throw VaultError(
                .lastWayIn,
                "this makes new keys, and the recovery phrase goes with the old ones unless it is entered too. Nothing was changed"
            )
        }
        let verified = try verifyForChange(passcode, spending: &attempt)
        guard !present.ownerSlots.isEmpty else { return }
        try renewKeys(passcode, verified, &attempt) { header, master throws(VaultError) in
            guard let phrase = phrase.take() else { return }
            _ = try unwrap(phrase, present)
            header.set(try Vault.recoverySlot(phrase, wrapping: master, header: header))
        }
        if !isGiven, present.recoverySlot != nil { log.append(.recoveryPhraseSet(isThere: false)) }
        forgetOwner()
    }

    /// Takes what lies on the disk for this process, where it has nothing better.
    package func loadKeptOwner() { loadKeptOwner(of: nil) }

    /// - Parameter header: Nil to read it.
    func loadKeptOwner(of header: Header?) {
        guard !ownerKeeper.isArmed, settings.shareStores != nil, !isCopy,
            let header = header ?? (try? HeaderFile.read(in: home)), let slot = header.ownerSlots.first,
            let data = try? OwnerSlotData(parsing: slot.kindData),
            let secret = try? secretMemory({ () throws(SecretMemoryError) in
                try unsafe SecretBytes(copying: data.secret.span.bytes, lifetime: .longLived)
            })
        else { return }
        ownerSlot.set(OwnerSlot(slot: slot, item: data.item, origin: .disk))
        ownerKeeper.arm(secret, asOnlyWay: header.passcodeSlot == nil)
        if !data.enrollment.isEmpty {
            ownerKeeper.note(OwnerEnrollment(data.enrollment.split(separator: "\n").map(String.init)))
        }
    }
}

extension Optional<RecoveryPhrase> {
    fileprivate var isThere: Bool {
        borrowing get {
            switch self {
            case .some: true
            case .none: false
            }
        }
    }
}
