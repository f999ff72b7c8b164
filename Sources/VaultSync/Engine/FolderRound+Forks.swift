internal import Items
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// Streams that end: nothing is lost of what was taken of them.
extension FolderRound {
    /// A member wrote two entries with one number. Nothing of its stream is taken from there on, and what was taken is
    /// written as this device's own.
    func fork(_ stream: StreamID, at number: UInt64, _ evidence: SignedEntry) throws(SyncError) {
        guard let reader = known(stream)?.reader else { return }
        // Where the entry before it is another one, too, the fork is earlier, and the files that show it are to come.
        let before = evidence.front.number - 1
        if before >= 1, before <= UInt64(reader.marks.count),
            EntryMark.mark(evidence.front.before) != reader.marks[Int(before - 1)]
        {
            return stop(stream, .missing(stream, from: before))
        }
        stop(stream, .fork(stream, at: number))
        try freeze(stream, before: number)
    }

    /// A member wrote what no writer writes.
    func refuse(_ stream: StreamID, at number: UInt64, _ member: SyncMemberID, _ reason: SyncError) throws(SyncError) {
        stop(stream, .refused(stream, at: number, reason))
        if known(stream) == nil { intake.streams[stream] = KnownStream(StreamReader(stream), of: member) }
        try freeze(stream, before: number)
    }

    private func freeze(_ stream: StreamID, before number: UInt64) throws(SyncError) {
        try commit()
        guard var known = home.streams[stream] else { return }
        known.freeze(before: number)
        try end([stream: known])
        try finishAdopting()
    }

    /// Ends the streams of those who were removed, as the current roster has it, and opens those again that a roster
    /// ended which is void by now.
    func endRemoved() throws(SyncError) {
        var ended: [StreamID: KnownStream] = [:]
        for (stream, known) in home.streams where known.member != home.keys.id {
            guard var reader = known.readerOfItsOwn else { throw .format(.invalid(field: "kept stream")) }
            home.end(&reader, of: known.member)
            guard reader != known.reader else { continue }
            ended[stream] = known
            ended[stream]?.reader = reader
        }
        try end(ended)
    }

    /// Stores that streams have ended, and that what was taken behind is to be adopted: killed after that, the next
    /// round does it.
    func end(_ streams: [StreamID: KnownStream]) throws(SyncError) {
        guard !streams.isEmpty else { return }
        try inVault { () throws(VaultError) in
            try home.write { session throws(VaultError) in
                for (stream, known) in streams {
                    home.streams[stream] = known
                    home.streams[stream]?.isAdopting = known.reader.refused != nil
                }
                try home.store(streams.keys.sorted(), in: &session)
            }
        }
    }

    /// Writes what was taken of refused entries as entries of this device. What was adopted already is not found again.
    func finishAdopting() throws(SyncError) {
        let streams = home.streams.filter(\.value.isAdopting).keys.sorted()
        guard !streams.isEmpty else { return }
        let last = home.ended
        let writers = Set(home.streams.keys)
        try inVault { () throws(VaultError) in
            let ids = try home.ledger.itemsToAdopt(after: last, saying: writers)
            try sayAll(ids) { id, stamp, session throws(VaultError) in
                try home.ledger.adopt(CollectionOfOne(id), after: last, saying: writers, at: stamp, in: &session)
            }
            try home.write { session throws(VaultError) in
                for stream in streams { home.streams[stream]?.isAdopting = false }
                try home.store(streams, in: &session)
            }
        }
        try stamp()
    }

    /// Says items again, in as many entries and transactions as they need.
    func sayAll(
        _ ids: [SyncItemID],
        _ write: (SyncItemID, Stamp, inout WriteSession) throws(VaultError) -> [SyncState]
    ) throws(VaultError) {
        var rest = ids[...]
        while !rest.isEmpty {
            try home.write { session throws(VaultError) in
                let stamp = try home.stampInRoom()
                var (states, fill): ([SyncState], EntryFill) = ([], EntryFill())
                while !fill.isFull, let id = rest.popFirst() {
                    for state in try write(id, stamp, &session) {
                        states.append(state)
                        fill.add(state)
                    }
                }
                if !states.isEmpty { try home.seal(states, in: &session) }
            }
        }
    }
}
