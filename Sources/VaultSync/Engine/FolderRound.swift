internal import Items
internal import SecretMemory
package import SyncFormat
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// One round over a folder: rosters, then what others wrote, then what this device wrote.
///
/// Each step is a transaction or a durable file. Killed anywhere, the next round does what is left.
package final class FolderRound {
    let home: GroupHome
    let road: FolderRoad
    var memory: RoadMemory
    var report = RoundReport()
    /// In which nothing differs: what is taken is never written over what nobody looked at.
    var clean: SyncLedger.Comparison
    var intake = Intake()
    /// Streams that entries which wait have seen, and whose entries these are.
    var named: [StreamID: Set<SyncMemberID>] = [:]
    /// Streams of which nothing more is read in this round.
    var stopped: Set<StreamID> = []

    /// Rosters that count once one of them has this device.
    var ahead: Ahead?

    /// What was read and is not in the vault yet.
    struct Intake {
        /// In the order in which they were taken.
        private(set) var entries: [TakenEntry] = []
        private(set) var bytes = 0
        /// As they are once it is.
        var streams: [StreamID: KnownStream] = [:]
        private(set) var items: Set<SyncItemID> = []

        var states: [SyncState] { entries.flatMap(\.states) }
        var changes: Int { entries.reduce(0) { $0 + $1.states.count } }

        mutating func add(_ entry: TakenEntry) {
            entries.append(entry)
            streams[entry.stream.reader.stream] = entry.stream
            items.formUnion(entry.items)
            bytes += entry.states.reduce(0) { $0 + $1.bytes.count }
        }
    }

    /// An entry that was read, with all that it has.
    struct TakenEntry {
        let number: UInt64
        let states: [SyncState]
        let items: Set<SyncItemID>
        /// Its stream behind it.
        let stream: KnownStream
    }

    /// What is known of a stream, with what was read of it.
    func known(_ stream: StreamID) -> KnownStream? { intake.streams[stream] ?? home.streams[stream] }

    /// As ``known(_:)``, of all.
    var knownStreams: [StreamID: KnownStream] { home.streams.merging(intake.streams) { _, read in read } }

    /// Whether it is the first one since the unlock: own files are looked into then.
    let isFirst: Bool

    private init(
        _ home: GroupHome, _ road: FolderRoad, _ memory: RoadMemory, _ clean: SyncLedger.Comparison, isFirst: Bool
    ) {
        (self.home, self.road, self.memory, self.clean) = (home, road, memory, clean)
        self.isFirst = isFirst
    }

    /// Does a round.
    /// - Parameters:
    ///   - home: Loaded for this round. Where this throws it is not what the vault has.
    ///   - place: Which of the vault's roads it is.
    ///   - memory: Of the last round over this road since the unlock.
    ///   - changed: What a watch said; nil lists everything.
    ///   - now: Milliseconds since 1970, as for ``FolderRoad/list(_:only:now:)``.
    /// - Throws: `vault`, `road`, `folder`: the round ended there. What came before it stays.
    package static func run(
        _ home: GroupHome, over place: Int = 0, _ memory: inout RoadMemory, only changed: Set<RoadFolder>? = nil,
        now: Int64 = WallClock.milliseconds
    ) throws(SyncError) -> RoundReport {
        guard let kept = home.roads[place] else { throw .folder(.noRoad("")) }
        let road = try onFolder { () throws(RoadError) in
            try FolderRoad(opening: kept.path, of: home.group, knowing: home.ownStreams)
        }
        var seen = memory
        let news = try onFolder { () throws(RoadError) in try road.list(&seen, only: changed, now: now) }
        let clean = try inVault { () throws(VaultError) in try home.ledger.differences() }
        let round = FolderRound(home, road, seen, clean, isFirst: memory.isEmpty)
        for (stream, error) in news.problems { round.report.hitches.insert(.unlisted(stream, error)) }
        if try round.readRosters() {
            // Before the first own entry: what others have of this device may be more than it knows.
            try round.checkOwnStreams()
            try round.endRemoved()
            try round.finishAdopting()
            try round.stamp()
            try round.readStreams()
            try round.placeNames()
            try round.publish()
        }
        memory = round.memory
        return round.report
    }

    /// Writes what differs as entries of this device.
    func stamp() throws(SyncError) { try inVault { () throws(VaultError) in try stampAgain() } }

    /// Gives items that were moved aside the names that they want and may have by now: which item has a name hangs on
    /// all that was taken, and not on the order in which it came.
    private func placeNames() throws(SyncError) {
        guard report.taken > 0 || report.given > 0 else { return }
        try inVault { () throws(VaultError) in
            for _ in 0..<GroupHome.mostTries {
                let now = try home.ledger.differences()
                guard now.found.isEmpty else {
                    try stampAgain()
                    continue
                }
                guard !now.displaced.isEmpty else { return }
                do throws(VaultError) {
                    return try home.write { session throws(VaultError) in
                        // What somebody wrote meanwhile must not count as shown.
                        guard session.number == now.transaction + 1 else {
                            throw VaultError(.busy, "something was written in the vault meanwhile")
                        }
                        for id in now.displaced { try home.ledger.place(id, in: &session) }
                    }
                } catch { guard error.code == .busy, !home.isStale else { throw error } }
            }
        }
    }

    private func stampAgain() throws(VaultError) {
        let (clean, changes) = try home.stamp()
        self.clean = clean
        report.given += changes
    }

    /// Puts what was read into the vault.
    func commit() throws(SyncError) {
        guard !intake.streams.isEmpty else { return }
        do throws(VaultError) { try commitAll() } catch {
            guard error.isOfEntries else { throw .vault(error) }
            try commitEach()
        }
    }

    private func commitAll() throws(VaultError) {
        for _ in 0..<GroupHome.mostTries {
            do throws(VaultError) {
                var number: UInt64 = 0
                try home.write { session throws(VaultError) in
                    number = session.number
                    let again = try home.ledger.take(
                        intake.states, heads: home.heads(knownStreams), after: clean, counting: home.ended,
                        at: home.stampInRoom(), in: &session)
                    // Not before: what this device says meanwhile names only what it has.
                    try home.take(intake.streams, in: &session)
                    if !again.isEmpty { try home.seal(again, in: &session) }
                }
                clean = clean.following(number)
                report.taken += intake.changes
                intake = Intake()
                return
            } catch {
                // Somebody wrote meanwhile. That comes first.
                guard error.code == .busy, !home.isStale else { throw error }
                try stampAgain()
            }
        }
        throw VaultError(.busy, "the vault is being written to all the time")
    }

    /// Takes each entry by itself, because one of them cannot be joined with what is here, or not be shown. Its stream
    /// is refused from there on, and everything else is taken.
    private func commitEach() throws(SyncError) {
        let all = intake
        intake = Intake()
        // Of which nothing was taken.
        let taken = Set(all.entries.map(\.stream.reader.stream))
        intake.streams = all.streams.filter { !taken.contains($0.key) }
        var refused: Set<StreamID> = []
        for entry in all.entries {
            let stream = entry.stream.reader.stream
            guard !refused.contains(stream) else { continue }
            intake.add(entry)
            do throws(VaultError) { try commitAll() } catch {
                guard error.isOfEntries else { throw .vault(error) }
                intake = Intake()
                refused.insert(stream)
                try refuse(stream, at: entry.number, entry.stream.member, .vault(error))
            }
        }
    }
}

extension VaultError {
    /// Whether what was to be written is the reason, and not the vault or the machine. All records were read before
    /// the round, so damage of the vault has ended it then.
    var isOfEntries: Bool {
        [
            .damaged, .newerVersion, .tooLarge, .invalidName, .invalidItem, .isItem, .exists, .recordExists,
            .recordNotFound,
        ].contains(code)
    }
}

func onFolder<R: ~Copyable>(_ body: () throws(RoadError) -> R) throws(SyncError) -> R {
    do throws(RoadError) { return try body() } catch { throw .folder(error) }
}

func inVault<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(SyncError) -> R {
    do throws(VaultError) { return try body() } catch { throw .vault(error) }
}
