import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct OutboxRecordTests {
    /// By the document.
    private let layout = KeptLayout(
        [1] + little(UInt16(2)) + hash(9) + hash(3) + repeated(7, 1024)
    ) { bytes throws(FormatError) in try OutboxRecord(parsing: bytes).encoded }

    @Test func `an own entry is kept as the document has it, in one spelling`() throws {
        let record = try OutboxRecord(pieces: [hash(9), hash(3)], entry: repeated(7, 1024))
        #expect(record.encoded == layout.sample)
        #expect(try OutboxRecord(parsing: layout.sample) == record)
        #expect(layout.isStrict)
        #expect(OutboxRecord.recordName(id(2), 0x1A) == "o\(String(repeating: "02", count: 16)).000000000000001a")
        #expect(OutboxRecord.pieceName(hash(0xCD)) == "p" + String(repeating: "cd", count: 32))
    }

    @Test func `an entry has one of six sizes, and may need no pieces`() throws {
        for size in EntrySize.allowed {
            let record = try OutboxRecord(pieces: [], entry: repeated(7, size))
            #expect(try OutboxRecord(parsing: record.encoded) == record)
        }
        for size in [0, 1023, 1025, 65_536] {
            #expect(throws: FormatError.wrongSize) {
                try OutboxRecord(pieces: [], entry: repeated(7, size))
            }
            #expect(throws: FormatError.wrongSize) {
                try OutboxRecord(parsing: [1, 0, 0] + repeated(7, size))
            }
        }
    }

    @Test func `what no writer writes is refused`() {
        #expect(layout.error { $0[0] = 0 } == .invalid(field: "outbox version"))
        #expect(layout.error { $0.put(hash(3), at: 3) } == .invalid(field: "outbox pieces"))
        #expect(layout.error { $0.put([1, 64], at: 1) } == .invalid(field: "outbox pieces"))
        for pieces in [[hash(1), hash(2), hash(1)], [repeated(1, 31)]] {
            #expect(throws: FormatError.invalid(field: "outbox pieces")) {
                try OutboxRecord(pieces: pieces, entry: repeated(7, 1024))
            }
        }
    }

    @Test func `an entry needs up to 16,384 pieces, and lies in one record`() throws {
        let pieces = (0...16_384).map(numbered)
        let entry = repeated(7, 32_768)
        let record = try OutboxRecord(pieces: Array(pieces.dropLast()), entry: entry)
        #expect(try OutboxRecord(parsing: record.encoded) == record && record.encoded.count < 1 << 20)
        #expect(throws: FormatError.invalid(field: "outbox pieces")) {
            try OutboxRecord(pieces: pieces, entry: entry)
        }
    }
}

@Suite struct RoadRecordTests {
    /// By the document.
    private let layout = KeptLayout(
        [1, 1] + little(UInt16(9)) + Array("/srv/täg".utf8)
    ) { bytes throws(FormatError) in try RoadRecord(parsing: bytes).encoded }

    @Test func `a road is kept as the document has it, in one spelling`() throws {
        let record = try RoadRecord(.folder, path: "/srv/täg")
        #expect(record.encoded == layout.sample)
        #expect(try RoadRecord(parsing: layout.sample) == record)
        #expect(layout.isStrict)
        #expect((0..<4).map { RoadRecord.recordName($0) } == ["w0", "w1", "w2", "w3"])
    }

    @Test func `what is no absolute path is refused`() throws {
        #expect(layout.error { $0[0] = 0 } == .invalid(field: "road version"))
        for kind in [0, 2] as [UInt8] { #expect(layout.error { $0[1] = kind } == .invalid(field: "road kind")) }
        for path in [Array("srv/folder".utf8), [], [UInt8(ascii: "/"), 0], [UInt8(ascii: "/"), 0xFF]] {
            #expect(throws: FormatError.invalid(field: "road path")) {
                try RoadRecord(parsing: [1, 1] + little(UInt16(path.count)) + path)
            }
        }
        for path in ["", "srv", "/a\0"] {
            #expect(throws: FormatError.invalid(field: "road path")) { try RoadRecord(.folder, path: path) }
        }
        let longest = try RoadRecord(.folder, path: "/" + String(repeating: "a", count: 4095))
        #expect(try RoadRecord(parsing: longest.encoded) == longest)
        let longer = Array("/".utf8) + repeated(0x61, 4096)
        #expect(throws: FormatError.invalid(field: "road path")) {
            try RoadRecord(parsing: [1, 1] + little(UInt16(4097)) + longer)
        }
        #expect(throws: FormatError.invalid(field: "road path")) { try RoadRecord(.folder, path: longer.text) }
        #expect(try RoadRecord(parsing: [1, 1, 1, 0, UInt8(ascii: "/")]).path == "/")
    }

    @Test func `paths that only look alike are two roads`() throws {
        let (one, two) = (try RoadRecord(.folder, path: "/\u{E4}"), try RoadRecord(.folder, path: "/a\u{308}"))
        #expect(one != two && Set([one, two]).count == 2)
    }
}

@Suite struct ChangeFormTests {
    private func parse(_ bytes: [UInt8]) throws(FormatError) -> (form: ChangeForm, rest: Range<Int>) {
        try bytes.lend { bytes throws(FormatError) in try ChangeForm.parse(bytes) }
    }

    /// By the document: 40,000 bytes in two pieces.
    private let list = repeated(1, 32) + little(UInt64(40_000)) + repeated(2, 96)

    @Test func `a change is a state or a list of pieces`() throws {
        for rest in [repeated(1, 1), repeated(9, 30_000)] {
            let (form, range) = try parse([1] + rest)
            #expect(form == .state && range == 1..<rest.count + 1)
        }
        let (form, range) = try parse([2] + list)
        #expect(form == .pieces && range == 1..<137)
    }

    @Test func `anything else is refused`() {
        for bytes in [[], [1], [2], [2] + list.dropLast(), [2] + list + [0]] as [[UInt8]] {
            #expect(throws: FormatError.wrongSize) { try parse(bytes) }
        }
        for form in [0, 3, 255] as [UInt8] {
            #expect(throws: FormatError.invalid(field: "change form")) { try parse([form] + list) }
        }
        #expect(throws: FormatError.invalid(field: "piece list")) {
            try parse([2] + repeated(1, 32) + little(UInt64(0)) + repeated(2, 64))
        }
    }
}
