package import Cryptography
internal import KeyStores
package import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultWipe
internal import VaultLog
public import VaultStorage
internal import SystemCalls

extension Vault {
    /// Checks the passcode and changes nothing but the attempts.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``.
    package func verify(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt
    ) throws(VaultError) {
        let verified = try verify(passcode, spending: &attempt)
        note(Success(.confirmed, after: attempt.budgetBefore), verified.keys)
    }

    /// Gives the vault another passcode. The vault's keys stay: an old copy of the header still opens with the old
    /// passcode; ``rekey(passcode:spending:newPasscode:phrase:isNewPhrase:)`` ends that.
    /// - Throws: As ``unlock(passcode:spending:evenIfDamaged:)``, `invalidPasscode`, also for the vault's PIN, and what
    ///   writing can throw.
    package func changePasscode(
        from current: borrowing SecretBytes, spending attempt: consuming BurnedAttempt, to new: borrowing SecretBytes
    ) throws(VaultError) {
        try check(new, spending: &attempt)
        let verified = try verifyForChange(current, spending: &attempt)
        var header = attempt.header.header
        if let slot = header.pinSlot, try PINSlot.holds(new, slot, verified.master, of: header.vault) {
            throw VaultError(
                .invalidPasscode, "the passcode has to be another one than the PIN; nothing was changed")
        }
        let costs = try newCosts(header)
        verified.keys.complete(&header)
        try claim(&header, verified.standing, verified.keys.headerKeys)
        let maker = try tier(of: header.passcodeSlot).map { shareMaker($0, header, verified.keys) }
        header.set(try Vault.passcodeSlot(new, costs: costs, wrapping: verified.master, header: header, maker))
        try replace(&attempt, with: header, noting: .passcodeChanged, verified.keys) { covered throws(VaultError) in
            try verified.keys.headerKeys.mac(covered)
        }
    }

    /// A new passcode that cannot be one is no attempt at the present one.
    private func check(_ new: borrowing SecretBytes, spending attempt: inout BurnedAttempt) throws(VaultError) {
        do throws(VaultError) {
            try Vault.check(passcode: new)
        } catch {
            try? attempt.refund()
            throw error
        }
    }

    /// What a recovery by the phrase found on the way.
    public struct Recovery: Sendable, Hashable {
        /// The header had been changed by something else than Holdfast: the policy is the standard one again, and slots
        /// other than passcode and phrase are gone.
        package let headerWasAltered: Bool
        /// The passcode was under a chip that could not be asked, and is under none now.
        package let hardwareWasDropped: Bool
        /// The vault had a PIN under a chip, and has none now.
        package let pinWasRemoved: Bool
        /// The vault opened without asking, and asks for the passcode from now on. It has new keys:
        /// ``finishRekey(progress:)`` moves what is stored to them.
        package let asksNow: Bool
    }

