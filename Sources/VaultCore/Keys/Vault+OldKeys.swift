internal import VaultFolders
internal import VaultFormat
internal import VaultHeader
internal import VaultLog
package import VaultStorage

/// Epochs before the present one whose keys are still needed when no record is under them any more.
struct KeysInUse {
    /// Of the security log's segments.
    let log: Set<UInt32>
    /// Of the identity's device keys.
    let identity: Set<UInt32>
}

// What a rekey leaves for a while: a log key until its segment has rotated away, an identity key until the device's
// keys were made anew. Each is forgotten by a write of the header.
extension Vault {
    /// Writes the header with a keybag that has forgotten what nothing is under.
    /// - Returns: The keys that are left.
    func forget(
        in locked: inout LockedHeader, _ all: borrowing Keybag, _ keys: UnlockedKeys, but needed: KeysInUse
    ) throws(VaultError) -> UnlockedKeys {
        let epoch = locked.header.epoch
        let keybag = try Keybag(of: all) { entry in
            switch entry.kind {
            case .logReached: false
            case _ where entry.epoch == epoch: true
            case .log: needed.log.contains(entry.epoch)
            case .identity: needed.identity.contains(entry.epoch)
            case .records, .names, .files, .inbox: false
            }
        }
        return try write(keybag, in: &locked, keys)
    }

    /// Notes in the keybag that the log is under the newest key, so that an older log which is put back later is not
    /// taken for one that has yet to come to it.
    /// - Parameter keys: Of the header that is there.
    /// - Returns: The keys with that note.
    func noteLogReached(
        in locked: inout LockedHeader, _ keys: UnlockedKeys
    ) throws(VaultError) -> UnlockedKeys {
        try log.switchToNewKeys(logBegin(keys, refused: 0, unsettled: 0))
        let keybag = try Keybag(adding: .logReached, epoch: keys.current.epoch, to: keys.keybag)
        return try write(keybag, in: &locked, keys)
    }

    /// Writes the header with another keybag under the same master key.
    private func write(
        _ keybag: consuming Keybag, in locked: inout LockedHeader, _ keys: UnlockedKeys
    ) throws(VaultError) -> UnlockedKeys {
        var header = locked.header
        let standing = standing(of: header, [keys.headerKeys.noteKey])
        // Its generation would run away from the one that the chip holds for it: so it does where the chip does not
        // know of the present one.
        guard standing != .unsettled else { throw .hardwareUnclaimed }
        if standing == .own { try followAnchor(header, ledger: 0) }
        header.sealedKeybag = try keybag.sealed(by: keys.headerKeys, vault: header.vault, epoch: header.epoch)
        try locked.replace(header) { covered throws(VaultError) in try keys.headerKeys.mac(covered) }
        if standing == .own { try? followAnchor(locked.header, ledger: 0) }
        return try UnlockedKeys(
            header: locked.header, headerKeys: keys.headerKeys.copy(), keybag: keybag, admission: keys.admission)
    }

    /// After an unlock: forgets log keys whose segment has rotated away, and completes a rekey that was cut off before
    /// it noted that the log has gone over. What cannot be done now is done at the next unlock. Not in a backup:
    /// opening it must leave what its manifest says, and its log begins anew with the first unlock.
    func tidyLogKeys(_ locked: inout LockedHeader) {
        guard !home.exists(BackupManifest.fileName), let vault = try? gate.enter() else { return }
        defer { gate.leave() }
        let keys = vault.keys
        do throws(VaultError) {
            guard let tidied = try tidied(&locked, keys) else { return }
            gate.replace(vault, with: try UnlockedVault(tidied, in: home))
        } catch {}
    }

    /// As ``tidyLogKeys(_:)-(LockedHeader)``, for an unlock that does not hold the header: it takes it where there is
    /// something to do, and waits for nobody.
    func tidyLogKeys(_ keys: UnlockedKeys) {
        let mayForget = keys.epochs.count == 1 && keys.keybag.logEpochs.count > 1
        guard keys.keybag.mayLogBeOlder || mayForget, var locked = try? LockedHeader(in: home, patience: 0),
            keys.headerKeys.authenticates(locked.header), locked.header.generation == keys.generation
        else { return }
        tidyLogKeys(&locked)
    }

    /// - Returns: Nil where there is nothing to do.
    private func tidied(_ locked: inout LockedHeader, _ keys: UnlockedKeys) throws(VaultError) -> UnlockedKeys? {
        if keys.keybag.mayLogBeOlder { return try noteLogReached(in: &locked, keys) }
        guard keys.epochs.count == 1, keys.keybag.logEpochs.count > 1 else { return nil }
        let needed = KeysInUse(log: log.epochsInUse(), identity: Set(keys.keybag.epochs(of: .identity)))
        guard !needed.log.isSuperset(of: keys.keybag.logEpochs) else { return nil }
        return try forget(in: &locked, keys.keybag, keys, but: needed)
    }

    /// All that the keybag has while there is an identity: it says itself when it needs them no longer.
    func epochsOfIdentity(_ keybag: borrowing Keybag) throws(VaultError) -> Set<UInt32> {
        do {
            try identityRecord.withValue { _ in }
        } catch let error as VaultError where error.code == .recordNotFound {
            return []
        } catch {}  // one that cannot be read may still be repaired
        return Set(keybag.epochs(of: .identity))
    }

    /// Forgets the identity's earlier keys, once none of the device's keys hangs on them.
    /// - Throws: `locked`, `keysChanged`, and what writing the header throws; nothing is lost then.
    package func forgetOldIdentityKeys() throws(VaultError) {
        var locked = try LockedHeader(in: home)
        let vault = try gate.enter()
        defer { gate.leave() }
        let keys = vault.keys
        guard keys.epochs.count == 1, keys.keybag.epochs(of: .identity).count > 1 else { return }
        guard locked.header.epoch == keys.current.epoch, keys.headerKeys.authenticates(locked.header) else {
            throw .keysChanged
        }
        let present = try Keybag(opened: keys.headerKeys.openKeybag(of: locked.header))
        let needed = KeysInUse(log: Set(present.logEpochs), identity: [])
        let fewer = try forget(in: &locked, present, keys, but: needed)
        gate.replace(vault, with: try UnlockedVault(fewer, in: home))
    }
}
