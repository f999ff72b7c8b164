internal import Cryptography
package import DeviceOwner
internal import KeyStores
internal import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

// Changes of what opens a vault, in the order of ``LevelMove``. Each makes new keys of every kind, so that what opened
// the vault before, kept or planted, opens nothing that is written from now on.
extension Vault {
    /// Nobody as a proof: the vault opens without asking, and so does this. Where the device can ask its owner, its
    /// caller does.
    /// - Throws: `locked`, `keysChanged`; as ``openByDevice(accepting:)``.
    package func proveNobody() throws(VaultError) -> Proof { try proveByDevice(.nobody) }

    /// The device's owner as a proof at ``VaultLevel/device``, where no slot is the owner's: a share that opens nothing
    /// is put under the owner's rule, and the release gets it back.
    /// - Parameters:
    ///   - release: Of the owner who was asked for this change.
    ///   - steps: The ways in which the owner may have been confirmed.
    ///   - hardware: What the user said of a folder whose own key is missing or another one.
    /// - Throws: As ``proveNobody()``; `notConfirmed` for a release that gets nothing back; `hardwareUnclaimed`.
    package func proveOwner(
        atDevice release: consuming OwnerRelease, after steps: Set<OwnerStep>, hardware: HardwareDecision? = nil
    ) throws(VaultError) -> Proof {
        let proof = try proveByDevice(.owner)
        try redeemScratch(release, steps, hardware)
        return proof
    }

    private func proveByDevice(_ way: Proof.Way) throws(VaultError) -> Proof {
        guard let opening = gate.changeable else { throw .locked }
        let header = try HeaderFile.read(in: home)
        guard opening.keys.headerKeys.authenticates(header) else { throw .movedElsewhere }
        return Proof(way, opening, at: settings.clock.now(), master: try unwrapDevice(header))
    }

    /// The share is noted as one that no header names: whoever ends this process leaves it to the next start.
    private func redeemScratch(
        _ release: borrowing OwnerRelease, _ steps: Set<OwnerStep>, _ hardware: HardwareDecision?
    ) throws(VaultError) {
        guard let opening = gate.changeable else { throw .locked }
        let locked = try LockedHeader(in: home)
        let header = locked.header
        guard opening.keys.headerKeys.authenticates(header) else { throw .movedElsewhere }
        let noteKey = opening.keys.headerKeys.noteKey
        // What is left of it in a folder whose key is not its own goes once its user's decision has given it one.
        guard hardware != nil || standing(of: header, [noteKey]) == .own else { throw .hardwareUnclaimed }
        let home = home
        defer { sweepHardware(header, of: header.owner, noteKey) }
        try shares { stores throws(ShareFailure) in
            try stores.best().check(release, after: steps, of: header.owner) { item throws(ShareFailure) in
                do throws(VaultError) {
                    var note = HardwareNote()
                    note.owed = [item]
                    try HardwareNote.add(note, in: home, [noteKey])
                } catch { throw .failed(KeyStoreError(.failure, error.reason)) }
            }
        }
    }

    /// The owner as a proof: the release redeems a share that unwraps the master key.
    /// - Throws: `locked`, `movedElsewhere`, `passcodeNeeded`, `shareUnavailable`, `shareLost`.
    package func prove(_ release: consuming OwnerRelease) throws(VaultError) -> Proof {
        guard let opening = gate.changeable else { throw .locked }
        let header = try HeaderFile.read(in: home)
        guard opening.keys.headerKeys.authenticates(header) else { throw .movedElsewhere }
        let master = try unwrapOwner(release, header)
        return Proof(.owner, opening, at: settings.clock.now(), master: master)
    }

    /// Makes the vault open as is wished, and in no other way. It stays open meanwhile; what is stored moves to the new
    /// keys in ``finishRekey(progress:)``. A vault that was kept for this change alone (`levelContradicted`) is locked
    /// afterwards.
    ///
    /// An error changes nothing: shares that were made are revoked, now or at the next start. Once the header is
    /// written nothing is thrown any more; what is left then is done at the next start.
    /// - Throws: `proofTooWeak`, `proofExpired`, `stillMoving`, `movedElsewhere`, `invalidPolicy`, `shareUnavailable`,
    ///   `notConfirmed`, `invalidPasscode`, `hardwareUnclaimed`, and what writing can throw.
    package func change(to wish: consuming LevelTarget, proving proof: consuming Proof) throws(VaultError) {
        guard !settings.opensOnly else {
            throw VaultError(.proofTooWeak, "the app itself changes how the vault opens, not its extension")
        }
        adoptOpenItems()
        guard let opening = gate.changeable else { throw .locked }
        guard opening.keys.epochs.count == 1 else { throw .stillMoving(moving.current) }
        let way = proof.way
        let master = try proof.redeem(for: opening, at: settings.clock.now())
        var move = try PendingLevelMove(self, opening, master, wish.hardware)
        try move.check(way, wish)
        try move.fill(wish)
        try move.finish()
        forgetOwner()
        loadKeptOwner()
    }
}

