internal import Cryptography
internal import KeyStores
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

// Two folders can have the same header: a vault and its backup. Which of them a chip's share belongs to is told by the
// wipe key in the folder, and any program of the user can exchange that one. So where the key is not the header's, no
// change is made that would leave a share alive, until the user, who knows what the folder is, has said so with the
// passcode.
extension Vault {
    /// The folder is the vault itself: its own wipe key, which the header has sealed, is put back in place of whatever
    /// lies there. From then on its changes take old shares out of the chip again, and the chip's generation follows
    /// it.
    ///
    /// Does nothing where the folder has its key.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``, `damaged` where the header has another home's key,
    ///   and what writing can throw.
    package func claimHardware(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        let verified = try verify(passcode, spending: &attempt)
        let header = attempt.header.header
        guard verified.standing != .own else { return }
        try WipeKeyFile.write(verified.keys.headerKeys.ownWipeKey(of: header), in: home)
        // What the chip was not told while another key lay here.
        try? followAnchor(header, ledger: attempt.ledgerSequence)
        sweepHardware(header, of: header.owner, verified.keys.headerKeys.noteKey)
        followDestruction(of: header.policy)
        note(Success(.confirmed, after: attempt.budgetBefore), verified.keys)
    }

    /// As ``claimHardware(passcode:spending:)``, with the strongest way that a vault without a passcode has.
    /// - Parameters:
    ///   - proof: It is used up.
    ///   - canAskOwner: Whether the device can ask its owner: then a change needs the owner's confirmation.
    /// - Throws: `proofTooWeak`, `proofExpired`, `locked`, `movedElsewhere`; `damaged` where the header has another
    ///   home's key; what writing can throw.
    package func claimHardware(proving proof: consuming Proof, canAskOwner: Bool) throws(VaultError) {
        guard let opening = gate.changeable else { throw .locked }
        let way = proof.way
        let master = try proof.redeem(for: opening, at: settings.clock.now())
        let locked = try LockedHeader(in: home)
        let header = locked.header
        let keys = try HeaderKeys(master: master, vault: header.vault)
        guard keys.authenticates(header) else { throw .movedElsewhere }
        guard RequiredProof(RequiredProof.Facts(header, canAskOwner: canAskOwner)).ways.contains(way) else {
            throw .proofTooWeak
        }
        guard standing(of: header, [keys.noteKey]) != .own else { return }
        try WipeKeyFile.write(keys.ownWipeKey(of: header), in: home)
        try? followAnchor(header, ledger: 0)
        sweepHardware(header, of: header.owner, keys.noteKey)
        followDestruction(of: header.policy)
        note(Success(.confirmed, after: budget(header)), opening.keys)
    }

    /// What was taken out of a copy whose hardware was left to the folder that it is a copy of.
    public struct LeftHardware: Sendable, Hashable {
        /// The PIN, whose share is the other folder's.
        package let pinWasRemoved: Bool
        /// The kept way in for the owner's finger or device passcode.
        package let ownerWasRemoved: Bool
    }

    /// The folder is a copy: it gets a wipe key, shares and a generation of its own. What hardware holds for the vault
    /// that it was copied from stays as it is, and is named here no more: the passcode's share is made anew where it
    /// has one; a PIN and a kept way in for the owner go.
    ///
    /// If the other folder no longer exists, those shares stay in the chip: an older header still opens with the
    /// passcode or PIN of its time, on this machine.
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``, `hardwareUnavailable`, and what writing can throw.
    package func leaveHardware(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) -> LeftHardware {
        let verified = try verify(passcode, spending: &attempt)
        let old = attempt.header.header
        var header = old
        header.slots.removeAll { $0.kind == .pin || $0.kind == .deviceOwner || $0.kind == .device }
        let left = LeftHardware(
            pinWasRemoved: old.pinSlot != nil, ownerWasRemoved: old.slots.contains { $0.kind == .deviceOwner })
        let costs = try newCosts(header)
        let tier = try tier(of: header.passcodeSlot)
        let before = WipeKeyFile.owner(in: home, vault: header.vault)
        try header.belong(to: WipeKeyFile.make(in: home, vault: header.vault), verified.keys.headerKeys)
        if header.policy.selfDestruct { try? forgetDestruction(of: before) }
        if let tier {
            let maker = shareMaker(tier, header, verified.keys)
            header.set(
                try Vault.passcodeSlot(passcode, costs: costs, wrapping: verified.master, header: header, maker))
        }
        let event: SecurityEvent =
            tier != nil ? .passcodeChanged : left.pinWasRemoved ? .pinSet(isThere: false) : .confirmed
        try replace(&attempt, with: header, noting: event, verified.keys) { covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
        followDestruction(of: header.policy)
        if tier != nil, left.pinWasRemoved { log.append(.pinSet(isThere: false)) }
        if left.ownerWasRemoved { forgetOwner() }
        return left
    }

    /// Makes a header that the phrase recovers this home's. The key in a header whose MAC is wrong counts where it is
    /// that of the home which the header names; else the home gets another one.
    /// - Throws: `hardwareUnclaimed`, with nothing written; what writing can throw.
    func settle(
        _ header: inout Header, _ standing: HomeStanding, _ decision: HardwareDecision?, _ keys: borrowing HeaderKeys
    ) throws(VaultError) {
        if standing == .unsettled, decision == nil { throw .hardwareUnclaimed }
        let isOwn = decision == nil ? standing == .own : decision == .claim
        guard isOwn, keys.vouchesForHome(of: header) else {
            return try header.belong(to: WipeKeyFile.make(in: home, vault: header.vault), keys)
        }
        if standing != .own { try WipeKeyFile.write(keys.ownWipeKey(of: header), in: home) }
    }
}

/// Whether a folder is the home that its header was written for: a pure decision, made once for each change from one
/// look at the disk. A key that is planted after that look changes nothing about the change.
enum HomeStanding: Sendable, Hashable {
    /// The header's wipe key lies here: what hardware holds for the header is this home's to let go of.
    case own
    /// Another key lies here, or none, and nothing in hardware hangs on that: a backup, for example. It becomes a home
    /// of its own with its next change.
    case copy
    /// Another key lies here, or none, and the header names things in hardware. A backup looks like this, and so does
    /// the vault itself once a program has exchanged its key. Only the user knows which it is.
    case unsettled

    /// - Parameters:
    ///   - header: What the header says the home is (``Header/home``).
    ///   - stored: What the stored wipe key comes to; nil where there is none that can be read.
    ///   - namesHardware: Whether the header, or a note of this vault, names anything in hardware.
    init(header: [UInt8], stored: [UInt8]?, namesHardware: Bool) {
        if let stored, stored == header {
            self = .own
        } else {
            self = namesHardware ? .unsettled : .copy
        }
    }
}

/// What the user says of a folder whose header names things in a chip or key store that the folder is not known to own.
public enum HardwareDecision: Sendable, Hashable {
    /// The folder is the vault itself, and its own key is put back.
    case claim
    /// The folder is a copy. It gets a key of its own, and leaves those things to the vault that it was copied from.
    case leave
}
