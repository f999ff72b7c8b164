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
        let record = try format { () throws(FormatError) in try RoadRecord(.folder, path: path) }
        try inVault { () throws(VaultError) in
            try items.write { session throws(VaultError) in try store(record, at: place, in: &session) }
        }
        return place
    }

    private func store(_ road: RoadRecord, at place: Int, in session: inout WriteSession) throws(VaultError) {
        roads[place] = road
        try session.put(syncBytes: road.encoded, for: RoadRecord.recordName(place))
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
    func outboxPiece(_ id: [UInt8]) throws(SyncError) -> [UInt8]? {
        try vault.syncBytes(OutboxRecord.pieceName(id))
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
            let opened = try received.reopened(with: held.opened.key, by: keys.id)
            for index in 0..<opened.count {
                let id = try opened.withChange(index) { change throws(SyncError) in
                    let (form, place) = try format { () throws(FormatError) in try ChangeForm.parse(change) }
                    let bytes = change.extracting(place)
                    guard form == .pieces else { return try StateJoin.id(of: bytes) }
                    var assembly = try PieceAssembly(bytes, limit: UInt64(StateLimits.size))
                    while let id = assembly.next {
                        guard let piece = try outboxPiece(id) else { throw .format(.invalid(field: "kept piece")) }
                        try assembly.add(piece)
                    }
                    let state = try assembly.finish()
                    return try state.withBytes { state throws(SyncError) in try StateJoin.id(of: state) }
                }
                ids.insert(id)
            }
        }
        return ids
    }

    /// Gives up entries whose numbers are another's by now, and the pieces that no other entry has.
    func dropOutbox(
        of stream: StreamID, after last: UInt64, upTo reached: UInt64, in session: inout WriteSession
    ) throws(VaultError) {
        var pieces: Set<[UInt8]> = []
        var kept: Set<[UInt8]> = []
        for number in stride(from: 1, through: reached, by: 1) {
            let record = try syncCall { () throws(SyncError) in try outbox(stream, number) }
            guard let record else { continue }
            guard number > last else {
                kept.formUnion(record.pieces)
                continue
            }
            pieces.formUnion(record.pieces)
            try session.delete(sync: OutboxRecord.recordName(stream, number))
        }
        for id in pieces.subtracting(kept) {
            let name = OutboxRecord.pieceName(id)
            guard try session.withSync(name, { _ throws(VaultError) in true }) == true else { continue }
            try session.delete(sync: name)
        }
    }
}
