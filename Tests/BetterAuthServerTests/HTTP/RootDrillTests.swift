import Foundation
import RealParts
import TestSupport
import Testing

@testable import BetterAuthServer

/// Drills that root runs while the server is another user's.
@Suite(.enabled(if: geteuid() == 0, "without root nothing belongs to another user"))
struct RootDrillTests {
    private final class NobodysFolder: Sendable {
        let path: String
        init() throws { path = try OrdinaryUser.makeFolder("root-drills") }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private let own: ScratchFolder
    private let theirs: NobodysFolder
    private let nobody: uid_t
    private var database: String { theirs.path + "/accounts.db" }

    init() throws {
        let entry = unsafe try #require(unsafe getpwnam("nobody"))
        nobody = unsafe entry.pointee.pw_uid
        own = try ScratchFolder("root-drills")
        theirs = try NobodysFolder()
    }

    private func run(_ arguments: [String]) throws {
        let result = try runServerCommand(arguments, own.path)
        #expect(result.status == 0, "\(arguments): \(result.output)")
    }

    /// Started by the user whose the folder is.
    private func serve() throws -> ServerProcess {
        try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", database] + ServerProcess.unlimited, folder: own.path,
            before: OrdinaryUser.words)
    }

    private func owners(_ folder: String = "") throws -> Set<uid_t> {
        var owners: Set<uid_t> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: theirs.path + folder) + ["."] {
            var status = stat()
            #expect(unsafe lstat("\(theirs.path)\(folder)/\(name)", &status) == 0)
            owners.insert(status.st_uid)
        }
        return owners
    }

    @Test func `what root makes, rotates and restores is the server's`() throws {
        try run(["init", "--database", database])
        let first = try serve()
        try run(["rotate-keys", "--keys-file", database + ".keys", "--publish-seconds", "0"])
        try #require(try owners() == [nobody])
        let client = try HTTPClient(first.address)
        #expect(try Patience.wait { try client.post("/key/response", []).text != first.key }, "\(first.log)")
        #expect(try client.get("/ready").text == "ready\n")
        let backup = theirs.path + "-backup"
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: backup) }
        #expect(unsafe chown(backup, nobody, gid_t.max) == 0)
        try run(["backup", "--database", database, "--to", backup + "/1"])
        first.process.end(SIGTERM)
        let second = try serve()
        #expect(second.key != first.key)
        second.process.end(SIGTERM)
        for name in try FileManager.default.contentsOfDirectory(atPath: theirs.path) {
            try FileManager.default.removeItem(atPath: "\(theirs.path)/\(name)")
        }
        try run(["restore", "--from", backup + "/1", "--database", database])
        let third = try serve()
        #expect(third.key == second.key)
        #expect(try HTTPClient(third.address).get("/ready").text == "ready\n")
        #expect(try owners() == [nobody])
    }

    @Test func `the copy that an update keeps belongs to whom the database belongs`() throws {
        for (path, isOwnFolder) in [(database, false), (own["accounts.db"], true)] {
            try run(["init", "--database", path])
            do { try SQLiteConnection(path, isWriter: true, cache: 64).execute("PRAGMA user_version = 3") }
            #expect(unsafe chown(path, nobody, gid_t.max) == 0)
            try run(["migrate", "--database", path])
            var status = stat()
            #expect(unsafe lstat(path + ".version-3", &status) == 0)
            #expect(status.st_uid == nobody && status.st_mode & 0o777 == 0o600, "\(isOwnFolder)")
        }
        #expect(try owners() == [nobody])
    }

    /// Whoever has a folder could lead root to any other place with what lies in it.
    @Test func `root reads, writes and removes nothing that the owner of the folder may not`() throws {
        let (kept, secret) = (own["kept"], own["secret"])
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
        try writeSecret("kept", to: kept + "/file")
        try run(["init", "--database", secret])
        // A journal that names another file as that of several databases, which is removed with it.
        try run(["init", "--database", database])
        for name in ["-wal", "-shm"] { unsafe unlink(database + name) }
        let rollback = [
            "python3", "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=DELETE')",
        ]
        try #require(try Spawned(rollback + [database]).wait() == 0)
        var journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        func append(_ number: Int) { journal += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        [0, 1, 1, 512, 4096].forEach(append)
        journal += Array(repeating: 0, count: 512 - journal.count)
        let name = Array((kept + "/file").utf8)
        append(1 << 18 + 1)
        journal += name
        append(name.count)
        append(name.reduce(0) { $0 + Int($1) })
        journal += journal.prefix(8)
        try Data(journal).write(to: URL(fileURLWithPath: database + "-journal"))
        #expect(unsafe chown(database + "-journal", nobody, gid_t.max) == 0)
        for command in ["check", "vacuum", "migrate", "init"] {
            _ = try runServerCommand([command, "--database", database], own.path)
        }
        // The folder of an unfinished copy, and the place of a copy.
        #expect(unsafe symlink(kept, theirs.path + "/a.db.restoring") == 0)
        #expect(unsafe symlink(kept, theirs.path + "/b.unfinished") == 0)
        let backup = ["backup", "--database", secret, "--to", theirs.path + "/b"]
        #expect(try runServerCommand(backup, own.path).status != 0)
        _ = try runServerCommand(["restore", "--from", kept, "--database", theirs.path + "/a.db"], own.path)
        #expect(try String(contentsOfFile: kept + "/file", encoding: .utf8) == "kept")
        // A link on the way belongs to who decides where it leads.
        #expect(unsafe symlink(own.path, theirs.path + "/way") == 0)
        let led = try runServerCommand(["check", "--database", theirs.path + "/way/secret"], own.path)
        #expect(led.status != 0, "\(led.output)")
        try FileManager.default.removeItem(atPath: theirs.path + "/b.unfinished")
        try run(["init-chain", "--folder", theirs.path + "/chain"])
        #expect(try owners("/chain") == [nobody])
    }
}
