internal import Items
internal import SecretMemory
package import SyncFormat
package import VaultCore
internal import VaultFormat
internal import VaultStorage

/// The group that a vault belongs to, as the vault's own records have it: keys, rosters, and what is known of each
/// stream.
///
/// It is loaded for one round and let go after it, and a lock takes its keys: a locked device has no key of the group.
/// What failed is let go too; the records are as the last transaction left them.
package final class GroupHome {
    let items: ItemStore
    package let ledger: SyncLedger
    let keys: HeldMember
    private let ring: KeyRing
    private(set) var record: GroupRecord
    private(set) var keeper: RosterKeeper
    /// All that are kept, by their hashes: entries of earlier ones are still to be read.
    private(set) var rosters: [[UInt8]: HeldRoster]
    /// The own streams are among them.
    var streams: [StreamID: KnownStream]
    /// By their numbers.
    package internal(set) var roads: [Int: RoadRecord]
    /// Items that waited for their collection, and cannot be shown in it.
    var unlandable: Set<SyncItemID> = []
    /// Whether somebody else has written since it was loaded.
    private(set) var isStale = false

    var vault: Vault { items.vault }
    package var group: SyncGroupID { record.group }
    /// What its user calls this device.
    package var name: String { record.name }
    /// The stream that this device writes.
    package var stream: StreamID { record.stream }
    package var roster: Roster { keeper.current }

    init(
        _ items: ItemStore, _ record: GroupRecord, keys: consuming MemberKeys, nameKey: consuming NameKey,
        keeper: RosterKeeper, rosters: [HeldRoster], streams: [StreamID: KnownStream], roads: [Int: RoadRecord] = [:],
        on held: KeyRing? = nil
    ) {
        self.items = items
        self.record = record
        self.keys = HeldMember(keys)
        ledger = SyncLedger(items.vault, nameKey: nameKey)
        self.keeper = keeper
        self.rosters = Dictionary(rosters.map { ($0.roster.hash, $0) }) { first, _ in first }
        (self.streams, self.roads) = (streams, roads)
        if let held {
            ring = held
        } else {
            ring = KeyRing()
            do throws(VaultError) { try items.vault.hold(ring) } catch { ring.dropKeys() }
        }
        for key in rosters.map(\.key) { ring.add(key) }
        ring.add(self.keys.held)
        ring.add(ledger.nameKey)
    }

    deinit { vault.letGo(of: ring) }
}

/// A roster with its key, as it lies on the road.
final class HeldRoster: Sendable {
    let roster: Roster
    /// The members' keys.
    let signers: SyncSigners
    let key: HeldKey<EpochKey>
    let bytes: [UInt8]

    init(_ opened: consuming OpenedRoster, bytes: [UInt8]) {
        (roster, signers, self.bytes) = (opened.roster, opened.signers, bytes)
        key = HeldKey(opened.key)
    }
}

/// A stream as this device knows it.
struct KnownStream {
    let member: SyncMemberID
    var reader: StreamReader
    /// The number of its last head that an entry of this device has named.
    var told: UInt64 = 0
    /// Hashes of entries that the vault has.
    fileprivate var stored = 0
    /// Whether what was taken of it behind its end is still to be written as this device's own.
    var isAdopting = false
    /// The last entry that counts because of what its writer did, and not of what a roster says.
    private(set) var frozen: UInt64?

    init(_ reader: StreamReader, of member: SyncMemberID) {
        (self.reader, self.member) = (reader, member)
    }

    /// The number of the last entry that was taken.
    var reached: UInt64 { reader.head?.number ?? 0 }

    /// No entry from `number` on counts, whatever a roster says.
    mutating func freeze(before number: UInt64) {
        let last = number > 0 ? number - 1 : 0
        frozen = min(frozen ?? last, last)
        reader.freeze(before: number)
    }

