import TestSupport
import Testing
import VaultFormat

@Suite struct ManifestTests {
    private func parse(_ bytes: [UInt8]) throws(FormatError) -> BackupManifest {
        try BackupManifest(parsing: bytes, checksum: testChecksum)
    }

    private func error(_ body: String) -> FormatError? { error(bytes: Sample.manifest(body)) }

    private func error(bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    @Test func bytesAreThoseOfTheDocument() throws {
        let bytes = Sample.manifest(Sample.manifestBody)
        #expect(Sample.manifest.encoded(checksum: testChecksum) == bytes)
        #expect(try parse(bytes) == Sample.manifest)
        #expect(BackupManifest.fileName == "backup.manifest")
    }

    @Test(arguments: [0, 1, 1000]) func `the largest manifest of a folder has the largest size exactly`(_ files: Int) {
        let names = (0..<files).map { number in
            let digits = String(number, radix: 16)
            return "files/" + String(repeating: "0", count: 32 - digits.count) + digits
        }
        let entries = (["header", "vault.mdb"] + OpenFiles.copied + names).map {
            BackupManifest.Entry(path: $0, size: .max, digest: [UInt8](repeating: 9, count: 32))
        }
        let largest = BackupManifest(vault: Sample.manifest.vault, entries: entries)
        #expect(
            UInt64(largest.encoded(checksum: testChecksum).count) == BackupManifest.largestSize(files: files))
    }

    @Test func everyOtherSizeIsRefused() {
        let bytes = Sample.manifest(Sample.manifestBody)
        for count in 0..<bytes.count where error(bytes: Array(bytes.prefix(count))) == nil {
            Issue.record("\(count) bytes were taken")
        }
        for tail in ["\n", " ", "x", "end\n", "\r\n", "\u{0}"] {
            #expect(error(bytes: bytes + Array(tail.utf8)) != nil)
        }
    }

    @Test func everyFlippedByteIsFound() {
        let bytes = Sample.manifest(Sample.manifestBody)
        for offset in bytes.indices {
            for bit in 0..<8 where error(bytes: bytes.with(bytes[offset] ^ 1 << UInt8(bit), at: offset)) == nil {
                Issue.record("offset \(offset), bit \(bit) was not found")
            }
        }
    }

    /// With a right last line: refused, or another manifest that has exactly these bytes.
    @Test func everyFlippedByteWithARightChecksumIsCanonical() {
        let body = Array(Sample.manifestBody.utf8)
        for offset in body.indices {
            for bit in 0..<8 {
                let changed = body.with(body[offset] ^ 1 << UInt8(bit), at: offset)
                let bytes = changed + Array("end \(Hexadecimal.encode(changed.lend(testChecksum)))\n".utf8)
                guard let manifest = try? parse(bytes) else { continue }
                if manifest.encoded(checksum: testChecksum) != bytes || manifest == Sample.manifest {
                    Issue.record("offset \(offset), bit \(bit) is not canonical")
                }
            }
        }
    }

    @Test(arguments: [
        "../header", "/etc/passwd", "files/../header", "files/", "files", "ledger", "backup.manifest", ".creating",
        "files/.part-00112233445566778899aabbccddeeff", "files/00112233445566778899aabbccddeef",
        "files/00112233445566778899aabbccddeeff0", "files/00112233445566778899AABBCCDDEEFF",
        "files/00112233445566778899aabbccddee/f", "files/00112233445566778899aabbccddeeff/x",
        "files//112233445566778899aabbccddeeff", "FILES/00112233445566778899aabbccddeeff", "Header", "header ", "",
        "files/００112233445566778899aabbccddeeff", "vault.mdb-lock", "header\u{0}", "./header",
    ])
    func aPlantedPathIsRefused(path: String) {
        let digest = String(repeating: "01", count: 32)
        #expect(error(Sample.manifestBody + "file \(path) 1 \(digest)\n") != nil)
        #expect(error(Sample.manifestBody.replacing("file header", with: "file \(path)")) != nil)
    }

    @Test(arguments: [
        "+16384", "016384", "-1", "", "16384.0", "0x4000", "1e3", "18446744073709551616", "１６３８４", " 16384", "16384 ",
        "99999999999999999999999999999999999999999999",
    ])
    func aSizeInAnotherFormIsRefused(size: String) {
        #expect(error(Sample.manifestBody.replacing(" 16384 ", with: " \(size) ")) != nil)
    }

    @Test func theLargestSizeIsTaken() {
        #expect(error(Sample.manifestBody.replacing(" 16384 ", with: " 18446744073709551615 ")) == nil)
    }

    @Test func whatNoWriterWritesIsRefused() {
        let body = Sample.manifestBody
        let lines: [String] = body.split(separator: "\n").map { "\($0)\n" }
        #expect(error(body.replacing("backup 1", with: "backup 2")) == .wrongMagic)
        #expect(error(body.replacing("\n", with: "\r\n")) != nil)
        #expect(error(body.replacing("\n", with: "\u{2028}")) != nil)
        #expect(error(body.replacing(" ", with: "\u{A0}")) != nil)
        #expect(error(body.replacing("vault 10", with: "vault 1")) == .invalid(field: "manifest vault"))
        #expect(error(body.replacing("abab", with: "ABab")) != nil)
        #expect(error(body.replacing("0101\n", with: "01\n")) != nil, "a short digest")
        #expect(error(body + "\n") != nil, "an empty line")
        #expect(error(body + lines[2]) == .invalid(field: "manifest entries"), "the same path twice")
        #expect(error(lines[0] + lines[1] + lines[3]) == .invalid(field: "manifest entries"), "no header")
        #expect(error(lines[0] + lines[1] + lines[2]) == .invalid(field: "manifest entries"), "no database")
        #expect(error(lines[0] + lines[1] + lines[4]) == .invalid(field: "manifest entries"))
        #expect(error(lines[0] + lines[1]) != nil)
        #expect(error("") == .wrongMagic)
        #expect(error(bytes: [0xFF] + Sample.manifest(body)) == .invalid(field: "manifest text"))
        #expect(error(bytes: Array("\u{FEFF}".utf8) + Sample.manifest(body)) != nil)
    }
}
