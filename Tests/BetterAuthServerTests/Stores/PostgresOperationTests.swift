import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import Testing

/// PostgreSQL as an operator sets it up.
@Suite struct PostgresOperationTests {
    private let fixture: StoreFixture
    private let pair: DatabasePair

    init() throws {
        fixture = try StoreFixture(.memory)
        pair = try .shared()
    }

    private func serving(_ url: String) -> [String] {
        [
            "serve", "--listen", "127.0.0.1:0", "--database", url, "--redis", pair.redis.location, "--keys-file",
            fixture.folder + "/keys", "--address-rate", "0",
        ]
    }

    private func create(_ address: String) throws -> Int {
        let hash = RecoveryHash(try freshDigest())
        return try HTTPClient(address).post("/account/create", TestDevice(recovery: hash).creation(hash).bytes).status
    }

    @Test func `migrate makes the tables, and serve needs only rows`() throws {
        let database = try pair.postgres.makeDatabase()
        let url = pair.postgres.url(of: database)
        let none = try runServerCommand(serving(url), fixture.folder)
        #expect(none.status == 1 && none.output.contains("holdfast-server migrate"), "\(none.output)")
        let made = try runServerCommand(["migrate", "--database", url], fixture.folder)
        #expect(made.status == 0 && made.output == "Made the tables of version 3.\n")
        #expect(
            try runServerCommand(["migrate", "--database", url], fixture.folder).output == "Already at version 3.\n")
        let user = "app_\(database)"
        try pair.postgres.run("CREATE ROLE \(user) LOGIN", in: database)
        let limited = pair.postgres.url(of: database, user: user)
        let denied = try runServerCommand(serving(limited), fixture.folder)
        #expect(denied.status == 1 && denied.output.contains("SELECT, INSERT, UPDATE and DELETE"), "\(denied.output)")
        try pair.postgres.run(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_accounts, holdfast_settings TO \(user)", in: database)
        let server = try ServerProcess(serving(limited), folder: fixture.folder)
        #expect(try create(server.address) == 200)
        #expect(try HTTPClient(server.address).get("/ready").text == "ready\n")
        // Settings alone prove nothing of accounts.
        for deed in ["INSERT", "UPDATE", "SELECT"] {
            try pair.postgres.run("REVOKE \(deed) ON holdfast_accounts FROM \(user)", in: database)
            try server.waitUntilReady(says: #""failing":["store""#)
            try pair.postgres.run("GRANT \(deed) ON holdfast_accounts TO \(user)", in: database)
            try server.waitUntilReady(says: "ready\n")
        }
        #expect(try create(server.address) == 200)
        // What proves it is never seen.
        try pair.postgres.run(
            "DO $$ BEGIN ASSERT (SELECT count(*) FROM holdfast_accounts) = 2; END $$", in: database)
        // A later program has updated the tables: this one stops writing, and says why.
        try pair.postgres.run("UPDATE holdfast_settings SET value = '4' WHERE name = 'schema'", in: database)
        // The keys too, which the database cannot be asked about.
        try server.waitUntilReady(says: #""failing":["store""#)
        #expect(try create(server.address) == 503)
        #expect(server.log.contains("has version 4"), "\(server.log)")
        try pair.postgres.run("UPDATE holdfast_settings SET value = '3' WHERE name = 'schema'", in: database)
        try server.waitUntilReady(says: "ready\n")
        #expect(try create(server.address) == 200)
        try pair.postgres.run("UPDATE holdfast_settings SET value = '4' WHERE name = 'schema'", in: database)
        server.process.end(SIGTERM)
        let old = try runServerCommand(serving(limited), fixture.folder)
        #expect(old.status == 1 && old.output.contains("update the program"), "\(old.output)")
        let migration = try runServerCommand(["migrate", "--database", url], fixture.folder)
        #expect(migration.status == 1 && migration.output.contains("has version 4"))
    }

    /// As three machines, or the init containers of as many pods, do it.
    @Test func `of many that migrate at one time each succeeds`() throws {
        for round in 0..<10 {
            let url = pair.postgres.url(of: try pair.postgres.makeDatabase())
            let (said, folder) = (Told(), fixture.folder)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let result = try runServerCommand(["migrate", "--database", url], folder)
                    if result.status != 0 { said.add(result.output) }
                } catch { said.add("\(error)") }
            }
            #expect(said.all.isEmpty, "round \(round): \(said.all)")
            let again = try runServerCommand(["migrate", "--database", url], fixture.folder)
            #expect(again.output == "Already at version 3.\n")
        }
    }

