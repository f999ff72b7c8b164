// Compiled by scripts/fuzz against the modules that it names, so normal builds know nothing of it. A violated rule
// traps, which libFuzzer reports with the input that led there.
@testable internal import SyncFormat
@testable internal import VaultFormat

/// One input: the first byte chooses the parser, the second how the rest is used.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count >= 2 else { return 0 }
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let rest = Array(input[2...])
    switch input[0] % 9 {
    case 0: fuzzFront(shape(rest, input[1], Samples.front(.changes, 2).encoded))
    case 1: fuzzBody(shape(rest, input[1], Samples.body), Samples.front(.changes, 2))
    case 2: fuzzBody(shape(rest, input[1], Samples.part), Samples.front(.snapshot, 2))
    case 3: fuzzBody(shape(rest, input[1], Samples.first), Samples.front(.changes, 1))
    case 4: fuzzRoster(shape(rest, input[1], Samples.roster))
    case 5: fuzzJoin(shape(rest, input[1], Samples.card))
    case 6: fuzzLists(shape(rest, input[1], Samples.list))
    case 7: fuzzKept(rest, input[1])
    default: fuzzReader(rest)
    }
    return 0
}

/// The bytes to parse: the input as it is, or a valid sample with the input as a list of edits.
private func shape(_ input: [UInt8], _ selector: UInt8, _ sample: [UInt8]) -> [UInt8] {
    if selector % 2 == 0 { return input }
    var bytes = sample
    for edit in stride(from: 0, to: input.count - 2, by: 3) {
        bytes[(Int(input[edit]) << 8 | Int(input[edit + 1])) % bytes.count] = input[edit + 2]
    }
    return bytes
}

private func require(_ condition: Bool, _ rule: StaticString) {
    if !condition { fatalError("\(rule)") }
}

private func write(_ count: Int, _ body: (inout MutableRawSpan) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xFF, count: count)
    var elements = bytes.mutableSpan
    var span = unsafe elements.mutableBytes
    body(&span)
    return bytes
}

private func fuzzFront(_ bytes: [UInt8]) {
    guard let front = try? EntryFront(parsing: bytes) else { return }
    require(front.encoded == Array(bytes.prefix(EntryFront.size)), "a front has two encodings")
    require(front.epoch > 0 && front.number > 0, "a front has no epoch or number")
}

private func fuzzBody(_ bytes: [UInt8], _ front: EntryFront) {
    let span = unsafe bytes.span.bytes
    guard let body = try? EntryBody(parsing: span, of: front) else { return }
    var written = write(bytes.count) { target in
        let again = try? EntryBody(
            writing: body.contents, hashList: body.hashList?.count, changes: body.changes.map(\.count), of: front,
            into: &target)
        require(again == body, "a body is written otherwise")
    }
    for range in body.changes + (body.hashList.map { [$0] } ?? []) {
        require(!range.isEmpty && range.upperBound <= bytes.count, "a change lies outside")
        written.replaceSubrange(range, with: bytes[range])
    }
    require(written == bytes, "a body has two encodings")
}

private func fuzzRoster(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    guard let body = try? RosterBody(parsing: span) else { return }
    require(write(bytes.count) { body.write(into: &$0) } == bytes, "a roster has two encodings")
    if let size = RosterSize.fitting(body) {
        require(body.size <= RosterSize.plaintext(in: size) ?? 0, "a roster does not fit")
        require(body.members.count <= RosterSize.boxes(in: size) ?? 0, "a member has no box")
    }
    let roster = Roster(
        group: .none, number: 2, before: Samples.hash(1), hash: Samples.hash(2), body: body)
    // Followed from itself, and from what it may follow: nothing traps, and nobody removed is a member.
    var keeper = RosterKeeper(roster)
    let next = Roster(group: .none, number: 3, before: Samples.hash(2), hash: Samples.hash(3), body: body)
    _ = keeper.apply(next)
    _ = keeper.judge([roster, next])
    require(keeper.current.ids.isDisjoint(with: keeper.removedBy.keys), "a removed member is there")
}

private func fuzzJoin(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    if let card = try? MemberCard(parsing: span) {
        require(write(bytes.count) { card.write(into: &$0) } == bytes, "a card has two encodings")
    }
    if let body = try? InvitationBody(parsing: span) {
        require(write(bytes.count) { body.write(into: &$0) } == bytes, "an invitation has two encodings")
    }
}

