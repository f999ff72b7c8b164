import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
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
        ("CREATE INDEX i ON replies (until)", "no backup"), ("DROP TABLE replies", "no backup"),
        ("ALTER TABLE replies ADD COLUMN x INTEGER", "no backup"), ("PRAGMA application_id = 7", "no backup"),
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

    /// Half a backup, or one with the keys of another server, would be noticed when the original is gone.
    @Test func `a backup is made whole or not at all`() throws {
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: folder)
        let keys = fixture.path + ".keys"
        func make(_ words: String...) throws -> (status: Int32, output: String) {
            try runServerCommand(["backup", "--to", backup] + words, folder)
        }
        func isNothingMade() -> Bool { !FileManager.default.fileExists(atPath: backup) }
        let slip = try make("--database", folder + "/typo.db")
        #expect(slip.status == 1 && slip.output.contains("does not exist") && isNothingMade(), "\(slip.output)")
        let none = try make("--database", fixture.path, "--keys-file", folder + "/typo")
        #expect(none.status == 1 && none.output.contains("does not exist") && isNothingMade(), "\(none.output)")
        #expect(try runServerCommand(["init", "--database", folder + "/other.db"], folder).status == 0)
        let foreign = try make("--database", fixture.path, "--keys-file", folder + "/other.db.keys")
        #expect(foreign.status == 1 && foreign.output.contains("other keys") && isNothingMade(), "\(foreign.output)")
        let postgres = try make("--database", "postgres://x/y")
        #expect(postgres.status == 2 && postgres.output.contains("pg_dump") && isNothingMade(), "\(postgres.output)")
        let made = try make("--database", fixture.path)
        #expect(made.status == 0, "\(made.output)")
        let (copy, original) = (URL(fileURLWithPath: backup + "/keys"), URL(fileURLWithPath: keys))
        #expect(try Data(contentsOf: copy) == Data(contentsOf: original))
        server.process.end(SIGTERM)
    }

    @Test(.enabled(if: Mounted.isAllowed, "only root may mount a file system"))
    func `a backup onto a full disk says that it is full, and leaves nothing`() throws {
        let (_, key) = try makeBackup()
        let disk = try Mounted.folder(in: folder)
        let refused = try runServerCommand(
            ["backup", "--database", fixture.path, "--to", disk + "/backup"], folder,
            before: Mounted.words("mount -t tmpfs -o size=16k none \(disk)", after: "ls -A \(disk)"))
        #expect(refused.status == 1 && refused.output.contains("full"), "\(refused.output)")
        #expect(!refused.output.contains("\nbackup\n"), "\(refused.output)")
        #expect(!key.isEmpty)
    }

    @Test func `a backup without its keys, or with those of another server, is refused and leaves nothing`() throws {
        let (_, key) = try makeBackup()
        let keys = backup + "/keys"
        let kept = try Data(contentsOf: URL(fileURLWithPath: keys))
        func put(_ contents: Data?) throws {
            unsafe unlink(keys)
            if let contents { try contents.write(to: URL(fileURLWithPath: keys)) }
        }
        func expectRefusal(_ part: String) throws {
            let refused = try restore("restored.db")
            // What are no keys will not become some.
            let status: Int32 = part.contains("no file of server keys") ? 2 : 1
            #expect(refused.status == status && refused.output.contains(part), "\(refused.output)")
            #expect(refused.output.contains(keys) && !refused.output.contains("restoring"), "\(refused.output)")
            #expect(try leftovers() == [])
        }
        try put(nil)
        try expectRefusal("does not exist")
        try put(Data("x".utf8))
        try expectRefusal("no file of server keys")
        #expect(try runServerCommand(["init", "--database", folder + "/other.db"], folder).status == 0)
        try put(Data(contentsOf: URL(fileURLWithPath: folder + "/other.db.keys")))
        try expectRefusal("other keys")
        // Earlier keys a rotation that the database has seen.
        let rotation = ["rotate-keys", "--keys-file", fixture.path + ".keys", "--publish-seconds", "0"]
        #expect(try runServerCommand(rotation, folder).status == 0)
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: folder)
        try server.waitUntilReady(says: "ready\n")
        try FileManager.default.removeItem(atPath: backup)
        #expect(try runServerCommand(["backup", "--database", fixture.path, "--to", backup], folder).status == 0)
        let rotated = try Data(contentsOf: URL(fileURLWithPath: keys))
        try put(kept)
        try expectRefusal("earlier copy")
        // A disk without modes makes them readable for all; restored they are their owner's again.
        try put(rotated)
        unsafe chmod(keys, 0o644)
        #expect(try restore("restored.db").status == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/restored.db.keys")[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        #expect(server.key != key)
    }

    @Test func `an update goes forward with the accounts, and back with the backup of before`() throws {
        let (device, key) = try makeBackup()
        let earlier = backup + "/accounts.db"
        // The form of version 1: it had no settings, and accounts like today's.
        try sqlite(earlier, "DROP TABLE settings; PRAGMA user_version = 1")
        let unmarked = try restore("restored.db")
        #expect(unmarked.status == 3, "the version is said")
        #expect(unmarked.output.contains("was not compared"), "\(unmarked.output)")
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
        try sqlite(path, "PRAGMA user_version = 5; CREATE TABLE later (a)")
        let new = try Data(contentsOf: URL(fileURLWithPath: path))
        for words in [["serve", "--listen", "127.0.0.1:0"], ["check"], ["migrate"], ["vacuum"]] {
            let refused = try runServerCommand(words + ["--database", path], folder)
            #expect(refused.status != 0 && refused.output.contains("version"), "\(words): \(refused.output)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(100) == new.dropFirst(100))
        // Back: the earlier backup the update is restored, and the earlier program continues with it.
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
                + "UPDATE holdfast_settings SET value = '4' WHERE name = 'schema'", in: "postgres")
        for words in [serving, ["migrate", "--database", pair.postgres.url]] {
            let refused = try runServerCommand(words, folder)
            #expect(refused.status == 1 && refused.output.contains("version 4"), "\(refused.output)")
        }
        try pair.postgres.program("pg_restore", "--clean", "--exit-on-error", "-d", pair.postgres.url, dump)
        let again = try ServerProcess(serving, folder: folder)
        #expect(try HTTPClient(again.address).post("/device/rotate", device.rotation().0.bytes).status == 200)
    }
}

