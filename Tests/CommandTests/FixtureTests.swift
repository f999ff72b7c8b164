import Foundation
import TestSupport
import Testing

/// What every release so far has left on a disk, read by this one (Docs/architecture.md 7). Each has a folder in
/// Tests/Fixtures, made once by its own programs (scripts/make-fixtures).
@Suite struct FixtureTests {
    static let releases =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.sorted()) ?? []
    private static let folder = Program.root.appending(path: "Tests/Fixtures")

    struct Expected: Decodable {
        let passcode: String
        let phrase: String
        let note: String
        let login: String
        let identity: String
        let logEntries: Int
        let receiptKey: String
    }

    static func expected(_ release: String) throws -> Expected {
        let file = folder.appending(path: "\(release)/expected.json")
        return try JSONDecoder().decode(Expected.self, from: Data(contentsOf: file))
    }

    /// A copy of one of a release's homes, with the modes and the empty folder that git does not keep.
    static func copied(_ part: String, of release: String) throws -> Sandbox {
        let sandbox = try Sandbox()
        let manager = FileManager.default
        try manager.copyItem(atPath: folder.appending(path: "\(release)/\(part)").path, toPath: sandbox.home)
        let files = sandbox.home + "/files"
        if !manager.fileExists(atPath: files) {
            try manager.createDirectory(atPath: files, withIntermediateDirectories: false)
        }
        for name in [""] + (try manager.subpathsOfDirectory(atPath: sandbox.home)) {
            let path = sandbox.home + "/" + name
            var isFolder: ObjCBool = false
            _ = unsafe manager.fileExists(atPath: path, isDirectory: &isFolder)
            try manager.setAttributes([.posixPermissions: isFolder.boolValue ? 0o700 : 0o600], ofItemAtPath: path)
        }
        return sandbox
    }

    @Test func `there is a folder of fixtures for the release that is coming`() { #expect(!Self.releases.isEmpty) }

    @Test("a vault of an earlier release opens, and gives what was stored", arguments: releases)
    func vault(_ release: String) throws {
        let expected = try Self.expected(release)
        let sandbox = try Self.copied("vault", of: release)
        let note = try sandbox.run("get", "note", passcode: expected.passcode)
        #expect(note.code == 0 && note.text == expected.note, "\(note.errors)")
        let verified = try sandbox.run("verify", passcode: expected.passcode)
        #expect(verified.code == 0, "\(verified.text)\(verified.errors)")
        let phrase = try sandbox.lines(expected.phrase)
        let file = try sandbox.run("get", "file", "--collection", "files", "--phrase-fd=4", descriptors: [4: phrase])
        #expect(file.code == 0, "\(file.errors)")
        // Not within the expectation: telling a million bytes apart would take it an hour.
        let isWhole = file.output == (0..<1_050_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
        #expect(isWhole)
        let login = try sandbox.run(
            "show", "logins/mail", "--field", "password", "--reveal", passcode: expected.passcode)
        #expect(login.code == 0 && login.text.contains(expected.login), "\(login.text)\(login.errors)")
    }

    @Test("a vault of an earlier release that opens without asking opens", arguments: releases)
    func device(_ release: String) throws {
        let expected = try Self.expected(release)
        let sandbox = try Self.copied("device", of: release)
        let note = try sandbox.run("get", "note")
        #expect(note.code == 0 && note.text == expected.note, "\(note.errors)")
        let verified = try sandbox.run("verify")
        #expect(verified.code == 0, "\(verified.text)\(verified.errors)")
    }

    @Test("the open compartment and the inbox of an earlier release are read", arguments: releases)
    func openCompartment(_ release: String) throws {
        let expected = try Self.expected(release)
        let sandbox = try Self.copied("vault", of: release)
        let open = try sandbox.run("get", "open note", "--open")
        #expect(open.code == 0 && open.text == "readable without a passcode\n", "\(open.errors)")
        let inbox = try sandbox.run("inbox", "list", passcode: expected.passcode)
        #expect(inbox.code == 0 && inbox.text.contains("dropped"), "\(inbox.text)\(inbox.errors)")
    }

    @Test("the log of an earlier release is proved, and has its entries", arguments: releases)
    func log(_ release: String) throws {
        let expected = try Self.expected(release)
        let sandbox = try Self.copied("vault", of: release)
        let log = try sandbox.run("log", "verify", passcode: expected.passcode)
        #expect(log.code == 0, "\(log.text)\(log.errors)")
        let entries = try sandbox.run("log", "--json", passcode: expected.passcode).json()["entries"] as? [Any]
        #expect(try #require(entries).count >= expected.logEntries)
    }

    @Test("a backup of an earlier release is restored", arguments: releases)
    func backup(_ release: String) throws {
        let expected = try Self.expected(release)
        let backup = try Self.copied("backup", of: release)
        let sandbox = try Sandbox()
        let restored = try sandbox.run("restore", backup.home)
        #expect(restored.code == 0, "\(restored.errors)")
        let note = try sandbox.run("get", "note", passcode: expected.passcode)
        #expect(note.code == 0 && note.text == expected.note, "\(note.errors)")
        let later = try sandbox.run("get", "after the backup", passcode: expected.passcode)
        #expect(later.code == 6)
    }

    @Test("the identity in a vault of an earlier release is known", arguments: releases)
    func identity(_ release: String) throws {
        let expected = try Self.expected(release)
        let sandbox = try Self.copied("vault", of: release)
        let status = try sandbox.run("identity", "status", "--json", passcode: expected.passcode)
        #expect(status.code == 0, "\(status.errors)")
        #expect(try status.json()["identity"] as? String == expected.identity)
    }

    @Test("a receipt of an earlier release verifies with the key that was shown", arguments: releases)
    func receipt(_ release: String) throws {
        let expected = try Self.expected(release)
        let sandbox = try Sandbox()
        let receipt = Self.folder.appending(path: "\(release)/wipe-receipt")
        let verified = try sandbox.run("receipt", "verify", receipt.path, "--key", expected.receiptKey)
        #expect(verified.code == 0, "\(verified.text)\(verified.errors)")
        let changed = try sandbox.file(Data(contentsOf: receipt).dropLast())
        #expect(try sandbox.run("receipt", "verify", changed, "--key", expected.receiptKey).code == 5)
    }
}
