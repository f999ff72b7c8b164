import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import Testing

/// Backups of strangers, and of other versions.
@Suite struct RestoreTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var backup: String { folder + "/backup" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func sqlite(_ path: String, _ statements: String) throws {
        // Python has SQLite everywhere; the shell of SQLite is a package of its own.
        let script =
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit(); c.close()"
        let file = unsafe open(folder + "/python", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        let status = try Spawned(["/usr/bin/python3", "-c", script, path, statements], output: file).wait()
        #expect(status == 0, "\((try? String(contentsOfFile: folder + "/python", encoding: .utf8)) ?? "")")
    }

    private func makeBackup() throws -> (device: TestDevice, key: String) {
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: folder)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(
            try HTTPClient(server.address).post("/account/create", device.creation(hash).bytes).status == 200)
        let made = try runServerCommand(["backup", "--database", fixture.path, "--to", backup], folder)
        #expect(made.status == 0, "\(made.output)")
        server.process.end(SIGTERM)
        return (device, server.key)
    }

    private func restore(_ name: String) throws -> (status: Int32, output: String) {
        try runServerCommand(["restore", "--from", backup, "--database", folder + "/" + name], folder)
    }

    private func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("restored") }
    }

    @Test(arguments: [
        ("CREATE TRIGGER t AFTER UPDATE ON accounts BEGIN DELETE FROM accounts; END", "no backup"),
        ("CREATE VIEW v AS SELECT * FROM accounts", "no backup"), ("CREATE TABLE more (a)", "no backup"),
        ("CREATE INDEX i ON replies (until)", "no backup"), ("DROP TABLE challenges", "no backup"),
        ("ALTER TABLE challenges ADD COLUMN x INTEGER", "no backup"), ("PRAGMA application_id = 7", "no backup"),
        ("PRAGMA user_version = 99", "has version 99"), ("PRAGMA user_version = 0", "no backup"),
    ])
    func `a backup with anything but our tables is refused, and leaves nothing`(
        _ statements: String, _ part: String
    ) throws {
        _ = try makeBackup()
        try sqlite(backup + "/accounts.db", statements)
        let refused = try restore("restored.db")
        #expect(refused.status != 0 && refused.output.contains(part), "\(refused.output)")
        #expect(try leftovers() == [])
    }

    /// The file is whole, and rows are not: all is put back, and what cannot be read is counted, in one line.
    @Test func `rows that cannot be read are counted beside those that can`() throws {
        let (device, key) = try makeBackup()
        try sqlite(
            backup + "/accounts.db",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO accounts SELECT randomblob(32), randomblob(300) FROM n
            """)
        let restored = try restore("restored.db")
        #expect(restored.status == 3 && restored.output.contains("Restored 3001 accounts"), "\(restored.output)")
        #expect(restored.output.contains("cannot be read: 3000 of 3001\n"))
        #expect(restored.output.split(separator: "\n").count == 2)
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", folder + "/restored.db"], folder: folder)
        #expect(server.key == key)
        #expect(try HTTPClient(server.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
    }

    @Test func `files that are no backup are refused before SQLite opens them`() throws {
        _ = try makeBackup()
        let path = backup + "/accounts.db"
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for (bytes, part) in [
            (whole.prefix(whole.count - 1), "damaged"), (whole.prefix(4096), "damaged"), (whole + whole, "damaged"),
            (Data(), "no backup"), (Data(repeating: 0, count: 4096), "no backup"), (whole.prefix(60), "no backup"),
        ] as [(Data, String)] {
            try bytes.write(to: URL(fileURLWithPath: path))
            let refused = try restore("restored.db")
            #expect(refused.status != 0 && refused.output.contains(part), "\(refused.output)")
            #expect(try leftovers() == [])
        }
        unsafe unlink(path)
        unsafe mkfifo(path, 0o600)
        #expect(try restore("restored.db").status != 0)
        unsafe unlink(path)
        unsafe symlink(fixture.path, path)
        #expect(try restore("restored.db").status != 0)
        unsafe unlink(path)
        try whole.write(to: URL(fileURLWithPath: path))
        // A journal beside it, which SQLite would play back.
        try Data("x".utf8).write(to: URL(fileURLWithPath: path + "-journal"))
        let journal = try restore("restored.db")
        #expect(journal.status != 0 && journal.output.contains("no part of a backup"), "\(journal.output)")
        unsafe unlink(path + "-journal")
        #expect(try leftovers() == [])
        let before = try FileManager.default.contentsOfDirectory(atPath: backup).sorted()
        #expect(try restore("restored.db").status == 0)
        // The backup is as it was: nothing was opened in it.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == whole)
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup).sorted() == before)
    }

    @Test func `an update goes forward with the accounts, and back with the backup of before`() throws {
        let (device, key) = try makeBackup()
        let earlier = backup + "/accounts.db"
        // The form of version 1: it had no settings, and accounts like today's.
        try sqlite(earlier, "DROP TABLE settings; PRAGMA user_version = 1")
        #expect(try restore("restored.db").status == 3, "the version is said")
        let path = folder + "/restored.db"
        let old = try Data(contentsOf: URL(fileURLWithPath: path))
        let checked = try runServerCommand(["check", "--database", path], folder)
        #expect(checked.status == 3 && checked.output.contains("migrate"), "\(checked.output)")
        // Checking changes nothing but SQLite's own mode of the file.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(100) == old.dropFirst(100))
        func rotate(_ device: TestDevice, on path: String) throws -> TestDevice {
            let server = try ServerProcess(["serve", "--listen", "127.0.0.1:0", "--database", path], folder: folder)
            #expect(server.key == key)
            let (rotation, after) = try device.rotation()
            #expect(try HTTPClient(server.address).post("/device/rotate", rotation.bytes).status == 200)
            server.process.end(SIGTERM)
            return after
        }
        _ = try rotate(device, on: path)
        #expect(try runServerCommand(["check", "--database", path], folder).status == 0)
        // An earlier program meets the file of a later one: it refuses, and leaves it as it is.
        try sqlite(path, "PRAGMA user_version = 3; CREATE TABLE later (a)")
        let new = try Data(contentsOf: URL(fileURLWithPath: path))
        for words in [["serve", "--listen", "127.0.0.1:0"], ["check"], ["migrate"], ["vacuum"]] {
            let refused = try runServerCommand(words + ["--database", path], folder)
            #expect(refused.status != 0 && refused.output.contains("version"), "\(words): \(refused.output)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(100) == new.dropFirst(100))
        // Back: the backup of before the update is restored, and the earlier program goes on with it.
        #expect(try restore("restored-again.db").status == 3)
        _ = try rotate(device, on: folder + "/restored-again.db")
    }

    @Test func `tables of a later version in PostgreSQL are refused, and a dump brings the earlier ones back`() throws {
        let pair = try DatabasePair()
        let databases = ["--database", pair.postgres.url, "--redis", pair.redis.location]
        let serving =
            ["serve", "--listen", "127.0.0.1:0", "--keys-file", folder + "/keys", "--audit-log", folder + "/audit"]
            + databases
        let server = try ServerProcess(serving, folder: folder)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(
            try HTTPClient(server.address).post("/account/create", device.creation(hash).bytes).status == 200)
        let dump = pair.postgres.folder + "/dump"
        try pair.postgres.program(
            "pg_dump", "-Fc", "--clean", "-t", "holdfast_accounts", "-t", "holdfast_settings", "-f", dump,
            pair.postgres.url)
        server.process.end(SIGTERM)
        // What the migration of a later version does.
        try pair.postgres.run(
            "ALTER TABLE holdfast_accounts ADD COLUMN later bytea; "
                + "UPDATE holdfast_settings SET value = '2' WHERE name = 'schema'", in: "postgres")
        for words in [serving, ["migrate", "--database", pair.postgres.url]] {
            let refused = try runServerCommand(words, folder)
            #expect(refused.status == 1 && refused.output.contains("version 2"), "\(refused.output)")
        }
        try pair.postgres.program("pg_restore", "--clean", "--exit-on-error", "-d", pair.postgres.url, dump)
        let again = try ServerProcess(serving, folder: folder)
        #expect(try HTTPClient(again.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
    }
}
