import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct EntriesFrontTests {
    /// By the document, not by the writer.
    private let sample: [UInt8] =
        Array("HFSYNC".utf8) + [0, 1] + little(UInt16(1)) + [1, 0] + repeated(1, 16) + little(UInt32(3))
        + repeated(2, 16) + little(UInt64(2)) + hash(5) + hash(6) + repeated(7, 8)

    @Test func `a front is 128 bytes, as the document has them`() throws {
        #expect(sample.count == 128)
        #expect(try front().encoded == sample)
        #expect(try EntryFront(parsing: sample) == front())
        #expect(try EntryFront(parsing: sample + [9, 9]) == front())
    }

    @Test func `what no writer writes is refused`() throws {
        let wrong: [(Int, [UInt8], FormatError)] = [
            (0, [0], .wrongMagic), (7, [2], .wrongMagic),
            (8, [2, 0], .newerVersion(2)), (8, [0, 0], .invalid(field: "entry version")),
            (10, [0], .invalid(field: "entry kind")), (10, [7], .invalid(field: "entry kind")),
            (11, [1], .invalid(field: "entry zero")), (28, little(UInt32(0)), .invalid(field: "entry epoch")),
            (48, little(UInt64(0)), .invalid(field: "entry number")),
            (48, little(UInt64(65_537)), .invalid(field: "entry number")),
            (48, little(UInt64(1)), .invalid(field: "entry before")), (56, hash(0), .invalid(field: "entry before")),
        ]
        for (offset, bytes, error) in wrong {
            var changed = sample
            changed.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            #expect(formatError { () throws(FormatError) in _ = try EntryFront(parsing: changed) } == error)
        }
        for count in 0..<sample.count {
            let short = Array(sample.prefix(count))
            #expect(formatError { () throws(FormatError) in _ = try EntryFront(parsing: short) } == .wrongSize)
        }
    }

    @Test func `each kind has numbers of its own`() throws {
        #expect(throws: FormatError.invalid(field: "entry number")) { try front(.roster, epoch: 3, number: 2) }
        #expect(throws: FormatError.invalid(field: "entry before")) { try front(.roster, epoch: 1, number: 1) }
        #expect(try front(.roster, epoch: 1, number: 1, before: hash(0)).stream == .none)
        for (kind, number) in [(EntryFront.Kind.invitation, UInt64(1)), (.card, 2), (.welcome, 3)] {
            #expect(try front(kind, number: number, before: hash(number == 1 ? 0 : 5)).number == number)
            #expect(throws: FormatError.invalid(field: "entry number")) { try front(kind, number: number + 1) }
        }
        #expect(throws: FormatError.invalid(field: "entry stream")) {
            try EntryFront(
                kind: .roster, group: id(1), epoch: 2, stream: id(2), number: 2, before: hash(5), salt: hash(6),
                rosterMark: repeated(0, 8))
        }
    }

    @Test func `garbage is no front, or its own bytes`() {
        let isSafe = checkGarbage(sample) { input in
            guard input.count == sample.count else {
                _ = try? EntryFront(parsing: input)
                return nil
            }
            return (try? EntryFront(parsing: input))?.encoded
        }
        #expect(isSafe)
    }

    @Test func `an entry has one of six sizes`() {
        #expect(EntrySize.allowed == [1024, 2048, 4096, 8192, 16_384, 32_768])
        #expect(EntrySize.fitting(plaintext: 0) == 1024)
        #expect(EntrySize.fitting(plaintext: 1024 - 208) == 1024)
        #expect(EntrySize.fitting(plaintext: 1024 - 207) == 2048)
        #expect(EntrySize.fitting(plaintext: EntrySize.longestPlaintext) == 32_768)
        #expect(EntrySize.fitting(plaintext: EntrySize.longestPlaintext + 1) == nil)
        #expect(EntrySize.fitting(plaintext: -1) == nil)
    }
}
