internal import Cryptography
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The ledger file: two sectors written in turn, each flushed before its writer continues.
///
/// In this tier a copy of the home carries a budget of its own; that cannot be stopped without hardware.
package struct AttemptLedger: ~Copyable, Sendable {
    package static let name = "ledger"
    private let file: DurableFile
    private let vault: VaultID
    package private(set) var budget: AttemptBudget
    package private(set) var sequence: UInt64
    /// The sector that the next write goes to: never the one that holds the truth.
    private var nextIndex: Int
    private let needsSave: Bool
    private let isMissing: Bool
    private let isMadeUp: Bool

    /// Reads the ledger for spending; the caller holds the header's lock.
    /// - Throws: `readOnly`, `permissionDenied`, `inputOutput`: an attempt that cannot be recorded is not made.
    private init(in home: HomeDirectory, vault: VaultID, policy: VaultPolicy, now: BootInstant) throws(VaultError) {
        let missing = !home.exists(AttemptLedger.name)
        guard let file = try home.openFile(AttemptLedger.name, O_RDWR | O_CREAT) else {
            throw .damaged("the ledger cannot be opened")
        }
        let bytes = try file.read(LedgerSector.fileSize, at: 0)
        let found = AttemptLedger.decide(bytes, vault: vault)
        self.file = file
        self.vault = vault
        sequence = found.sector?.sequence ?? 0
        nextIndex = found.nextIndex
        budget = AttemptLedger.budget(found.sector, oneIsBad: found.oneIsBad, policy: policy, now: now)
        needsSave = found.sector == nil || found.oneIsBad || budget.delayMustRestart(at: now)
        isMissing = missing
        isMadeUp = found.sector == nil
        if budget.delayMustRestart(at: now) { budget.restartDelay(at: now) }
    }

    /// Opens the ledger, and makes durable what had to be made up: a lost ledger, a delay that begins again.
    package static func open(
        in home: HomeDirectory, vault: VaultID, policy: VaultPolicy, now: BootInstant
    ) throws(VaultError) -> AttemptLedger {
        var ledger = try AttemptLedger(in: home, vault: vault, policy: policy, now: now)
        if ledger.needsSave { try ledger.save() }
        // Both sectors: with one still bad, the next reader would count one more.
        if ledger.isMadeUp { try ledger.save() }
        if ledger.isMissing { try home.synchronize() }
        return ledger
    }

    private static func budget(
        _ sector: LedgerSector?, oneIsBad: Bool, policy: VaultPolicy, now: BootInstant
    ) -> AttemptBudget {
        guard let sector else { return .distrusted(policy: policy, now: now) }
        var budget = AttemptBudget(
            spent: sector.spent, refused: sector.refused, delay: sector.delay,
            delayStart: BootInstant(bootID: sector.bootID, milliseconds: sector.delayStart), policy: policy)
        // The bad one may have been a burn in the making: it counts, and its delay runs.
        if oneIsBad { budget.burn(at: now) }
        return budget
    }

    /// The truth in two sectors: the newer valid one. One that is bad may have been a burn in the making.
    package static func decide(_ bytes: [UInt8], vault: VaultID) -> (
        sector: LedgerSector?, oneIsBad: Bool, nextIndex: Int
    ) {
        let sectors = sectors(bytes, vault: vault)
        switch (sectors[0], sectors[1]) {
        case (let first?, let second?):
            return first.sequence >= second.sequence ? (first, false, 1) : (second, false, 0)
        case (let first?, nil): return (first, true, 1)
        case (nil, let second?): return (second, true, 0)
        case (nil, nil): return (nil, false, 0)
        }
    }

    /// Those that are valid.
    private static func sectors(_ bytes: [UInt8], vault: VaultID) -> [LedgerSector?] {
        (0..<2).map { index in
            let start = index * LedgerSector.size
            guard bytes.count >= start + LedgerSector.size else { return nil }
            let sector = try? LedgerSector(
                parsing: Array(bytes[start..<start + LedgerSector.size]), checksum: HeaderFile.checksum)
            return sector?.vault == vault ? sector : nil
        }
    }

    /// The ledger's write count, for an anchor; 0 when there is none.
    package static func sequence(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> UInt64 {
        guard let file = try home.openFile(name, O_RDONLY) else { return 0 }
        return decide(try file.read(LedgerSector.fileSize, at: 0), vault: vault).sector?.sequence ?? 0
    }

    /// Reads the budget for display, without writing and without the lock.
    package static func peek(in home: HomeDirectory, vault: VaultID, policy: VaultPolicy, now: BootInstant)
        throws(VaultError) -> AttemptBudget
    {
        guard let file = try home.openFile(name, O_RDONLY) else { return .distrusted(policy: policy, now: now) }
        let found = decide(try file.read(LedgerSector.fileSize, at: 0), vault: vault)
        return budget(found.sector, oneIsBad: found.oneIsBad, policy: policy, now: now)
    }

    /// Writes a new vault's ledger: both sectors, nothing spent.
    package static func create(in home: HomeDirectory, vault: VaultID, now: BootInstant) throws(VaultError) {
        guard let file = try home.openFile(name, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("the ledger cannot be created")
        }
        for index in 0..<2 {
            let sector = LedgerSector(
                vault: vault, sequence: UInt64(index + 1), spent: 0, refused: 0, delay: 0,
                delayStart: now.milliseconds, bootID: now.bootID)
            try file.write(sector.encoded(checksum: HeaderFile.checksum), at: UInt64(index * LedgerSector.size))
        }
        try file.synchronize()
    }

    /// Gives a copy of a home the counts of the one it was copied from: copying must not be a way to fresh attempts. An
    /// unreadable ledger becomes one without counts, which copying the files would also yield.
    package static func copy(
        from source: HomeDirectory, to target: HomeDirectory, vault: VaultID, now: BootInstant
    ) throws(VaultError) {
        try create(in: target, vault: vault, now: now)
        guard let file = try source.openFile(name, O_RDONLY), let copy = try target.openFile(name, O_RDWR) else {
            return
        }
        let bytes = try file.read(LedgerSector.fileSize, at: 0)
        guard decide(bytes, vault: vault).sector != nil else { return }
        try copy.write(bytes, at: 0)
        try copy.synchronize()
    }

    /// Changes the budget and makes the change durable before returning.
    package mutating func update(_ change: (inout AttemptBudget) -> Void) throws(VaultError) {
        change(&budget)
        try save()
    }

    /// Puts back an earlier budget: the attempt was not one.
    package mutating func restore(_ earlier: AttemptBudget) throws(VaultError) {
        budget = earlier
        try save()
    }

    private mutating func save() throws(VaultError) {
        let next = sequence + 1
        let sector = LedgerSector(
            vault: vault, sequence: next, spent: budget.spent, refused: budget.refused, delay: budget.delay,
            delayStart: budget.delayStart.milliseconds, bootID: budget.delayStart.bootID)
        let bytes = sector.encoded(checksum: HeaderFile.checksum)
        try file.write(bytes, at: UInt64(nextIndex * LedgerSector.size))
        try file.synchronize()
        // Not before: an anchor that is told of a write that never came would call the present ledger an older one.
        sequence = next
        nextIndex = 1 - nextIndex
    }
}