/// A change under way: the header's lock is held, nothing is written yet.
private struct PendingLevelMove: ~Copyable {
    let vault: Vault
    let opening: UnlockedVault
    var locked: LockedHeader
    let before: HeaderKeys
    let standing: HomeStanding
    let master: SecretBytes
    let after: HeaderKeys
    var header: Header
    private var note: HardwareNote

    init(
        _ vault: Vault, _ opening: UnlockedVault, _ old: borrowing SecretBytes, _ decision: HardwareDecision?
    ) throws(VaultError) {
        let locked = try LockedHeader(in: vault.home)
        let present = locked.header
        let before = try HeaderKeys(master: old, vault: present.vault)
        guard before.authenticates(present) else { throw .movedElsewhere }
        let standing = vault.standing(of: present, [before.noteKey])
        guard standing != .unsettled || decision != nil else { throw .hardwareUnclaimed }
        if standing == .own { vault.sweepHardware(present, of: present.owner, before.noteKey) }
        let master = try Vault.newKey()
        let after = try HeaderKeys(master: master, vault: present.vault)
        var header = present
        header.epoch = present.epoch + 1
        header.slots = []
        let keys = try Keybag(opened: before.openKeybag(of: present))
        guard keys.epochs.count == 1 else { throw .stillMoving(vault.moving.current) }
        let keybag = try Keybag(epoch: header.epoch, keeping: keys)
        header.sealedKeybag = try keybag.sealed(by: after, vault: present.vault, epoch: header.epoch)
        switch (standing, decision) {
        case (.unsettled, .claim):
            let own = try before.ownWipeKey(of: present)
            try WipeKeyFile.write(own, in: vault.home)
            try header.belong(to: own, after)
        case (.unsettled, _): try header.belong(to: WipeKeyFile.make(in: vault.home, vault: present.vault), after)
        case (.own, _), (.copy, _): try vault.claim(&header, standing, opening: before, after)
        }
        var note = try HardwareNote.genuine(in: vault.home, [before.noteKey]) ?? HardwareNote()
        // What a copy's header names is the vault's that it was copied from.
        if present.home == header.home {
            note.add(HardwareNote(of: present))
            note.leaving = present.shareItems
        }
        self.vault = vault
        self.opening = opening
        self.locked = locked
        self.before = before
        self.standing = standing
        self.master = master
        self.after = after
        self.header = header
        self.note = note
    }

    private var noteKeys: [NoteKey] { [before.noteKey, after.noteKey] }

    func check(_ way: Proof.Way, _ wish: borrowing LevelTarget) throws(VaultError) {
        let facts = RequiredProof.Facts(locked.header, canAskOwner: wish.canAskOwner)
        guard RequiredProof(facts).ways.contains(way) else {
            throw .proofTooWeak
        }
    }

    /// Rules and slots. New shares are noted, made, and read back.
    mutating func fill(_ wish: consuming LevelTarget) throws(VaultError) {
        let old = locked.header
        let steps = wish.owner.stepsOrNone
        header.policy = old.policy.at(wish.level, owner: steps)
        if let obstacle = header.policy.obstacle(at: wish.level) { throw VaultError(.invalidPolicy, obstacle) }
        header.flags.remove(.generationAnchored)
        if old.level != wish.level { note.move = PendingNote.Move(from: old.level, to: wish.level) }
        if let phrase = wish.phrase.take() {
            header.set(try Vault.recoverySlot(phrase, wrapping: master, header: header))
        }
        if let passcode = wish.passcode.take() {
            try Vault.check(passcode: passcode)
            let costs = try vault.newCosts(old)
            header.set(try Vault.passcodeSlot(passcode, costs: costs, wrapping: master, header: header, nil))
        }
        do throws(VaultError) {
            try note.write(in: vault.home, noteKeys)
            if wish.level == .device { try addDevice(wish.sharing) }
            if let owner = wish.owner.take() { try addOwner(owner) }
            guard header.level == wish.level, !header.slots.isEmpty else {
                throw VaultError(.invalidPolicy, "what was asked for does not make this level; nothing was changed")
            }
        } catch {
            undo()
            throw error
        }
    }

