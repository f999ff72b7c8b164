import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthPostgres
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import ServerSubject
import Synchronization
import TestSupport
import Testing

@Suite(.seeded) struct PostgresTests {
    @Test func locationsAreRead() {
        #expect(RedisLocation("redis://127.0.0.1") != nil && RedisLocation("redis://:secret@host:6380/3") != nil)
        #expect(RedisLocation("unix:/run/redis.sock") != nil)
        for text in ["", "redis://", "http://x", "redis://host:port", "redis://host:1:2", "redis://host/x"] {
            #expect(RedisLocation(text) == nil, "\(text)")
        }
    }

    @Test func whatCannotBeReachedIsSaid() throws {
        let store = PostgresStore(
            "postgresql://nobody@/nothing?host=/nonexistent",
            try #require(RedisLocation("unix:/nonexistent/redis.sock")))
        #expect(throws: StoreError.unavailable("PostgreSQL cannot be reached: its socket is not there")) {
            try store.account(IdentityID(freshDigest()))
        }
        #expect(throws: StoreError.unavailable("Redis cannot be reached: No such file or directory")) {
            try store.probe(now: TestClock().now)
        }
        let server = try TestServer(store)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try server.send(CreateAccount.self, device.creation(hash)) == .unavailable)
        // A balancer is told to look elsewhere, a client to come again, and the process lives.
        let front = try TestFront(store)
        let client = try HTTPClient(front.front.address)
        #expect(try client.get("/ready").status == 503)
        let refused = try client.post("/account/create", device.creation(hash).bytes)
        #expect(refused.status == 503 && refused.text.contains("HF503"))
        #expect(try client.get("/health").status == 200)
        #expect(try client.get("/metrics").text.contains(#"{path="/ready",code="HF503"} 1"#))
    }

    /// Killed at random moments, with both databases staying up.
    @Test func nothingIsHalfDoneAfterAKill() throws {
        let fixture = try StoreFixture(.postgres)
        let pair = try DatabasePair.shared()
        var generator = SeededGenerator()
        var checked = (accounts: 0, refreshes: 0)
        for round in 0..<(TestRun.isSoak ? 100 : 5) {
            let log = "\(fixture.folder)/log-\(round)"
            let subject = try Spawned([KillLog.subject, "\(pair.postgres.url) \(pair.redis.location)", log, "4"])
            let lines = Int.random(in: 1...150, using: &generator)
            try KillLog.wait(log, lines: lines, of: subject)
            subject.end(SIGKILL)
            let told = try KillLog(log)
            try told.check(fixture.store, "round \(round), killed after \(lines) lines")
            checked = (checked.accounts + told.acknowledged, checked.refreshes + told.refreshes)
        }
        // Where nothing was acknowledged nothing is shown.
        #expect(checked.accounts > 0 && checked.refreshes > 0, "\(checked)")
    }

    /// Restarted under load, PostgreSQL as by a crash: errors meanwhile, then service again, and nothing acknowledged
    /// is lost.
    @Test func databasesMayBeRestarted() throws {
        let pair = try DatabasePair()
        let store = try pair.store()
        defer { store.close() }
        let isOver = Mutex(false)
        let counts = Mutex((done: 0, failed: 0))
        let acknowledged = Mutex<[IdentityID: Account]>([:])
        // What each account is to become next.
        let asked = Mutex<[IdentityID: Account]>([:])
        // Keys that have refreshed, which Redis has to remember.
        let refreshed = Mutex<[RefreshReservation]>([])
        let now = TestClock().now
        let group = DispatchGroup()
        for _ in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                var changes = RandomChanges(now: now)
                while !isOver.withLock({ $0 }) {
                    guard let (change, account) = try? changes.next() else { return }
                    asked.withLock { $0[change.identity] = account }
                    // What fails is tried again with the same bytes, as clients do.
                    while !isOver.withLock({ $0 }) {
                        guard let outcome = try? done({ store.apply(change, then: $0) }) else {
                            counts.withLock { $0.failed += 1 }
                            continue
                        }
                        if case .refused(let error) = outcome {
                            Issue.record("a change that was to succeed is refused: \(error)")
                            return
                        }
                        acknowledged.withLock { $0[change.identity] = account }
                        counts.withLock { $0.done += 1 }
                        break
                    }
                    guard let device = account.devices.first, let digest = try? RandomChanges.digest(),
                        let refresh = try? RandomChanges.refresh(
                            change.identity, device.id, RotationHash(digest), now: now)
                    else { continue }
                    while !isOver.withLock({ $0 }) {
                        guard let outcome = try? done({ store.reserve(refresh, then: $0) }) else {
                            counts.withLock { $0.failed += 1 }
                            continue
                        }
                        if outcome != .committed && outcome != .repeated(refresh.reply) {
                            Issue.record("a refresh that was to succeed is not done: \(outcome)")
                        }
                        refreshed.withLock { $0.append(refresh) }
                        break
                    }
                }
            }
        }
        func waitForMore(_ more: Int) {
            let start = counts.withLock { $0.done }
            #expect(Patience.wait { counts.withLock { $0.done } >= start + more })
        }
        waitForMore(100)
        for round in 0..<2 {
            try pair.postgres.restart(round == 0 ? SIGKILL : SIGINT)
            waitForMore(100)
            try pair.redis.restart(round == 0 ? SIGKILL : SIGTERM)
            waitForMore(100)
        }
        isOver.withLock { $0 = true }
        group.wait()
        #expect(counts.withLock { $0.failed } > 0)
        // A change whose answer never came may still have been made; nothing else may be found.
        let expected = acknowledged.withLock { $0 }
        var lost = 0
        for (identity, account) in expected {
            let found = try store.account(identity)
            if found != account && found != asked.withLock({ $0[identity] }) { lost += 1 }
        }
        #expect(lost == 0, "of \(expected.count)")
        // No key refreshes twice; where the device has gone since, that is what is said.
        let outcomes = try refreshed.withLock { $0 }.map { first in
            let again = try RandomChanges.refresh(first.reply.identity, first.reply.device, first.revealed, now: now)
            return try done { store.reserve(again, then: $0) }
        }
        #expect(outcomes.contains(.used) && !outcomes.contains(.committed))
    }

    /// Two application servers that share a Redis with the auth server: a request is good at one of them, once, and not
    /// at all when its device is gone.
    @Test func applicationServersShareNoncesAndRevocations() throws {
        let pair = try DatabasePair.shared()
        let fixture = try StoreFixture(.postgres)
        let server = try TestServer(fixture.store)
        let now = SystemClock().now
        server.clock.advance(milliseconds: now.milliseconds - server.clock.now.milliseconds)
        var account = try TestAccount(on: server)
        let second = try account.linked(on: server)
        let session = try TestSession(second, on: server)
        let apps = try (0..<2).map { index in
            try ServerProcess(
                [
                    "app", "--listen", "127.0.0.1:0", "--access-key", server.accessKey.publicKey.description, "--redis",
                    pair.redis.location, "--name", "app\(index)",
                ], folder: fixture.folder)
        }
        func post(_ index: Int, _ body: [UInt8]) throws -> String {
            try HTTPClient(apps[index].address).post("/foo/bar", body).text
        }
        let message = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: now)
        #expect(try post(0, message.bytes).contains(#""serverName":"app0""#))
        #expect(try post(1, message.bytes).contains("HF410"))
        #expect(try post(1, accessRequest(session, #"{"foo":1,"bar":2}"#, now: now).bytes).contains("app1"))
        #expect(try server.send(UnlinkDevice.self, account.device.unlinking(second.id).0) == nil)
        for index in 0..<2 {
            let late = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: now)
            #expect(try post(index, late.bytes).contains("BA103"))
        }
    }

    /// Two servers in processes of their own over one pair: they exclude each other as threads of one do.
    @Test func twoProcessesShareOnePair() throws {
        let pair = try DatabasePair.shared()
        let fixture = try StoreFixture(.memory)
        let url = pair.postgres.url(of: try pair.postgres.makeDatabase())
        try PostgresStore.migrate(url)
        let arguments =
            [
                "serve", "--listen", "127.0.0.1:0", "--database", url, "--redis", pair.redis.location,
                "--keys-file", fixture.folder + "/keys",
            ] + ServerProcess.unlimited
        let first = try ServerProcess(arguments, folder: fixture.folder)
        let second = try ServerProcess(arguments, folder: fixture.folder)
        #expect(first.key == second.key)
        let addresses = [first.address, second.address]
        let apps = try (0..<2).map { _ in
            try ServerProcess.app(
                trusting: fixture.folder + "/keys", folder: fixture.folder, ["--redis", pair.redis.location])
        }

        func race(_ path: String, _ bodies: [[UInt8]], at addresses: [String] = addresses) -> [String] {
            let texts = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
                let reply = try? HTTPClient(addresses[index % 2]).post(path, bodies[index])
                texts.withLock { $0.append(reply?.text ?? "no answer") }
            }
            return texts.withLock { $0 }
        }
        func expectOneWinner(_ texts: [String], _ code: String) {
            #expect(texts.count { $0.hasPrefix(#"{"payload""#) } == 1)
            #expect(texts.count { $0.contains(code) } == texts.count - 1, "\(texts.filter { !$0.contains(code) })")
        }
        let recovery = try ServerKey.generate()
        let hash = derivations.recoveryHash(of: recovery.publicKey)
        var device = try TestDevice(recovery: hash)
        let client = try HTTPClient(addresses[0])
        #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
        expectOneWinner(
            race("/device/rotate", try (0..<64).map { _ in try device.rotation().0.bytes }), "BA104")
        // Whoever won, its keys are not ours: another account continues.
        device = try TestDevice(recovery: hash)
        #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
        let request = UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: device.identity))
        let asked = try client.post("/session/request", request.bytes)
        let challenge = try SignedMessage<Response<RequestSession>>(parsing: asked.body).payload.body.challenge
        expectOneWinner(
            race(
                "/session/create", try (0..<64).map { _ in try TestSession.opening(device, challenge).0.bytes }),
            "HF402")
        let again = try client.post(
            "/session/request",
            UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: device.identity)).bytes)
        let other = try SignedMessage<Response<RequestSession>>(parsing: again.body).payload.body.challenge
        let (opening, current, next) = try TestSession.opening(device, other)
        // Asked in one process, answered in the other.
        let opened = try HTTPClient(addresses[1]).post("/session/create", opening.bytes)
        let token = try SignedMessage<Response<CreateSession>>(parsing: opened.body).payload.body.token
        let session = TestSession(current: current, next: next, token: token)
        let access = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
        let replies = race("/foo/bar", [access.bytes, access.bytes], at: apps.map(\.address))
        #expect(replies.count { $0.hasPrefix(#"{"payload""#) } == 1 && replies.count { $0.contains("HF410") } == 1)
        expectOneWinner(
            race("/session/refresh", try (0..<64).map { _ in try session.refreshing().0.bytes }), "HF410")
        expectOneWinner(
            race(
                "/account/recover",
                try (0..<64).map { _ in
                    try TestDevice(identity: device.identity)
                        .recovery(with: recovery, next: RecoveryHash(freshDigest())).bytes
                }), "BA104")
        // The device is gone for application servers too.
        let late = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
        #expect(try HTTPClient(apps[1].address).post("/foo/bar", late.bytes).text.contains("BA103"))
        for process in [first, second] {
            process.process.end(SIGTERM)
        }
    }
}
