import BetterAuthMessages
import Foundation
import ServerSubject
import TestSupport
import Testing

@testable import BetterAuthServer

/// SQLite files of every version that there was, and of one that there is not yet.
@Suite(.seeded) struct SQLiteVersionTests {
    private let scratch: ScratchFolder
    private var path: String { scratch["accounts.db"] }
    private let now = TestClock().now

    init() throws { scratch = try ScratchFolder("versions") }

    /// A mark as programs wrote it before they knew of keys that were rotated apart.
    private static let shortMark = KeyMark(
        digest: KeyLineage.fresh().digest, generation: 3, keys: nil)

    private struct Made {
        let identity: IdentityID
        let account: Account
        let refresh: RefreshReservation
    }

    /// Makes a file as the program of a version did, with a row of each kind.
    private func make(_ version: Int) throws -> Made {
        _ = try SQLiteFile(path, creates: true)
        let connection = try SQLiteConnection(path, isWriter: true, cache: 64)
        for migration in SQLiteSchema.current.migrations[..<version] { try connection.execute(migration) }
        try connection.execute("PRAGMA application_id = \(SQLiteSchema.applicationID)")
        try connection.execute("PRAGMA user_version = \(version)")
        var changes = RandomChanges(now: now)
        let (change, account) = try changes.next()
        // The first form of a row, which all versions know.
        let row = AccountCoding.encode(account)
        #expect(row.first == 1)
        try connection.prepare("INSERT INTO accounts VALUES (?, ?)").run(
            .bytes(change.identity.rawBytes), .bytes(row))
        let device = try #require(account.devices.first?.id)
        let refresh = try RandomChanges.refresh(
            change.identity, device, RotationHash(RandomChanges.digest()), now: now)
        try connection.prepare("INSERT INTO refreshed VALUES (?, ?, 1)").run(
            .bytes(refresh.revealed.rawBytes), .number(refresh.reservedUntil.milliseconds))
        if version > 1 {
            try SQLiteSetting.keys.write(Self.shortMark.bytes, connection)
        }
        return Made(identity: change.identity, account: account, refresh: refresh)
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test(arguments: 1...SQLiteSchema.current.version)
    func `a file of every earlier version is brought to this one, with its rows`(_ version: Int) throws {
        let made = try make(version)
        for round in 0..<2 {
            let store = try SQLiteStore(path)
            defer { store.close() }
            #expect(try store.account(made.identity) == made.account)
            #expect(try store.keyMark() == (version > 1 ? Self.shortMark : nil))
            // A key that has refreshed does not refresh again.
            let again = try RandomChanges.refresh(
                made.identity, made.refresh.reply.device, made.refresh.revealed, now: now)
            #expect(try done { store.reserve(again, then: $0) } == .used, "round \(round)")
            try store.probe(now: now)
        }
        let maintenance = try SQLiteMaintenance(path)
        #expect(try maintenance.migrate() == (SQLiteSchema.current.version, SQLiteSchema.current.version))
        let report = try maintenance.check()
        #expect(report.faults.isEmpty && report.accounts == 1 && report.refreshed == 1, "\(report.faults)")
    }

    @Test(arguments: 1...SQLiteSchema.current.version)
    func `migrate does the same as a start`(_ version: Int) throws {
        let made = try make(version)
        let result = try runServerCommand(["migrate", "--database", path], scratch.path)
        #expect(result.status == 0, "\(result.output)")
        let store = try SQLiteStore(path)
        #expect(try store.account(made.identity) == made.account)
        store.close()
    }

    /// What an earlier program does with a file of this one is what this one does with a file of a later one.
    @Test func `a file of a later version is refused in words, and stays as it is`() throws {
        _ = try make(SQLiteSchema.current.version)
        let (found, own) = (SQLiteSchema.current.version + 1, SQLiteSchema.current.version)
        try SQLiteConnection(path, isWriter: true, cache: 64).execute("PRAGMA user_version = \(found)")
        let before = try bytes()
        let expected = StoreError.tooNew(found, own)
        #expect(throws: expected) { try SQLiteStore(path) }
        #expect(throws: expected) { try SQLiteMaintenance(path).migrate() }
        for command in ["init", "migrate", "check", "vacuum"] {
            let result = try runServerCommand([command, "--database", path], scratch.path)
            let status: Int32 = command == "init" ? 2 : 1
            let isTold = result.output.contains("update the program")
            #expect(result.status == status && isTold, "\(command): \(result.output)")
        }
        let served = try runServerCommand(
            ["serve", "--listen", "127.0.0.1:0", "--database", path], scratch.path)
        #expect(served.status == 2 && served.output.contains("has version \(found)"), "\(served.output)")
        #expect(try bytes() == before)
        #expect(!FileManager.default.fileExists(atPath: path + ".keys"))
    }

    @Test(arguments: [false, true])
    func `a file of keys of a later version is told from a damaged one`(_ isSealed: Bool) throws {
        let file = KeyFile(scratch["keys"])
        _ = try file.loadOrCreate(responseLifetime: 1, accessLifetime: 1, usedFrom: now)
        let mark = isSealed ? "HOLDFAST SEALED KEYS " : "HOLDFAST SERVER KEYS "
        let contents = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let later = Data("\(mark)2\n".utf8) + contents.dropFirst(KeyFile.mark.count)
        try later.write(to: URL(fileURLWithPath: file.path))
        for command in [
            ["rotate-keys", "--keys-file", file.path],
            [
                "serve", "--listen", "127.0.0.1:0", "--database",
                path, "--keys-file", file.path,
            ],
        ] {
            let result = try runServerCommand(command, scratch.path)
            #expect(result.status != 0 && result.output.contains("later version"), "\(result.output)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == later)
    }
}
