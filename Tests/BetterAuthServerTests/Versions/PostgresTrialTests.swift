import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import ServerSubject
import Synchronization
import TestSupport
import Testing

@testable import BetterAuthPostgres

/// PostgreSQL's tables that are brought to a version that is made up: forward whatever ends it, also beside a server of
/// this version, and back.
@Suite(.seeded) struct PostgresTrialTests {
    private static let (own, next) = (PostgresSchema.current.version, PostgresSchema.madeUp.version)

    private let pair: DatabasePair
    private let fixture: StoreFixture
    private let database: String
    private var url: String { pair.postgres.url(of: database) }

    init() throws {
        pair = try .shared()
        fixture = try StoreFixture(.memory)
        database = try pair.postgres.makeDatabase()
    }

    private func serving(_ url: String) -> [String] {
        [
            "serve", "--listen", "127.0.0.1:0", "--database", url, "--redis", pair.redis.location, "--keys-file",
            fixture.folder + "/keys", "--address-rate", "0",
        ]
    }

    private func store(_ schema: PostgresSchema) throws -> PostgresStore {
        PostgresStore(url, try #require(RedisLocation(pair.redis.location)), schema: schema)
    }

    private func expect(_ condition: String) throws {
        try pair.postgres.run("DO $$ BEGIN ASSERT (\(condition)); END $$", in: database)
    }

    /// Accounts in tables of this version, spread over all ranges.
    private func fill(_ count: Int) throws -> [IdentityID: Account] {
        try PostgresStore.migrate(url)
        let store = try store(.current)
        defer { store.close() }
        var changes = RandomChanges(now: TestClock().now)
        while changes.model.count < count {
            let change = try changes.next().0
            #expect(try done { store.apply(change, then: $0) } == .committed)
        }
        try pair.postgres.run("CREATE TABLE before AS SELECT * FROM holdfast_accounts", in: database)
        return changes.model
    }

    /// Each account was changed once, and nothing of it is lost.
    private func expectRaised(_ accounts: [IdentityID: Account]) throws {
        try expect("(SELECT value FROM holdfast_settings WHERE name = 'schema') = '\(Self.next)'")
        try expect(
            """
            (SELECT count(*) FROM holdfast_accounts a JOIN before b USING (identity) WHERE a.version = b.version + 1
                AND a.contents = b.contents AND a.size = length(b.contents)) = \(accounts.count)
            """)
        let store = try store(.madeUp)
        defer { store.close() }
        for (identity, account) in accounts { #expect(try store.account(identity) == account) }
        let refusing = try self.store(.current)
        defer { refusing.close() }
        #expect(throws: StoreError.tooNew(Self.next, Self.own)) { try refusing.check() }
    }

    @Test func `an update asks for a backup, and what is new or up to date does not`() throws {
        func migrate(_ words: String...) throws -> (status: Int32, output: String) {
            try runServerCommand(["migrate", "--database", url] + words, fixture.folder)
        }
        #expect(try migrate().output == "Made the tables of version \(Self.own).\n")
        #expect(try migrate().output == "Already at version \(Self.own).\n")
        for found in 1..<Self.own {
            try pair.postgres.run(
                "UPDATE holdfast_settings SET value = '\(found)' WHERE name = 'schema'", in: database)
            let refused = try migrate()
            #expect(refused.status == 2, "\(refused.output)")
            for part in ["version \(found)", "version \(Self.own)", "pg_dump", "--backup-made"] {
                #expect(refused.output.contains(part), "\(refused.output)")
            }
            try expect("(SELECT value FROM holdfast_settings WHERE name = 'schema') = '\(found)'")
            #expect(try migrate("--backup-made").output == "Updated from version \(found) to \(Self.own).\n")
        }
        // It is said for one update, and not once for all.
        try writeSecret("backup-made = yes\n", to: fixture.folder + "/server.conf")
        let configured = try migrate("--config", fixture.folder + "/server.conf")
        #expect(configured.status == 2, "\(configured.output)")
    }

    /// Makes updates of accounts wait in the middle of the ranges for this connection.
    private func hold() throws -> PostgresConnection {
        try pair.postgres.run(
            """
            CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END $$;
            CREATE TRIGGER waits BEFORE UPDATE ON holdfast_accounts FOR EACH ROW
                WHEN (NEW.identity >= '\\x80') EXECUTE FUNCTION waits()
            """, in: database)
        let holding = try PostgresConnection(SecretText(url))
        try holding.run("SELECT pg_advisory_lock(7)")
        return holding
    }

    private func waitForUpdate(_ looking: PostgresConnection) throws {
        let waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = '\(database)' AND wait_event = 'advisory'"
        #expect(try Patience.wait { try looking.query(waiting).count > 0 })
    }

    @Test func `a server of this version continues during the update, and refuses everything after it`() throws {
        try PostgresStore.migrate(url)
        let server = try ServerProcess(serving(url), folder: fixture.folder)
        let client = try HTTPClient(server.address)
        func registered(_ isWanted: (UInt8) -> Bool) throws -> TestDevice {
            while true {
                let device = try TestDevice.registered(over: client)
                if isWanted(device.identity.rawBytes[0]) { return device }
            }
        }
        let (first, _) = (try registered { $0 < 0x80 }, try registered { $0 >= 0x80 })
        let dump = "\(pair.postgres.folder)/dump-\(database)"
        try pair.postgres.program(
            "pg_dump", "-Fc", "-t", "holdfast_accounts", "-t", "holdfast_settings", "-f", dump, url)
        let (holding, looking) = (try hold(), try PostgresConnection(SecretText(url)))
        let update = try Spawned([KillLog.subject, "raise", url])
        try waitForUpdate(looking)
        // Of the others only the names: each device's keys take locked memory.
        var known = [first.identity]
        for _ in 0..<10 { known.append(try TestDevice.registered(over: client).identity) }
        let (rotation, rotated) = try first.rotation()
        #expect(try client.post("/device/rotate", rotation.bytes).status == 200)
        do {
            let early = try store(.madeUp)
            defer { early.close() }
            #expect(throws: StoreError.tooOld(Self.own, Self.next)) { try early.check() }
        }
        try holding.run("SELECT pg_advisory_unlock(7)")
        #expect(update.wait() == 0)
        // It notices by itself.
        let isRefusing = try Patience.wait {
            let hash = RecoveryHash(try freshDigest())
            let device = try TestDevice(recovery: hash)
            let reply = try client.post("/account/create", device.creation(hash).bytes)
            #expect(reply.status == 200 || reply.status == 503, "\(reply.text)")
            if reply.status == 200 { known.append(device.identity) }
            return reply.status == 503
        }
        #expect(isRefusing)
        #expect(server.log.contains("has version \(Self.next)"), "\(server.log)")
        #expect(try client.post("/device/rotate", rotated.rotation().0.bytes).status == 503)
        // What the server has acknowledged meanwhile is there, also where it came after its range.
        let store = try store(.madeUp)
        defer { store.close() }
        for identity in known { #expect(try store.account(identity) != nil) }
        server.process.end(SIGTERM)
        for words in [serving(url), ["migrate", "--database", url], ["migrate", "--database", url, "--backup-made"]] {
            let refused = try runServerCommand(words, fixture.folder)
            #expect(refused.status == 1 && refused.output.contains("has version \(Self.next)"), "\(refused.output)")
        }
        // The way back.
        let restored = pair.postgres.url(of: try pair.postgres.makeDatabase())
        try pair.postgres.program("pg_restore", "--exit-on-error", "-d", restored, dump)
        let again = try ServerProcess(serving(restored), folder: fixture.folder)
        #expect(try HTTPClient(again.address).post("/device/rotate", first.rotation().0.bytes).status == 200)
        again.process.end(SIGTERM)
    }

    /// Each statement is a step of its own, so that what ends it between two leaves the first ones done.
    @Test func `an update that ends after any statement leaves this version's tables, and is taken up again`() throws {
        let accounts = try fill(40)
        let statements = try #require(PostgresSchema.madeUp.migrations.last)
        for count in 0...statements.count {
            let ended = PostgresSchema.current.adding(Array(statements.prefix(count)) + ["SELECT 1 / 0"])
            let error = #expect(throws: StoreError.self) { try PostgresStore.migrate(url, ended, hasBackup: true) }
            #expect("\(try #require(error))".contains("22012"))
            let store = try store(.current)
            defer { store.close() }
            try store.check()
            for (identity, account) in accounts.prefix(5) { #expect(try store.account(identity) == account) }
        }
        #expect(throws: StoreError.needsBackup(Self.own, Self.next)) { try PostgresStore.migrate(url, .madeUp) }
        #expect(try PostgresStore.migrate(url, .madeUp, hasBackup: true) == (Self.own, Self.next))
        try expectRaised(accounts)
        #expect(try PostgresStore.migrate(url, .madeUp) == (Self.next, Self.next))
    }

    @Test func `an update that is killed in a range is taken up by two at once`() throws {
        let accounts = try fill(200)
        let (holding, looking) = (try hold(), try PostgresConnection(SecretText(url)))
        let killed = try Spawned([KillLog.subject, "raise", url])
        try waitForUpdate(looking)
        killed.end(SIGKILL)
        try expect("(SELECT count(*) FROM holdfast_accounts WHERE size IS NOT NULL) BETWEEN 1 AND 199")
        try holding.run("SELECT pg_advisory_unlock(7)")
        // Once what was killed has let go of the table.
        try pair.postgres.run("DROP TRIGGER waits ON holdfast_accounts", in: database)
        let ends = Mutex<[Int32]>([])
        let words = [KillLog.subject, "raise", url]
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            do {
                let status = try Spawned(words).wait()
                ends.withLock { $0.append(status) }
            } catch { Issue.record("\(error)") }
        }
        #expect(ends.withLock { $0 } == [0, 0])
        try expectRaised(accounts)
    }
}
