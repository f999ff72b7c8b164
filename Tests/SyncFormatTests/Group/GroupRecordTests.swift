import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct GroupRecordTests {
    /// By the document.
    private let layout = KeptLayout(
        [1] + little(UInt64(4)) + repeated(1, 16) + repeated(5, 16) + little(UInt16(6)) + Array("laptop".utf8) + hash(9)
            + little(UInt16(3)) + repeated(3, 16) + repeated(5, 16) + repeated(7, 16)
            + little(UInt16(2)) + repeated(3, 16) + repeated(7, 16)
    ) { bytes throws(FormatError) in try GroupRecord(parsing: bytes).encoded }

    private func record(
        name: String = "laptop", roster: [UInt8] = hash(9), _ streams: [StreamID] = [id(3), id(5), id(7)],
        _ old: [StreamID] = [id(3), id(7)]
    ) throws(FormatError) -> GroupRecord {
        try GroupRecord(
            turn: 4, group: id(1), stream: id(5), name: name, roster: roster, streams: streams, oldStreams: old)
    }

    @Test func `a group is kept as the document has it, in one spelling`() throws {
        #expect(try GroupRecord(parsing: layout.sample) == record())
        #expect(try record().encoded == layout.sample)
        #expect(layout.isStrict)
        #expect(GroupRecord.recordName == "group")
    }

    @Test func `what no writer writes is refused`() {
        #expect(layout.error { $0[0] = 0 } == .invalid(field: "group version"))
        // A name: none, too long, with a newline, no UTF-8.
        #expect(layout.error { $0.put([0], at: 41) } == .invalid(field: "group name"))
        #expect(layout.error { $0.put([65], at: 41) } == .invalid(field: "group name"))
        #expect(layout.error { $0.put([0x0A], at: 44) } == .invalid(field: "group name"))
        #expect(layout.error { $0.put([0xFF], at: 44) } == .invalid(field: "group name"))
        #expect(layout.error { $0.put(hash(0), at: 49) } == .invalid(field: "group roster"))
        // Streams: too many, in another order, twice, without the own.
        #expect(layout.error { $0.put([1, 1], at: 81) } == .invalid(field: "group streams"))
        #expect(layout.error { $0.put(repeated(6, 16), at: 83) } == .invalid(field: "group streams"))
        #expect(layout.error { $0.put(repeated(5, 16), at: 83) } == .invalid(field: "group streams"))
        #expect(layout.error { $0.put(repeated(6, 16), at: 99) } == .invalid(field: "group streams"))
        // Old ones: too many, in another order, twice, the own, one that is not known.
        #expect(layout.error { $0.put([1, 1], at: 131) } == .invalid(field: "group old streams"))
        #expect(layout.error { $0.put(repeated(8, 16), at: 133) } == .invalid(field: "group old streams"))
        #expect(layout.error { $0.put(repeated(7, 16), at: 133) } == .invalid(field: "group old streams"))
        #expect(layout.error { $0.put(repeated(5, 16), at: 133) } == .invalid(field: "group old streams"))
        #expect(layout.error { $0.put(repeated(2, 16), at: 133) } == .invalid(field: "group old streams"))
    }

    @Test func `nothing is made that would not be read`() throws {
        for name in ["", String(repeating: "a", count: 65), "a\nb"] {
            #expect(throws: FormatError.invalid(field: "group name")) { try record(name: name) }
        }
        for roster in [hash(0), repeated(1, 31)] {
            #expect(throws: FormatError.invalid(field: "group roster")) { try record(roster: roster) }
        }
        #expect(throws: FormatError.invalid(field: "group streams")) { try record([], []) }
        #expect(throws: FormatError.invalid(field: "group streams")) { try record([id(7), id(5)], []) }
        #expect(throws: FormatError.invalid(field: "group old streams")) { try record([id(5)], [id(3)]) }
    }

    @Test func `a group has up to 256 streams`() throws {
        func streams(_ count: Int) -> [StreamID] {
            (0..<count).map { number in numbered(number).lend { StreamID(truncating: $0) } } + [id(5)]
        }
        let most = try record(name: String(repeating: "ä", count: 32), streams(255), streams(255).dropLast())
        #expect(try GroupRecord(parsing: most.encoded) == most && most.streams.count == 256)
        #expect(throws: FormatError.invalid(field: "group streams")) { try record(streams(256), []) }
        let least = try record(name: "a", [id(5)], [])
        #expect(try GroupRecord(parsing: least.encoded) == least)
    }
}
