internal import Cryptography
internal import Items
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Putting entries onto the road, out of the outbox: always the bytes that were sealed with the change.
extension FolderRound {
    /// Puts the roster and all entries onto the road that it does not have, those too that somebody lost; pieces first.
    func publish() throws(SyncError) {
        try publishRoster()
        for stream in home.ownStreams.reversed() {
            guard let reader = home.streams[stream]?.reader else { continue }
            let there = Set((memory.entries[stream] ?? []).map(\.number))
            for number in stride(from: 1, through: UInt64(reader.marks.count), by: 1) {
                if there.contains(number) {
                    guard isFirst, try !isWhole(stream, number) else { continue }
                }
                try put(stream, number)
            }
        }
    }

    /// Whether an own file has the bytes that its name says.
    private func isWhole(_ stream: StreamID, _ number: UInt64) throws(SyncError) -> Bool {
        for name in (memory.entries[stream] ?? []).from(number).prefix(while: { $0.number == number }) {
            let file = RoadFile.entry(stream, name)
            if case .bytes = try onFolder({ () throws(RoadError) in try road.read(file, &memory) }) { return true }
        }
        return false
    }

    private func publishRoster() throws(SyncError) {
        guard let held = home.rosters[home.roster.hash],
            let name = RosterFileName(number: held.roster.number, hash: held.roster.hash),
            held.roster.author == home.keys.id, !memory.rosters.contains(name)
        else { return }
        _ = try onFolder { () throws(RoadError) in
            try RoadWriter(road, of: home.stream).write(.roster(name), held.bytes)
        }
    }

    /// Puts an entry and its pieces onto the road.
    private func put(_ stream: StreamID, _ number: UInt64) throws(SyncError) {
        guard let kept = try home.outbox(stream, number) else { return }
        var pieces: [(file: OwnFile, bytes: [UInt8])] = []
        for id in kept.pieces {
            guard let name = PieceFileName(id: id), let bytes = try home.outboxPiece(id) else { continue }
            pieces.append((.piece(name), bytes))
        }
        try write(pieces, of: stream)
        let hash = kept.entry.lend { BLAKE3.hash($0).bytes }
        guard let name = EntryFileName(number: number, hash: hash) else { return }
        try write([(.entry(name), kept.entry)], of: stream)
        report.published += 1
    }

    /// Writes files, in place of what somebody made of them.
    private func write(_ files: [(file: OwnFile, bytes: [UInt8])], of stream: StreamID) throws(SyncError) {
        guard !files.isEmpty else { return }
        let writer = RoadWriter(road, of: stream)
        try onFolder { () throws(RoadError) in
            for (file, result) in zip(files, try writer.write(files)) where result == .differs {
                try writer.repair(file.file, file.bytes)
            }
        }
    }
}
