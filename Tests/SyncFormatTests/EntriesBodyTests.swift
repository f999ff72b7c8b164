import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct EntriesBodyTests {
    private var contents: EntryContents {
        var contents = EntryContents(time: -5)
        contents.heads = [
            StreamHead(stream: id(3), number: 9, hash: hash(3)),
            StreamHead(stream: id(4), number: SyncLimits.entries, hash: hash(4)),
        ]
        contents.wants = [.piece(hash(8)), .entries(id(5), from: 14), .epoch(2)]
        return contents
    }

    /// By the document.
    private var sample: [UInt8] {
        let heads = repeated(3, 16) + little(UInt64(9)) + hash(3) + repeated(4, 16) + little(UInt64(65_536)) + hash(4)
        let wants =
            [1] + hash(8) + [2] + repeated(5, 16) + little(UInt64(14)) + repeated(0, 8) + [3] + little(UInt32(2))
            + repeated(0, 28)
        let changes = little(UInt32(3)) + Array("one".utf8) + little(UInt32(1)) + [9]
        let body =
            little(Int64(-5)) + little(UInt16(2)) + heads + little(UInt16(3)) + wants + little(UInt16(2)) + changes
        return body + repeated(0, 20)
    }

    private func parse(_ bytes: [UInt8], _ front: EntryFront) throws(FormatError) -> EntryBody {
        try bytes.lend { bytes throws(FormatError) in try EntryBody(parsing: bytes, of: front) }
    }

    /// The bytes of what was read, written anew.
    private func rewritten(_ bytes: [UInt8], _ front: EntryFront) -> [UInt8]? {
        guard let body = try? parse(bytes, front) else { return nil }
        var copy = repeated(0xFF, bytes.count)
        let written = copy.lendForWriting { copy in
            try? EntryBody(
                writing: body.contents, hashList: body.hashList?.count, changes: body.changes.map(\.count), of: front,
                into: &copy)
        }
        guard written == body else { return [] }
        for range in body.changes + (body.hashList.map { [$0] } ?? []) {
            copy.replaceSubrange(range, with: bytes[range])
        }
        return copy
    }

    @Test func `a body is read as the document has it, and written the same`() throws {
        let body = try parse(sample, front())
        #expect(body.contents == contents)
        #expect(body.changes.map { Array(sample[$0]) } == [Array("one".utf8), [9]])
        #expect(try rewritten(sample, front()) == sample)
        #expect(EntryBody.size(contents, changes: [3, 1]) == sample.count - 20)
    }

    @Test func `the first entry names its member, and no other does`() throws {
        let first = try front(number: 1, before: hash(0))
        let bytes = repeated(7, 16) + sample
        #expect(try parse(bytes, first).contents.member == id(7))
        #expect(rewritten(bytes, first) == bytes)
        var named = contents
        named.member = id(7)
        var room = repeated(0, 1000)
        let error = formatError { () throws(FormatError) in
            try room.lendForWriting { (room: inout MutableRawSpan) throws(FormatError) in
                _ = try EntryBody(writing: named, changes: [], of: front(), into: &room)
            }
        }
        #expect(error == .invalid(field: "entry member"))
    }

    @Test func `the last part of a snapshot has the list of the hashes`() throws {
        let list = hash(1) + little(UInt64(32_001)) + hash(2) + hash(3) + hash(4)
        let counts = little(UInt16(0)) + little(UInt16(0)) + little(UInt16(0))
        let last = little(Int64(1)) + [3] + little(UInt64(2)) + little(UInt16(list.count)) + list + counts
        let body = try parse(last, front(.snapshot))
        #expect(body.contents.snapshot == SnapshotPart(first: 2, isFull: true, isLast: true))
        #expect(body.hashList.map { Array(last[$0]) } == list)
        #expect(try rewritten(last, front(.snapshot)) == last)
        let part = little(Int64(1)) + [0] + little(UInt64(1)) + counts
        #expect(try parse(part, front(.snapshot)).hashList == nil)
        // A snapshot that begins its stream has nothing to list, and no other one can leave it out.
        let begins = repeated(7, 16) + little(Int64(1)) + [3] + little(UInt64(1)) + little(UInt16(0)) + counts
        let first = try front(.snapshot, number: 1, before: hash(0))
        #expect(try parse(begins, first).hashList == nil)
        #expect(rewritten(begins, first) == begins)
        let bare = little(Int64(1)) + [3] + little(UInt64(2)) + little(UInt16(0)) + counts
        let none = formatError { () throws(FormatError) in _ = try parse(bare, front(.snapshot)) }
        #expect(none == .invalid(field: "entry snapshot"))
        // A list of another size, a first part behind this one, and an entry that is no part.
        let short = little(Int64(1)) + [3] + little(UInt64(2)) + little(UInt16(72)) + list.prefix(72) + counts
        #expect(formatError { () throws(FormatError) in _ = try parse(short, front(.snapshot)) } == .wrongSize)
        let later = little(Int64(1)) + [0] + little(UInt64(3)) + counts
        let error = formatError { () throws(FormatError) in _ = try parse(later, front(.snapshot)) }
        #expect(error == .invalid(field: "entry snapshot"))
        #expect(formatError { () throws(FormatError) in _ = try parse(part, front()) } != nil)
        let isSafe = checkGarbage(last) { input in (try? front(.snapshot)).flatMap { rewritten(input, $0) } }
        #expect(isSafe)
    }

    @Test func `heads are of other streams, each once and in order`() throws {
        func error(_ heads: [StreamHead]) throws -> FormatError? {
            let bytes = heads.reduce(little(Int64(1)) + little(UInt16(heads.count))) {
                $0 + $1.stream.bytes + little($1.number) + $1.hash
            }
            return formatError { () throws(FormatError) in _ = try parse(bytes + repeated(0, 4), front()) }
        }
        let (three, four) = (
            StreamHead(stream: id(3), number: 1, hash: hash(3)), StreamHead(stream: id(4), number: 1, hash: hash(3))
        )
        #expect(try error([three, four]) == nil)
        for heads in [
            [four, three], [three, three], [StreamHead(stream: id(2), number: 1, hash: hash(3))],
            [StreamHead(stream: id(3), number: 0, hash: hash(3))],
            [StreamHead(stream: id(3), number: SyncLimits.entries + 1, hash: hash(3))],
            [StreamHead(stream: id(3), number: 1, hash: hash(0))],
        ] {
            #expect(try error(heads) == .invalid(field: "entry heads"))
        }
    }

    @Test func `limits are met before anything is read further`() throws {
        for (offset, field) in [(8, "entry heads" as StaticField), (10, "entry wants"), (12, "entry changes")] {
            var bytes = little(Int64(1)) + repeated(0, 6)
            bytes.replaceSubrange(offset..<offset + 2, with: [255, 255])
            #expect(formatError { () throws(FormatError) in _ = try parse(bytes, front()) } == .invalid(field: field))
        }
        let huge = little(Int64(1)) + repeated(0, 4) + little(UInt16(1)) + little(UInt32.max)
        #expect(formatError { () throws(FormatError) in _ = try parse(huge, front()) } == .wrongSize)
        let long = repeated(0, EntrySize.longestPlaintext + 1)
        #expect(formatError { () throws(FormatError) in _ = try parse(long, front()) } == .wrongSize)
        let empty = little(Int64(1)) + repeated(0, 4) + little(UInt16(1)) + little(UInt32(0))
        let error = formatError { () throws(FormatError) in _ = try parse(empty, front()) }
        #expect(error == .invalid(field: "entry changes"))
    }

    @Test func `padding is zeros`() throws {
        var bytes = sample
        bytes[bytes.count - 1] = 1
        let error = formatError { () throws(FormatError) in _ = try parse(bytes, front()) }
        #expect(error == .invalid(field: "entry padding"))
    }

    @Test func `garbage is no body, or its own bytes`() throws {
        let front = try front()
        #expect(checkGarbage(sample) { rewritten($0, front) })
    }

    @Test func `a list of pieces has as many as its content needs`() throws {
        for (length, count) in [(UInt64(1), 1), (32_000, 1), (32_001, 2), (64 << 20, 2098)] {
            let list = try PieceList(length: length)
            #expect(list.count == count && list.size == 72 + 32 * count)
            #expect(list.contentRange(count - 1).upperBound == Int(length))
        }
        #expect(throws: FormatError.self) { try PieceList(length: 0) }
        #expect(throws: FormatError.self) { try PieceList(length: .max) }
        let sample = hash(1) + little(UInt64(40_000)) + hash(2) + hash(3) + hash(4)
        let isSafe = checkGarbage(sample) { input in
            input.lend { bytes in
                guard let list = try? PieceList(parsing: bytes) else { return nil }
                return list.size == input.count && list.idRange(list.count - 1).upperBound == input.count ? input : []
            }
        }
        #expect(isSafe)
    }
}
