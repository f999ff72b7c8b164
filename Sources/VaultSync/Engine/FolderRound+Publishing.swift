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
                do throws(RoadError) { _ = try RoadWriter(road, of: stream).removeOldParts() } catch {
                    guard case .tooManyFiles = error else { throw .folder(error) }
                    report.hitches.insert(.unlisted(stream, error))
                }
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
            _ = try write(.roster(name), held.bytes, of: home.stream)
        }
    }

    /// Puts an entry and its pieces onto the road.
    private func put(_ stream: StreamID, _ number: UInt64) throws(SyncError) {
        guard let entry = try putPieces(stream, number) else { return }
        let hash = entry.lend { BLAKE3.hash($0).bytes }
        guard let name = EntryFileName(number: number, hash: hash) else { return }
        if try write(.entry(name), entry, of: stream) { report.published += 1 }
    }

    /// Puts the pieces of an entry onto the road that it does not have as they are.
    /// - Returns: The entry; nil where it is not kept, or a piece has no place.
    @discardableResult
    private func putPieces(_ stream: StreamID, _ number: UInt64) throws(SyncError) -> [UInt8]? {
        guard let kept = try home.outbox(stream, number) else { return nil }
        // One at a time: an entry may need many.
        for id in kept.pieces {
            guard let name = PieceFileName(id: id) else { continue }
            guard try write(.piece(name), home.outboxPiece(id), of: stream) else { return nil }
        }
        return kept.entry
    }

    /// Writes a file, in place of what somebody made of it.
    /// - Returns: False where something has its name that is not taken away.
    private func write(_ file: OwnFile, _ bytes: [UInt8], of stream: StreamID) throws(SyncError) -> Bool {
        let writer = RoadWriter(road, of: stream)
        do throws(RoadError) {
            if try writer.write(file, bytes) == .differs { try writer.repair(file, bytes) }
            return true
        } catch {
            guard case .occupied(let place) = error else { throw .folder(error) }
            report.hitches.insert(.occupied(place))
            return false
        }
    }
}
