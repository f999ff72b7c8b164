import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

/// What the reader does when something is wrong.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct DecryptorFailureTests {
    @Test func aWrongPasscodeIsSaidAndNothingElse() throws {
        let home = try TestHome()
        try home.unlocked().put([1], "record")
        for passcode in ["wrong", "", "right "] {
            let result = try Decryptor.run(home.path, .passcode(passcode), "get", "default", "record")
            #expect(result.status == 3 && result.output.isEmpty)
            #expect(result.errors == "holdfast_decrypt: wrong passcode\n")
        }
        let missing = try Decryptor.run(home.path, .passcode("right"), "get", "default", "records")
        #expect(missing.status == 6 && missing.output.isEmpty && missing.errors.contains("no record of this name"))
        #expect(try Decryptor.run(home.path + "-not", .passcode("right"), "list").status == 6)
        #expect(try Decryptor.run(home.path, .passcode("right"), "remove").status == 2)
    }

    /// A byte of each field of the header, changed in both copies.
    @Test func aFlippedHeaderByteIsFound() throws {
        let home = try TestHome()
        _ = try home.unlocked()
        let header = try home.bytes("header")
        for offset in [0, 8, 12, 16, 32, 48, 54, 60, 130, 200, 400, 600, 8000, 8128, 8191] {
            var changed = header
            for copy in [0, Header.copySize] { changed[copy + offset] ^= 0x10 }
            try home.write(changed, to: "header")
            let result = try Decryptor.run(home.path, .passcode("right"), "list")
            #expect(result.status == 5, "offset \(offset): \(result.errors)")
            #expect(result.output.isEmpty && !result.errors.isEmpty)
            // The same with the checksum made right: authentication has to find it, or it is another passcode's slot.
            for copy in [0, Header.copySize] {
                let covered = Array(changed[copy..<copy + Header.copySize - 32])
                changed.replaceSubrange(
                    copy + covered.count..<copy + Header.copySize, with: covered.withRawSpan(HeaderFile.checksum))
            }
            try home.write(changed, to: "header")
            let fixed = try Decryptor.run(home.path, .passcode("right"), "list")
            #expect(offset == 8191 ? fixed.status == 0 : fixed.status != 0, "offset \(offset)")
            #expect(offset == 8191 || fixed.output.isEmpty && !fixed.errors.isEmpty)
        }
    }

    @Test func oneGoodHeaderCopyIsEnough() throws {
        let home = try TestHome()
        try home.unlocked().put([1], "record")
        let header = try home.bytes("header")
        for offset in [100, Header.copySize + 100] {
            try home.write(header, to: "header")
            try home.flip("header", at: offset)
            let before = try home.bytes("header")
            let result = try Decryptor.run(home.path, .passcode("right"), "get", "default", "record")
            #expect(result.status == 0 && result.output == [1])
            #expect(result.errors.contains("copy \(offset < Header.copySize ? 1 : 2) of the header"))
            #expect(try home.bytes("header") == before, "the reader must never write")
        }
    }

    @Test func aNewerVersionIsNamed() throws {
        let home = try TestHome()
        _ = try home.create()
        let copy = Array(try home.bytes("header").prefix(Header.copySize))
        var newer = Array(copy.dropLast(32))
        newer[8] = 2
        newer += newer.withRawSpan(HeaderFile.checksum)
        for copies in [newer + newer, newer + copy, copy.flipped(at: 100) + newer] {
            try home.write(copies, to: "header")
            let result = try Decryptor.run(home.path, .passcode("right"), "list")
            #expect(result.status == 1 && result.output.isEmpty && result.errors.contains("format version 2"))
        }
    }

    @Test func lostAndChangedContentsAreFound() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "record")
        try vault.stream(pattern(Vault.largestInlineValue + 70_000), "file")
        let folder = home.file("files")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let file = try home.bytes("files/\(name)")
        for damaged in [Array(file.dropLast()), file + [0], file.flipped(at: 500_000), file.flipped(at: 3)] {
            try home.write(damaged, to: "files/\(name)")
            #expect(try Decryptor.run(home.path, .passcode("right"), "get", "default", "file").status == 5)
            let verified = try Decryptor.run(home.path, .passcode("right"), "verify")
            #expect(verified.status == 5 && verified.text.contains("\"intact\": false"))
        }
        try FileManager.default.removeItem(atPath: folder + "/" + name)
        let exported = home.path + "-export"
        defer { try? FileManager.default.removeItem(atPath: exported) }
        let result = try Decryptor.run(home.path, .passcode("right"), "export", exported)
        #expect(result.status == 5 && result.errors.contains("'file' was not exported"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: exported + "/default/record")) == Data([1]))
        let inside = try Decryptor.run(home.path, .passcode("right"), "export", home.file("files/export"))
        #expect(inside.status == 1 && inside.errors.contains("lies in the vault"))
    }

    @Test func removedMovedAndAddedRecordsAreFound() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<3 { try vault.put([UInt8(number)], "record \(number)") }
        vault.lock()
        let old = home.path + "-old"
        defer { try? FileManager.default.removeItem(atPath: old) }
        try Data(home.bytes("vault.mdb")).write(to: URL(fileURLWithPath: old))
        try vault.unlock("right")
        for number in 0..<3 { try vault.put([9], "record \(number)", replacing: true) }
        vault.lock()
        let database = try home.bytes("vault.mdb")
        for (edit, listed, words) in [
            ("cursor.last(); t.put(cursor.key(), old.get(cursor.key()))", 3, "not those that were written last"),
            ("cursor.last(); cursor.delete()", 2, "not those that were written last"),
            ("cursor.last(); t.put(b'k' * 32, cursor.value())", 3, "does not match its authentication tag"),
            ("cursor.last(); key = cursor.key(); cursor.prev(); t.put(key, cursor.value())", 2, "authentication tag"),
            ("t.put(b'k' * 32, b'')", 3, "not under any key"),
            ("t.put(b'\\1', b'added')", 3, "a key that no record has"),
            ("t.put(b'\\0', b'added')", 3, "a key that no record has"),
            ("t.put(b'\\1', b'added', db=main)", 3, "beside the root record"),
            ("t.put(b'k' * 32, b'added', db=main)", 3, "beside the root record"),
        ] {
            try home.write(database, to: "vault.mdb")
            try Decryptor.editDatabase(home.file("vault.mdb"), edit, old: old)
            let verified = try Decryptor.run(home.path, .passcode("right"), "verify")
            #expect(verified.status == 5 && verified.errors.contains(words), "\(edit): \(verified.errors)")
            let list = try Decryptor.run(home.path, .passcode("right"), "list")
            #expect(list.lines.count == listed, "\(edit)")
        }
        try home.write(database, to: "vault.mdb")
        try Decryptor.editDatabase(home.file("vault.mdb"), "t.delete(b'\\0', db=main)", old: old)
        let rootless = try Decryptor.run(home.path, .passcode("right"), "list")
        #expect(rootless.status == 5 && rootless.errors.contains("the root record is missing"))
        try home.write(Array(database.prefix(8192)), to: "vault.mdb")
        let cut = try Decryptor.run(home.path, .passcode("right"), "list")
        #expect(cut.status == 5 && cut.output.isEmpty)
    }

    @Test func anOlderDatabaseUnderNewKeysIsFound() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "record")
        let old = try home.bytes("vault.mdb")
        _ = try vault.rekeyForTest("right", to: "next")
        try vault.finishRekey()
        vault.lock()
        try home.write(old, to: "vault.mdb")
        let result = try Decryptor.run(home.path, .passcode("next"), "list")
        #expect(result.status == 5 && result.errors.contains("not under any key"))
    }
}
