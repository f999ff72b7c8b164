internal import Cryptography
internal import KeyStores
internal import SecretMemory
internal import VaultFolders
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
internal import VaultStorage

// Shares that can be revoked: in the best key store of this device, under names that are never used twice.
extension Vault {
    var shareStores: ShareStores? { settings.shareStores?(home.path) }

    /// The master key, with the share that nobody is asked for.
    /// - Throws: `shareUnavailable`, `shareLost`, `damaged`; `passcodeNeeded` where there is no such slot.
    func unwrapDevice(_ header: Header) throws(VaultError) -> SecretBytes {
        guard let slot = header.deviceSlot, let item = slot.shareItem else {
            throw VaultError(.passcodeNeeded, "this vault does not open without asking")
        }
        guard !isCopy else { throw .copyHasNoShare }
        let share = try shares { stores throws(ShareFailure) in
            guard let store = stores.store(of: item.store) else { throw .unavailable(.absent(item.store, "")) }
            return try store.read(item, of: header.vault)
        }
        return try unwrap(slot, factor: SecretBytes.zeros(), share: share, header)
    }

    /// A slot whose share was read: what does not fit it is not the share that was put there.
    func unwrap(
        _ slot: Slot, factor: borrowing SecretBytes, share: borrowing SecretBytes, _ header: Header
    ) throws(VaultError) -> SecretBytes {
        let key = try SlotKey(factor: factor, slot: slot, share: share)
        guard key.matches(slot) else { throw VaultError(ShareFailure.lost(.replaced)) }
        return try key.unwrap(slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    /// Asks the key stores.
    /// - Throws: `shareUnavailable` where this process may use none.
    func shares<R: ~Copyable>(_ body: (ShareStores) throws(ShareFailure) -> R) throws(VaultError) -> R {
        guard let stores = shareStores else {
            throw VaultError(.shareUnavailable, "this program may use no key store")
        }
        do throws(ShareFailure) { return try body(stores) } catch { throw VaultError(error) }
    }

    /// Makes a share for a header that is about to be written: noted before the store has anything of it.
    /// - Parameters:
    ///   - note: What is noted beside it.
    ///   - keys: Of the master keys that the header before and the one after are under.
    func makeShare(
        _ share: borrowing SecretBytes, in store: any ShareStore, under rule: ShareRule, for owner: HardwareOwner,
        noting note: HardwareNote, _ keys: [NoteKey]
    ) throws(VaultError) -> ShareItem {
        do throws(ShareFailure) {
            return try store.make(share, as: .fresh(for: owner), under: rule) { item throws(ShareFailure) in
                var noted = note
                noted.coming = [item]
                do throws(VaultError) { try noted.write(in: home, keys) } catch {
                    throw .failed(KeyStoreError(.failure, error.reason))
                }
            }
        } catch { throw VaultError(error) }
    }

    /// Whether this is a backup, or was restored from one and not opened since with a secret: then the shares that its
    /// header names are those of the vault that it was copied from.
    /// - Parameter header: Of the home; without shares there is nothing to tell apart.
    func isCopy(_ header: Header) -> Bool { !header.shareItems.isEmpty && isCopy }

    var isCopy: Bool {
        switch log.stateKind {
        case .backup, .restored: true
        case .live, nil: home.exists(BackupManifest.fileName)
        }
    }
}

extension Vault {
    /// A restored home was opened with a secret for the first time: the shares that its header names are the
    /// original's, and nothing of it opens with them any more. They stay where they are. Not in a backup itself, whose
    /// files must stay as its manifest says; it stays a copy.
    func dropCopiedShares(_ locked: inout LockedHeader) {
        guard !home.exists(BackupManifest.fileName), let vault = try? gate.enter() else { return }
        defer { gate.leave() }
        let keys = vault.keys
        var header = locked.header
        // What a chip keeps for the original is for the user to decide about first.
        guard HardwareNote(of: header).isEmpty else { return }
        do throws(VaultError) {
            try header.belong(to: WipeKeyFile.make(in: home, vault: header.vault), keys.headerKeys)
            // The passcode's slot is bound to the rules, and its next change fits them.
            if header.passcodeSlot == nil { header.policy = header.policy.at(header.level, owner: []) }
            try locked.replace(header) { covered throws(VaultError) in try keys.headerKeys.mac(covered) }
            let next = try UnlockedKeys(
                header: locked.header, headerKeys: keys.headerKeys.copy(),
                keybag: Keybag(opened: keys.headerKeys.openKeybag(of: locked.header)), admission: keys.admission)
            gate.replace(vault, with: try UnlockedVault(next, in: home))
        } catch {}
    }
}

extension VaultError {
    static let copyHasNoShare = VaultError(
        .shareLost, "this is a copy of a vault: the share in the key store is the original's, and opens nothing here")

    /// A share that is gone is never damage, and one that cannot be had now is never lost.
    init(_ failure: ShareFailure) {
        switch failure {
        case .lost: self.init(.shareLost, failure.reason)
        case .unavailable(let obstacle):
            self.init(.shareUnavailable, failure.reason)
            until = ShareWait(obstacle)
        case .damaged: self = .damaged(failure.reason)
        case .notConfirmed: self.init(VaultError.Code(.notConfirmed), failure.reason)
        case .nameTaken: self.init(.hardwareUnavailable, failure.reason)
        case .failed(let error): self.init(error)
        }
    }
}

extension ShareWait {
    init(_ obstacle: ShareObstacle) {
        self =
            switch obstacle {
            case .locked: .unlocked
            case .otherBackend(let kept, let found): .otherKeyring(kept: kept, found: found)
            case .busy: .free
            case .absent: .present
            case .full: .room
            case .ownedByAnother: .permitted
            case .noDevicePasscode: .devicePasscode
            }
    }
}

extension SecretBytes {
    /// What a slot of kind 5 has in the place of a secret.
    static func zeros() throws(VaultError) -> SecretBytes {
        try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: 32) }
    }

