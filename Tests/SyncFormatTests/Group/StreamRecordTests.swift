import SeededNumbers
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct StreamRecordTests {
    /// By the document: number 3 is the head, nothing behind 2 counts, and a roster names 2.
    private let layout = KeptLayout(
        [1, 7] + repeated(2, 16) + repeated(1, 16) + little(UInt64(1)) + little(UInt64(3)) + hash(13)
            + little(UInt64(2)) + little(UInt64(2)) + hash(12)
    ) { bytes throws(FormatError) in try StreamRecord(parsing: bytes).encoded }

    /// With so many entries.
    private func reader(_ count: Int) -> StreamReader {
        var reader = StreamReader(id(2))
        var before = hash(0)
        for number in 1...UInt64(max(count, 1)) where count > 0 {
            let own = numbered(Int(number))
            let isTaken = reader.take(number: number, before: before, hash: own)
            #expect(isTaken)
            before = own
        }
        return reader
    }

    @Test func `a stream is kept as the document has it, in one spelling`() throws {
        var reader = StreamReader(id(2))
        for (number, before, own) in [(1, 0, 11), (2, 11, 12), (3, 12, 13)] as [(UInt64, UInt8, UInt8)] {
            let isTaken = reader.take(number: number, before: hash(before), hash: hash(own))
            #expect(isTaken)
        }
        let isOurs = reader.end(at: StreamHead(stream: id(2), number: 2, hash: hash(12)))
        #expect(isOurs)
        let record = StreamRecord(reader, member: id(1), told: 1)
        #expect(record.encoded == layout.sample)
        #expect(try StreamRecord(parsing: layout.sample) == record)
        #expect(record.marks == 3 && record.reader(marks: reader.marks) == reader)
        #expect(layout.isStrict)
        #expect(StreamRecord.recordName(id(2)) == "s02020202020202020202020202020202")
        #expect(StreamRecord.marksName(id(2), 10) == "s02020202020202020202020202020202.10")
    }

    @Test func `each of what may be missing may be missing`() throws {
        for flags in 0..<32 as Range<UInt8> where flags & 10 != 8 && flags & 18 != 16 {
            var bytes: [UInt8] = [1, flags] + repeated(2, 16) + repeated(1, 16) + little(UInt64(0))
            if flags & 1 != 0 { bytes += little(UInt64(65_536)) + hash(13) }
            if flags & 2 != 0 { bytes += little(UInt64(0)) }
            if flags & 4 != 0 { bytes += little(UInt64(1)) + hash(12) }
            if flags & 16 != 0 { bytes += little(UInt64(7)) }
            let record = try StreamRecord(parsing: bytes)
            #expect(record.encoded == bytes)
            #expect((record.head?.number ?? 0) == (flags & 1 != 0 ? 65_536 : 0))
            #expect(record.isAdopting == (flags & 8 != 0))
            #expect(record.frozen == (flags & 16 != 0 ? 7 : nil))
            #expect(record.last == (flags & 2 != 0 ? 0 : nil) && (record.named != nil) == (flags & 4 != 0))
        }
    }

    @Test func `what no writer writes is refused`() {
        #expect(layout.error { $0[0] = 0 } == .invalid(field: "stream version"))
        #expect(layout.error { $0[1] = 15 } == nil)
        #expect(layout.error { $0[1] = 32 } == .invalid(field: "stream flags"))
        #expect(layout.error { $0.put([4], at: 34) } == .invalid(field: "stream told"))
        #expect(layout.error { $0.put([3], at: 34) } == nil)
        for number in [0, 65_537] as [UInt64] {
            #expect(layout.error { $0.put(little(number), at: 42) } == .invalid(field: "stream head"))
            #expect(layout.error { $0.put(little(number), at: 90) } == .invalid(field: "stream named"))
        }
        #expect(layout.error { $0.put(hash(0), at: 50) } == .invalid(field: "stream head"))
        #expect(layout.error { $0.put(hash(0), at: 98) } == .invalid(field: "stream named"))
        // The last that counts is never behind the one that a roster names.
        #expect(layout.error { $0.put([3], at: 82) } == .invalid(field: "stream named"))
        // Nothing is named of a stream of which nothing was taken.
        var bytes: [UInt8] = [1, 0] + repeated(2, 16) + repeated(1, 16) + little(UInt64(1))
        #expect(throws: FormatError.invalid(field: "stream told")) { try StreamRecord(parsing: bytes) }
        bytes[34] = 0
        // What has not ended is not adopted.
        bytes[1] = 8
        #expect(throws: FormatError.invalid(field: "stream flags")) { try StreamRecord(parsing: bytes) }
        bytes[1] = 0
        #expect(throws: Never.self) { try StreamRecord(parsing: bytes) }
        // What a fork ends is no shorter than what counts, and one that has not ended has none.
        for (last, frozen) in [(nil, 1), (2, 1)] as [(UInt64?, UInt64)] {
            bytes[1] = last == nil ? 16 : 18
            let ends = (last.map(little) ?? []) + little(frozen)
            #expect(throws: FormatError.invalid(field: "stream frozen")) { try StreamRecord(parsing: bytes + ends) }
        }
    }

    @Test func `no more is told than was taken`() {
        #expect(StreamRecord(reader(2), member: id(1), told: 2).told == 2)
        #expect(StreamRecord(reader(2), member: id(1), told: 3).told == 2)
        #expect(StreamRecord(reader(0), member: id(1), told: 3).told == 0)
    }

    @Test func `a reader comes back with its marks and with no others`() throws {
        for count in [0, 1, 511, 512, 513, 1024, 1300] {
            let reader = reader(count)
            let record = try StreamRecord(parsing: StreamRecord(reader, member: id(1), told: 0).encoded)
            #expect(record.marks == count)
            var marks: [UInt64] = []
            for chunk in StreamRecord.chunks(after: 0, count) {
                let bytes = StreamRecord.bytes(of: chunk, reader.marks)
                marks += try bytes.lend { bytes throws(FormatError) in
                    try StreamRecord.marks(parsing: bytes, chunk: chunk, of: count)
                }
            }
            #expect(record.reader(marks: marks) == reader)
            #expect(record.reader(marks: marks + [1]) == nil)
            if count > 0 {
                #expect(record.reader(marks: marks.dropLast()) == nil)
                #expect(record.reader(marks: marks.dropLast() + [marks[count - 1] ^ 1]) == nil)
            }
        }
    }

    @Test func `only records of marks that changed are written again`() {
        let wanted: [(Int, Int, Range<Int>)] = [
            (0, 0, 0..<0), (0, 1, 0..<1), (0, 512, 0..<1), (0, 513, 0..<2), (1, 2, 0..<1), (511, 512, 0..<1),
            (511, 513, 0..<2), (512, 513, 1..<2), (512, 1024, 1..<2), (513, 1025, 1..<3), (65_535, 65_536, 127..<128),
            (0, 65_536, 0..<128), (5, 5, 0..<0), (512, 512, 0..<0), (6, 5, 0..<0), (-1, 1, 0..<0),
        ]
        for (old, new, chunks) in wanted { #expect(StreamRecord.chunks(after: old, new) == chunks) }
        // What is not written again stays the same.
        var random = SeededGenerator(seed: 46)
        let marks = (0..<2000).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
        for _ in 0..<200 {
            let old = Int.random(in: 0...2000, using: &random)
            let new = Int.random(in: old...2000, using: &random)
            let written = StreamRecord.chunks(after: old, new)
            for chunk in 0..<5 {
                let before = StreamRecord.bytes(of: chunk, Array(marks.prefix(old)))
                let after = StreamRecord.bytes(of: chunk, Array(marks.prefix(new)))
                #expect(written.contains(chunk) == (before != after))
            }
        }
    }

    @Test func `a record of marks has exactly its share, as the document has it`() throws {
        let marks = (0..<600).map { UInt64($0) << 8 | 0x01 }
        #expect(StreamRecord.bytes(of: 0, marks) == marks[..<512].flatMap { little($0) })
        #expect(StreamRecord.bytes(of: 1, marks) == marks[512...].flatMap { little($0) })
        for chunk in [-1, 2, 3, .max] { #expect(StreamRecord.bytes(of: chunk, marks).isEmpty) }
        #expect(StreamRecord.bytes(of: 1, Array(marks.prefix(512))).isEmpty)
        func error(_ count: Int, _ chunk: Int, of all: Int) -> FormatError? {
            formatError { () throws(FormatError) in
                _ = try repeated(1, count).lend { bytes throws(FormatError) in
                    try StreamRecord.marks(parsing: bytes, chunk: chunk, of: all)
                }
            }
        }
        #expect(error(512 * 8, 0, of: 600) == nil && error(88 * 8, 1, of: 600) == nil)
        for (count, chunk, all) in [
            (512 * 8, 1, 600), (88 * 8, 0, 600), (88 * 8 + 1, 1, 600), (88 * 8 - 8, 1, 600), (88 * 8 + 8, 1, 600),
            (0, 1, 512), (0, 0, 0), (8, 2, 600), (8, -1, 600), (0, .max, 600), (513 * 8, 0, 600),
        ] { #expect(error(count, chunk, of: all) == .wrongSize) }
    }
}