    private mutating func addDevice(_ sharing: ShareAvailability) throws(VaultError) {
        let share = try Vault.newKey()
        let item = try make(share, .nobodyAsked(sharing))
        let nothing = try SecretBytes.zeros()
        header.set(try header.deviceSlot(item, nothing, share, wrapping: master))
    }

    private mutating func addOwner(_ owner: consuming LevelTarget.Owner) throws(VaultError) {
        let share = try Vault.newKey()
        let item = try make(share, .owner(owner.steps))
        // Who was confirmed a moment ago gets it back, or it opens nothing later either.
        let release = owner.release
        let isBack = try vault.shares { stores throws(ShareFailure) in
            guard let store = stores.store(of: item.store) else { throw .unavailable(.absent(item.store, "")) }
            return try store.read(item, of: header.vault, after: release).isEqual(to: share)
        }
        guard isBack else { throw VaultError(.shareUnavailable, "the key store did not give the new share back") }
        header.set(try header.ownerSlot(item, release.secret, owner.enrollment, share, wrapping: master))
    }

    private mutating func make(
        _ share: borrowing SecretBytes, _ rule: ShareRule
    ) throws(VaultError) -> ShareItem {
        let store = try vault.shares { stores throws(ShareFailure) in try stores.best() }
        let item = try vault.makeShare(share, in: store, under: rule, for: header.owner, noting: note, noteKeys)
        note.coming = [item]
        return item
    }

    /// Nothing has changed: what was made goes.
    private func undo() {
        vault.sweepHardware(afterFailing: locked, nil, of: header.owner, before.noteKey)
    }

    /// The one write, and what follows from it.
    mutating func finish() throws(VaultError) {
        let old = locked.header
        let floor = LevelFloor(header.vault, header.level)
        let after = try after.copy()
        let next = header
        // All that can fail for want of memory, of a file or of a right key does so now.
        let opened: UnlockedVault
        do throws(VaultError) { opened = try UnlockedVault(nextKeys(), in: vault.home) } catch {
            undo()
            throw error
        }
        do throws(VaultError) {
            if next.level < old.level { try vault.writeFloor(floor) }
            try locked.replace(next) { covered throws(VaultError) in try after.mac(covered) }
            try locked.readBack()
        } catch {
            if locked.header.generation == old.generation {
                if next.level < old.level { try? vault.writeFloor(old.present) }
                undo()
                throw error
            }
            // The new header is there, with a copy that is not: the change is made.
        }
        settle(opened, from: old, floor)
    }

    /// The keys of the header that is about to be written.
    private func nextKeys() throws(VaultError) -> UnlockedKeys {
        var next = header
        next.generation = locked.header.generation + 1
        return try UnlockedKeys(
            header: next, headerKeys: after.copy(), keybag: Keybag(opened: after.openKeybag(of: next)),
            admission: Admission(
                opening.keys.admission.assurance, policy: next.policy.collectionMinima, settings: vault.settings.minima)
        )
    }

    /// After the one write: nothing of it can fail the change.
    private mutating func settle(_ opened: UnlockedVault, from old: Header, _ floor: LevelFloor) {
        let level = header.level
        vault.note(Vault.Success(.rekeyed(epoch: header.epoch), after: vault.budget(locked.header)), opened.keys)
        vault.sweepHardware(locked.header, of: header.owner, after.noteKey) {
            if level > old.level { try? vault.writeFloor(floor) }
        }
        if header.passcodeSlot != nil || old.passcodeSlot != nil {
            try? AttemptLedger.reset(in: vault.home, header: locked.header, clock: vault.settings.clock)
        }
        vault.gate.replace(opening, with: opened)
        // An old log that is put back later is not taken for one that has yet to go over to the new key.
        if vault.gate.current === opened { vault.tidyLogKeys(&locked) }
        vault.beginRekey()
    }
}

extension Optional<LevelTarget.Owner> {
    fileprivate var stepsOrNone: Set<OwnerStep> {
        borrowing get {
            switch self {
            case .some(let owner): owner.steps
            case .none: []
            }
        }
    }
}

extension VaultError {
    static func stillMoving(_ moving: Protection.Moving?) -> VaultError {
        let how = moving.map { " (\($0.percent) % are there)" } ?? ""
        return VaultError(
            .stillMoving, "entries still move to the keys of the change before\(how); nothing was changed")
    }

    package static let proofTooWeak = VaultError(
        .proofTooWeak, "this change wants a stronger proof; nothing was changed")
    static let movedElsewhere = VaultError(
        .movedElsewhere, "another process changed what opens this vault; nothing was changed")
}
