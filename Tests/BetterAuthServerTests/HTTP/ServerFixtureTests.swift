import Foundation
import RealParts
import TestSupport
import Testing

/// The databases, keys and audit logs of every release so far, read by this one (Docs/architecture.md 7):
/// Tests/Fixtures, made by scripts/make-fixtures.
@Suite struct ServerFixtureTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures")
    static let releases =
        (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path).filter { !$0.hasPrefix(".") }.sorted())
        ?? []

    struct Expected: Decodable {
        let identity: String
    }

    /// What is in them.
    static func expected(_ release: String) throws -> Expected {
        let file = Self.fixtures.appending(path: "\(release)/expected.json")
        return try JSONDecoder().decode(Expected.self, from: Data(contentsOf: file))
    }

    /// A copy with the modes that git does not keep.
    static func copied(_ release: String) throws -> ScratchFolder {
        let folder = try ScratchFolder("server-fixture")
        let source = fixtures.appending(path: "\(release)/server")
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path) {
            try FileManager.default.copyItem(atPath: source.appending(path: name).path, toPath: folder[name])
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder[name])
        }
        return folder
    }

    @Test("the database of an earlier release is served, with its account", arguments: releases)
    func database(_ release: String) throws {
        let expected = try Self.expected(release)
        let folder = try Self.copied(release)
        let database = folder["accounts.db"]
        let migrated = try runServerCommand(["migrate", "--database", database], folder.path)
        #expect(migrated.status == 0, "\(migrated.output)")
        let checked = try runServerCommand(["check", "--database", database], folder.path)
        #expect(checked.status == 0, "\(checked.output)")
        let socket = folder["admin.sock"]
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", database, "--admin-socket", socket],
            folder: folder.path)
        let shown = try runServerCommand(
            ["accounts", "show", expected.identity, "--admin-socket", socket], folder.path)
        #expect(shown.status == 0 && shown.output.contains(expected.identity), "\(shown.output)")
        server.process.end(SIGTERM)
    }

    @Test("the audit log of an earlier release is proved, and a changed line is found", arguments: releases)
    func auditLog(_ release: String) throws {
        let folder = try Self.copied(release)
        let arguments = ["audit", "verify", folder["audit.log"], "--database", folder["accounts.db"]]
        let verified = try runServerCommand(arguments, folder.path)
        #expect(verified.status == 0, "\(verified.output)")
        let text = try String(contentsOfFile: folder["audit.log"], encoding: .utf8)
        try writeSecret(text.replacing("\"done\"", with: "\"gone\""), to: folder["audit.log"])
        #expect(try runServerCommand(arguments, folder.path).status == 3)
    }
}