    /// Opens the vault with its phrase, gives it a new passcode and all attempts back. It is unlocked afterwards. One
    /// that opened without asking does so no more.
    /// - Parameters:
    ///   - phrase: The vault's phrase.
    ///   - newPasscode: 1 to 1,024 bytes.
    ///   - hardware: Whether the folder is the vault itself or a copy; asked for only where that cannot be told.
    /// - Throws: `wrongPhrase`, `invalidPasscode`, `damaged`, and what writing can throw; `hardwareUnclaimed` without
    ///   `hardware`, where the folder's own key is missing or another one and the header names things in hardware.
    package func recover(
        phrase: borrowing RecoveryPhrase, newPasscode: borrowing SecretBytes, hardware: HardwareDecision? = nil
    ) throws(VaultError) -> Recovery {
        try Vault.check(passcode: newPasscode)
        try Wipe.finishIfBegun(in: home, settings)
        if let recovery = try recoverAtDevice(phrase, newPasscode, hardware) { return recovery }
        var locked = try LockedHeader(in: home)
        var header = locked.header
        let master = try unwrap(phrase, header)
        let headerKeys = try HeaderKeys(master: master, vault: header.vault)
        let isAltered = !headerKeys.authenticates(header)
        if isAltered {
            // Nothing in it can be believed but what the master key itself authenticates.
            header.policy = .standard
            header.flags = []
            header.slots.removeAll { $0.kind != .recoveryPhrase }
        }
        try settle(&header, standing(of: locked.header, [headerKeys.noteKey]), hardware, headerKeys)
        if !canAnchor(header.owner) { header.flags.remove(.generationAnchored) }
        // Before anything is written: a keybag that does not open would be lost under a header made valid again.
        let keybag = try Keybag(opened: headerKeys.openKeybag(of: header))
        guard keybag.epochs.first == header.epoch else { throw .damaged("the keybag does not fit the header's epoch") }
        let costs = try newCosts(header)
        let old = locked.header.passcodeSlot
        keybag.complete(&header, headerKeys)
        let hadPIN = locked.header.pinSlot != nil
        // All unlock methods start over: the attempts of a PIN cannot be restored.
        header.slots.removeAll { $0.kind == .passcode || $0.kind == .pin }
        let noteKey = headerKeys.noteKey
        let made = try slotAfterRecovery(
            newPasscode, old, costs: costs, wrapping: master, header: header, noteKey)
        header.set(made.slot)
        let success = Success(.recovered(headerWasAltered: isAltered), after: budget(header))
        do throws(VaultError) {
            try noteHardware(of: locked.header, and: header, [noteKey])
            try locked.replace(header) { covered throws(VaultError) in try headerKeys.mac(covered) }
        } catch {
            if locked.header.generation > header.generation { log.append(success.event) }
            sweepHardware(afterFailing: locked, header, of: header.owner, noteKey)
            throw error
        }
        sweepHardware(locked.header, of: header.owner, noteKey)
        try AttemptLedger.reset(in: home, header: locked.header, clock: settings.clock)
        try? resetAnchor(locked.header, .own)
        if locked.header.policy.selfDestruct {
            followDestruction(of: locked.header.policy)
        } else {
            // The rules may have been reset to the standard ones.
            dropDestruction(of: locked.header)
            try? ReceiptKeyFile.destroy(in: home)
        }
        try install(open(locked.header, master: master, proving: .keyBound), noting: success)
        if hadPIN { log.append(.pinSet(isThere: false)) }
        adoptOpenItems()
        return Recovery(
            headerWasAltered: isAltered, hardwareWasDropped: made.isDropped, pinWasRemoved: hadPIN, asksNow: false)
    }

    /// Whether there is a key store that could hold the generation, and answers.
    private func canAnchor(_ owner: HardwareOwner) -> Bool {
        guard let anchor = settings.anchor else { return false }
        do throws(KeyStoreError) { _ = try anchor.state(of: owner) } catch { return false }
        return true
    }

    /// Under the chip again where it answers; another machine, or a chip that is gone, must not keep the phrase's owner
    /// out.
    private func slotAfterRecovery(
        _ passcode: borrowing SecretBytes, _ old: Slot?, costs: DerivationParameters,
        wrapping master: borrowing SecretBytes, header: Header, _ noteKey: NoteKey
    ) throws(VaultError) -> (slot: Slot, isDropped: Bool) {
        guard old?.flags.contains(.hardwareShare) == true else {
            let slot = try Vault.passcodeSlot(passcode, costs: costs, wrapping: master, header: header, nil)
            return (slot, false)
        }
        do throws(VaultError) {
            let maker = try tier(of: old).map { tier in
                ShareMaker(tier: tier, home: home, owner: header.owner, noteKeys: [noteKey])
            }
            let slot = try Vault.passcodeSlot(passcode, costs: costs, wrapping: master, header: header, maker)
            return (slot, false)
        } catch {
            guard error.code == .hardwareUnavailable else { throw error }
            let slot = try Vault.passcodeSlot(passcode, costs: costs, wrapping: master, header: header, nil)
            return (slot, true)
        }
    }

    /// The costs of the present slot where they are acceptable, else new ones.
    func newCosts(_ header: Header) throws(VaultError) -> DerivationParameters {
        if let costs = header.passcodeSlot?.derivation, (try? settings.limits.check(costs)) != nil { return costs }
        return try settings.newCosts()
    }

    /// Gives the vault a new master key, new data keys and a new passcode, so that an old copy of the header opens
    /// nothing that is written from now on. What is stored moves to the new keys in ``finishRekey(progress:)``; until
    /// then both are kept. The vault is unlocked afterwards.
    ///
    /// - Parameters:
    ///   - passcode: The present passcode.
    ///   - attempt: Spent on it.
    ///   - newPasscode: The next one; may be the same.
    ///   - phrase: The vault's phrase, or a new one that the owner has been shown already.
    ///   - isNewPhrase: When false, `phrase` must be the vault's own.
    /// - Throws: As ``changePasscode(from:spending:to:)``, `wrongPhrase`, `tooLarge` while an earlier rekey is
    ///   unfinished and the header has no room for a third set of keys.
    package func rekey(
        passcode: borrowing SecretBytes, spending attempt: consuming BurnedAttempt,
        newPasscode: borrowing SecretBytes, phrase: borrowing RecoveryPhrase, isNewPhrase: Bool
    ) throws(VaultError) {
        try check(newPasscode, spending: &attempt)
        let verified = try verifyForChange(passcode, spending: &attempt)
        if !isNewPhrase { _ = try unwrap(phrase, attempt.header.header) }
        try renewKeys(newPasscode, verified, &attempt) { header, master throws(VaultError) in
            header.set(try Vault.recoverySlot(phrase, wrapping: master, header: header))
        }
    }

