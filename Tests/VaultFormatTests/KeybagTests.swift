import TestSupport
import Testing
import VaultFormat

@Suite struct KeybagTests {
    private typealias Kind = KeybagLayout.Kind

    private func layout(_ bytes: [UInt8]) throws(FormatError) -> KeybagLayout {
        try bytes.lend { bytes throws(FormatError) in try KeybagLayout(parsing: bytes) }
    }

    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try layout(bytes) }
    }

    private func entry(_ kind: UInt8, _ epoch: UInt32, _ fill: UInt8) -> [UInt8] {
        [kind] + little(epoch) + repeated(fill, 32)
    }

    private var sample: [UInt8] {
        [1, 3, 0] + entry(1, 7, 0x11) + entry(1, 6, 0x22) + entry(5, 0x0A0B_0C0D, 0x33)
    }

    @Test func bytesAreThoseOfTheDocument() throws {
        var bytes = repeated(0, KeybagLayout.size(entries: 3))
        let written = try bytes.lendForWriting { bytes throws(FormatError) in
            let keys: [(kind: Kind, epoch: UInt32)] = [(.records, 7), (.records, 6), (.identity, 0x0A0B_0C0D)]
            return try KeybagLayout(writing: keys, into: &bytes)
        }
        for (entry, fill) in zip(written.entries, [0x11, 0x22, 0x33] as [UInt8]) {
            #expect(entry.range.count == KeybagLayout.keySize)
            bytes.replaceSubrange(entry.range, with: repeated(fill, 32))
        }
        #expect(bytes == sample)
        #expect(try layout(bytes) == written)
        #expect(written.range(of: .records, epoch: 6).map { Array(bytes[$0]) } == repeated(0x22, 32))
        #expect(written.range(of: .files, epoch: 6) == nil && written.range(of: .identity, epoch: 6) == nil)
    }

    @Test func kindsHaveTheirNumbers() {
        let each: [Kind] = [.records, .names, .files, .log, .identity, .inbox]
        #expect(each.map(\.rawValue) == [1, 2, 3, 4, 5, 6] && Kind.logReached.rawValue == 7)
        #expect(Kind.ofEachEpoch == each && Kind.allCases == each + [.logReached])
    }

    @Test func everyOtherSizeIsRefused() {
        for count in 0..<sample.count where error(Array(sample.prefix(count))) != .invalid(field: "keybag") {
            Issue.record("\(count) bytes were taken")
        }
        #expect(error(sample + [0]) == .invalid(field: "keybag"))
        #expect(error([1, 0, 0]) == nil)
    }

    @Test func whatNoWriterWritesIsRefused() {
        #expect(error(sample.with(2, at: 0)) == .invalid(field: "keybag"), "version")
        #expect(error(sample.with(2, at: 1)) == .invalid(field: "keybag"), "count too small")
        #expect(error(sample.replacing(at: 1, with: [0xFF, 0xFF])) == .invalid(field: "keybag"), "count too large")
        for kind: UInt8 in [0, 8, 255] {
            #expect(error(sample.with(kind, at: 3)) == .invalid(field: "keybag entry"))
        }
        #expect(error(sample.with(7, at: 3 + 37 + 1)) == .invalid(field: "keybag entry"), "the same key twice")
    }

    @Test func atMostAHundredKeys() throws {
        func write(_ count: Int, room: Int) throws(FormatError) -> [UInt8] {
            var bytes = repeated(0, KeybagLayout.size(entries: room))
            _ = try bytes.lendForWriting { bytes throws(FormatError) in
                try KeybagLayout(writing: (0..<count).map { (kind: .files, epoch: UInt32($0)) }, into: &bytes)
            }
            return bytes
        }
        #expect(try layout(write(100, room: 100)).entries.count == 100)
        #expect(throws: FormatError.headerFull) { try write(101, room: 101) }
        #expect(throws: FormatError.headerFull) { try write(3, room: 2) }
        #expect(throws: FormatError.headerFull) { try write(2, room: 3) }
        let entries: [[UInt8]] = (0..<101).map { entry(1, $0, 0) }
        let tooMany: [UInt8] = [1, 101, 0] + entries.joined()
        #expect(error(tooMany) == .invalid(field: "keybag"))
    }
}
