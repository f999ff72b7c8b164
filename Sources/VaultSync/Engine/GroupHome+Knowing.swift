internal import SyncFormat
internal import VaultFormat

extension GroupHome {
    /// The last entry that may be named of each stream: the last one that was taken, the own ones too. Of a stream that
    /// has ended others may have taken more; of the one that this device writes nobody can have.
    func heads(_ streams: [StreamID: KnownStream]) -> [StreamID: UInt64] {
        var heads = streams.mapValues { $0.reader.last == nil ? $0.reached : SyncLimits.entries }
        heads[stream] = streams[stream]?.reached ?? 0
        return heads
    }

    /// The last entry that counts of each stream that has ended.
    var ended: [StreamID: UInt64] { streams.compactMapValues(\.reader.last) }

    /// The streams that this device has written.
    var ownStreams: [StreamID] { [stream] + record.oldStreams }

    /// The first of the rosters that are an unbroken chain up to the current one.
    var oldest: Roster {
        var oldest = roster
        while let before = rosters[oldest.before]?.roster { oldest = before }
        return oldest
    }

    /// The roster that an entry is sealed under.
    func roster(of front: EntryFront) -> HeldRoster? {
        rosters.values.first {
            $0.roster.number == front.epoch && $0.roster.hash.starts(with: front.rosterMark)
        }
    }

    /// Who may have written an entry of a stream: its member, wherever its key is known from; of a stream that was not
    /// met before the members, and removed ones, so that it is known whose it is and how far it counts.
    /// - Parameter member: Whose it is; nil for one that was not met before.
    func signers(_ member: SyncMemberID?) throws(SyncError) -> SyncSigners {
        let writers: Set<SyncMemberID> = member.map { [$0] } ?? roster.ids.union(roster.gone)
        var records: [SyncMemberID: MemberRecord] = [:]
        for held in rosters.values {
            for member in held.roster.body.members where writers.contains(member.id) { records[member.id] = member }
        }
        return try SyncSigners(records.values.sorted { $0.id < $1.id })
    }

    /// The reader of a stream that was not met before.
    func newReader(of stream: StreamID, by member: SyncMemberID) -> StreamReader {
        var reader = StreamReader(stream)
        end(&reader, of: member)
        return reader
    }

    /// Ends a stream where its member was removed.
    /// - Returns: Whether anything that was taken of it counts no more.
    @discardableResult
    func end(_ reader: inout StreamReader, of member: SyncMemberID) -> Bool {
        guard roster.gone.contains(member) else { return false }
        let named = roster.body.removed.first { $0.member == member && $0.last?.stream == reader.stream }
        if let last = named?.last { _ = reader.end(at: last) } else { reader.end(at: 0) }
        return reader.refused != nil
    }
}