private func fuzzLists(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    if let list = try? PieceList(parsing: span) {
        require(list.size == bytes.count, "a list has another size")
        require(list.idRange(list.count - 1).upperBound == bytes.count, "an id lies outside")
        require(list.contentRange(list.count - 1).upperBound == Int(list.length), "the pieces are not all")
    }
    if let welcome = try? WelcomeBody(parsing: span) {
        require(welcome.roster.upperBound <= bytes.count, "a roster lies outside")
        require(RosterSize.boxes(in: welcome.roster.count) != nil, "a roster of no size")
        require(welcome.earlier.allSatisfy { $0.key.upperBound <= bytes.count }, "an earlier key lies outside")
    }
}

/// What a device keeps of its group.
private func fuzzKept(_ input: [UInt8], _ selector: UInt8) {
    func check(_ sample: [UInt8], _ rewrite: ([UInt8]) throws(FormatError) -> [UInt8]) {
        let bytes = shape(input, selector, sample)
        guard let again = try? rewrite(bytes) else { return }
        require(again == bytes, "a record has two encodings")
    }
    switch selector / 2 % 6 {
    case 0: check(Samples.group) { bytes throws(FormatError) in try GroupRecord(parsing: bytes).encoded }
    case 1:
        check(Samples.stream) { bytes throws(FormatError) in
            let record = try StreamRecord(parsing: bytes)
            var marks = [UInt64](repeating: 1, count: record.marks)
            if let head = record.head { marks[record.marks - 1] = EntryMark.mark(head.hash) }
            guard let reader = record.reader(marks: marks) else { fatalError("a kept stream is no reader") }
            let again = StreamRecord(
                reader, member: record.member, told: record.told, isAdopting: record.isAdopting,
                frozen: record.frozen)
            require(again == record, "a stream changes")
            return record.encoded
        }
    case 2:
        check(Samples.keeper) { bytes throws(FormatError) in
            let record = try KeeperRecord(parsing: bytes)
            require(record.keeper([]) == nil, "a keeper has no rosters")
            return record.encoded
        }
    case 3: check(Samples.outbox) { bytes throws(FormatError) in try OutboxRecord(parsing: bytes).encoded }
    case 4: check(Samples.road) { bytes throws(FormatError) in try RoadRecord(parsing: bytes).encoded }
    default:
        let bytes = shape(input, selector, [2] + Samples.list)
        let span = unsafe bytes.span.bytes
        guard let (form, rest) = try? ChangeForm.parse(span) else { return }
        require(rest == 1..<bytes.count && !rest.isEmpty && form.rawValue == bytes[0], "a change lies elsewhere")
    }
}

/// Entries, ends and snapshots in any order: what was taken stays a chain.
private func fuzzReader(_ input: [UInt8]) {
    var reader = StreamReader(.none)
    for step in stride(from: 0, to: input.count - 3, by: 4) {
        let (number, before, own) = (UInt64(input[step + 1]), input[step + 2], input[step + 3])
        let old = reader
        switch input[step] % 4 {
        case 0, 1:
            let said = reader.step(number: number, before: Samples.hash(before), hash: Samples.hash(own))
            let isTaken = reader.take(number: number, before: Samples.hash(before), hash: Samples.hash(own))
            require(!isTaken || said == .next && reader.head?.number == number, "another entry was taken")
            require(isTaken || reader == old, "a refused entry changed the reader")
        case 2: _ = reader.end(at: StreamHead(stream: .none, number: max(1, number), hash: Samples.hash(own)))
        default:
            let marks = (0..<number % 8).map { EntryMark.mark(Samples.hash(UInt8($0))) }
            let said = reader.resume(marks: marks, before: Samples.hash(before))
            require(said == .next || reader == old, "a refused snapshot changed the reader")
        }
        require(reader.marks.count >= old.marks.count, "a reader went back")
        require(reader.head?.number ?? 0 == UInt64(reader.marks.count), "a head without its marks")
        require(old.last.map { reader.last ?? .max <= $0 } ?? true, "an end was taken away")
        let kept = StreamReader(
            .none, head: reader.head, marks: reader.marks, last: reader.last, named: reader.named)
        require(kept == reader, "a reader cannot be kept")
    }
}

