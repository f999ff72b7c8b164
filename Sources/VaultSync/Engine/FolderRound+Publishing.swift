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
        try publishRosters()
        for stream in home.ownStreams.reversed() {
            if isFirst {
                _ = try onFolder { () throws(RoadError) in try RoadWriter(road, of: stream).removeOldParts() }
            }
            guard let reader = home.streams[stream]?.reader else { continue }
            let own = (memory.entries[stream] ?? []).filter { name in
                name.number <= UInt64(reader.marks.count) && name.mark == reader.marks[Int(name.number - 1)]
            }
            let there = Set(own.map(\.number))
            for number in stride(from: 1, through: UInt64(reader.marks.count), by: 1) {
                if there.contains(number) {
                    guard isFirst else { continue }
                    if try isWhole(stream, number) {
                        try putPieces(stream, number)
                        continue
                    }
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

    /// Puts all rosters onto the road that it does not have, whoever wrote them: each is named by its hash.
    private func publishRosters() throws(SyncError) {
        for held in home.rosters.values.sorted(by: { $0.roster.number < $1.roster.number }) {
            guard let name = RosterFileName(number: held.roster.number, hash: held.roster.hash) else { continue }
            if memory.rosters.contains(name) {
                guard isFirst else { continue }
                let file = RoadFile.roster(name)
                if case .bytes = try onFolder({ () throws(RoadError) in try road.read(file, &memory) }) { continue }
            }
            try write([(.roster(name), held.bytes)], of: home.stream)
        }
    }

    /// Puts an entry and its pieces onto the road.
    private func put(_ stream: StreamID, _ number: UInt64) throws(SyncError) {
        guard let entry = try putPieces(stream, number) else { return }
        let hash = entry.lend { BLAKE3.hash($0).bytes }
        guard let name = EntryFileName(number: number, hash: hash) else { return }
        try write([(.entry(name), entry)], of: stream)
        report.published += 1
    }

    /// Puts the pieces of an entry onto the road that it does not have as they are.
    /// - Returns: The entry; nil where it is not kept.
    @discardableResult
    private func putPieces(_ stream: StreamID, _ number: UInt64) throws(SyncError) -> [UInt8]? {
        guard let kept = try home.outbox(stream, number) else { return nil }
        // One at a time: an entry may need many.
        for id in kept.pieces {
            guard let name = PieceFileName(id: id) else { continue }
            try write([(.piece(name), home.outboxPiece(id))], of: stream)
        }
        return kept.entry
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