    /// New keys of every kind, with the passcode that is given here, and the phrase that is typed or shown for it.
    /// Nothing else opens the vault afterwards: no slot is wrapped anew from what was kept under the old master key.
    /// - Parameter addPhrase: Gives the new header its recovery slot; nothing where the vault is to have none.
    func renewKeys(
        _ newPasscode: borrowing SecretBytes, _ verified: borrowing Verified, _ attempt: inout BurnedAttempt,
        _ addPhrase: (inout Header, borrowing SecretBytes) throws(VaultError) -> Void
    ) throws(VaultError) {
        var header = attempt.header.header
        let master = try Vault.newKey()
        let epoch = header.epoch + 1
        let keybag = try Keybag(epoch: epoch, keeping: verified.keys.keybag)
        let headerKeys = try HeaderKeys(master: master, vault: header.vault)
        let costs = try newCosts(header)
        header.epoch = epoch
        let hadPIN = header.pinSlot != nil
        // Slots of other kinds wrap the old master key and would open nothing. The passcode's is replaced below.
        header.slots.removeAll { $0.kind != .passcode }
        header.sealedKeybag = try keybag.sealed(by: headerKeys, vault: header.vault, epoch: epoch)
        try addPhrase(&header, master)
        try claim(&header, verified.standing, opening: verified.keys.headerKeys, headerKeys)
        // Last: what hardware holds for it goes again should the header not be written.
        let noteKey = headerKeys.noteKey
        let maker = try tier(of: header.passcodeSlot).map { shareMaker($0, header, verified.keys, newKey: noteKey) }
        header.set(try Vault.passcodeSlot(newPasscode, costs: costs, wrapping: master, header: header, maker))
        // The log goes over to its new key with this entry: anyone with the old ones reads and forges nothing from here
        // on.
        let newKeys = try UnlockedKeys(
            header: header, headerKeys: headerKeys.copy(), keybag: Keybag(opened: headerKeys.openKeybag(of: header)),
            admission: verified.keys.admission)
        try replace(&attempt, with: header, noting: .rekeyed(epoch: epoch), verified.keys, newKeys: newKeys) {
            covered throws(VaultError) in
            try headerKeys.mac(covered)
        }
        if hadPIN { log.append(.pinSet(isThere: false)) }
        // Should this fail, the next unlock does it.
        _ = try? noteLogReached(in: &attempt.header, newKeys)
        let proving = assurance(of: attempt.header.header.passcodeSlot)
        try install(open(attempt.header.header, master: master, proving: proving), noting: nil)
        // A process that was unlocked before could continue to write under keys that the old header opens, so it is
        // locked out from here on. The rekey itself is done; should this fail, finishRekey begins with it again.
        beginRekey()
        adoptOpenItems()
    }

    /// Locks out processes that have the earlier keys.
    func beginRekey() { _ = try? beginMoving() }

    /// Whether records still lie under older keys.
    /// - Throws: `locked`.
    package var isRekeyUnfinished: Bool {
        get throws(VaultError) {
            let vault = try gate.enter()
            defer { gate.leave() }
            return vault.keys.epochs.count > 1
        }
    }

