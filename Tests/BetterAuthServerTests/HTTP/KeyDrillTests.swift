import BetterAuthMessages
import BetterAuthServer
import CommandLineArguments
import Cryptography
import Foundation
import RealParts
import TestSupport
import Testing

@testable import HoldfastServer

/// What an operator does with the keys of servers, while they run.
@Suite struct KeyDrillTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var keysFile: String { fixture.path + ".keys" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func start(_ more: [String] = []) throws -> ServerProcess {
        try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path] + ServerProcess.unlimited + more,
            folder: folder)
    }

    private func metrics(_ server: ServerProcess) throws -> String {
        try HTTPClient(server.address).get("/metrics").text
    }

    /// Has the server go through its rounds.
    private func reload(_ server: ServerProcess) throws {
        let before = server.log.count(of: #""event":"reloaded""#)
        for more in 1...2 {
            server.process.signal(SIGHUP)
            let isDone = Patience.wait { server.log.count(of: #""event":"reloaded""#) >= before + more }
            #expect(isDone, "\(server.log)")
        }
    }

    /// A file of keys that does not say since when they are used, as earlier ones, is as old as it looks.
    @Test(arguments: [true, false])
    func `keys are rotated by themselves when they are old enough, and not before`(_ hasMoment: Bool) throws {
        if !hasMoment {
            _ = try KeyFile(keysFile).loadOrCreate(responseLifetime: 1000, accessLifetime: 1000, usedFrom: .never)
        }
        let server = try start(["--rotate-keys-seconds", "3600"])
        try reload(server)
        #expect(!server.log.contains("keys rotated"), "\(server.log)")
        let told = try metrics(server)
        #expect(told.contains("holdfast_key_info{generation=\"0\",keys=\"E"))
        let age = told.split(separator: "\n").first { $0.hasPrefix("holdfast_key_timestamp_seconds ") }
        let moment = try #require(age?.split(separator: " ").last.flatMap { Double($0) })
        #expect(abs(moment - Date().timeIntervalSince1970) < 3600)
        // New ones in the place of compromised keys are new too.
        let renewed = try runServerCommand(["rotate-keys", "--keys-file", keysFile, "--compromised"], folder)
        #expect(renewed.status == 0)
        try reload(server)
        #expect(Patience.wait { (try? metrics(server).contains("{generation=\"1\",keys=\"E")) == true })
        try reload(server)
        #expect(try metrics(server).contains("holdfast_key_info{generation=\"1\",keys=\"E"))
        #expect(!server.log.contains("keys rotated"), "\(server.log)")
        server.process.end(SIGTERM)
        // Keys that have been in use for longer than that.
        _ = try KeyFile(keysFile).update(responseLifetime: 1 << 40, accessLifetime: 1 << 40) {
            keys throws(CryptographyError) in
            try keys.rotate(now: SystemClock().now.adding(seconds: -7200), publishedSeconds: 0)
            return true
        }
        let old = try KeyFile(keysFile).load(responseLifetime: 1, accessLifetime: 1)
            .responseKey(now: SystemClock().now).publicKey.description
        let impatient = try start(["--rotate-keys-seconds", "3600", "--publish-seconds", "0"])
        try impatient.waitForLog("keys rotated")
        let isNew = try Patience.wait {
            try HTTPClient(impatient.address).post("/key/response", []).text != old
        }
        #expect(isNew)
    }

    @Test func `a rotation under a running server ends no session, and its new key is published`() throws {
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        let server = try start(scene.publishing(hsm, keys))
        try server.waitUntilReady(says: "ready\n")
        let client = try HTTPClient(server.address)
        let device = try TestDevice.registered(over: client)
        let session = try TestSession.opened(device, over: client)
        let rotation = ["rotate-keys", "--keys-file", keysFile, "--publish-seconds", "1"]
        #expect(try runServerCommand(rotation, folder).status == 0)
        var key = server.key
        let isChanged = try Patience.wait {
            key = try client.post("/key/response", []).text
            return key != server.key
        }
        #expect(isChanged)
        let isPublished = try Patience.wait { try HTTPClient(keys.address).get("/keys/\(key)").status == 200 }
        #expect(isPublished)
        // What it signed is valid still.
        let isKept = try Patience.wait { try HTTPClient(keys.address).get("/keys/\(server.key)").status == 200 }
        #expect(isKept)
        try server.waitUntilReady(says: "ready\n")
        #expect(try client.post("/session/refresh", session.refreshing().0.bytes).status == 200)
        _ = try TestSession.opened(device, over: client)
    }

    /// 3,000 generations: the events of a third of a year with a rotation each hour.
    private func makeLongChain() throws -> (folder: String, count: Int) {
        let scene = folder + "/long"
        let event = try KeyChainFolder.make(scene, .file, now: SystemClock().now).chain.events[0]
        let count = 3000
        // Whether they are a chain is for those to find out who verify it.
        let one = String(decoding: event.bytes, as: UTF8.self)
        let list = Array(repeating: one, count: count).joined(separator: ",")
        try "[\(list)]".write(toFile: scene + "/events", atomically: true, encoding: .utf8)
        let entries = try [count - 1, count].map {
            KeySchedule.Entry(key: try .generate(), usedFrom: Timestamp(clamping: Int64($0)))
        }
        let (schedule, spare) = (try #require(KeySchedule(entries, lifetime: .max / 4)), try ServerKey.generate())
        try KeyFile(scene + "/keys").save(
            ServerKeys(response: schedule, access: KeySchedule(spare, lifetime: .max / 4)))
        return (scene, count)
    }

    private func contents(of chain: String) throws -> [Data] {
        try ["keys", "events", "endorsed"].filter { FileManager.default.fileExists(atPath: "\(chain)/\($0)") }
            .map { try Data(contentsOf: URL(fileURLWithPath: "\(chain)/\($0)")) }
    }

    @Test func `a key chain of a third of a year goes on`() throws {
        let (folder, count) = try makeLongChain()
        var chain = try KeyChainFolder.held(folder, .file)
        #expect(chain.published.count > 1 << 20 && chain.room > 20_000)
        try chain.append(now: SystemClock().now)
        #expect(chain.events.count == count + 1)
        let again = try KeyChainFolder(folder, .file)
        #expect(again.events.count == count + 1 && again.published == chain.published)
    }

    @Test func `a rotation that nobody could read any more changes nothing, and a taint has room still`() throws {
        let (folder, count) = try makeLongChain()
        var chain = try KeyChainFolder.held(folder, .file)
        chain.largest = chain.published.count + 65_536 + 1500
        #expect(chain.room == 0 || chain.room == 1)
        let now = SystemClock().now
        try chain.append(now: now)
        let before = try contents(of: folder)
        #expect(throws: UsageError.self) { try chain.append(now: now) }
        #expect(try contents(of: folder) == before && chain.events.count == count + 1 && chain.room == 0)
        #expect(try KeyChainFolder(folder, .file).events.count == count + 1)
        // It endorses, and what was compromised is tainted.
        let key = try ServerKey.generate().publicKey
        #expect(try chain.endorse(key, .access, until: now.adding(seconds: 60)) != nil)
        try chain.append(taintingAllBut: [], now: now)
        #expect(try chain.endorse(key, .access, until: now.adding(seconds: 60)) == nil)
        // And not that either where there is no room at all.
        chain.largest = chain.published.count + 500
        let full = try contents(of: folder)
        #expect(throws: UsageError.self) { try chain.append(taintingAllBut: [key], now: now) }
        #expect(try contents(of: folder) == full)
        #expect(try KeyChainFolder(folder, .file).events.last?.payload.taintPrevious == true)
    }

    /// Each of its files could not be written at one time: the chain continues when there is room, after a restart too.
    @Test func `a key chain outlives a disk that was full`() throws {
        let scene = try KeyChainScene(folder)
        var hsm = try scene.keeper()
        func limit(_ size: Int?) throws {
            let words = size.map(String.init) ?? "unlimited"
            let limited = try Spawned(
                ["prlimit", "--pid", "\(hsm.process.identifier)", "--fsize=\(words):unlimited"])
            #expect(limited.wait() == 0)
        }
        let events = try Data(contentsOf: URL(fileURLWithPath: folder + "/chain/events")).count
        // Less than the keys need, and less than the events need.
        for (number, size) in [10, events].enumerated() {
            let order = number == 0 ? "/rotate" : "/taint"
            try limit(size)
            #expect(try scene.order(order, generation: number, of: hsm).status == 500)
            try limit(nil)
            #expect(try scene.order(order, generation: number, of: hsm).text == "generation \(number + 1)\n")
            let identity = hsm.key
            hsm.process.end(SIGKILL)
            hsm = try scene.keeper()
            #expect(hsm.key == identity)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/chain").sorted()
        #expect(left == ["endorsed", "events", "keys"])
    }

    /// Keys that were compromised are not endorsed by the next generation, whoever still has them and whenever they
    /// ask.
    @Test func `a taint before servers have new keys does not bring the old ones back`() throws {
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        let server = try start(scene.publishing(hsm, keys))
        try server.waitUntilReady(says: "ready\n")
        func status(of key: String) throws -> Int { try HTTPClient(keys.address).get("/keys/\(key)").status }
        #expect(try status(of: server.key) == 200)
        #expect(try scene.order("/taint", generation: 0, of: hsm).text == "generation 1\n")
        try server.waitForLog("a tainted generation has endorsed")
        #expect(try Patience.wait { try status(of: server.key) == 404 })
        try server.waitUntilReady(says: #""failing":["key service"]"#)
        // Its keeper knows it after a restart too.
        hsm.process.end(SIGTERM)
        let again = try scene.keeper(hsm.address)
        let before = server.log.count(of: "a tainted generation has endorsed")
        try reload(server)
        #expect(try status(of: server.key) == 404 && before > 0)
        let renewed = try runServerCommand(["rotate-keys", "--keys-file", keysFile, "--compromised"], folder)
        #expect(renewed.status == 0, "\(renewed.output)")
        try server.waitUntilReady(says: "ready\n")
        let key = try HTTPClient(server.address).post("/key/response", []).text
        #expect(renewed.output.contains("response: \(key)\n"), "\(renewed.output)")
        #expect(try status(of: key) == 200 && status(of: server.key) == 404)
        // Keys that are in no other hands may be named; then they are endorsed by the next generation too.
        let kept = renewed.output.split(separator: "\n").compactMap { $0.split(separator: " ").last }
            .filter { PublicKeyText($0) != nil }.map { "\"\($0)\"" }
        #expect(kept.count == 2)
        func taint(_ body: String) throws -> HTTPClient.Reply {
            try HTTPClient(again.address).post(
                "/taint", Array(body.utf8), headers: "Authorization: Bearer \(scene.admin)\r\n")
        }
        for wrong in ["\"x\"", "[\"x\"]", "[\(kept[0])", "\(kept[0])"] {
            #expect(try taint(#"{"generation":1,"keep":\#(wrong)}"#).status == 400, "\(wrong)")
        }
        let body = #"{"generation":1,"keep":[\#(kept.joined(separator: ","))]}"#
        #expect(try taint(body).text == "generation 2\n")
        #expect(
            try Patience.wait { try HTTPClient(keys.address).get("/hsm/keys").text.contains(#""sequenceNumber":2"#) })
        #expect(try Patience.wait { try status(of: key) == 200 })
        try server.waitUntilReady(says: "ready\n")
    }

    /// Sessions live as long as the server's configuration says; a command that does not know it forgets no key too
    /// early.
    @Test func `a rotation forgets keys by the lifetimes of the server`() throws {
        let file = KeyFile(keysFile)
        let now = SystemClock().now
        func make() throws {
            unsafe unlink(keysFile)
            _ = try file.loadOrCreate(responseLifetime: 1 << 40, accessLifetime: 1 << 40, usedFrom: .never)
            // Replaced thirteen hours ago.
            _ = try file.update(responseLifetime: 1 << 40, accessLifetime: 1 << 40) { keys throws(CryptographyError) in
                try keys.rotate(now: now.adding(seconds: -13 * 3600), publishedSeconds: 0)
                return true
            }
        }
        let configuration = folder + "/server.conf"
        try "refresh-seconds = 86400\n".write(toFile: configuration, atomically: true, encoding: .utf8)
        for (words, count) in [
            ([], 3), (["--config", configuration], 3), (["--refresh-seconds", "3600"], 2),
        ] as [([String], Int)] {
            try make()
            #expect(try runServerCommand(["rotate-keys", "--keys-file", keysFile] + words, folder).status == 0)
            let keys = try file.load(responseLifetime: 1, accessLifetime: 1)
            #expect(keys.schedulesForKeeping.access.entries.count == count, "\(words)")
        }
    }

    /// The page of operations.md on compromised keys, with every part of it a process.
    @Test func `after a taint application servers refuse what was signed before, and take what is signed now`() throws {
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        let server = try start(scene.publishing(hsm, keys))
        let app = try ServerProcess(
            [
                "app", "--listen", "127.0.0.1:0", "--keys", "http://\(keys.address)", "--trust", hsm.key,
                "--address-rate", "0",
            ], folder: folder)
        try server.waitUntilReady(says: "ready\n")
        let client = try HTTPClient(server.address)
        let device = try TestDevice.registered(over: client)
        let session = try TestSession.opened(device, over: client)
        func ask(_ session: TestSession) throws -> Int {
            let request = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
            return try HTTPClient(app.address).post("/foo/bar", request.bytes).status
        }
        #expect(try ask(session) == 200)
        var seen: Set<String> = [server.key]
        /// Another key, and a session under it that the application server takes.
        func renew() throws -> TestSession? {
            let rotated = try runServerCommand(["rotate-keys", "--keys-file", keysFile, "--compromised"], folder)
            #expect(rotated.status == 0)
            var fresh: TestSession?
            let isBack = try Patience.wait {
                let key = try client.post("/key/response", []).text
                guard !seen.contains(key) else { return false }
                fresh = try TestSession.opened(device, over: client)
                guard try fresh.map(ask) == 200 else { return false }
                seen.insert(key)
                return true
            }
            #expect(isBack, "\(server.log)")
            return fresh
        }
        _ = try renew()
        #expect(try scene.order("/taint", generation: 0, of: hsm).text == "generation 1\n")
        // A key that the application server does not know, and whose record names a generation that it does not know.
        let fresh = try renew()
        #expect(try ask(session) != 200, "what the old key signed")
        #expect(try client.post("/session/refresh", session.refreshing().0.bytes).text.contains("HF403"))
        try server.waitUntilReady(says: "ready\n")
        let refreshing = try #require(fresh).refreshing().0
        #expect(try client.post("/session/refresh", refreshing.bytes).status == 200)
        // The old key's record is not taken by the key service any more.
        let isGone = try Patience.wait { try HTTPClient(keys.address).get("/keys/\(server.key)").status == 404 }
        #expect(isGone)
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
