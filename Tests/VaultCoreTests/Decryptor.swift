import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore

/// What a vault is expected to hold.
struct Values {
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
        #expect(
            verified.text.contains("\"orphans\": 0, \"intact\": true, \"belowFloor\": true"),
            sourceLocation: sourceLocation)
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

    /// Whether its tables are of the version that passcodes are composed by.
    static let hasUnicode14: Bool = {
        guard let words = python?.split(separator: " ").map(String.init) else { return false }
        let code = "import unicodedata; assert unicodedata.unidata_version == '14.0.0'"
        return (try? start(words + ["-c", code], input: ""))?.status == 0
    }()

    // This file is <package root>/Tests/VaultCoreTests/DecryptorTests.swift.
    private static let scripts = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "scripts")

    /// What the reader tells of a home without a secret.
    static func describe(_ home: String) throws -> Result {
        let words = try #require(python).split(separator: " ").map(String.init)
        return try start(
            words + ["-B", scripts.appending(path: "holdfast_decrypt.py").path, home, "describe"], input: "")
    }

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

    /// Changes the database behind the vault's back: `edit` has a transaction `t` and a cursor on the records, the
    /// `main` tree, and `old`, a transaction on the records of an older database.
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
        #if os(iOS)
        throw CocoaError(.featureUnsupported)  // nothing is started there
        #else
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
        #endif
    }
}

extension TestHome {
    /// Name, size and time of the last change of everything in the home.
    func filesOnDisk() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted().map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
            let date = attributes[.modificationDate] as? Date
            return "\(name) \(attributes[.size] ?? 0) \(date?.timeIntervalSince1970 ?? 0)"
        }
    }
}

extension RecoveryPhraseBox {
    /// The words, outside locked memory, which only a test may do.
    var text: String { phrase.withText { String(decoding: $0.array, as: UTF8.self) } }
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
    func flipped(at offset: Int) -> [UInt8] {
        var copy = self
        copy[offset] ^= 1
        return copy
    }
}