    /// Without what a roster says; nil for what no reader is.
    var readerOfItsOwn: StreamReader? {
        StreamReader(reader.stream, head: reader.head, marks: reader.marks, last: frozen)
    }
}

// MARK: - Loading

extension GroupHome {
    /// The group of an unlocked vault; nil where it has none.
    /// - Throws: `vault` for what reading throws; `format` and `notAuthentic` for records that do not fit each other.
    package static func load(_ vault: Vault) throws(SyncError) -> GroupHome? {
        for _ in 0..<mostTries {
            guard let home = try loadOnce(vault) else { return nil }
            // Each record is read by itself: somebody may have written between two of them.
            if try vault.syncBytes(GroupRecord.recordName) == home.record.encoded { return home }
        }
        throw .vault(VaultError(.busy, "the group is being written to all the time"))
    }

    private static func loadOnce(_ vault: Vault) throws(SyncError) -> GroupHome? {
        // Before any key is read: of a lock in between there is nothing left either.
        let ring = KeyRing()
        try inVault { () throws(VaultError) in try vault.hold(ring) }
        var isLoaded = false
        defer { if !isLoaded { vault.letGo(of: ring) } }
        guard let bytes = try vault.syncBytes(GroupRecord.recordName) else { return nil }
        let record = try format { () throws(FormatError) in try GroupRecord(parsing: bytes) }
        let keys = try MemberKeys(vault.neededSyncSecret(SyncRecordName.memberKeys))
        let nameKey = try NameKey(vault.neededSyncSecret(SyncRecordName.nameKey))
        let kept = try vault.neededSyncBytes(KeeperRecord.recordName)
        let keeperRecord = try format { () throws(FormatError) in try KeeperRecord(parsing: kept) }
        var rosters: [HeldRoster] = []
        // What was before the first one is known by it.
        var hashes = keeperRecord.rosters + keeperRecord.traces.map(\.hash)
        var known = Set(hashes)
        while let hash = hashes.popLast() {
            guard let bytes = try vault.syncBytes(KeeperRecord.rosterName(hash)) else { continue }
            let key = try EpochKey(vault.neededSyncSecret(KeeperRecord.keyName(hash)))
            let opened = try ReceivedRoster(parsing: bytes).reopened(with: key)
            guard opened.roster.hash == hash else { throw .format(.invalid(field: "kept roster")) }
            if known.insert(opened.roster.before).inserted { hashes.append(opened.roster.before) }
            rosters.append(HeldRoster(opened, bytes: bytes))
        }
        guard let keeper = keeperRecord.keeper(rosters.map(\.roster)) else {
            throw .format(.invalid(field: "kept rosters"))
        }
        var streams: [StreamID: KnownStream] = [:]
        for stream in record.streams {
            streams[stream] = try KnownStream(stream, in: vault)
        }
        let roads = try loadRoads(vault)
        isLoaded = true
        return GroupHome(
            ItemStore(vault), record, keys: keys, nameKey: nameKey, keeper: keeper, rosters: rosters,
            streams: streams, roads: roads, on: ring)
    }
}

extension KnownStream {
    fileprivate init?(_ stream: StreamID, in vault: Vault) throws(SyncError) {
        // One that is known and of which nothing was ever taken has no record.
        guard let bytes = try vault.syncBytes(StreamRecord.recordName(stream)) else { return nil }
        let record = try format { () throws(FormatError) in try StreamRecord(parsing: bytes) }
        var marks: [UInt64] = []
        for chunk in StreamRecord.chunks(after: 0, record.marks) {
            let bytes = try vault.neededSyncBytes(StreamRecord.marksName(stream, chunk))
            marks += try format { () throws(FormatError) in
                try unsafe StreamRecord.marks(parsing: bytes.span.bytes, chunk: chunk, of: record.marks)
            }
        }
        guard record.stream == stream, let reader = record.reader(marks: marks) else {
            throw .format(.invalid(field: "kept stream"))
        }
        (member, self.reader, told) = (record.member, reader, record.told)
        (stored, isAdopting, frozen) = (record.marks, record.isAdopting, record.frozen)
    }
}

