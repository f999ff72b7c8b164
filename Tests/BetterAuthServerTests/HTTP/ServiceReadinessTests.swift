import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import ServerSubject
import Synchronization
import TestSupport
import Testing

/// What `/ready` proves, and how often.
@Suite struct ServiceReadinessTests {
    @Test func `however often it is asked, the work is done once a second`() {
        let runs = Mutex(0)
        let answers = Mutex(0)
        let check = Readiness.Check("store") {
            runs.withLock { $0 += 1 }
            return nil
        }
        let readiness = Readiness([check], conditions: Conditions(ServerLog(.error)))
        defer { readiness.close() }
        func ask(_ count: Int, at now: Double) {
            let before = answers.withLock { $0 }
            for _ in 0..<count {
                readiness.ask(now: now) { _ in answers.withLock { $0 += 1 } }
            }
            #expect(Patience.wait { answers.withLock { $0 } == before + count })
        }
        ask(1000, at: 100)
        #expect(runs.withLock { $0 } == 1)
        ask(1000, at: 100.9)
        #expect(runs.withLock { $0 } == 1)
        ask(1000, at: 101)
        #expect(runs.withLock { $0 } == 2)
    }

    @Test(.enabled(if: Mounted.isAllowed, "only root may mount a file system"))
    func `a server does not start on a file system that is read-only, and says so`() throws {
        let fixture = try StoreFixture(.memory)
        let place = try Mounted.folder(in: fixture.folder)
        let database = place + "/accounts.db"
        #expect(try runServerCommand(["init", "--database", database], fixture.folder).status == 0)
        let refused = try runServerCommand(
            ["serve", "--listen", "127.0.0.1:0", "--database", database], fixture.folder,
            before: Mounted.words("mount --bind \(place) \(place) && mount -o remount,ro,bind \(place)"))
        #expect(refused.status == 2 && refused.output.contains("Read-only"), "\(refused.output)")
        #expect(!refused.output.contains("ready "), "\(refused.output)")
    }

    /// An application server that cannot reach what it asks is taken out by its balancer, and says so once.
    @Test func `an application server is ready when Redis and the key service are`() throws {
        let fixture = try StoreFixture(.memory)
        let pair = try DatabasePair()
        let scene = try KeyChainScene(fixture.folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        let app = try ServerProcess(
            [
                "app", "--listen", "127.0.0.1:0", "--keys", "http://\(keys.address)", "--trust", hsm.key, "--redis",
                pair.redis.location, "--address-rate", "0",
            ], folder: fixture.folder)
        try app.waitUntilReady(says: "ready\n")
        keys.process.end(SIGTERM)
        try app.waitUntilReady(says: #""failing":["key service"]"#)
        let server = try TestServer(clock: TestClock())
        let session = try TestSession(TestAccount(on: server).device, on: server)
        for _ in 0..<5 {
            let access = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: server.clock.now)
            #expect(try HTTPClient(app.address).post("/foo/bar", access.bytes).status == 503)
        }
        let lines = app.log.split(separator: "\n").filter { $0.contains(#""level":"error""#) }
        #expect(lines.count == 2, "one for the key service, one for access: \(app.log)")
        let back = try scene.keys(of: hsm, keys.address)
        try app.waitUntilReady(says: "ready\n")
        pair.redis.stop()
        try app.waitUntilReady(says: #""failing":["redis"]"#)
        back.process.end(SIGTERM)
        // The keeper of the chain, when its folder is gone.
        #expect(try HTTPClient(hsm.address).get("/ready").text == "ready\n")
        try FileManager.default.moveItem(atPath: fixture.folder + "/chain", toPath: fixture.folder + "/gone")
        #expect(try HTTPClient(hsm.address).get("/ready").text.contains(#""failing":["key chain"]"#))
    }

    /// A secret reaches a server over a descriptor, or in a file that is nobody else's.
    @Test func `a URL with a password is read from a descriptor, and not from a file that others read`() throws {
        let fixture = try StoreFixture(.memory)
        let url = fixture.folder + "/url"
        try writeSecret("postgres://nobody:hunter2@127.0.0.1:1/x\n", to: url)
        let words = ["migrate", "--database", "@/dev/fd/3"]
        let shell = ["sh", "-c", "exec 3< '\(url)'; exec \"$0\" \"$@\""]
        let read = try runServerCommand(words, fixture.folder, before: shell)
        #expect(read.status == 1 && read.output.contains("nothing listens there"), "\(read.output)")
        #expect(!read.output.contains("hunter2"))
        unsafe chmod(url, 0o644)
        for (arguments, before) in [(["migrate", "--database", "@" + url], []), (words, shell)] {
            let exposed = try runServerCommand(arguments, fixture.folder, before: before)
            #expect(exposed.status == 2 && exposed.output.contains("can be read by other users"), "\(exposed.output)")
            #expect(!exposed.output.contains("hunter2"))
        }
        // Systemd and Kubernetes let a group in; without a password there is no secret.
        unsafe chmod(url, 0o440)
        #expect(try runServerCommand(["migrate", "--database", "@" + url], fixture.folder).status == 1)
        try "postgres://nobody@127.0.0.1:1/x\n".write(toFile: url, atomically: true, encoding: .utf8)
        #expect(try runServerCommand(["migrate", "--database", "@" + url], fixture.folder).status == 1)
        let (certificate, key) = (fixture.folder + "/certificate", fixture.folder + "/key")
        try makeCertificate(certificate, key)
        unsafe chmod(key, 0o644)
        let open = try runServerCommand(
            freshServer(in: fixture.folder) + [
                "--tls-certificate", certificate,
                "--tls-key", key,
            ], fixture.folder)
        #expect(open.status == 2 && open.output.contains("can be read by other users"), "\(open.output)")
    }

    /// What it has endorsed it endorses on and on; a new key is refused, which is no state of rest.
    @Test func `a keeper whose list of endorsed keys is full is not ready`() throws {
        let fixture = try StoreFixture(.memory)
        let scene = try KeyChainScene(fixture.folder)
        let list = fixture.folder + "/chain/endorsed"
        let keys = try (0..<65_536).map { _ in try RandomChanges.key().description }
        func keep(_ count: Int) throws {
            try writeSecret(keys.prefix(count).map { "\($0) endorsed\n" }.joined(), to: list)
        }
        func sign(_ key: PublicKeyText, at keeper: ServerProcess) throws -> Int {
            let end = SystemClock().now.adding(seconds: 3600)
            let body = #"{"payload":{"purpose":"access","publicKey":"\#(key)","expiration":"\#(end)"}}"#
            return try HTTPClient(keeper.address).post(
                "/sign", Array(body.utf8), headers: "Authorization: Bearer \(scene.sign)\r\n"
            ).status
        }
        try keep(keys.count)
        let full = try scene.keeper()
        #expect(try HTTPClient(full.address).get("/ready").text.contains(#"{"failing":["endorsements"]}"#))
        let known = try #require(PublicKeyText(keys[0]))
        #expect(try sign(known, at: full) == 200 && sign(RandomChanges.key(), at: full) == 500)
        full.process.end(SIGTERM)
        // Until the last place is taken it is.
        try keep(keys.count - 1)
        let keeper = try scene.keeper()
        #expect(try HTTPClient(keeper.address).get("/ready").text == "ready\n")
        #expect(try sign(RandomChanges.key(), at: keeper) == 200)
        try keeper.waitUntilReady(says: "endorsements")
        #expect(try HTTPClient(keeper.address).get("/metrics").text.contains("\nholdfast_ready 0\n"))
    }
}
