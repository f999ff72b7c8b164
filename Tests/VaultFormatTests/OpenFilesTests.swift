import TestSupport
import Testing
import VaultFormat

/// The small structures of the open compartment.
@Suite struct OpenFilesTests {
    private let vault = VaultID(bytes: Array(0..<16))!

    private func keyFile(hasKey: Bool) -> [UInt8] {
        var bytes = repeated(0, OpenKeyFile.size)
        if hasKey { bytes.replaceSubrange(OpenKeyFile.keyRange, with: repeated(7, 32)) }
        bytes.lendForWriting { OpenKeyFile.write(vault: vault, hasKey: hasKey, into: &$0, checksum: testChecksum) }
        return bytes
    }

    private func check(_ bytes: [UInt8]) throws(FormatError) -> Bool {
        try bytes.lend { bytes throws(FormatError) in
            try OpenKeyFile.check(bytes, vault: vault, checksum: testChecksum)
        }
    }

    @Test func theKeyFileIsAsTheDocumentHasIt() throws {
        let bytes = keyFile(hasKey: true)
        let front = Array("HFOPENKY".utf8) + little(UInt32(1)) + Array(0..<16) + little(UInt32(1)) + repeated(7, 32)
        #expect(bytes.count == 128 && Array(bytes[..<64]) == front && bytes[64..<96].allSatisfy { $0 == 0 })
        #expect(try check(bytes))
        #expect(try !check(keyFile(hasKey: false)))
    }

    @Test func anyOtherKeyFileIsRefused() {
        let bytes = keyFile(hasKey: true)
        for offset in bytes.indices {
            #expect(throws: FormatError.self, "offset \(offset)") {
                try check(bytes.with(bytes[offset] ^ 1, at: offset))
            }
        }
        for count in 0..<bytes.count {
            #expect(throws: FormatError.wrongSize) { try check(Array(bytes.prefix(count))) }
        }
        #expect(throws: FormatError.wrongSize) { try check(bytes + [0]) }
        func resummed(_ offset: Int, _ byte: UInt8) -> [UInt8] {
            let front = Array(bytes[..<96]).with(byte, at: offset)
            return front + front.lend(testChecksum)
        }
        #expect(throws: FormatError.newerVersion(2)) { try check(resummed(8, 2)) }
        #expect(throws: FormatError.invalid(field: "open key")) { try check(resummed(8, 0)) }
        #expect(throws: FormatError.invalid(field: "vault id")) { try check(resummed(12, 9)) }
        #expect(throws: FormatError.invalid(field: "open key")) { try check(resummed(28, 2)) }
        #expect(throws: FormatError.invalid(field: "open key")) { try check(resummed(80, 1)) }
    }

    private var publicKey: OpenPublicKeyFile {
        OpenPublicKeyFile(vault: vault, epoch: 0x0102, point: [2] + repeated(5, 32), tag: repeated(6, 32))
    }

    @Test func thePublicKeyFileIsAsTheDocumentHasIt() throws {
        let bytes = publicKey.encoded(checksum: testChecksum)
        let front = Array("HFOPENPK".utf8) + little(UInt32(1)) + Array(0..<16) + little(UInt32(0x0102))
        let rest = [2] + repeated(5, 32) + [0, 0, 0] + repeated(6, 32) + repeated(0, 28)
        #expect(Array(bytes[..<128]) == front + rest && bytes.count == 160)
        #expect(try OpenPublicKeyFile(parsing: bytes, checksum: testChecksum) == publicKey)
        let tagged = OpenPublicKeyFile.tagged(vault: vault, epoch: 0x0102, point: publicKey.point)
        #expect(tagged == Array(bytes[12..<65]))
    }

    @Test func anyOtherPublicKeyFileIsRefused() {
        let bytes = publicKey.encoded(checksum: testChecksum)
        func error(_ bytes: [UInt8]) -> FormatError? {
            formatError { () throws(FormatError) in _ = try OpenPublicKeyFile(parsing: bytes, checksum: testChecksum) }
        }
        for offset in bytes.indices where error(bytes.with(bytes[offset] ^ 1, at: offset)) == nil {
            Issue.record("a change at \(offset) was taken")
        }
        for count in Array(0..<160) + [161] {
            #expect(error(Array((bytes + [0]).prefix(count))) == .wrongSize)
        }
        func resummed(_ offset: Int, _ byte: UInt8) -> [UInt8] {
            let front = Array(bytes[..<128]).with(byte, at: offset)
            return front + front.lend(testChecksum)
        }
        #expect(error(resummed(8, 2)) == .newerVersion(2))
        for offset in [8, 65, 67, 100, 127] {
            #expect(error(resummed(offset, offset == 8 ? 0 : 1)) == .invalid(field: "public key"))
        }
    }

    @Test func labelsAreReadWithTheirRecord() throws {
        let name = try #require(RecordName(collection: "ab", name: "é"))
        let label = RecordLabel(record: name, wasSealed: true)
        #expect(label.encoded == [1, 2, 0, 0x61, 0x62, 2, 0, 0xC3, 0xA9])
        let fields = RecordFields(
            kind: .inbox, origin: .open, sequence: 1, created: 2, modified: 3, collectionSize: 5, nameSize: 1)
        var front = repeated(0, 32)
        front.lendForWriting { fields.write(into: &$0) }
        let plaintext = front + Array("inboxn".utf8) + label.encoded + [9, 9]
        func parse(_ bytes: [UInt8]) throws(FormatError) -> RecordFields {
            try bytes.lend { bytes throws(FormatError) in try RecordFields(parsing: bytes) }
        }
        let parsed = try parse(plaintext)
        #expect(parsed.labelSize == 9 && parsed.labelOffset == 38 && parsed.contentOffset == 47)
        #expect(try plaintext.lend { bytes throws(FormatError) in try RecordLabel(parsing: bytes, at: 38) } == label)
        for count in 0..<47 {
            #expect(throws: FormatError.self, "\(count) bytes") { try parse(Array(plaintext.prefix(count))) }
        }
        #expect(throws: FormatError.invalid(field: "record")) { try parse(plaintext.with(0, at: 2)) }
        for (offset, byte) in [(38, 2), (41, 0xFF), (45, 0xFF)] as [(Int, UInt8)] {
            let changed = plaintext.with(byte, at: offset)
            #expect(throws: FormatError.invalid(field: "record label")) {
                try changed.lend { bytes throws(FormatError) in try RecordLabel(parsing: bytes, at: 38) }
            }
        }
        #expect(throws: FormatError.invalid(field: "record label")) { try parse(plaintext.with(0xFF, at: 40)) }
    }

    @Test func onlyTheirNamesMayBeInABackup() throws {
        #expect(OpenFiles.copied == ["open.mdb", "open.key", "open.pub"])
        let names = [
            "open.mdb", "open.mdb-lock", "open.mdb.damaged", ".open.mdb.part", ".open.mdb.part-lock", "open.key",
            "open.pub", ".open.pub.part", "open.key.damaged",
        ]
        #expect(OpenFiles.all == names)
        for (path, isAllowed) in [("open.key", true), ("open.mdb", true), ("open.pub", true), ("open.mdb-lock", false)]
        {
            let entries = ["header", "vault.mdb", path].map {
                BackupManifest.Entry(path: $0, size: 1, digest: repeated(1, 32))
            }
            let bytes = BackupManifest(vault: vault, entries: entries).encoded(checksum: testChecksum)
            #expect(((try? BackupManifest(parsing: bytes, checksum: testChecksum)) != nil) == isAllowed, "\(path)")
        }
    }
}