/// Backups that are cut, and files that are not what they are taken for.
@Suite struct BackupMishapTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var backup: String { folder + "/backup" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func python(_ script: String, _ words: String...) throws {
        #expect(try Spawned(["/usr/bin/python3", "-c", script] + words).wait() == 0)
    }

    private func initialize() throws {
        #expect(try runServerCommand(["init", "--database", fixture.path], folder).status == 0)
    }

    private func names(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(prefix) }.sorted()
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGKILL])
    func `a backup that is cut is not there, and the next one is whole`(_ number: Int32) throws {
        try initialize()
        try python(
            """
            import sqlite3,sys; c=sqlite3.connect(sys.argv[1])
            c.execute('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) '
                'INSERT INTO accounts SELECT randomblob(32), randomblob(2000) FROM n'); c.commit(); c.close()
            """, fixture.path)
        let arguments = ["backup", "--database", fixture.path, "--to", backup]
        let cut = try Spawned([ServerProcess.program] + arguments)
        #expect(try Patience.wait { try !names("backup").isEmpty })
        cut.signal(number)
        if cut.wait() == 0 {
            // It was done before the signal came.
            try FileManager.default.removeItem(atPath: backup)
        }
        #expect(!FileManager.default.fileExists(atPath: backup))
        if number != SIGKILL { #expect(try names("backup") == []) }
        let made = try runServerCommand(arguments, folder)
        #expect(made.status == 0, "\(made.output)")
        #expect(try names("backup") == ["backup"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: backup).sorted() == ["accounts.db", "keys"])
    }

    @Test func `a restore that was killed between its last two steps is done again`() throws {
        try initialize()
        #expect(
            try runServerCommand(["backup", "--database", fixture.path, "--to", backup], folder).status == 0)
        let restore = ["restore", "--from", backup, "--database", folder + "/restored.db"]
        let left = folder + "/restored.db.restoring"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: backup + "/accounts.db", toPath: left + "/accounts.db")
        try FileManager.default.linkItem(atPath: left + "/accounts.db", toPath: folder + "/restored.db")
        let restored = try runServerCommand(restore, folder)
        #expect(restored.status == 0, "\(restored.output)")
        #expect(try names("restored.db") == ["restored.db", "restored.db.keys"])
        // A database with its keys is in use: it stays, whatever lies beside it.
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try FileManager.default.linkItem(atPath: folder + "/restored.db", toPath: left + "/accounts.db")
        let refused = try runServerCommand(restore, folder)
        #expect(refused.status != 0 && refused.output.contains("exists"), "\(refused.output)")
        #expect(try names("restored.db") == ["restored.db", "restored.db.keys"])
    }

    @Test func `a name that looks like a URI is a folder, and none of a database`() throws {
        try initialize()
        let there = ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder]
        let made = try runServerCommand(
            ["backup", "--database", fixture.path, "--to", "file:x"], folder, before: there)
        #expect(made.status == 0, "\(made.output)")
        let restored = try runServerCommand(
            ["restore", "--from", "file:x", "--database", "restored.db"], folder, before: there)
        #expect(restored.status == 0, "\(restored.output)")
        for command in [["init"], ["serve", "--listen", "127.0.0.1:0"], ["check"]] {
            let refused = try runServerCommand(
                command + ["--database", "file:y?mode=memory"], folder, before: there)
            #expect(refused.status == 2 && refused.output.contains("no URI"), "\(refused.output)")
        }
        #expect(try names("file:") == ["file:x"])
        #expect(
            try runServerCommand(["check", "--database", "./file:x/accounts.db"], folder, before: there).status == 0)
    }

    /// It is looked at, and stays as it is.
    @Test func `the database of another program is not changed`() throws {
        let path = folder + "/other.db"
        try python(
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE t (a)'); c.commit()", path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for command in [
            ["backup", "--to", backup], ["check"], ["vacuum"], ["migrate"], ["init"],
            ["serve", "--listen", "127.0.0.1:0"],
        ] {
            let refused = try runServerCommand(command + ["--database", path], folder)
            #expect(refused.status != 0, "\(command)")
            #expect(
                refused.output.contains("another program") || refused.output.contains("other tables"),
                "\(command): \(refused.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "\(command)")
            #expect(try names("other.db") == ["other.db"], "\(command)")
        }
        #expect(try names("backup") == [])
    }
}