    borrowing func copied() throws(VaultError) -> SecretBytes {
        try secretMemory { () throws(SecretMemoryError) in try copy(lifetime: .longLived) }
    }
}

extension Vault {
    /// Recovery of a vault that opens without asking, whether its share is lost or not: whoever gives it a passcode
    /// wants to be asked. It gets new keys, and the device's slot goes; a slot whose share is lost would stop every
    /// start.
    /// - Returns: Nil for another vault, and for one whose header was changed by something else: the other way mends
    ///   that.
    /// - Throws: As ``recover(phrase:newPasscode:hardware:)``; the vault is locked then.
    func recoverAtDevice(
        _ phrase: borrowing RecoveryPhrase, _ newPasscode: borrowing SecretBytes, _ hardware: HardwareDecision?
    ) throws(VaultError) -> Recovery? {
        guard !settings.opensOnly, try HeaderFile.read(in: home).deviceSlot != nil else { return nil }
        let proof: Proof
        do throws(VaultError) { proof = try unlockProving(phrase: phrase) } catch {
            if error.code == .damaged { return nil }
            throw error
        }
        do throws(VaultError) {
            // A copy that was restored has let go of its slot with this unlock.
            let header = try HeaderFile.read(in: home)
            guard header.deviceSlot != nil else { return nil }
            try finishRekey()
            var wish = LevelTarget(.secret)
            wish.passcode = try newPasscode.copied()
            wish.phrase = try phrase.copied()
            wish.hardware = hardware
            try change(to: wish, proving: proof)
            return Recovery(
                headerWasAltered: false, hardwareWasDropped: false, pinWasRemoved: header.pinSlot != nil, asksNow: true)
        } catch {
            lock()
            throw error
        }
    }
}

extension RecoveryPhrase {
    fileprivate borrowing func copied() throws(VaultError) -> RecoveryPhrase {
        let text = try withText { text throws(VaultError) in
            try secretMemory(SecretBytes(copying: text))
        }
        do throws(RecoveryPhraseError) { return try RecoveryPhrase(parsing: text) } catch {
            throw VaultError(.malformedPhrase, "\(error)")
        }
    }
}
