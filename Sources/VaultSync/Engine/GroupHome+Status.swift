internal import Cryptography
internal import SecretMemory
package import SyncFormat
internal import VaultFormat

/// How the last round over a road ended.
package struct RoadOutcome: Sendable {
    /// What it did; or why it ended where it did.
    package let result: Result<RoundReport, SyncError>
    /// When it was over, milliseconds since 1970.
    package let time: Int64

    package init(_ result: Result<RoundReport, SyncError>, at time: Int64) {
        (self.result, self.time) = (result, time)
    }
}

extension GroupHome {
    /// What the user is told of the group.
    /// - Parameter outcomes: Of the roads over which rounds were done, by their numbers.
    package func status(_ outcomes: [Int: RoadOutcome] = [:]) throws(SyncError) -> SyncStatus {
        let members = roster.body.members.map {
            SyncStatus.Member($0.id, name: $0.name, isThisDevice: $0.id == keys.id)
        }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        var all: [SyncStatus.Road] = []
        for (place, record) in roads.sorted(by: { $0.key < $1.key }) {
            var road = SyncStatus.Road(path: record.path)
            if let outcome = outcomes[place] {
                road.time = outcome.time
                switch outcome.result {
                case .success(let report):
                    (road.given, road.taken) = (UInt64(report.given), UInt64(report.taken))
                    road.published = UInt64(report.published)
                    road.hitches = Set(report.hitches.filter { !$0.endsSync }.map(words)).sorted()
                    road.problem = report.hitches.first(where: \.endsSync).map(words)
                case .failure(let error): road.problem = error.description
                }
            }
            all.append(road)
        }
        return SyncStatus(members: members, words: try headWords(), roads: all)
    }

    /// Four words of everything that was taken and counts.
    private func headWords() throws(SyncError) -> [String] {
        var input = Array("holdfast/1/sync-heads\n".utf8) + group.bytes
        for (stream, known) in streams.sorted(by: { $0.key < $1.key }) {
            let counted = known.reader.marks.prefix(Int(clamping: known.reader.last ?? .max))
            guard let mark = counted.last else { continue }
            input += stream.bytes + EntryMark.bytes([UInt64(counted.count), mark])
        }
        return try ShownWords.words(of: input, SyncStatus.words).withBytes { words in
            String(decoding: words.copied(0..<words.byteCount), as: UTF8.self).split(separator: " ").map(String.init)
        }
    }

    /// What stands in the way, and what helps.
    private func words(_ hitch: RoundHitch) -> String {
        switch hitch {
        case .missing(let stream, let number):
            "missing: entry \(number) and what follows, of \(name(of: stream)); wait until it is carried here"
        case .waits(let stream, let number):
            "entry \(number) of \(name(of: stream)) waits for entries that are not here yet"
        case .missingPiece(let stream, let number):
            "a piece of entry \(number) of \(name(of: stream)) is not here yet"
        case .stranger(let stream): "s/\(stream) is of nobody in this group and is not read"
        case .missingRoster(let stream, let epoch):
            "\(name(of: stream)) writes under list of members \(epoch), which is not here yet"
        case .newerVersion(let stream, _):
            "\(name(of: stream)) runs a newer Holdfast: its changes wait until this device is updated"
        case .fork(let stream, let number):
            "\(name(of: stream)) wrote entry \(number) twice: its vault was put back or copied. It goes into a new stream; "
                + "nothing is lost"
        case .refused(let stream, let number, let error):
            "\(name(of: stream)) is not read from entry \(number) on: \(error)"
        case .occupied(let place): RoadError.occupied(place).description
        case .unlisted(let stream, let error): "\(name(of: stream)): \(error)"
        case .wasPutBack:
            "this vault was put back to an earlier state, or copied: it writes in a new stream from here on"
        case .tooManyStreams: "the folder has more streams than a group may have; some are not read"
        case .roster(let number, let verdict): "list of members \(number): \(verdict.words)"
        case .strangeRoster(let number): "list of members \(number) is signed by nobody in this group and is not read"
        case .removed: "this device was removed from the group: what it has stays, and nothing is synced any more"
        }
    }

    private func name(of stream: StreamID) -> String {
        if stream == .none { return "another device" }
        guard let id = streams[stream]?.member else { return "stream \(stream)" }
        return rosters.values.lazy.compactMap { $0.roster.member(id)?.name }.first ?? "a removed device"
    }
}

extension RoundHitch {
    /// Whether nothing is read or written any more because of it.
    fileprivate var endsSync: Bool {
        switch self {
        case .removed, .roster(_, .ask): true
        default: false
        }
    }
}

extension RosterVerdict {
    /// What became of a list of members, for people.
    fileprivate var words: String {
        switch self {
        case .known: "known"
        case .take: "taken"
        case .replace: "another one took the place of ours; look at the list of devices, and repeat what is missing"
        case .void: "another one took its place; look at the list of devices, and repeat what is missing"
        case .missing(let number): "waits for list \(number)"
        case .refused: "refused: nobody of the group may write it"
        case .ask: "two devices have removed each other: nothing is synced until this device removes one of them, too"
        }
    }
}
