package import Cryptography
package import KeyStores
package import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultStorage

extension Vault {
    /// Puts the passcode under the machine's TPM: it holds a share without which the passcode opens nothing, and counts
    /// wrong ones itself. A copy of the vault can then not be searched elsewhere, and the limit of the rules is final,
    /// with self-destruct on or off; only the recovery phrase opens the vault behind it.
    ///
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - phrase: The vault's phrase: a user who no longer has it must not give up the other unlock method.
    /// - Throws: `wrongPhrase`, `noRecoveryPhrase`, `hardwareUnavailable`, with nothing changed; as
    ///   ``changePasscode(from:spending:to:)``.
    package func enrollHardware(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt,
        phrase: borrowing RecoveryPhrase
    ) throws(VaultError) {
        let tier = try tier(for: &attempt)
        let verified = try verifyForChange(passcode, spending: &attempt)
        _ = try unwrap(phrase, attempt.header.header)
        try enroll(passcode, verified, &attempt, tier)
    }

    /// As ``enrollHardware(passcode:spending:phrase:)``, for a user who does not prove to have the phrase, or whose
    /// vault has none: if the chip or its last attempt is lost, everything in the vault may be lost.
    ///
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - insisting: Whether the user wants just that. Otherwise nothing is changed.
    /// - Throws: `lastWayIn` without `insisting`, with nothing spent; as the other.
    package func enrollHardware(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, insisting: Bool
    ) throws(VaultError) {
        guard insisting else {
            try attempt.refund()
            throw VaultError(
                .lastWayIn,
                "the vault has no recovery phrase: if the chip broke, the vault would be lost. Nothing was changed")
        }
        let tier = try tier(for: &attempt)
        let verified = try verifyForChange(passcode, spending: &attempt)
        try enroll(passcode, verified, &attempt, tier)
    }

    /// Asks the chip for something that changes nothing, before a user types anything for it.
    /// - Throws: `hardwareUnavailable`.
    package func requireChip() throws(VaultError) {
        guard settings.tier != nil else {
            throw VaultError(.hardwareUnavailable, "this machine has no chip that counts attempts (a TPM)")
        }
        guard let anchor = settings.anchor else { return }
        let owner = try HeaderFile.read(in: home).owner
        _ = try keyStore { () throws(KeyStoreError) in try anchor.state(of: owner) }
    }

    /// Whether this program has access to a chip; whether it responds is not checked.
    package var hasChip: Bool { settings.tier != nil }

    /// Whether a chip or key store still holds what no header names any more, because it could not be asked.
    package var owesHardware: Bool { HardwareNote.read(in: home) != nil }

    /// Whether a note of what lies in hardware was put aside, because this vault had not written it.
    package var refusedNote: Bool { home.exists(HardwareNote.refused) }

    /// How many wrong secrets the chip still takes for a slot, by its own count, which only a right one sets back; 0
    /// for one that it gives nothing for any more. Nil for a slot without a share, and if unknown.
    package func remainingAtChip(_ kind: SlotKind) -> Int? {
        guard let tier = settings.tier, let header = try? HeaderFile.read(in: home),
            let object = header.slots.first(where: { $0.kind == kind })?.hardwareObject
        else { return nil }
        do throws(KeyStoreError) { return try tier.remaining(object, of: header.vault) } catch { return nil }
    }

    /// The hardware that is there; without any the attempt is given back.
    func tier(for attempt: inout BurnedAttempt) throws(VaultError) -> any AttemptTier {
        if let tier = settings.tier { return tier }
        try attempt.refund()
        throw VaultError(.hardwareUnavailable, "this machine has no chip that counts attempts (a TPM)")
    }

    private func enroll(
        _ passcode: borrowing SecretBytes, _ verified: borrowing Verified, _ attempt: inout BurnedAttempt,
        _ tier: any AttemptTier
    ) throws(VaultError) {
        // No tag of a wrong passcode may lie in the ledger any more.
        if let unsettled = verified.unsettled { throw unsettled }
        var header = attempt.header.header
        try claim(&header, verified.standing, verified.keys.headerKeys)
        do throws(VaultError) {
            try rewrap(passcode, verified, header, &attempt, tier: tier)
        } catch {
            sweepHardware(
                afterFailing: attempt.header, nil, of: header.owner, verified.keys.headerKeys.noteKey)
            throw error
        }
    }

    /// Removes the passcode from the TPM: from then on it opens the vault without the TPM, on any machine.
    /// - Throws: As ``changePasscode(from:spending:to:)``.
    package func removeHardware(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        let verified = try verifyForChange(passcode, spending: &attempt)
        var header = attempt.header.header
        guard header.passcodeSlot?.flags.contains(.hardwareShare) == true else { return }
        try claim(&header, verified.standing, verified.keys.headerKeys)
        try rewrap(passcode, verified, header, &attempt, tier: nil)
    }

    /// - Parameter claimed: The header as it is, made this home's.
    private func rewrap(
        _ passcode: borrowing SecretBytes, _ verified: borrowing Verified, _ claimed: Header,
        _ attempt: inout BurnedAttempt, tier: (any AttemptTier)?
    ) throws(VaultError) {
        var header = claimed
        let costs = try newCosts(header)
        if tier == nil {
            header.flags.remove(.generationAnchored)
        } else if settings.anchor != nil, !header.flags.contains(.generationAnchored) {
            // The chip holds the generation, too: an old home that is put back is noticed.
            header.flags.insert(.generationAnchored)
            try holdAnchor(of: header, after: attempt, noting: [verified.keys.headerKeys.noteKey])
        }
        let maker = tier.map { shareMaker($0, header, verified.keys) }
        header.set(
            try Vault.passcodeSlot(passcode, costs: costs, wrapping: verified.master, header: header, maker))
        try replace(&attempt, with: header, noting: .passcodeChanged, verified.keys) { covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
    }

    /// The hardware that a new passcode slot goes under: none where the present one is under none.
    func tier(of slot: Slot?) throws(VaultError) -> (any AttemptTier)? {
        guard let slot, slot.flags.contains(.hardwareShare) else { return nil }
        guard let tier = settings.tier else { throw .noTier(.passcode) }
        return tier
    }

    /// Makes shares for a header that was claimed for this home.
    /// - Parameters:
    ///   - keys: Of the header that is there.
    ///   - newKey: Of the new header, where it is under another master key.
    func shareMaker(
        _ tier: any AttemptTier, _ header: Header, _ keys: UnlockedKeys, newKey: NoteKey? = nil
    ) -> ShareMaker {
        ShareMaker(
            tier: tier, home: home, owner: header.owner,
            noteKeys: [keys.headerKeys.noteKey] + (newKey.map { [$0] } ?? []))
    }
}

extension VaultError {
    /// A key store's failure is never a wrong secret.
    package init(_ error: KeyStoreError) {
        switch error.code.kind {
        case .outOfMemory: self.init(.outOfMemory, error.reason)
        case .hardLinked: self.init(.hardLinked, error.reason)
        case .damaged: self = .damaged(error.reason)
        case .unexpected: self.init(.unexpected, error.reason)
        case .unavailable, .busy, .lockedOut, .unanswered, .wrongSecret, .foreign, .notFound, .unsupported,
            .ownedByAnother, .cancelled, .failure:
            self.init(.hardwareUnavailable, error.reason)
        }
    }
}

/// A key store's failure is never a wrong passcode, and nothing was counted for it.
func keyStore<R: ~Copyable>(_ body: () throws(KeyStoreError) -> R) throws(VaultError) -> R {
    do throws(KeyStoreError) {
        return try body()
    } catch {
        throw VaultError(error)
    }
}
