import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import ServerSubject
import TestSupport
import Testing

@testable import BetterAuthPostgres

/// PostgreSQL's tables of every version that there was, and of one that there is not yet.
@Suite(.seeded) struct PostgresVersionTests {
    private let pair: DatabasePair
    private let fixture: StoreFixture
    private let database: String
    private var url: String { pair.postgres.url(of: database) }

    init() throws {
        pair = try .shared()
        fixture = try StoreFixture(.memory)
        database = try pair.postgres.makeDatabase()
    }

    private var serving: [String] {
        [
            "serve", "--listen", "127.0.0.1:0", "--database", url, "--redis", pair.redis.location, "--keys-file",
            fixture.folder + "/keys",
        ]
    }

    private func run(_ statements: String) throws { try pair.postgres.run(statements, in: database) }

    private func expect(_ condition: String) throws {
        try run("DO $$ BEGIN ASSERT (\(condition)); END $$")
    }

    private func say(_ version: Int) throws {
        try run("UPDATE holdfast_settings SET value = '\(version)' WHERE name = 'schema'")
    }

    @Test(arguments: 1...PostgresSchema.current.version)
    func `tables of every earlier version are brought to this one, with their rows`(_ version: Int) throws {
        // All versions have the same two tables; what lies in them may be of an earlier form.
        try PostgresStore.migrate(url)
        try say(version)
        var changes = RandomChanges(now: TestClock().now)
        let (change, account) = try changes.next()
        let row = AccountCoding.encode(account)
        #expect(row.first == 1)
        let mark = KeyMark(digest: try RandomChanges.digest(), generation: 3, keys: nil)
        try run(
            """
            INSERT INTO holdfast_accounts VALUES
                ('\\x\(change.identity.rawBytes.hexadecimal)', 1, '\\x\(row.hexadecimal)');
            INSERT INTO holdfast_settings VALUES ('keys', '\\x\(mark.bytes.hexadecimal)')
            """)
        let isOld = version < PostgresSchema.current.version
        if isOld {
            let refused = try runServerCommand(serving, fixture.folder)
            #expect(refused.status == 1 && refused.output.contains("holdfast-server migrate"), "\(refused.output)")
        }
        for round in 0..<2 {
            #expect(
                try PostgresStore.migrate(url, hasBackup: true) == (
                    round == 0 ? version : PostgresSchema.current.version, PostgresSchema.current.version
                ))
            let store = PostgresStore(url, try #require(RedisLocation(pair.redis.location)))
            #expect(try store.account(change.identity) == account)
            #expect(try store.keyMark() == mark)
            try store.probe(now: TestClock().now)
            store.close()
        }
    }

    /// A later program migrates while this one serves, and writes a row that this one does not know, before this one
    /// looks at the version again, which it does every 5 seconds.
    @Test func `a running server refuses what a later program wrote, and then everything`() throws {
        try PostgresStore.migrate(url)
        let server = try ServerProcess(serving, folder: fixture.folder)
        let client = try HTTPClient(server.address)
        let (theirs, mine) = (try TestDevice.registered(over: client), try TestDevice.registered(over: client))
        let session = try TestSession.opened(theirs, over: client)
        try say(PostgresSchema.current.version + 1)
        try run(
            """
            UPDATE holdfast_accounts SET version = version + 1, contents = set_byte(contents, 0, 99)
                WHERE identity = '\\x\(theirs.identity.rawBytes.hexadecimal)';
            CREATE TABLE before AS SELECT * FROM holdfast_accounts
            """)
        // Before it has looked again, and after.
        for _ in 0..<3 {
            #expect(try client.post("/device/rotate", theirs.rotation().0.bytes).status >= 500)
            #expect(try client.post("/account/delete", theirs.deletion().bytes).status >= 500)
        }
        try server.waitUntilReady(says: #""failing":["store""#)
        #expect(server.log.contains("has version \(PostgresSchema.current.version + 1)"), "\(server.log)")
        let message = try mine.rotation().0.bytes
        for (path, body) in [("/device/rotate", message), ("/session/refresh", try session.refreshing().0.bytes)] {
            let refused = try HTTPClient(server.address).post(path, body)
            #expect(refused.status == 503, "\(path): \(refused.text)")
        }
        try expect(
            "NOT EXISTS (SELECT * FROM holdfast_accounts EXCEPT SELECT * FROM before) AND "
                + "(SELECT count(*) FROM holdfast_accounts) = 2")
        // Its own migrate changes nothing either.
        let migration = try runServerCommand(["migrate", "--database", url], fixture.folder)
        #expect(migration.status == 1 && migration.output.contains("update the program"), "\(migration.output)")
        try expect(
            "(SELECT value FROM holdfast_settings WHERE name = 'schema') = '\(PostgresSchema.current.version + 1)'")
        // Where it was taken back, the server continues by itself.
        try say(PostgresSchema.current.version)
        try server.waitUntilReady(says: "ready\n")
        #expect(try HTTPClient(server.address).post("/device/rotate", message).status == 200)
    }
}
