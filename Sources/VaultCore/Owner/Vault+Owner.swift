internal import Cryptography
package import DeviceOwner
internal import KeyStores
internal import SecretMemory
package import VaultFormat
internal import VaultHeader
internal import VaultWipe
internal import VaultLog
package import VaultStorage

extension Vault {
    /// What can be told of the owner's way in.
    package struct OwnerState: Sendable, Hashable {
        /// Whether a confirmed owner opens the vault now, as far as can be told without asking.
        package let isArmed: Bool
        /// Milliseconds since the passcode was right in this process; nil when it was not.
        package let sincePasscode: UInt64?
        /// Samples without a match since then.
        package let nonMatches: Int
        /// Why only the passcode is taken; nil while the owner may be asked.
        package let expiry: OwnerExpiry?
    }

    package var ownerState: OwnerState {
        let now = settings.clock.now()
        let isArmed = ownerKeeper.isArmed && ownerSlot.current?.isTimely(at: now) ?? false
        return OwnerState(
            isArmed: isArmed, sincePasscode: ownerSlot.current?.age(at: now), nonMatches: ownerKeeper.nonMatches,
            expiry: isArmed ? nil : ownerKeeper.expiry ?? .noPasscode)
    }

    /// Opens the vault for a confirmed owner. It proves presence and no more: a yes of the system stood in front of a
    /// key.
    ///
    /// Neither counted nor settling anything: the attempts are the passcode's.
    /// - Parameter accepts: As for ``openByDevice(accepting:)``.
    /// - Throws: `passcodeNeeded` where the owner's way in is over: too old, another passcode or other rules, a key
    ///   store that lost its share; `hardwareUnavailable` when the key store cannot be asked now; `damaged`, `wiped`,
    ///   `rollbackSuspected`.
    package func unlock(_ release: consuming OwnerRelease, accepting accepts: Bool = false) throws(VaultError) {
        try Wipe.finishIfBegun(in: home, settings)
        guard let owner = ownerSlot.current else {
            throw .passcodeNeeded("it was not given since this program started")
        }
        guard owner.isTimely(at: settings.clock.now()) else {
            forgetOwner()
            throw .passcodeNeeded("it was last given more than three days ago, or the machine was started since")
        }
        let header = try HeaderFile.read(in: home)
        guard owner.belongs(to: header) else {
            forgetOwner()
            throw .passcodeNeeded("the passcode or the rules were changed")
        }
        try checkAnchor(header, ledger: AttemptLedger.sequence(in: home, vault: header.vault))
        // Before anything is called lost: a home that was put in the place of ours has no share here.
        let floor: FloorVerdict.Found = owner.origin == .disk ? try readFloor() : .unkept
        let share: SecretBytes
        do throws(VaultError) { share = try ownerShare(owner, release, header) } catch {
            if error.code == .shareLost {
                if !accepts { try refuse(header, under: floor) }
                throw lostShare(error, owner, release.step, header)
            }
            throw error
        }
        let key = try SlotKey(factor: release.secret, slot: owner.slot, share: share)
        guard key.matches(owner.slot) else { throw replacedShare(owner, release.step) }
        let master = try key.unwrap(owner.slot, vault: header.vault, policyDigest: header.policy.digest())
        let keys = try open(header, master: master, proving: assurance(of: owner, release.step))
        if owner.origin == .disk { try settleLevel(header, keys, floor, accepting: accepts) }
        // Now the rules are known to be genuine.
        if let obstacle = ownerObstacle(release.step, keys.policy) { throw obstacle }
        try install(keys, noting: Success(byOwner: release.step, after: budget(header)))
        finishUnlock(by: .owner(release.step), keys, master, hasPasscode: header.passcodeSlot != nil)
    }

