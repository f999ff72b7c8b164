internal import SecretMemory
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// What is left to do once a vault is open, by what opened it. Log keys that no segment needs are forgotten and items
/// of the open compartment are taken in after every unlock.
///
/// | | passcode | PIN | phrase | owner | device |
/// |---|---|---|---|---|---|
/// | `attempts`: the ledger and the anchor start anew | by the check | by the check | yes | without a passcode | |
/// | `hardwareNote`: what is noted about hardware is acted on | by the check | by the check | yes | | |
/// | `copiedShares`: a restored copy lets go of the original's shares | yes | yes | yes | | |
/// | `rules`: the floor and the rule of self-destruct outside of the home follow | yes | yes | yes | | |
/// | `owner`: a new way in for the owner | yes | | | | |
///
/// A secret says which vault is meant, so what stands outside of the home follows it; the share of the owner or the
/// device was compared with that before it opened anything.
struct AfterUnlock: OptionSet {
    let rawValue: UInt8

    static let attempts = AfterUnlock(rawValue: 1)
    static let hardwareNote = AfterUnlock(rawValue: 2)
    static let copiedShares = AfterUnlock(rawValue: 4)
    static let rules = AfterUnlock(rawValue: 8)
    static let owner = AfterUnlock(rawValue: 16)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Parameters:
    ///   - method: What opened the vault; nil for the device's share, which asks nobody.
    ///   - hasPasscode: Whether the vault has one.
    init(_ method: UnlockMethod?, hasPasscode: Bool) {
        switch method {
        case .secret(.passcode): self = [.copiedShares, .rules, .owner]
        case .secret(.pin): self = [.copiedShares, .rules]
        case .secret(.recoveryPhrase): self = [.attempts, .hardwareNote, .copiedShares, .rules]
        // Where there is no passcode the owner is the strongest way there is, and the ledger is theirs to settle.
        case .owner: self = hasPasscode ? [] : .attempts
        case nil: self = []
        }
    }

    /// What is done for a database that is opened although it is damaged: nothing is written to it.
    static let whileDamaged: AfterUnlock = [.attempts, .hardwareNote]
}

extension Vault {
    /// Does what is left to do after an unlock. Nothing of it keeps the user out: what cannot be done now is done at
    /// the next unlock.
    /// - Parameters:
    ///   - method: What opened the vault; nil for the device's share.
    ///   - keys: Of the open vault.
    ///   - master: The master key that was unwrapped.
    ///   - hasPasscode: Whether the vault has one.
    ///   - held: The header, where its lock is held already. It is let earlier go anything that takes long.
    ///   - wasCopy: What ``isCopy`` said before the unlock was written down.
    ///   - isDamaged: Whether the database was opened although it is damaged.
    func finishUnlock(
        by method: UnlockMethod?, _ keys: UnlockedKeys, _ master: borrowing SecretBytes, hasPasscode: Bool = true,
        held: consuming LockedHeader? = nil, wasCopy: Bool = false, isDamaged: Bool = false
    ) {
        var left = AfterUnlock(method, hasPasscode: hasPasscode)
        if isDamaged { left.formIntersection(.whileDamaged) }
        if !left.isEmpty, let header = settle(left, keys, held, wasCopy: wasCopy) {
            if left.contains(.rules) {
                followFloor(header)
                followDestruction(header)
            }
            if left.contains(.owner) { renewOwner(master, header) }
        }
        guard !isDamaged else { return }
        tidyLogKeys(keys)
        adoptOpenItems()
    }

    /// What needs the header's lock, which is let go of again.
    /// - Returns: The header; nil where it cannot be locked, or is another one by now.
    private func settle(
        _ left: AfterUnlock, _ keys: UnlockedKeys, _ held: consuming LockedHeader?, wasCopy: Bool
    ) -> Header? {
        var taken = held
        if taken == nil { taken = try? LockedHeader(in: home, patience: 1000) }
        guard var locked = taken.take(), keys.headerKeys.authenticates(locked.header) else { return nil }
        if left.contains(.attempts) {
            try? AttemptLedger.reset(in: home, header: locked.header, clock: settings.clock)
            try? resetAnchor(locked.header, standing(of: locked.header))
        }
        if left.contains(.hardwareNote) { settleNote(locked.header, keys) }
        if left.contains(.copiedShares), wasCopy { dropCopiedShares(&locked) }
        return locked.header
    }
}