// MARK: - Storing

extension GroupHome {
    /// Stores what was taken of streams since they were loaded or stored, as part of a transaction.
    func store(_ ids: some Sequence<StreamID>, in session: inout WriteSession) throws(VaultError) {
        for id in ids {
            guard let known = streams[id] else { continue }
            let marks = known.reader.marks
            for chunk in StreamRecord.chunks(after: known.stored, marks.count) {
                try session.put(
                    syncBytes: StreamRecord.bytes(of: chunk, marks), for: StreamRecord.marksName(id, chunk))
            }
            let kept = StreamRecord(
                known.reader, member: known.member, told: known.told, isAdopting: known.isAdopting,
                frozen: known.frozen)
            try session.put(syncBytes: kept.encoded, for: StreamRecord.recordName(id))
            streams[id]?.stored = marks.count
        }
        if Set(record.streams) != Set(streams.keys) { record = try changed(streams: streams.keys.sorted()) }
    }

    /// Takes readers of streams, as part of the transaction that takes what they have read.
    func take(_ read: [StreamID: KnownStream], in session: inout WriteSession) throws(VaultError) {
        for (stream, known) in read { streams[stream, default: known].reader = known.reader }
        try store(read.keys.sorted(), in: &session)
    }

    /// Stores everything that a device needs that has just come into a group.
    func storeFirst(_ nameKey: borrowing SecretBytes, in session: inout WriteSession) throws(VaultError) {
        let scalars = try syncCall { () throws(SyncError) in
            try keys.with { keys throws(SyncError) in try keys.bytes() }
        }
        try scalars.withBytes { bytes throws(VaultError) in
            try session.put(sync: bytes, for: SyncRecordName.memberKeys)
        }
        try nameKey.withBytes { bytes throws(VaultError) in try session.put(sync: bytes, for: SyncRecordName.nameKey) }
        for held in rosters.values { try store(held, in: &session) }
        try session.put(syncBytes: KeeperRecord(keeper).encoded, for: KeeperRecord.recordName)
        try session.put(syncBytes: record.encoded, for: GroupRecord.recordName)
        try store(streams.keys.sorted(), in: &session)
    }

    /// Keeps the key of a roster that is not here yet.
    func store(_ earlier: EarlierKey, in session: inout WriteSession) throws(VaultError) {
        try earlier.key.withBytes { key throws(VaultError) in
            try session.put(sync: key, for: KeeperRecord.keyName(earlier.hash))
        }
    }

    private func store(_ held: HeldRoster, in session: inout WriteSession) throws(VaultError) {
        let hash = held.roster.hash
        let key = try syncCall { () throws(SyncError) in
            try held.key.with { key throws(SyncError) in try key.copy() }
        }
        try key.withBytes { key throws(VaultError) in
            try session.put(sync: key, for: KeeperRecord.keyName(hash))
        }
        try session.put(syncBytes: held.bytes, for: KeeperRecord.rosterName(hash))
    }

    /// Takes rosters that came, as part of a transaction.
    /// - Parameter next: The keeper that applied them.
    func take(_ new: [HeldRoster], _ next: RosterKeeper, in session: inout WriteSession) throws(VaultError) {
        for held in new where rosters[held.roster.hash] == nil {
            rosters[held.roster.hash] = held
            ring.add(held.key)
            try store(held, in: &session)
        }
        keeper = next
        try session.put(syncBytes: KeeperRecord(keeper).encoded, for: KeeperRecord.recordName)
        record = try changed(roster: keeper.current.hash)
    }