    /// Moves what lies under older keys to the newest ones, a few hundred records at a time, and forgets the older keys
    /// when nothing is left there. May be killed and called again; reads and writes continue meanwhile.
    /// ``protection()`` tells how far it is.
    ///
    /// A record that its keys do not open is set aside: it stays as it is, ``verify(progress:)`` keeps calling it
    /// damaged, and the log has how many there were.
    /// - Parameter progress: Called with the number of records looked at and the number there are.
    /// - Returns: How many records were set aside.
    /// - Throws: `locked`, `damaged` when a file cannot be read, and what writing can throw.
    @discardableResult
    public func finishRekey(progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }) throws(VaultError) -> Int {
        guard try isRekeyUnfinished else { return 0 }
        let total = try beginMoving()
        moving.set(Protection.Moving(done: 0, total: total))
        defer { moving.set(nil) }
        var start: [UInt8]? = [0]  // no key is smaller
        var (done, misfits) = (0, 0)
        while let from = start {
            let step = try moveSome(from: from)
            for file in step.files { try rewriteFile(file) }
            done += Vault.movedAtOnce
            misfits += step.misfits
            moving.set(Protection.Moving(done: min(done, total), total: total))
            progress(min(done, total), total)
            start = step.next
        }
        try drainOpenItems()
        // Before the keys that did not open them are gone.
        if misfits > 0 { log.append(.recordsSetAside(count: UInt32(clamping: misfits))) }
        try forgetOlderKeys()
        return misfits
    }

    /// What was sealed to the older public key must be taken in before its private key is forgotten. Nothing is sealed
    /// to it any more: the first check has put the new one in its place.
    private func drainOpenItems() throws(VaultError) {
        repeat {
            adoptOpenItems()
            if let problem = open.lastMigration?.problem { throw problem }
        } while open.lastMigration?.left ?? 0 > 0
    }

    private static let movedAtOnce = 256

    /// Writes the root record under the newest keys: writers that lack them stop there.
    /// - Returns: The number of records.
    private func beginMoving() throws(VaultError) -> Int {
        let vault = try gate.enter()
        defer { gate.leave() }
        _ = try vault.queue.perform(isRepeatable: true) { session throws(VaultError) in session.touch() }
        return Int(clamping: try RecordReader(vault.keys.records, vault.database).root().count)
    }

    /// One transaction's worth; between two of them the vault can be used and locked.
    private func moveSome(
        from start: [UInt8]
    ) throws(VaultError) -> (files: [RecordName], misfits: Int, next: [UInt8]?) {
        let vault = try gate.enter()
        defer { gate.leave() }
        let now = WallClock.milliseconds
        var files: [RecordName] = []
        var misfits = 0
        var next: [UInt8]?
        let released = try vault.queue.perform(isRepeatable: true) { session throws(VaultError) in
            (files, misfits) = ([], 0)
            let found = try session.outdated(from: start, limit: Vault.movedAtOnce)
            next = found.next
            for lookup in found.records {
                switch try session.move(lookup, now: now) {
                case .done: break
                case .file(let file): files.append(file)
                case .misfit: misfits += 1
                }
            }
        }
        FileStore.remove(released, in: home)
        return (files, misfits, next)
    }

    /// Copies a file under a fresh key and points its record there, unless the record changed meanwhile.
    private func rewriteFile(_ record: RecordName) throws(VaultError) {
        do {
            let reader = try gate.enterWithReader()
            defer { gate.leave(returning: reader) }
            let writer = try FileWriter(in: home, keys: reader.keys.current)
            gate.register(writer)
            defer { gate.unregister(writer) }
            let current = reader.keys.current.epoch
            let fields = try reader.withRecord(collection: record.collection, name: record.name) {
                fields, plaintext, epoch in
                // Replaced meanwhile: nothing to move.
                guard fields.kind == .file, epoch.epoch != current else { throw VaultError.recordNotFound }
                let file = try FileReader(
                    plaintext.extracting(fields.contentOffset..<plaintext.byteCount), in: home, keys: epoch)
                gate.register(file)
                try file.forEachChunk(gate) { try writer.append($0) }
                return fields
            }
            let draft = RecordDraft(
                collection: record.collection, name: record.name, kind: .file, moving: fields,
                now: WallClock.milliseconds)
            try store(writer, draft)
        } catch let error as VaultError {
            if error.code != .recordNotFound { throw error }  // replaced or deleted meanwhile: nothing to move
        } catch {
            throw VaultError(.inputOutput, "a file could not be moved to new keys")
        }
    }

    /// The header's lock comes first: nothing may hold it and wait for an operation that we are in.
    private func forgetOlderKeys() throws(VaultError) {
        var locked = try LockedHeader(in: home)
        let vault = try gate.enter()
        defer { gate.leave() }
        let keys = vault.keys
        let header = locked.header
        guard header.epoch == keys.current.epoch, keys.headerKeys.authenticates(header) else { throw .keysChanged }
        // What another process has noted in the keybag since counts.
        let present = try UnlockedKeys(
            header: header, headerKeys: keys.headerKeys.copy(),
            keybag: Keybag(opened: keys.headerKeys.openKeybag(of: header)), admission: keys.admission)
        try log.switchToNewKeys(logBegin(present, refused: 0, unsettled: 0))
        let needed = KeysInUse(log: log.epochsInUse(), identity: try epochsOfIdentity(present.keybag))
        let fewer = try forget(in: &locked, present.keybag, present, but: needed)
        gate.replace(vault, with: try UnlockedVault(fewer, in: home))
    }
}
