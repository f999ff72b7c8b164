import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import Testing

@testable import HoldfastServer

/// Redis that forgets, as operators have it: flushed, restarted without an append-only file, put back.
@Suite struct RedisMemoryTests {
    /// What makes Redis forget.
    enum Loss: String, CaseIterable, Sendable {
        case flushed, restarted, restoredSnapshot
    }

    private let pair = Result { try DatabasePair() }

    private func store(
        _ redis: RedisServer, _ loss: RedisLoss, _ told: Told = Told()
    ) throws -> PostgresStore {
        PostgresStore(
            try pair.get().postgres.url, try #require(RedisLocation(redis.location)), loss: loss,
            report: { told.add($0.description) })
    }

    private func lose(_ redis: RedisServer, _ loss: Loss) throws {
        switch loss {
        case .flushed: try redis.command("FLUSHALL")
        case .restarted: try redis.restart(SIGKILL)
        case .restoredSnapshot:
            // The snapshot has the mark, and nothing that came after it.
            try redis.command("SAVE")
            try redis.command("SET", "later", "1")
            try redis.restart(SIGKILL)
        }
    }

    @Test(arguments: Loss.allCases)
    func `a loss is noticed and told by one process, and sessions go on`(_ loss: Loss) throws {
        let redis = try RedisServer(writesDown: false)
        let told = Told()
        let stores = try [store(redis, .warn, told), store(redis, .warn, told)]
        defer { stores.forEach { $0.close() } }
        let clock = TestClock()
        for store in stores { try store.probe(now: clock.now) }
        #expect(told.all.filter { $0.contains("forgotten") }.isEmpty)
        #expect(told.all.filter { $0.contains("append-only") }.count == 2)
        try lose(redis, loss)
        for _ in 0..<3 { for store in stores { try store.probe(now: clock.now) } }
        #expect(told.all.filter { $0.contains("forgotten") }.count == 1, "\(told.all)")
        let server = try TestServer(stores[1])
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        #expect(try server.refresh(session).1 == nil)
    }

    @Test(arguments: Loss.allCases)
    func `sessions are refused after a loss until an operator accepts it`(_ loss: Loss) throws {
        let redis = try RedisServer(writesDown: false)
        let store = try store(redis, .refuse)
        defer { store.close() }
        let server = try TestServer(store)
        var account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        let (refreshing, _) = try session.refreshing()
        #expect(try server.send(RefreshSession.self, refreshing) == nil)
        try store.probe(now: server.clock.now)
        try lose(redis, loss)
        if loss != .restoredSnapshot {
            // Before anybody has looked, a captured refresh is no second session.
            #expect(try server.post(RefreshSession.path, session.refreshing().0.bytes).code == .unavailable)
        }
        #expect(throws: StoreError.self) { try store.probe(now: server.clock.now) }
        // What needs no Redis continues.
        let (rotation, after) = try account.device.rotation()
        #expect(try server.send(RotateDevice.self, rotation) == nil)
        account.device = after
        let other = try self.store(redis, .refuse)
        defer { other.close() }
        #expect(throws: StoreError.self) { try other.probe(now: server.clock.now) }
        try other.acceptRedis()
        try store.probe(now: server.clock.now)
        #expect(try server.refresh(TestSession(account.device, on: server)).1 == nil)
    }

    @Test func `a restart of Redis with an append-only file, and of the servers, is no loss`() throws {
        let redis = try RedisServer()
        let told = Told()
        for _ in 0..<2 {
            let store = try store(redis, .refuse, told)
            for _ in 0..<2 {
                try store.probe(now: TestClock().now)
                try redis.restart(SIGKILL)
                try store.probe(now: TestClock().now)
            }
            store.close()
        }
        try redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        let store = try store(redis, .refuse, told)
        defer { store.close() }
        try store.probe(now: TestClock().now)
        #expect(told.all.count == 1 && told.all[0].contains("noeviction"), "\(told.all)")
    }

    @Test func `a server that refuses is not ready, and goes on after accept-redis`() throws {
        let pair = try pair.get()
        let redis = try RedisServer(writesDown: false)
        let fixture = try StoreFixture(.memory)
        let databases = ["--database", pair.postgres.url, "--redis", redis.location]
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--keys-file", fixture.folder + "/keys", "--redis-lost", "refuse"]
                + databases, folder: fixture.folder)
        try server.waitUntilReady(says: "ready\n")
        try server.waitForLog("append-only")
        try redis.command("FLUSHALL")
        try server.waitUntilReady(says: #""failing":["store"]"#)
        try server.waitForLog("accept-redis")
        let accepted = try runServerCommand(["accept-redis"] + databases, fixture.folder)
        #expect(accepted.status == 0, "\(accepted.output)")
        try server.waitUntilReady(says: "ready\n")
        let wrong = try runServerCommand(
            ["accept-redis", "--database", fixture.path, "--redis", redis.location], fixture.folder)
        #expect(wrong.status == 2)
    }

    @Test func `processes that start together on a fresh pair see no loss`() throws {
        let redis = try RedisServer()
        let told = Told()
        let stores = try (0..<8).map { _ in try store(redis, .warn, told) }
        defer { stores.forEach { $0.close() } }
        // A look between two of another's steps is rare: several rounds meet it.
        for _ in 0..<20 {
            DispatchQueue.concurrentPerform(iterations: 40) { try? stores[$0 % 8].probe(now: TestClock().now) }
            try redis.command("FLUSHALL")
            try pair.get().postgres.run("DELETE FROM holdfast_settings WHERE name = 'redis'", in: "postgres")
        }
        #expect(told.all == [])
    }

    @Test(arguments: RedisLoss.allCases)
    func `a mark that another process makes between the reads of the two databases is no loss`(_ loss: RedisLoss) throws
    {
        let redis = try RedisServer()
        let (told, ready) = (Told(), Told())
        let other = try store(redis, loss, told)
        defer { other.close() }
        let between = PostgresStore(
            try SecretText(pair.get().postgres.url), try #require(RedisLocation(redis.location)), loss: loss,
            report: { told.add($0.description) },
            betweenReads: {
                do { try other.probe(now: TestClock().now) } catch { ready.add("\(error)") }
            })
        defer { between.close() }
        for _ in 0..<3 {
            try between.probe(now: TestClock().now)
            try redis.command("FLUSHALL")
            try pair.get().postgres.run("DELETE FROM holdfast_settings WHERE name = 'redis'", in: "postgres")
        }
        #expect(told.all == [] && ready.all == [])
    }
}
