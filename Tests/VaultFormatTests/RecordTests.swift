import TestSupport
import Testing
import VaultFormat

@Suite struct RecordTests {
    private static let fields = RecordFields(
        kind: .file, origin: .open, sequence: 0x1122_3344_5566_7788, created: -5, modified: 1_700_000_000_456,
        collectionSize: 3, nameSize: 0x0102)

    private static let bytes: [UInt8] =
        [1, 1, 1, 0, 3, 0, 2, 1] + little(UInt64(0x1122_3344_5566_7788)) + little(Int64(-5))
        + little(Int64(1_700_000_000_456))

    private func parse(_ bytes: [UInt8]) throws(FormatError) -> RecordFields {
        try bytes.lend { bytes throws(FormatError) in try RecordFields(parsing: bytes) }
    }

    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    @Test func `bytes of a key that are there are read from their place`() {
        let bytes = repeated(0, 24) + [1, 2, 3, 4, 5, 6, 7, 8]
        #expect(bytes.lend { $0.present(at: 24, as: UInt64.self) } == 0x0807_0605_0403_0201)
        #expect(bytes.lend { $0.present(at: 31, as: UInt8.self) } == 8)
    }

    @Test func bytesAreThoseOfTheDocument() throws {
        var written = repeated(0xFF, RecordFields.size)
        written.lendForWriting { Self.fields.write(into: &$0) }
        #expect(written == Self.bytes)
        let plaintext = Self.bytes + repeated(0x61, 3 + 0x0102)
        #expect(try parse(plaintext) == Self.fields)
        #expect(try parse(plaintext + [9]).contentOffset == 32 + 3 + 0x0102)
    }

    @Test func aShortPlaintextIsRefused() {
        let plaintext = Self.bytes + repeated(0x61, 3 + 0x0102)
        for count in 0..<plaintext.count where error(Array(plaintext.prefix(count))) != .invalid(field: "record") {
            Issue.record("\(count) bytes were taken")
        }
    }

    @Test func whatNoWriterWritesIsRefused() {
        let plaintext = Self.bytes + repeated(0x61, 131_072)
        #expect(error(plaintext) == nil)
        for (offset, byte) in [(0, 0), (0, 2), (1, 4), (1, 255), (2, 2), (2, 255), (3, 1), (3, 2)] as [(Int, UInt8)] {
            #expect(error(plaintext.with(byte, at: offset)) == .invalid(field: "record"))
        }
        let huge = (Self.bytes + repeated(0x61, 65_535)).replacing(at: 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(error(huge) == .invalid(field: "record"))
    }

    @Test func `only a record that was written or confirmed while unlocked, with its content in it, can be an item`()
        throws
    {
        for kind in [RecordFields.Kind.inline, .file, .sealed, .inbox] {
            for origin in [RecordFields.Origin.protected, .open] {
                let bytes = [1, kind.rawValue, origin.rawValue, 1, 0, 0, 1, 0] + repeated(0, 24) + repeated(0, 40)
                let isAllowed = kind == .inline && origin == .protected
                #expect(error(bytes) == (isAllowed ? nil : .invalid(field: "record")))
                if isAllowed { #expect(try parse(bytes).form == .item) }
            }
        }
        var item = Self.fields
        item.form = .item
        var written = repeated(0xFF, RecordFields.size)
        written.lendForWriting { item.write(into: &$0) }
        #expect(written == Self.bytes.with(1, at: 3))
        #expect(try parse(Self.bytes + repeated(0x61, 3 + 0x0102)).form == .value)
    }

    @Test func namesAreLimited() {
        let longest = String(repeating: "é", count: 512)
        #expect(RecordName(collection: "", name: "n") != nil)
        #expect(RecordName(collection: String(repeating: "c", count: 255), name: longest) != nil)
        #expect(RecordName(collection: String(repeating: "c", count: 256), name: "n") == nil)
        #expect(RecordName(collection: "", name: longest + "x") == nil)
        #expect(RecordName(collection: "c", name: "") == nil)
    }

    @Test func lookupInputsAreUnambiguous() throws {
        let name = try #require(RecordName(collection: "ab", name: "é"))
        #expect(name.lookupInput == [2, 0, 0x61, 0x62, 2, 0, 0xC3, 0xA9])
        let texts = ["", "a", "ab", "b", "ba", "a\u{0}", "\u{1}\u{0}b"]
        var inputs: Set<[UInt8]> = []
        var count = 0
        for collection in texts {
            for name in texts where !name.isEmpty {
                inputs.insert(try #require(RecordName(collection: collection, name: name)).lookupInput)
                count += 1
            }
        }
        #expect(inputs.count == count)
    }

    @Test func authenticatedDataIsThatOfTheDocument() {
        let lookup = Array(0x40...0x5F) as [UInt8]
        var data = repeated(0xFF, SealedRecord.authenticatedSize)
        lookup.lend { lookup in
            data.lendForWriting {
                SealedRecord.writeAuthenticatedData(
                    vault: Sample.vault, epoch: 0x0102_0304, lookupKey: lookup, into: &$0)
            }
        }
        #expect(data == Sample.vault.bytes + [4, 3, 2, 1] + lookup + [1, 0, 0, 0])
        #expect(SealedRecord.boxOffset == 16 && SealedRecord.overhead == 32)
    }
}

@Suite struct RootRecordTests {
    private func parse(_ bytes: [UInt8]) throws(FormatError) -> RootRecord {
        try bytes.lend { bytes throws(FormatError) in try RootRecord(parsing: bytes) }
    }

    @Test func bytesAreThoseOfTheDocument() throws {
        let sum = Array(0x80...0x9F) as [UInt8]
        let bytes =
            little(UInt64(0x0102)) + little(UInt64(1) << 62 - 1) + sum + little(UInt64(0x0304)) + little(UInt64(5))
        let root = try parse(bytes)
        #expect(root.count == 0x0102 && root.nextSequence == 1 << 62 - 1 && root.sum == sum.lend { Sum256($0) })
        #expect(root.transaction == 0x0304 && root.seals == 5)
        for offset in [7, 15, 63] {
            var high = bytes
            high[offset] = 0x40
            #expect(throws: FormatError.self, "numbers that no use reaches") { try parse(high) }
        }
        var written = repeated(0, RootRecord().size)
        written.lendForWriting { root.write(into: &$0) }
        #expect(written == bytes)
        #expect(RootRecord.databaseKey == [0] && RootRecord().size == 64)
        var empty = repeated(0xFF, RootRecord().size)
        empty.lendForWriting { RootRecord().write(into: &$0) }
        #expect(empty == repeated(0, 8) + [1] + repeated(0, 55))
    }

    @Test func aMarkMakesItLonger() throws {
        let sum = Array(0xA0...0xBF) as [UInt8]
        let bytes = repeated(3, 64) + little(UInt64(0x0A0B)) + sum
        let root = try parse(bytes)
        #expect(root.mark == OpenMark(sequence: 0x0A0B, sum: sum.lend { Sum256($0) }) && root.size == 104)
        var written = repeated(0, 104)
        written.lendForWriting { root.write(into: &$0) }
        #expect(written == bytes)
        #expect(SealedRoot.isSize(64 + 40) && SealedRoot.isSize(104 + 40) && !SealedRoot.isSize(64 + 41))
    }

    @Test func everyOtherSizeIsRefused() {
        for count in Array(0..<64) + [65, 103, 105, 128] {
            #expect(throws: FormatError.invalid(field: "root record")) { try parse(repeated(1, count)) }
        }
    }
}
