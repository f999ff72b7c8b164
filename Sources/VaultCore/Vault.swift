package import DeviceOwner
internal import SecretMemory
internal import Synchronization
internal import VaultFolders
public import VaultFormat
package import VaultHeader
internal import VaultWipe
package import VaultLog
package import VaultStorage

/// An encrypted vault in a folder: records and files that only the passcode or the recovery phrase opens.
///
/// Safe to use from any thread. Calls block for as long as their disk access takes; a returned write survives a crash
/// and a power loss. Several processes may use one vault at once; on Apple's systems one waits while another reads or
/// writes.
public final class Vault: Sendable {
    package let home: HomeDirectory
    package let settings: VaultSettings
    let gate = Gate()
    let wrongTag = WrongTag()
    /// How far the records have moved to new keys, while this process moves them.
    let moving = MovingPlace()
    /// The owner's way in, while there is one, and the half of its key that a release brings.
    let ownerSlot = OwnerSlotPlace()
    package let ownerKeeper = OwnerKeeper()
    /// What happens to the vault is written here.
    package let log: SecurityLog

    /// Records that are reached while the vault is locked.
    public let open: OpenCompartment

    /// The collection used when none is named.
    public static let defaultCollection = "default"
    /// The largest value that lies in a record of its own; larger ones are streamed into a file.
    package static let largestInlineValue = RecordLimits.largestInlineValue

    /// Finds the vault in a folder; it starts locked. A wipe that was begun is finished first.
    /// - Parameters:
    ///   - path: The folder.
    ///   - minima: What an unlock must prove at least for a collection to be read, written or listed, beside what the
    ///     header's rules ask for; the stricter one holds.
    ///   - wipeTargets: What a wipe must erase beside the vault; the same ones at each start.
    /// - Throws: `wiped` when the vault was destroyed, `noVault`, `damaged`, `newerVersion`, `permissionDenied`,
    ///   `inputOutput`; `invalidName` for a target's identifier.
    package convenience init(
        at path: String, minima: [String: Assurance] = [:], wipeTargets: [any WipeTarget] = []
    ) throws(VaultError) {
        var settings = VaultSettings.standard
        settings.minima = minima
        settings.wipeTargets = wipeTargets
        try self.init(at: path, settings: settings)
    }

    package convenience init(at path: String, settings: VaultSettings) throws(VaultError) {
        var header: Header?
        try self.init(at: path, settings: settings, reading: &header)
    }

    /// - Parameter found: Gets the header that was read, which nothing proves yet.
    init(at path: String, settings: VaultSettings, reading found: inout Header?) throws(VaultError) {
        home = try HomeDirectory(path: path)
        self.settings = settings
        open = OpenCompartment(in: home, gate: gate, minima: settings.minima)
        guard home.exists(HeaderFile.name) || !home.exists(VaultCreation.marker) else {
            throw VaultError(.noVault, "the vault at \(path) was never finished")
        }
        try VaultCreation.removeLeftover(in: home)
        _ = try WipeTargetID.all(of: settings.wipeTargets)
        try Wipe.finishIfBegun(in: home, settings)
        let header = try HeaderFile.read(in: home)
        found = header
        let vault = header.vault
        log = SecurityLog(
            in: home, vault: vault, entriesPerSegment: settings.logEntriesPerSegment, clock: settings.clock.logMoment)
        // On a disk that cannot be written nothing can be erased either.
        try? WipeJournalFile.register(settings.wipeTargets, in: home, vault: vault)
    }

    deinit { gate.close() }  // the end of a process writes nothing into the log

    /// Whether the keys are in memory now.
    public var isUnlocked: Bool { gate.current != nil }

    /// Wipes every key. Reads and writes that run in other threads are let finish first. Into the log of a vault that a
    /// newer program has taken over nothing is written.
    package func lock() { lock(because: .requested) }

    /// As ``lock()``, and the log says why. The keys are gone before it is written.
    package func lock(because reason: LogLockReason) {
        if gate.close(), HeaderFile.newerVersion(in: home) == nil { log.append(.locked(reason)) }
        WorkingMemory.wipeAll()
    }

    /// The rules of the header while they are known to be genuine: nil while the vault is locked.
    package var authenticatedPolicy: VaultPolicy? { gate.current?.keys.policy }

    /// Names this vault.
    public var id: VaultID {
        get throws(VaultError) { try HeaderFile.read(in: home).vault }
    }
}

/// What is in memory while a vault is unlocked. The last reference wipes the keys.
final class UnlockedVault: Sendable {
    let keys: UnlockedKeys
    let database: DatabaseLease
    let queue: WriteQueue

    init(_ keys: UnlockedKeys, in home: HomeDirectory, evenIfDamaged: Bool = false) throws(VaultError) {
        database = try DatabaseEnvironment.acquire(.protected, in: home)
        // One read of the root record proves that database and keys belong together.
        _ = try RecordReader(keys.records, database).root(evenIfDamaged: evenIfDamaged)
        queue = try WriteQueue(keys.records, database, in: home)
        self.keys = keys
    }
}

/// The tag of the last secret known to be wrong, so that typing it again costs no attempt (constructions.md 2.5). In
/// locked memory only, whatever the header says: nothing that a tried secret could be searched by goes to the disk.
final class WrongTag: Sendable {
    /// The tag, and the slot that refused it: another header's slot may have refused what is right for this one.
    private struct Known: ~Copyable, Sendable {
        let tag: SecretBytes
        let slot: Slot
    }

    private let known = Mutex<Known?>(nil)

    func matches(_ other: borrowing SecretBytes, of slot: Slot) -> Bool {
        known.withLock { known in
            switch known {
            case .some(let known): known.slot == slot && other.withBytes { known.tag.isEqual(to: $0) }
            case nil: false
            }
        }
    }

    /// One that cannot be kept is not kept: the secret then counts again.
    func set(_ tag: borrowing SecretBytes, of slot: Slot) {
        known.withLock { known in
            known = nil
            if let tag = try? tag.copy() { known = Known(tag: tag, slot: slot) }
        }
    }

    func forget() { known.withLock { $0 = nil } }
}