    /// Begins a new stream of this device's, as part of a transaction.
    func begin(_ stream: StreamID, in session: inout WriteSession) throws(VaultError) {
        let old = record.oldStreams + [record.stream]
        let all = (record.streams + [stream]).sorted()
        record = try changed(stream: stream, streams: all, oldStreams: old.sorted())
        streams[stream] = KnownStream(StreamReader(stream), of: keys.id)
        // What the old stream's entries named is not said by the new one's: it begins with all heads.
        for other in streams.keys { streams[other]?.told = 0 }
        try store(streams.keys.sorted(), in: &session)
    }
}

extension GroupHome {
    /// One transaction of the sync. Only one round at a time changes what this device knows and seals entries: two
    /// that were loaded at once would give one number to two entries.
    /// - Parameter isLast: Whether nothing of the group is left after it.
    /// - Throws: `busy` where another one was faster (``isStale`` tells): then this value is to be loaded again. And
    ///   what `body` throws. This value is as it was then.
    func write(
        isLast: Bool = false, _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) {
        let before = (record: record, keeper: keeper, rosters: rosters, streams: streams, roads: roads)
        do throws(VaultError) { try writing(isLast, body) } catch {
            (record, keeper, rosters) = (before.record, before.keeper, before.rosters)
            (streams, roads) = (before.streams, before.roads)
            throw error
        }
    }

    private func writing(
        _ isLast: Bool, _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) {
        try items.write { session throws(VaultError) in
            let stored = try session.withSync(GroupRecord.recordName) { bytes throws(VaultError) in
                bytes.copied(0..<bytes.byteCount)
            }
            guard stored == record.encoded else {
                isStale = true
                throw VaultError(.busy, "another round is running")
            }
            try body(&session)
            if isLast { return }
            record = try changed(turn: record.turn + 1)
            try session.put(syncBytes: record.encoded, for: GroupRecord.recordName)
        }
    }

    /// The record with something else in it.
    private func changed(
        turn: UInt64? = nil, stream: StreamID? = nil, roster: [UInt8]? = nil, streams: [StreamID]? = nil,
        oldStreams: [StreamID]? = nil
    ) throws(VaultError) -> GroupRecord {
        let old = self.record
        return try syncCall { () throws(SyncError) in
            try format { () throws(FormatError) in
                try GroupRecord(
                    turn: turn ?? old.turn, group: old.group, stream: stream ?? old.stream, name: old.name,
                    roster: roster ?? old.roster,
                    streams: streams ?? old.streams, oldStreams: oldStreams ?? old.oldStreams)
            }
        }
    }
}

/// Names of the group's records that have no layout of their own.
enum SyncRecordName {
    static let memberKeys = "keys"
    static let nameKey = "names"
}

extension Vault {
    /// A record of the sync's own; nil where it is not there.
    func syncSecret(_ name: String) throws(SyncError) -> SecretBytes? {
        do {
            return try syncRecord(name).withValue { bytes in try SecretBytes(copying: bytes) }
        } catch {
            let error = VaultError(any: error)
            if error.code == .recordNotFound { return nil }
            throw .vault(error)
        }
    }

    fileprivate func neededSyncSecret(_ name: String) throws(SyncError) -> SecretBytes {
        guard let secret = try syncSecret(name) else { throw .vault(.damaged("a record of the sync is missing")) }
        return secret
    }

    /// As ``syncSecret(_:)``, for what travels in the clear or is sealed.
    func syncBytes(_ name: String) throws(SyncError) -> [UInt8]? {
        guard let secret = try syncSecret(name) else { return nil }
        return secret.withBytes { $0.copied(0..<$0.byteCount) }
    }

    fileprivate func neededSyncBytes(_ name: String) throws(SyncError) -> [UInt8] {
        guard let bytes = try syncBytes(name) else { throw .vault(.damaged("a record of the sync is missing")) }
        return bytes
    }
}

extension WriteSession {
    mutating func put(syncBytes bytes: [UInt8], for name: String) throws(VaultError) {
        try unsafe put(sync: bytes.span.bytes, for: name)
    }
}