    /// The master key, with a release for a change.
    func unwrapOwner(_ release: borrowing OwnerRelease, _ header: Header) throws(VaultError) -> SecretBytes {
        guard let owner = ownerSlot.current, owner.belongs(to: header) else {
            throw .passcodeNeeded("the owner has no way in here")
        }
        let share: SecretBytes
        do throws(VaultError) { share = try ownerShare(owner, release, header) } catch {
            throw error.code == .shareLost ? lostShare(error, owner, release.step, header) : error
        }
        let key = try SlotKey(factor: release.secret, slot: owner.slot, share: share)
        guard key.matches(owner.slot) else { throw replacedShare(owner, release.step) }
        return try key.unwrap(owner.slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    /// Why a step of the owner is not taken now; nil where it is. Nothing of it is proved: asked before the owner is.
    /// - Throws: What reading the header throws.
    package func ownerObstacle(_ step: OwnerStep) throws(VaultError) -> VaultError? {
        let header = try HeaderFile.read(in: home)
        if let owner = ownerSlot.current, !owner.belongs(to: header) {
            forgetOwner()
            return .passcodeNeeded("the passcode or the rules were changed")
        }
        return ownerObstacle(step, header.policy)
    }

    private func ownerObstacle(_ step: OwnerStep, _ policy: VaultPolicy) -> VaultError? {
        guard let rule = policy.fallback[step.fallback], policy.asks(for: step) else {
            return VaultError(.passcodeNeeded, "the vault's rules do not allow this way to unlock")
        }
        guard rule.assurance <= .presence else {
            return VaultError(.passcodeNeeded, "the vault's rules ask for more than presence")
        }
        let state = ownerState
        guard state.isArmed else { return .passcodeNeeded(state.expiry ?? .noPasscode) }
        if let expiry = ownerKeeper.expiry(of: step) { return .passcodeNeeded(expiry) }
        if let hours = rule.withinHours, state.sincePasscode ?? .max >= UInt64(hours) * 3_600_000 {
            return .passcodeNeeded("it was not given within \(hours) hours")
        }
        return nil
    }

    /// Ends the owner's way in; the passcode makes another one.
    package func forgetOwner(_ why: OwnerExpiry = .noPasscode) { forgetOwner(why, nil) }

    /// - Parameter header: The one that holds, where it is known.
    private func forgetOwner(_ why: OwnerExpiry, _ header: Header?) {
        ownerKeeper.disarm(why)
        let old = ownerSlot.set(nil)
        if let old, old.origin != .disk, let store = shareStores?.store(of: old.item.store), old.isOurs(in: store) {
            _ = try? store.revoke(old.item, of: old.item.name.vault)
        }
        if why == .noPasscode { loadKeptOwner(of: header) }
    }

    /// Writes into the log that fingers, or the key store, are not what they were when the passcode was given.
    package func noteChangedEnrollment(_ step: OwnerStep) {
        // Where there is no passcode, the device's own still opens: the keeper has ended the fingers alone.
        let isStillKept = step == .biometrics && ownerKeeper.isArmed && ownerKeeper.expiry(of: step) != nil
        if !isStillKept { forgetOwner(.enrollmentChanged) }
        log.append(.enrollmentChanged(step))
    }

    /// The first share: what is lost, and what is not to be had now, are told apart.
    private func ownerShare(
        _ owner: OwnerSlot, _ release: borrowing OwnerRelease, _ header: Header
    ) throws(VaultError) -> SecretBytes {
        guard let stores = shareStores, let store = stores.store(of: owner.item.store) else {
            let why = "this program may not use the key store that has the share"
            throw header.passcodeSlot == nil ? VaultError(.shareUnavailable, why) : .passcodeNeeded(why)
        }
        do throws(ShareFailure) { return try store.read(owner.item, of: header.vault, after: release) } catch {
            switch error {
            case .lost, .damaged: throw VaultError(.shareLost, error.reason)
            case .failed(let reason) where reason.code == .damaged: throw VaultError(.shareLost, error.reason)
            // The passcode made it and makes another one.
            default: throw owner.origin == .disk ? VaultError(error) : VaultError(.hardwareUnavailable, error.reason)
            }
        }
    }

    /// The way in is over. Where there is a passcode, that is what opens the vault now.
    private func lostShare(
        _ error: VaultError, _ owner: OwnerSlot, _ step: OwnerStep, _ header: Header
    ) -> VaultError {
        if owner.shareDigest != nil, !owner.item.store.asksItsOwner, owner.item.store != .tpm {
            // Another process with this home may have replaced the share and let go of its own since.
            return forgotten("another program has unlocked this vault since, or the key store was reset")
        }
        if header.passcodeSlot != nil { return lostOwner(step) }
        noteChangedEnrollment(step)
        return error
    }

    /// Something else lies where the share was. Another process with this home replaces the share that ends with a
    /// process; nothing was enrolled or reset then.
    private func replacedShare(_ owner: OwnerSlot, _ step: OwnerStep) -> VaultError {
        guard owner.shareDigest != nil else { return lostOwner(step) }
        return forgotten("another program has unlocked this vault since")
    }

    private func forgotten(_ why: String) -> VaultError {
        forgetOwner()
        return .passcodeNeeded(why)
    }

    private func lostOwner(_ step: OwnerStep) -> VaultError {
        noteChangedEnrollment(step)
        return .passcodeNeeded("the key store was reset")
    }

    /// What a confirmed owner proves: a yes in front of a stored key, unless the store itself asked.
    private func assurance(of owner: OwnerSlot, _ step: OwnerStep) -> Assurance {
        guard owner.origin == .disk, let store = shareStores?.store(of: owner.item.store) else { return .presence }
        return store.assurance(of: .owner([step]))
    }

    /// Makes a new way in for the owner, with the passcode that was right just now; none where the rules want none.
    /// What goes wrong leaves the owner with the passcode.
    func renewOwner(_ master: borrowing SecretBytes, _ header: Header) {
        guard settings.armsOwner, let stores = shareStores else { return }
        forgetOwner(.noPasscode, header)
        let steps = Set(OwnerStep.allCases.filter(header.policy.asks))
        // A wipe revokes what was made for the key in the folder: in a copy the header still names the original's.
        guard !steps.isEmpty, let passcode = header.passcodeSlot, let store = try? stores.bestForProcess(),
            let home = WipeKeyFile.owner(in: home, vault: header.vault)
        else { return }
        do {
            let secret = try SecureRandom.secret(32, lifetime: .longLived)
            let share = try SecureRandom.secret(32)
            let rule = ShareRule.released(by: try ReleaseKey(secret), after: steps)
            let item = try store.make(share, as: .released(for: home), under: rule) { _ in }
            let empty = Slot(
                id: .max, kind: .deviceOwner, flags: .hardwareShare, derivation: nil,
                salt: try SecureRandom.bytes(Slot.saltSize), commitment: [], hardwareName: [item.store.rawValue])
            let slot = try SlotKey(factor: secret, slot: empty, share: share)
                .wrap(master, into: empty, vault: header.vault, policyDigest: header.policy.digest())
            ownerSlot.set(
                OwnerSlot(
                    slot: slot, item: item, origin: .passcode(settings.clock.now(), salt: passcode.salt),
                    shareDigest: share.withBytes { Array(SHA256.hash($0).bytes) }))
            ownerKeeper.arm(secret)
        } catch { forgetOwner(.noPasscode, header) }
    }
}

extension OwnerSlot {
    /// Whether the share that lies in the store is this process's, and not one that another process has put in its
    /// place. A chip keeps nothing of it, and a store that would ask its owner is not asked.
    fileprivate func isOurs(in store: any ShareStore) -> Bool {
        switch item.store {
        case .tpm, .keychain: return true
        case .secretService, .file:
            guard let shareDigest, let found = try? store.read(item, of: item.name.vault) else { return false }
            return found.withBytes { SHA256.hash($0).bytes.elementsEqual(shareDigest) }
        }
    }
}

extension VaultPolicy {
    /// Whether the rules take this way in.
    package func asks(for step: OwnerStep) -> Bool {
        switch step {
        case .biometrics: usesBiometrics && fallback[.biometrics] != nil
        case .devicePasscode: fallback[.devicePasscode] != nil
        }
    }
}

extension Vault.Success {
    /// An unlocking that settles nothing.
    init(byOwner step: OwnerStep, after budget: AttemptBudget) {
        event = .unlocked(LogUnlock(method: .owner(step), refused: budget.refused))
        refused = budget.refused
        unsettled = 0
    }
}

extension VaultError {
    static func passcodeNeeded(_ why: String) -> VaultError {
        VaultError(.passcodeNeeded, "the passcode is needed: \(why)")
    }

    package static func passcodeNeeded(_ expiry: OwnerExpiry) -> VaultError {
        switch expiry {
        case .noPasscode: passcodeNeeded("it was not given since this program started, or too long ago")
        case .nonMatches: passcodeNeeded("\(OwnerKeeper.mostNonMatches) samples did not match")
        case .enrollmentChanged: passcodeNeeded("what is enrolled has changed")
        }
    }
}
