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
        guard var known = home.streams[stream] else { return }
        // Where the entry before it is another one, too, the fork is earlier, and the files that show it are to come.
        let before = evidence.front.number - 1
        if before >= 1, before <= known.reached,
            EntryMark.mark(evidence.front.before) != known.reader.marks[Int(before - 1)]
        {
            return stop(stream, .missing(stream, from: before))
        }
        stop(stream, .fork(stream, at: number))
        try commit()
        known = home.streams[stream] ?? known
        known.reader.freeze(before: number)
        home.streams[stream] = known
        try adopt([stream])
    }

    /// A member wrote what no writer writes.
    func refuse(_ stream: StreamID, at number: UInt64, _ reason: SyncError) throws(SyncError) {
        stop(stream, .refused(stream, at: number, reason))
        try commit()
        guard var known = home.streams[stream] else { return }
        known.reader.freeze(before: number)
        home.streams[stream] = known
        try adopt([stream])
    }

    /// Writes what was taken of refused entries as entries of this device, and then stores that the streams have ended.
    /// Killed before that, it is done again, and finds nothing that was adopted already.
    func adopt(_ streams: [StreamID]) throws(SyncError) {
        var last: [StreamID: UInt64] = [:]
        for stream in streams {
            guard let reader = home.streams[stream]?.reader, reader.refused != nil else { continue }
            last[stream] = reader.last
        }
        if !last.isEmpty {
            try inVault { () throws(VaultError) in
                let writers = Set(home.streams.keys)
                let ids = try home.ledger.itemsToAdopt(after: last, saying: writers)
                try sayAll(ids) { ids, stamp, session throws(VaultError) in
                    try home.ledger.adopt(ids, after: last, saying: writers, at: stamp, in: &session)
                }
            }
        }
        try inVault { () throws(VaultError) in
            try home.items.write { session throws(VaultError) in try home.store(streams, in: &session) }
        }
        try stamp()
    }

    /// Says items again, as many as an entry has at a time.
    func sayAll(
        _ ids: [SyncItemID],
        _ write: (ArraySlice<SyncItemID>, Stamp, inout WriteSession) throws(VaultError) -> [SyncState]
    ) throws(VaultError) {
        var rest = ids[...]
        while !rest.isEmpty {
            let some = rest.prefix(EntryFill.most)
            rest = rest.dropFirst(some.count)
            try home.items.write { session throws(VaultError) in
                let states = try write(some, try home.stampInRoom(), &session)
                if !states.isEmpty { try home.seal(states, in: &session) }
            }
        }
    }
}
