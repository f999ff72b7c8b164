import Cryptography
import Foundation
import SecretMemory
import Testing
import VaultFormat

@testable import VaultCore

/// Vaults of ours, read by `scripts/holdfast_decrypt.py`, which shares no code with us.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct DecryptorTests {
    @Test func readsEveryKindOfValue() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        try values.put([], "empty", in: vault)
        try values.put(pattern(256), "binary", in: vault)
        try values.put(Array(0...255), "every byte", "other collection", in: vault)
        try values.put(pattern(300_000), "300 kB", in: vault)
        try values.put(pattern(Vault.largestInlineValue), "largest", in: vault)
        try values.put([1], "no collection", "", in: vault)
        try values.put([2], "name\nwith \u{0}, \t and \u{7f}", "line\u{2028}end", in: vault)
        try values.put([3], "Straße 日本語 👩‍👩‍👧 e\u{301}", "مجموعة", in: vault)
        try values.put([4], "é", in: vault)
        try values.put([5], "e\u{301}", in: vault)
        try values.put([6], "../../escape", "..", in: vault)
        try values.put([7], ".hidden", "CON", in: vault)
        try values.put([8], "%2E", "a/b", in: vault)
        try values.put([9], "Case", in: vault)
        try values.put([10], "case", in: vault)
        try values.put([11], String(repeating: "n", count: 1024), String(repeating: "ü", count: 127), in: vault)
        try values.put([12], String(repeating: "n", count: 1023), String(repeating: "ü", count: 127), in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 1), "one byte too many", in: vault)
        try values.stream(pattern(20 * FileFormat.chunkSize), "whole chunks", in: vault)
        try values.stream(pattern(20 * FileFormat.chunkSize + 7), "replaced by a record", in: vault)
        try values.put([13], "replaced by a record", in: vault)
        try values.put(pattern(40), "replaced by a file", in: vault)
        try values.stream(pattern(1_234_567, seed: 3), "replaced by a file", in: vault)
        try values.put([14], "deleted", in: vault)
        try values.delete("deleted", in: vault)
        try values.check(home, vault, .passcode("right"))
    }

    @Test func readsAnEmptyVault() throws {
        let home = try TestHome()
        try Values().check(home, home.unlocked(), .passcode("right"))
    }

    /// Pages that a transaction takes and gives back at the end of the file are never written.
    @Test func readsADatabaseShorterThanItSays() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        for number in 0..<20 { try values.put([UInt8(number)], "record", in: vault) }
        let large = pattern(Vault.largestInlineValue)
        try vault.write { session in
            try large.withRawSpan { try session.put($0, for: "large") }
            try session.delete("large")
        }
        vault.lock()
        // As LMDB leaves it: without the pages at the end that were never written.
        let whole = try home.bytes("vault.mdb")
        let used = try #require(whole.lastIndex { $0 != 0 }) / 4096 + 1
        try home.write(Array(whole[..<(used * 4096)]), to: "vault.mdb")
        let isShorter = used * 4096 < whole.count
        #expect(isShorter)
        let read = try Decryptor.run(home.path, .passcode("right"), "get", "default", "record")
        #expect(read.output == [19])
        #expect(try Decryptor.run(home.path, .passcode("right"), "verify").status == 0)
    }

    @Test func opensWithThePhrase() throws {
        let home = try TestHome()
        let phrase = try home.create().text
        let vault = try home.open()
        try vault.unlock("right")
        var values = Values()
        try values.put([1, 2, 3], "record", in: vault)
        try values.check(home, vault, .phrase(phrase))
        let cut = phrase.split(separator: " ").map { $0.prefix(4).uppercased() }.joined(separator: " \t")
        #expect(try Decryptor.run(home.path, .phrase(cut), "get", "default", "record").output == [1, 2, 3])

        var words = phrase.split(separator: " ").map(String.init)
        words[3] = words[3] == "abandon" ? "zoo" : "abandon"
        let checksum = try Decryptor.run(home.path, .phrase(words.joined(separator: " ")), "list")
        // One changed word passes the checksum of eight bits once in 256 times; it is a wrong phrase either way.
        #expect(checksum.status == 3 && !checksum.errors.isEmpty)
        words[3] = "notaword"
        let unknown = try Decryptor.run(home.path, .phrase(words.joined(separator: " ")), "list")
        #expect(unknown.status == 3 && unknown.errors.contains("word 4"))
    }

    @Test func readsAfterThePasscodeChanged() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        try values.put([1], "record", in: vault)
        try vault.changePasscode("right", "päss wörd")
        try values.check(home, vault, .passcode("päss wörd"))
        #expect(try Decryptor.run(home.path, .passcode("right"), "list").status == 3)
    }

    @Test func readsDuringAndAfterARekey() throws {
        let home = try TestHome()
        let first = try home.create().text
        let vault = try home.open()
        try vault.unlock("right")
        var values = Values()
        for number in 0..<10 { try values.put(pattern(number * 10), "record \(number)", in: vault) }
        try values.stream(pattern(Vault.largestInlineValue + 99), "file", in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 98), "other file", in: vault)

        let phrase = try vault.rekeyForTest("right", to: "next")
        try values.check(home, vault, .passcode("next"))  // all under the older keys
        try values.put([1], "new", in: vault)
        try values.put([2], "record 3", in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 97), "file", in: vault)
        try values.delete("record 4", in: vault)
        #expect(try vault.isRekeyUnfinished)
        try values.check(home, vault, .passcode("next"))  // some here, some there
        try values.check(home, vault, .phrase(phrase))

        try vault.finishRekey()
        #expect(try !vault.isRekeyUnfinished)
        try values.check(home, vault, .passcode("next"))
        #expect(try Decryptor.run(home.path, .passcode("right"), "list").status == 3)
        #expect(try Decryptor.run(home.path, .phrase(first), "list").status == 3)
    }

    @Test func readsUnderRulesOfBothVersions() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1, 2, 3], "name")
        let passcode = try secret("right")
        for preset in [FallbackPolicy.neverBlocks, .convenient, .strict] {
            let policy = try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
                policy.fallback = preset
                policy.collectionMinima = ["work": .keyBound]
            }
            #expect(try policy.encoded().first == (preset == .strict ? 1 : 2))
            let result = try Decryptor.run(home.path, .passcode("right"), "get", "default", "name")
            #expect(result.status == 0 && result.output == [1, 2, 3], "\(result.errors)")
        }
    }

    @Test func readsAfterARecovery() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        var values = Values()
        try values.put([1, 2], "record", in: vault)
        let passcode = try secret("recovered")
        _ = try vault.recover(phrase: phrase.phrase, newPasscode: passcode)
        try values.check(home, vault, .passcode("recovered"))
        #expect(try Decryptor.run(home.path, .passcode("right"), "list").status == 3)
    }

    @Test func readsABackup() throws {
        let home = try TestHome()
        let copy = try TestHome()
        let vault = try home.unlocked()
        var values = Values()
        try values.put([1, 2], "record", in: vault)
        try values.stream(pattern(Vault.largestInlineValue + 5), "file", in: vault)
        _ = try vault.backup(to: copy.path)
        try values.check(copy, vault, .passcode("right"))
    }
}

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

