internal import Items
internal import SecretMemory
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What a device has for its roads: where they are, and what they still have to get.
extension GroupHome {
    /// Adds a folder.
    /// - Parameter path: Absolute.
    /// - Returns: Which of the roads it is.
    package func add(folder path: String) throws(SyncError) -> Int {
        if let place = roads.first(where: { $0.value.path == path })?.key { return place }
        guard let place = (0..<SyncLimits.roads).first(where: { roads[$0] == nil }) else {
            throw .format(.invalid(field: "roads"))
        }
        try inVault { () throws(VaultError) in
            try write { session throws(VaultError) in try setRoad(place, path, in: &session) }
        }
        return place
    }

    /// Makes a folder one of the roads, as part of a transaction.
    func setRoad(_ place: Int, _ path: String, in session: inout WriteSession) throws(VaultError) {
        let record = try syncCall { () throws(SyncError) in
            try format { () throws(FormatError) in try RoadRecord(.folder, path: path) }
        }
        roads[place] = record
        try session.put(syncBytes: record.encoded, for: RoadRecord.recordName(place))
    }

    static func loadRoads(_ vault: Vault) throws(SyncError) -> [Int: RoadRecord] {
        var roads: [Int: RoadRecord] = [:]
        for place in 0..<SyncLimits.roads {
            guard let bytes = try vault.syncBytes(RoadRecord.recordName(place)) else { continue }
            roads[place] = try format { () throws(FormatError) in try RoadRecord(parsing: bytes) }
        }
        return roads
    }

    // The outbox

    /// An entry of an own stream as it was sealed; nil where it is not kept.
    func outbox(_ stream: StreamID, _ number: UInt64) throws(SyncError) -> OutboxRecord? {
        guard let bytes = try vault.syncBytes(OutboxRecord.recordName(stream, number)) else { return nil }
        return try format { () throws(FormatError) in try OutboxRecord(parsing: bytes) }
    }

    /// A piece that an entry in the outbox needs.
    func outboxPiece(_ id: [UInt8]) throws(SyncError) -> [UInt8] {
        guard let piece = try vault.syncBytes(OutboxRecord.pieceName(id)) else {
            throw .vault(.damaged("a piece of an entry that is to be given is missing"))
        }
        return piece
    }

    /// The items of entries in the outbox.
    func outboxItems(
        of stream: StreamID, after last: UInt64, upTo reached: UInt64
    ) throws(SyncError) -> Set<SyncItemID> {
        var ids: Set<SyncItemID> = []
        for number in stride(from: last + 1, through: reached, by: 1) {
            guard let kept = try outbox(stream, number) else { continue }
            let received = try ReceivedEntry(parsing: kept.entry)
            guard let held = roster(of: received.front) else { throw .format(.invalid(field: "kept entry")) }
            let opened = try held.key.with { key throws(SyncError) in
                try received.reopened(with: key, by: keys.id)
            }
            for index in 0..<opened.count {
                let id = try opened.withChange(index) { change throws(SyncError) in
                    let (form, place) = try format { () throws(FormatError) in try ChangeForm.parse(change) }
                    let bytes = change.extracting(place)
                    guard form == .pieces else { return try StateJoin.id(of: bytes) }
                    var assembly = try PieceAssembly(bytes, limit: UInt64(StateLimits.InEntry.size))
                    while let id = assembly.next {
                        try assembly.add(outboxPiece(id))
                    }
                    let state = try assembly.finish()
                    return try state.withBytes { state throws(SyncError) in try StateJoin.id(of: state) }
                }
                ids.insert(id)
            }
        }
        return ids
    }

    /// Gives up entries whose numbers are another's by now. Their pieces stay: the same contents have the same pieces
    /// in the entries that say them again.
    func dropOutbox(
        of stream: StreamID, after last: UInt64, upTo reached: UInt64, in session: inout WriteSession
    ) throws(VaultError) {
        for number in stride(from: last + 1, through: reached, by: 1) {
            try session.delete(sync: OutboxRecord.recordName(stream, number))
        }
    }
}
