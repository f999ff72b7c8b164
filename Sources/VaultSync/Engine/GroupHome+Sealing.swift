internal import SecretMemory
internal import SyncFormat
internal import SystemCalls
internal import VaultFormat
internal import VaultStorage

/// How much an entry that is being filled has.
struct EntryFill {
    /// More changes than that would not fit as lists of pieces either, beside the heads of all streams.
    static let most = 128
    /// Bytes that may lie in the entry itself before it is closed. What comes last may have 8 KiB.
    static let inline = 20 << 10
    /// Bytes of the states, which lie in locked memory until the entry is sealed.
    static let whole = 2 << 20

    private(set) var changes = 0
    private(set) var bytes = 0
    private(set) var stateBytes = 0

    var isFull: Bool {
        changes >= EntryFill.most || bytes >= EntryFill.inline || stateBytes >= EntryFill.whole
    }

    mutating func add(_ state: SyncState) {
        changes += 1
        stateBytes += state.bytes.count
        let isPieced = state.bytes.count > PieceList.inlineLimit
        bytes += isPieced ? PieceList.size(length: state.bytes.count) : state.bytes.count
    }
}

extension GroupHome {
    /// The stamp of the next entry of this device.
    func nextStamp() -> Stamp {
        Stamp(Dot(stream, (streams[stream]?.reached ?? 0) + 1), time: WallClock.milliseconds)
    }

    /// Seals the next entry of this device and puts it into the outbox, as part of the transaction that stamped it:
    /// whatever happens later, these bytes and no others are what has this number.
    func seal(_ states: [SyncState], in session: inout WriteSession) throws(VaultError) {
        let (entry, pieces) = try syncCall { () throws(SyncError) in try self.entry(of: states) }
        for piece in pieces {
            try session.put(syncBytes: piece.bytes, for: OutboxRecord.pieceName(piece.id))
        }
        let kept = try syncCall { () throws(SyncError) in
            try format { () throws(FormatError) in
                try OutboxRecord(pieces: pieces.map(\.id), entry: entry.bytes)
            }
        }
        try session.put(syncBytes: kept.encoded, for: OutboxRecord.recordName(stream, entry.head.number))
        try store(told() + [stream], in: &session)
    }

    private typealias Piece = (id: [UInt8], bytes: [UInt8])

    private func entry(of states: [SyncState]) throws(SyncError) -> (SealedEntry, [Piece]) {
        guard let own = streams[stream], let held = rosters[roster.hash] else {
            throw .format(.invalid(field: "kept stream"))
        }
        var contents = EntryContents(time: WallClock.milliseconds)
        if own.reached == 0 { contents.member = keys.id }
        contents.heads = untold()
        let pieced = try GroupHome.pieced(states.map { $0.bytes.count }, contents)
        let pieceKey = try held.key.with { key throws(SyncError) in try key.pieceKey(group) }
        var draft = EntryDraft(contents)
        var pieces: [Piece] = []
        for (state, isPieced) in zip(states, pieced) {
            let change: SecretBytes
            if isPieced {
                change = try state.bytes.withBytes { bytes throws(SyncError) in
                    for range in try GroupHome.cut(bytes.byteCount) {
                        let piece = try pieceKey.seal(bytes.extracting(range))
                        if !pieces.contains(where: { $0.id == piece.id }) { pieces.append(piece) }
                    }
                    let list = try pieceKey.list(of: bytes)
                    return try list.withBytes { list throws(SyncError) in try ChangeForm.pieces.change(list) }
                }
            } else {
                change = try state.bytes.withBytes { bytes throws(SyncError) in try ChangeForm.state.change(bytes) }
            }
            let isAdded = try change.withBytes { change throws(SyncError) in try draft.add(change) }
            guard isAdded else { throw .format(.invalid(field: "entry changes")) }
        }
        let front = try EntryFront.fresh(.changes, stream, roster: roster, after: own.reader.head)
        let sealed = try held.key.with { key throws(SyncError) in
            try keys.with { keys throws(SyncError) in try draft.seal(front, with: key, by: keys) }
        }
        guard streams[stream]?.reader.take(number: front.number, before: front.before, hash: sealed.head.hash) == true
        else { throw .format(.invalid(field: "entry number")) }
        return (sealed, pieces)
    }

    /// Which of some states are cut into pieces: the large ones, and the largest of the others until all fit.
    private static func pieced(_ sizes: [Int], _ contents: EntryContents) throws(SyncError) -> [Bool] {
        var result = sizes.map { $0 > PieceList.inlineLimit }
        func whole(_ index: Int) -> Int? {
            guard result[index] else { return sizes[index] + 1 }
            return (try? PieceList(length: UInt64(sizes[index]))).map { $0.size + 1 }
        }
        while EntryBody.size(contents, changes: sizes.indices.compactMap(whole)) > EntrySize.longestPlaintext {
            let open = sizes.indices.filter { !result[$0] }
            guard let largest = open.max(by: { sizes[$0] < sizes[$1] }), sizes[largest] > PieceList.frontSize + 32
            else { throw .format(.invalid(field: "entry changes")) }
            result[largest] = true
        }
        return result
    }

    private static func cut(_ count: Int) throws(SyncError) -> [Range<Int>] {
        let list = try format { () throws(FormatError) in try PieceList(length: UInt64(count)) }
        return (0..<list.count).map { list.contentRange($0) }
    }

    /// Heads that no entry of this device has named.
    private func untold() -> [StreamHead] {
        let heads = streams.filter { $0.key != stream && $0.value.reached > $0.value.told }.compactMap(
            \.value.reader.head)
        return Array(heads.sorted { $0.stream < $1.stream }.prefix(SyncLimits.streams))
    }

    /// Notes that the heads were named.
    private func told() -> [StreamID] {
        let heads = untold()
        for head in heads { streams[head.stream]?.told = head.number }
        return heads.map(\.stream)
    }
}

extension ChangeForm {
    /// A change as an entry has it.
    fileprivate func change(_ content: RawSpan) throws(SyncError) -> SecretBytes {
        try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(count: content.byteCount + 1) { bytes in
                bytes.store(rawValue, at: 0)
                bytes.store(copying: content, at: 1)
            }
        }
    }
}
