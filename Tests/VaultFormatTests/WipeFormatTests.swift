import Testing
import VaultFormat

/// Mark, journal and receipt: what is written is read, and nothing else is.
@Suite struct WipeFormatTests {
    static let vault = VaultID(bytes: (0..<16).map { UInt8($0) })

    static func receipt() throws -> WipeReceipt {
        let items = try [("keys", WipeResult.erased, 1), ("files", .foreign, 7), ("org.example.cache", .pending, 0)].map
        {
            WipeItem(try #require(WipeTargetID($0.0)), $0.1, count: UInt32($0.2))
        }
        var receipt = WipeReceipt(
            vault: try #require(vault), cause: .attempts, begun: 1_700_000_000_000, ended: 1_700_000_000_250,
            items: items,
            strangers: 2, keyOrigin: .enabled, key: [2] + [UInt8](repeating: 0xAB, count: 32))
        receipt.signature = [UInt8](repeating: 0x5C, count: 64)
        return receipt
    }

    @Test func theMarkIsReadBack() throws {
        for cause in WipeCause.allCases {
            var mark = WipeMark(vault: try #require(WipeFormatTests.vault), cause: cause, begun: 12_345)
            mark.tag = Array(1...32)
            let bytes = mark.encoded(checksum: testChecksum)
            #expect(bytes.count == Header.copySize)
            #expect(try WipeMark(parsing: bytes, checksum: testChecksum) == mark)
            #expect(throws: FormatError.self) { try Header(parsing: bytes, checksum: testChecksum) }
            for offset in stride(from: 0, to: bytes.count, by: 97) + [8190, 8191, 8, 12, 28, 29] {
                var changed = bytes
                changed[offset] ^= 0x20
                #expect(throws: FormatError.self) { try WipeMark(parsing: changed, checksum: testChecksum) }
            }
            for count in [0, 1, 8, 4096, 8191, 8193] {
                let cut = Array((bytes + [0]).prefix(count))
                #expect(throws: FormatError.self) { try WipeMark(parsing: cut, checksum: testChecksum) }
            }
        }
    }

    /// With a checksum that fits, so that each field's own check is met.
    @Test func fieldsOfTheMarkAreChecked() throws {
        let mark = WipeMark(vault: try #require(WipeFormatTests.vault), cause: .owner, begun: 1)
        let bytes = mark.encoded(checksum: testChecksum)
        let cases: [(Int, UInt8, FormatError)] = [
            (8, 2, .newerVersion(2)), (8, 0, .invalid(field: "mark version")), (28, 0, .invalid(field: "mark cause")),
            (28, 3, .invalid(field: "mark cause")), (36, 1, .invalid(field: "mark time")),
            (69, 1, .invalid(field: "mark padding")), (8159, 1, .invalid(field: "mark padding")),
        ]
        for (offset, value, expected) in cases {
            var changed = bytes
            changed[offset] = value
            changed = changed.resummed
            let error = #expect(throws: FormatError.self) {
                try WipeMark(parsing: changed, checksum: testChecksum)
            }
            #expect(error == expected, "offset \(offset)")
        }
    }

    @Test func theJournalIsReadBackAndBounded() throws {
        let vault = try #require(WipeFormatTests.vault)
        var journal = WipeJournal(vault: vault, sequence: 9, items: try WipeFormatTests.receipt().items)
        let bytes = try journal.encoded(checksum: testChecksum)
        #expect(bytes.count == WipeJournal.size)
        #expect(try WipeJournal(parsing: bytes, checksum: testChecksum) == journal)
        for offset in stride(from: 0, to: bytes.count, by: 61) {
            var changed = bytes
            changed[offset] ^= 1
            #expect(throws: FormatError.self) { try WipeJournal(parsing: changed, checksum: testChecksum) }
        }
        journal.items = try (0..<WipeJournal.maximumItems).map { number in
            let name = "a" + String(repeating: "x", count: 59) + ".a\(number)"
            return WipeItem(try #require(WipeTargetID(name)), .erased, count: .max)
        }
        #expect(try journal.encoded(checksum: testChecksum).count == WipeJournal.size, "the longest does not fit")
        journal.items.append(WipeItem(try #require(WipeTargetID("one.more"))))
        #expect(throws: FormatError.headerFull) { try journal.encoded(checksum: testChecksum) }
    }

    @Test func aJournalWithAPathIsRefused() throws {
        let vault = try #require(WipeFormatTests.vault)
        let journal = WipeJournal(vault: vault, items: [WipeItem(try #require(WipeTargetID("org.example")))])
        let bytes = try journal.encoded(checksum: testChecksum)
        for name in ["../example.", "org/example", "Org.example", "org\u{0}example"] {
            var changed = bytes
            changed.replaceSubrange(40..<51, with: Array(name.utf8.prefix(11)))
            changed = changed.resummed
            let error = #expect(throws: FormatError.self) {
                try WipeJournal(parsing: changed, checksum: testChecksum)
            }
            #expect(error == .invalid(field: "journal target"), "\(name)")
        }
    }

    @Test func theReceiptIsReadBackAndHasOneSpelling() throws {
        let receipt = try WipeFormatTests.receipt()
        let bytes = receipt.encoded
        #expect(try WipeReceipt(parsing: bytes) == receipt)
        #expect(!receipt.isComplete)
        for end in 0..<bytes.count {
            #expect(throws: FormatError.self) { try WipeReceipt(parsing: Array(bytes[..<end])) }
        }
        // A changed byte is refused, or is another receipt: never the same one in other words.
        for offset in bytes.indices {
            for mask: UInt8 in [0x01, 0x20, 0x80] {
                var changed = bytes
                changed[offset] ^= mask
                if let other = try? WipeReceipt(parsing: changed) {
                    #expect(other != receipt && other.encoded == changed, "offset \(offset)")
                }
            }
        }
        #expect(throws: FormatError.self) { try WipeReceipt(parsing: bytes + [10]) }
        #expect(throws: FormatError.wrongSize) { try WipeReceipt(parsing: [UInt8](repeating: 10, count: 1 << 17)) }
    }

    static let edits: [(String, String, FormatError)] = [
        ("holdfast wipe receipt 1", "holdfast wipe receipt 2", .wrongMagic),
        ("vault 00", "vault 0", .invalid(field: "receipt vault")),
        ("cause attempts", "cause weather", .invalid(field: "receipt cause")),
        ("begun 17", "begun -17", .invalid(field: "receipt begin")),
        ("begun 17", "begun +17", .invalid(field: "receipt spelling")),
        ("ended 17", "ended 017", .invalid(field: "receipt spelling")),
        ("complete no", "complete yes", .invalid(field: "receipt spelling")),
        ("target keys erased 1", "target ../keys erased 1", .invalid(field: "receipt target")),
        ("target keys erased 1", "target keys perfect 1", .invalid(field: "receipt target")),
        ("target keys erased 1", "target keys erased", .invalid(field: "receipt target")),
        ("left-alone 2", "left-alone two", .invalid(field: "receipt left-alone")),
        ("not-claimed that the clock was right\n", "", .invalid(field: "receipt not-claimed")),
        ("enabled\n", "bought\n", .invalid(field: "receipt key")),
        ("signature 5c", "signature 5", .invalid(field: "receipt signature")),
        ("signature", "Signature", .invalid(field: "receipt signature")),
    ]

    @Test(arguments: edits)
    func eachFieldIsChecked(_ old: String, _ new: String, _ expected: FormatError) throws {
        let text = String(decoding: try WipeFormatTests.receipt().encoded, as: UTF8.self)
        #expect(text.contains(old))
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        let changed = parts.joined(separator: new)
        let error = #expect(throws: FormatError.self) { try WipeReceipt(parsing: Array(changed.utf8)) }
        #expect(error == expected)
    }
}