/// What a vault is expected to hold.
private struct Values {
    private struct Key: Hashable {
        // Bytes, because Swift takes two spellings of an accent for one.
        let collection: [UInt8]
        let name: [UInt8]
        init(_ collection: String, _ name: String) {
            self.collection = Array(collection.utf8)
            self.name = Array(name.utf8)
        }
    }
    private struct Line: Decodable {
        let collection: String
        let name: String
        let size: UInt64
        let created: Int64
        let modified: Int64
        let stored: String
        let path: String?
    }
    private var values: [Key: [UInt8]] = [:]

    mutating func put(
        _ bytes: [UInt8], _ name: String, _ collection: String = Vault.defaultCollection, in vault: Vault
    ) throws {
        try vault.put(bytes, name, collection, replacing: true)
        values[Key(collection, name)] = bytes
    }

    mutating func stream(_ bytes: [UInt8], _ name: String, in vault: Vault) throws {
        try vault.stream(bytes, name, replacing: true)
        values[Key(Vault.defaultCollection, name)] = bytes
    }

    mutating func delete(_ name: String, in vault: Vault) throws {
        try vault.delete(name)
        values[Key(Vault.defaultCollection, name)] = nil
    }

    /// Every byte, name, size and time as the other reader sees them.
    func check(
        _ home: TestHome, _ vault: Vault, _ secret: Decryptor.Secret, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let exported = home.path + "-export"
        defer { try? FileManager.default.removeItem(atPath: exported) }
        let before = try home.filesOnDisk()
        let result = try Decryptor.run(home.path, secret, "export", exported)
        #expect(result.status == 0 && result.errors == "", sourceLocation: sourceLocation)
        let lines = try result.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(lines.count == values.count, sourceLocation: sourceLocation)
        let records = try Dictionary(
            uniqueKeysWithValues: vault.records().map { (Key($0.collection, $0.name), $0) })
        #expect(records.count == values.count, sourceLocation: sourceLocation)
        var paths: Set<String> = []
        for line in lines {
            let key = Key(line.collection, line.name)
            let record = try #require(records[key], sourceLocation: sourceLocation)
            let path = try #require(line.path)
            #expect(paths.insert(path).inserted, "two values in one file", sourceLocation: sourceLocation)
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            #expect(parts.count == 2 && parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && $0.utf8.count <= 255 })
            #expect(path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, sourceLocation: sourceLocation)
            let content = Array(try Data(contentsOf: URL(fileURLWithPath: exported + "/" + path)))
            #expect(content == values[key], sourceLocation: sourceLocation)
            #expect(line.size == record.size && line.size == UInt64(content.count), sourceLocation: sourceLocation)
            #expect(line.created == record.created && line.modified == record.modified, sourceLocation: sourceLocation)
            #expect(line.stored == (record.isFile ? "file" : "record"), sourceLocation: sourceLocation)
        }
        let verified = try Decryptor.run(home.path, secret, "verify")
        #expect(verified.status == 0 && verified.errors == "", sourceLocation: sourceLocation)
        #expect(verified.text.contains("\"orphans\": 0, \"intact\": true"), sourceLocation: sourceLocation)
        #expect(verified.text.contains("\"records\": \(values.count), "), sourceLocation: sourceLocation)

        #expect(try home.filesOnDisk() == before, "the reader must never write", sourceLocation: sourceLocation)

        let listed = try Decryptor.run(home.path, secret, "list")
        #expect(listed.status == 0 && listed.lines.count == values.count, sourceLocation: sourceLocation)
        guard let (key, value) = values.max(by: { $0.value.count < $1.value.count }) else { return }
        let got = try Decryptor.run(
            home.path, secret, "get", String(decoding: key.collection, as: UTF8.self),
            String(decoding: key.name, as: UTF8.self))
        #expect(got.status == 0 && got.output == value && got.errors == "", sourceLocation: sourceLocation)
    }
}