    @Test(arguments: ["2", "none"])
    func `what a later program has made of the tables meanwhile stays`(_ before: String) throws {
        let database = try pair.postgres.makeDatabase()
        let (url, postgres) = (pair.postgres.url(of: database), pair.postgres)
        if before != "none" {
            try PostgresStore.migrate(url)
            try postgres.run("UPDATE holdfast_settings SET value = '\(before)' WHERE name = 'schema'", in: database)
        }
        var isRaised = false
        let error = #expect(throws: StoreError.self) {
            try PostgresStore.migrate(SecretText(url), hasBackup: true) {
                guard !isRaised else { return }
                isRaised = true
                do {
                    try postgres.run(
                        """
                        CREATE TABLE IF NOT EXISTS holdfast_settings (name text PRIMARY KEY, value bytea NOT NULL);
                        INSERT INTO holdfast_settings VALUES ('schema', '10')
                        ON CONFLICT (name) DO UPDATE SET value = excluded.value
                        """, in: database)
                } catch { Issue.record("\(error)") }
            }
        }
        #expect(error == .tooNew(10, 3) && isRaised)
        try postgres.run(
            "DO $$ BEGIN ASSERT (SELECT value FROM holdfast_settings WHERE name = 'schema') = '10'; END $$",
            in: database)
    }

    @Test func `servers of one database have one file of keys`() throws {
        let database = try pair.postgres.makeDatabase()
        let url = pair.postgres.url(of: database)
        try PostgresStore.migrate(url)
        let first = try ServerProcess(serving(url), folder: fixture.folder)
        var other = serving(url)
        other[8] = fixture.folder + "/others"
        let refused = try runServerCommand(other, fixture.folder)
        #expect(refused.status == 1 && refused.output.contains("does not exist"), "\(refused.output)")
        let second = try ServerProcess(other + ["--new-keys"], folder: fixture.folder)
        #expect(second.key != first.key)
        try first.waitUntilReady(says: #""failing":["keys"]"#)
        #expect(try HTTPClient(second.address).get("/ready").text == "ready\n")
    }

    @Test func `why PostgreSQL refuses is said in words, without names`() throws {
        let pair = pair
        for (url, words) in [
            (pair.postgres.url(of: "nothing"), "there is no such database (3D000)"),
            (pair.postgres.url(of: "postgres", user: "stranger"), "there is no such user"),
            ("postgresql://nobody@127.0.0.1:1/x", "nothing listens there"),
            ("postgresql://nobody@nowhere.invalid/x", "its host name is unknown"),
        ] {
            let result = try runServerCommand(["migrate", "--database", url], fixture.folder)
            #expect(result.status == 1 && result.output.contains(words), "\(result.output)")
            #expect(!result.output.contains("stranger") && !result.output.contains("nobody"))
        }
    }

    @Test func `a database that is read-only makes the server not ready`() throws {
        let database = try pair.postgres.makeDatabase()
        let url = pair.postgres.url(of: database)
        try PostgresStore.migrate(url)
        try pair.postgres.run(
            "ALTER DATABASE \(database) SET default_transaction_read_only = on", in: "postgres")
        let store = PostgresStore(url, try #require(RedisLocation(pair.redis.location)))
        defer { store.close() }
        let error = #expect(throws: StoreError.self) { try store.probe(now: TestClock().now) }
        #expect("\(try #require(error))".contains("read-only"))
    }
}
