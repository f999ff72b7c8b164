internal import Items
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What the road has of this device that this device did not write: its home was put back to an earlier state, by a
/// snapshot of the machine or a copy, and its other life wrote on.
extension FolderRound {
    func checkOwnStreams() throws(SyncError) {
        for stream in home.ownStreams {
            if stream != home.stream { try finishRebase(of: stream) }
            guard let reader = home.streams[stream]?.reader, reader.last == nil else { continue }
            let reached = UInt64(reader.marks.count)
            guard let foreign = try firstForeign(stream, reader) else { continue }
            let number = foreign.front.number
            // What the other life wrote behind all that this one has is read as another's.
            if stream != home.stream, number > reached { continue }
            report.hitches.insert(.wasPutBack)
            let isChained =
                number == 1 || number > reached + 1
                || EntryMark.mark(foreign.front.before) == reader.marks[Int(number - 2)]
            let agreed = isChained ? min(number - 1, reached) : lastOnRoad(stream, reader, before: number)
            if !isChained || lastOnRoad(stream, reader, before: .max) > agreed {
                // Both lives published: others may have taken either.
                try beginAnew(after: stream, reader)
                guard var known = home.streams[stream] else { continue }
                known.freeze(before: agreed + 1)
                try end([stream: known])
            } else {
                let head =
                    agreed == 0
                    ? nil
                    : agreed == reached
                        ? reader.head : StreamHead(stream: stream, number: agreed, hash: foreign.front.before)
                let marks = Array(reader.marks.prefix(Int(agreed)))
                guard let shorter = StreamReader(stream, head: head, marks: marks, last: nil) else {
                    throw .format(.invalid(field: "kept stream"))
                }
                try beginAnew(after: stream, shorter)
                try finishRebase(of: stream)
            }
        }
    }

    /// The last entry below a number that this life wrote and the road has; 0 for none.
    private func lastOnRoad(_ stream: StreamID, _ reader: StreamReader, before number: UInt64) -> UInt64 {
        let own = (memory.entries[stream] ?? []).last { name in
            name.number < number && name.number <= UInt64(reader.marks.count)
                && name.mark == reader.marks[Int(name.number - 1)]
        }
        return own?.number ?? 0
    }

    /// The first entry that this device signed and does not know.
    private func firstForeign(_ stream: StreamID, _ reader: StreamReader) throws(SyncError) -> SignedEntry? {
        let reached = UInt64(reader.marks.count)
        for name in memory.entries[stream] ?? []
        where name.number > reached || name.mark != reader.marks[Int(name.number - 1)] {
            if let signed = try signed(name, of: stream) { return signed }
        }
        return nil
    }

    /// Begins a new stream, and stores what both lives agree on in the old one.
    private func beginAnew(after stream: StreamID, _ reader: StreamReader) throws(SyncError) {
        home.streams[stream] = KnownStream(reader, of: home.keys.id)
        let new: StreamID? = stream == home.stream ? try GroupHome.randomID() : nil
        try inVault { () throws(VaultError) in
            try home.write { session throws(VaultError) in
                try home.store([stream], in: &session)
                if let new { try home.begin(new, in: &session) }
            }
        }
    }

    /// Takes back what no road ever had: under its numbers others know something else. The entries in the outbox say
    /// that it is not finished, after a kill too; nothing of the other life is taken before it is.
    private func finishRebase(of stream: StreamID) throws(SyncError) {
        guard let known = home.streams[stream] else { return }
        let agreed = known.reached
        var reached = agreed
        while try home.outbox(stream, reached + 1) != nil { reached += 1 }
        guard reached > agreed else { return }
        let unheard = try home.outboxItems(of: stream, after: agreed, upTo: reached)
        try inVault { () throws(VaultError) in
            let ids = Set(try home.ledger.itemsToRebase(of: stream, after: agreed)).union(unheard).sorted()
            try sayAll(ids) { id, stamp, session throws(VaultError) in
                try home.ledger.rebase(CollectionOfOne(id), of: stream, after: agreed, at: stamp, in: &session)
            }
            try home.write { session throws(VaultError) in
                try home.dropOutbox(of: stream, after: agreed, upTo: reached, in: &session)
            }
        }
    }
}