private enum Samples {
    static func hash(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    static func id<Named>(_ byte: UInt8) -> SyncID<Named> {
        SyncID<Named>([UInt8](repeating: byte, count: 16)) ?? .none
    }

    static func front(_ kind: EntryFront.Kind, _ number: UInt64) -> EntryFront {
        do {
            return try EntryFront(
                kind: kind, group: id(1), epoch: 1, stream: id(2), number: number, before: hash(number == 1 ? 0 : 5),
                salt: hash(6), rosterMark: [UInt8](repeating: 7, count: 8))
        } catch { fatalError("the sample of a front is none") }
    }

    private static func body(_ contents: EntryContents, _ front: EntryFront, list: [UInt8]? = nil) -> [UInt8] {
        write(816) { target in
            guard
                let body = try? EntryBody(
                    writing: contents, hashList: list?.count, changes: [3, 20], of: front, into: &target)
            else { fatalError("the sample of a body is none") }
            if let list, let place = body.hashList {
                unsafe target.store(copying: list.span.bytes, at: place.lowerBound)
            }
        }
    }

    private static var contents: EntryContents {
        var contents = EntryContents(time: 1000)
        contents.heads = [
            StreamHead(stream: id(3), number: 9, hash: hash(3)), StreamHead(stream: id(4), number: 1, hash: hash(4)),
        ]
        contents.wants = [.piece(hash(8)), .entries(id(5), from: 14), .epoch(2)]
        return contents
    }

    static let body = body(contents, front(.changes, 2))
    static let first: [UInt8] = {
        var first = contents
        first.member = id(1)
        return body(first, front(.changes, 1))
    }()
    static let part: [UInt8] = {
        var part = contents
        part.snapshot = SnapshotPart(first: 2, isFull: true, isLast: true)
        return body(part, front(.snapshot, 2), list: list)
    }()
    static let list = write(136) { target in
        target.store(UInt64(40_000), at: 32)
    }

    private static func member(_ byte: UInt8) -> MemberRecord {
        do {
            return try MemberRecord(
                id: id(byte), signingKey: [2] + hash(byte), boxKey: [3] + hash(byte), format: 1, name: "laptop")
        } catch { fatalError("the sample of a member is none") }
    }

    static let roster: [UInt8] = {
        let removed = [
            RemovedRecord(id(3), last: nil),
            RemovedRecord(id(4), last: StreamHead(stream: id(5), number: 7, hash: hash(6))),
        ]
        guard
            let body = try? RosterBody(
                commitment: hash(9), author: id(1), members: [member(1), member(2)], removed: removed)
        else { fatalError("the sample of a roster is none") }
        return write(body.size + 16) { body.write(into: &$0) }
    }()
    static let card = MemberCard(member(1)).encoded

    private static func written(_ write: () throws -> [UInt8]) -> [UInt8] {
        do { return try write() } catch { fatalError("the sample of a record is none") }
    }

    static let group = written {
        try GroupRecord(
            turn: 4, group: id(1), stream: id(2), name: "laptop", roster: hash(9), streams: [id(1), id(2), id(3)],
            oldStreams: [id(1)]
        ).encoded
    }
    static let stream: [UInt8] = {
        var reader = StreamReader(id(2))
        for number in 1...3 as ClosedRange<UInt8> {
            _ = reader.take(number: UInt64(number), before: hash(number - 1), hash: hash(number))
        }
        _ = reader.end(at: StreamHead(stream: id(2), number: 2, hash: hash(2)))
        return StreamRecord(reader, member: id(1), told: 1).encoded
    }()
    static let keeper = written {
        let body = try RosterBody(
            commitment: hash(9), author: id(1), members: [member(1)], removed: [RemovedRecord(id(3), last: nil)])
        let next = try RosterBody(
            commitment: hash(9), author: id(1), members: [member(1), member(2)],
            removed: [RemovedRecord(id(3), last: nil)])
        var keeper = RosterKeeper(Roster(group: id(1), number: 1, before: hash(0), hash: hash(1), body: body))
        _ = keeper.apply(
            (2...3).map { Roster(group: id(1), number: 2, before: hash(1), hash: hash($0), body: next) })
        return KeeperRecord(keeper).encoded
    }
    static let outbox = written {
        try OutboxRecord(
            pieces: [hash(1), hash(2)], entry: [UInt8](repeating: 7, count: 1024)
        ).encoded
    }
    static let road = written { try RoadRecord(.folder, path: "/srv/folder").encoded }
}
