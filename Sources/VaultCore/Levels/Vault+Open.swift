internal import KeyStores
internal import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultWipe
internal import VaultLog
public import VaultStorage

extension Vault {
    /// Opens the vault with the share that its key store gives without asking anybody. It proves nothing: collections
    /// that ask for any proof stay shut. It is no event of the log, because nobody did anything.
    ///
    /// A change of the level that was cut short is undone or finished before this returns.
    /// - Parameters:
    ///   - accepts: Whether the user has confirmed that the vault is another one than the device remembers, or less
    ///     protected.
    ///   - expecting: The vault that it has to be; nil for any.
    /// - Throws: `shareUnavailable`, `shareLost`; `levelLowered` without `accepts`, and for another vault than was
    ///   expected; `levelContradicted` where the rules ask for a lock, and then a change of the level is possible and
    ///   nothing else; `passcodeNeeded` where the vault is at a higher level; `rollbackSuspected` where the header or
    ///   the records were put back to an earlier state; `wiped`, `damaged`, `keysChanged`.
    package func openByDevice(accepting accepts: Bool = false, expecting: VaultID? = nil) throws(VaultError) {
        try Wipe.finishIfBegun(in: home, settings)
        let header = try HeaderFile.read(in: home)
        if let expecting, header.vault != expecting {
            throw VaultError(.levelLowered, "another vault is in the place of the one that was opened here")
        }
        // Before anything is called lost: a home that was put in the place of ours has no share here.
        let floor = try readFloor()
        let master: SecretBytes
        do throws(VaultError) { master = try unwrapDevice(header) } catch {
            if error.code == .shareLost, !accepts { try refuse(header, under: floor) }
            throw error
        }
        let keys = try open(header, master: master, proving: .none)
        try settleLevel(header, keys, floor, accepting: accepts)
        guard !header.contradictsItself else {
            log.append(.levelContradicted)
            // For a change of the level alone, which ends the contradiction.
            gate.keep(try joined(keys))
            throw .levelContradicted
        }
        try install(keys, noting: nil)
        // A log that was lost begins anew with the first keys that are there.
        if log.stateKind == nil {
            let budget = budget(header)
            try? log.switchToNewKeys(
                logBegin(keys, refused: budget.refused, unsettled: budget.spent - min(budget.refused, budget.spent)))
        }
        finishUnlock(by: nil, keys, master)
    }

    /// Whether a change can be made now: the vault is open, or kept for a change alone.
    package var isChangeable: Bool { gate.changeable != nil }

    /// Keeps a vault whose rules contradict its slots (`levelContradicted`) for the change that ends this, and for
    /// nothing else. Does nothing for any other vault.
    /// - Throws: As ``openByDevice(accepting:expecting:)``.
    package func keepForChange() throws(VaultError) {
        guard gate.changeable == nil, try HeaderFile.read(in: home).contradictsItself else { return }
        do throws(VaultError) { try openByDevice() } catch {
            guard error.code == .levelContradicted else { throw error }
            return
        }
        // Another process was quicker: there is nothing to end any more, and nobody asked for an open vault.
        lock()
    }

    /// What a start does once a header's MAC is known: a change that was cut short is undone or finished, and the floor
    /// follows.
    func settleLevel(
        _ header: Header, _ keys: UnlockedKeys, _ floor: FloorVerdict.Found, accepting accepts: Bool
    ) throws(VaultError) {
        if home.exists(HardwareNote.name) {
            // Whoever is changing the level now has this lock, and its note is no leftover.
            let locked = try LockedHeader(in: home)
            guard keys.headerKeys.authenticates(locked.header), locked.header.generation == header.generation else {
                throw .keysChanged
            }
            settleNote(locked.header, keys)
        }
        try check(header, against: floor, accepting: accepts)
        try raiseFloor(header, from: floor)
    }