/// Runs the scripts that read what we write.
enum Decryptor {
    enum Secret {
        case passcode(String)
        case phrase(String)
    }

    struct Result {
        let status: Int32
        let output: [UInt8]
        let errors: String
        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [Substring] { text.split(separator: "\n") }
    }

    static let missing: Comment = "no python3 with cryptography, argon2 and lmdb: holdfast_decrypt.py is not tested"

    /// The system's Python first: another one in PATH does not see the distribution's packages.
    static let python: String? = ["/usr/bin/python3", "/usr/bin/env python3"].first { candidate in
        let words = candidate.split(separator: " ").map(String.init) + ["-c", "import cryptography, argon2, lmdb"]
        return (try? start(words, input: ""))?.status == 0
    }

    // This file is <package root>/Tests/VaultCoreTests/DecryptorTests.swift.
    private static let scripts = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "scripts")

    static func run(_ home: String, _ secret: Secret, _ arguments: String...) throws -> Result {
        let (option, input) =
            switch secret {
            case .passcode(let text): ("--passcode-fd", text)
            case .phrase(let text): ("--phrase-fd", text)
            }
        let words = try #require(python).split(separator: " ").map(String.init)
        let script = scripts.appending(path: "holdfast_decrypt.py").path
        return try start(words + ["-B", script, option, "0", home] + arguments, input: input + "\n")
    }

    /// Runs the verifier of the security log.
    static func verifyLog(_ home: String, _ option: String, _ secret: String, _ arguments: String...) throws -> Result {
        let words = try #require(python).split(separator: " ").map(String.init)
        let script = scripts.appending(path: "holdfast_log_verify.py").path
        return try start(words + ["-B", script, option, "0", home] + arguments, input: secret + "\n")
    }

    /// Changes the database behind the vault's back: `edit` has a transaction `t` and a cursor on the records, the `main`
    /// tree, and `old`, a transaction on the records of an older database.
    static func editDatabase(_ path: String, _ edit: String, old: String) throws {
        let code = """
            import lmdb, sys
            old = lmdb.open(sys.argv[2], subdir=False, lock=False, readonly=True, max_dbs=1)
            old = old.begin(old.open_db(b'records', create=False))
            environment = lmdb.open(sys.argv[1], subdir=False, lock=False, max_dbs=1)
            main, records = environment.open_db(None), environment.open_db(b'records', create=False)
            with environment.begin(records, write=True) as t:
                cursor = t.cursor(); \(edit)
            """
        try interpret(code, path, old)
    }

    /// Runs a program in Python.
    static func interpret(_ code: String, _ arguments: String...) throws {
        let words = try #require(python).split(separator: " ").map(String.init)
        let result = try start(words + ["-c", code] + arguments, input: "")
        #expect(result.status == 0, "\(result.errors)")
    }

    private static func start(_ words: [String], input: String) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))  // small: fits the pipe
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()  // messages are small: they fit their pipe
        let errors = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: Array(output), errors: String(decoding: errors, as: UTF8.self))
    }
}