    /// Acts on what is noted, for a header that is genuine and locked.
    func settleNote(_ header: Header, _ keys: UnlockedKeys) {
        guard !settings.opensOnly else { return }
        let noteKey = keys.headerKeys.noteKey
        if standing(of: header, [noteKey]) == .own { sweepHardware(header, of: header.owner, noteKey) }
    }

    // MARK: the floor

    /// What stands outside of the home.
    /// - Throws: `shareUnavailable` where it cannot be asked now: nobody can tell then.
    func readFloor() throws(VaultError) -> FloorVerdict.Found {
        guard let profile = settings.profile, let stores = shareStores, stores.hasFloors else { return .unkept }
        do throws(ShareFailure) {
            return switch try stores.floor(of: profile) {
            case .none: .floor(nil)
            case .floor(let floor): .floor(floor)
            case .unreadable: .unreadable
            }
        } catch {
            var unavailable = VaultError(.shareUnavailable, error.reason)
            if case .unavailable(let obstacle) = error { unavailable.until = ShareWait(obstacle) }
            throw unavailable
        }
    }

    /// Before a header is known to be genuine, or once it cannot be any more: nothing is written for it.
    /// - Throws: `levelLowered`.
    func refuse(_ header: Header, under floor: FloorVerdict.Found) throws(VaultError) {
        guard case .lowered(let kind, let was) = FloorVerdict(header.present, floor) else { return }
        throw .levelLowered(kind, was: was)
    }

    /// - Throws: `levelLowered`.
    private func check(_ header: Header, against floor: FloorVerdict.Found, accepting accepts: Bool) throws(VaultError)
    {
        guard case .lowered(let kind, let was) = FloorVerdict(header.present, floor) else { return }
        guard accepts else { throw .levelLowered(kind, was: was) }
        log.append(.floorReplaced(kind, was: was))
        // What cannot be written now is asked for again.
        try? writeFloor(header.present)
    }

    /// The floor of a vault that a secret opened: whoever has that has said which vault it is. Nobody waits for the key
    /// store, and a failure does not keep the user out.
    func followFloor(_ header: Header) {
        guard settings.profile != nil, shareStores?.hasFloors == true else { return }
        settings.inBackground { [self] in
            guard let found = try? readFloor() else { return }
            try? check(header, against: found, accepting: true)
            try? raiseFloor(header, from: found)
        }
    }

    private func raiseFloor(_ header: Header, from floor: FloorVerdict.Found) throws(VaultError) {
        guard case .fits(let fresh?) = FloorVerdict(header.present, floor) else { return }
        // What could not be written now is written at the next start.
        try? writeFloor(fresh)
    }

    func writeFloor(_ floor: LevelFloor) throws(VaultError) {
        guard let profile = settings.profile, let stores = shareStores, stores.hasFloors, !settings.opensOnly else {
            return
        }
        do throws(ShareFailure) { try stores.set(floor, of: profile) } catch { throw VaultError(error) }
    }

    /// How the vault is protected now. Nothing of it is proved while the vault is locked.
    /// - Throws: What reading the header throws.
    public func protection() throws(VaultError) -> Protection {
        let header = try HeaderFile.read(in: home)
        guard let open = gate.current, open.keys.epochs.count > 1 else { return Protection(header) }
        return Protection(header, moving: moving.current ?? Protection.Moving(done: 0, total: 0))
    }
}

extension Header {
    /// What a floor has to say of it.
    var present: LevelFloor { LevelFloor(vault, level) }
}

extension VaultError {
    static let levelContradicted = VaultError(
        .levelContradicted, "this vault would open without asking, and its rules ask for a lock")

    static func levelLowered(_ kind: LogFloor, was: VaultLevel) -> VaultError {
        switch kind {
        case .unreadable:
            VaultError(.levelLowered, "what the device remembers of its vault here cannot be read")
        case .otherVault: VaultError(.levelLowered, "this is another vault than the device remembers here")
        case .lower:
            VaultError(.levelLowered, "this vault asks for less than the device remembers (it was \(was.name))")
        }
    }
}