extension TestHome {
    /// Name, size and time of the last change of everything in the home.
    fileprivate func filesOnDisk() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted().map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
            let date = attributes[.modificationDate] as? Date
            return "\(name) \(attributes[.size] ?? 0) \(date?.timeIntervalSince1970 ?? 0)"
        }
    }
}

extension RecoveryPhraseBox {
    /// The words, outside locked memory, which only a test may do.
    fileprivate var text: String { phrase.withText { String(decoding: $0.array, as: UTF8.self) } }
}

extension Vault {
    /// Rekeys with a new phrase and gives its words.
    func rekeyForTest(_ passcode: String, to new: String) throws -> String {
        let box = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        let old = try secret(passcode)
        let next = try secret(new)
        try rekey(
            passcode: old, spending: burnAttempt(), newPasscode: next, phrase: box.phrase, isNewPhrase: true)
        return box.text
    }
}

extension [UInt8] {
    fileprivate func flipped(at offset: Int) -> [UInt8] {
        var copy = self
        copy[offset] ^= 1
        return copy
    }
}

/// What was written while locked, in the other reader.
@Suite(.enabled(if: Decryptor.python != nil, Decryptor.missing))
struct OpenDecryptorTests {
    @Test func readsTheOpenCompartmentAndTheInbox() throws {
        let home = try TestHome()
        let vault = try home.locked()
        #expect(try Decryptor.run(home.path, .passcode("right"), "open").lines.isEmpty)
        try vault.open.put(pattern(300), "plain", "c")
        try vault.open.put(pattern(300_000), "large")
        try vault.open.drop(pattern(500), "sealed", "s")
        vault.open.close()
        let items = try Decryptor.run(home.path, .passcode("right"), "open")
        #expect(items.status == 0 && items.errors == "" && items.lines.count == 3, "\(items.errors)")
        #expect(items.lines.filter { $0.contains("\"sealed\": true") }.count == 1)
        for (collection, name, bytes) in [("c", "plain", pattern(300)), ("s", "sealed", pattern(500))] {
            let got = try Decryptor.run(home.path, .passcode("right"), "open-get", collection, name)
            #expect(got.status == 0 && got.output == bytes, "\(got.errors)")
        }
        try vault.unlock("right")
        vault.lock()
        #expect(try Decryptor.run(home.path, .passcode("right"), "open").lines.isEmpty)
        let listed = try Decryptor.run(home.path, .passcode("right"), "list")
        #expect(listed.status == 0 && listed.lines.count == 3, "\(listed.errors)")
        #expect(
            listed.lines.allSatisfy { $0.contains("\"origin\": \"open\"") && $0.contains("\"collection\": \"inbox\"") })
        #expect(listed.text.contains("\"original\": {\"collection\": \"s\", \"name\": \"sealed\", \"sealed\": true}"))
        let sealed = try Decryptor.run(home.path, .passcode("right"), "get", "inbox", "sealed")
        #expect(sealed.output == pattern(500))
        #expect(try Decryptor.run(home.path, .passcode("right"), "verify").text.contains("\"intact\": true"))
    }
}
