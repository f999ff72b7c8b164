import BetterAuthMessages
import BetterAuthServer
import Cryptography
import Foundation
import RealParts
import SystemCalls
import TestSupport
import Testing

@testable import HoldfastServer

/// Servers beside services that neither answer nor end, and beside locks that nobody lets go.
@Suite(.patient) struct HostileServiceTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var keysFile: String { fixture.path + ".keys" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func serving(_ more: [String] = []) -> [String] {
        ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--address-rate", "0"] + more
    }

    /// Has it read its configuration again, and stops it.
    private func expectObedience(_ server: ServerProcess) throws {
        server.process.signal(SIGHUP)
        try server.waitForLog(#""event":"reloaded""#)
        server.process.signal(SIGTERM)
        #expect(server.process.wait() == 0, "\(server.log)")
    }

    @Test func `an exchange with a service that drips comes to an end`() throws {
        let drip = try DrippingService()
        defer { drip.stop() }
        let http = try #require(PlainHTTP(drip.url))
        #expect(throws: PlainHTTP.Failure.self) { try http.get("/keys") }
        #expect(throws: PlainHTTP.Failure.self) { try http.post("/sign", [0x7B], token: SecretText("t")) }
    }

    @Test(arguments: [
        ("Content-Length: 5\r\n", "hello", true), ("content-length:5 \r\nA: b\r\n", "hello", true),
        ("Content-Length: 5\r\n", "hell", false), ("Content-Length: 5\r\n", "hello!", false),
        ("", "hello", false), ("Content-Length: 5\r\nContent-Length: 5\r\n", "hello", false),
    ])
    func `an answer is whole, or none`(_ headers: String, _ body: String, _ isWhole: Bool) throws {
        let service = try DrippingService(answering: "HTTP/1.0 200 OK\r\n\(headers)\r\n\(body)")
        defer { service.stop() }
        let http = try #require(PlainHTTP(service.url))
        if isWhole {
            #expect(try http.get("/hsm/keys") == Array(body.utf8))
        } else {
            #expect(throws: PlainHTTP.Failure.self) { try http.get("/hsm/keys") }
        }
    }

    @Test func `a server starts, reloads and stops beside a keeper and a key service that drip`() throws {
        let drip = try DrippingService()
        defer { drip.stop() }
        try writeSecret(String(repeating: "s", count: 40), to: folder + "/sign")
        let server = try ServerProcess(
            serving(["--hsm", drip.url, "--key-service", drip.url, "--hsm-token-file", folder + "/sign"]),
            folder: folder)
        try server.waitUntilReady(says: #""failing":["key service"]"#)
        try server.waitForLog(#""event":"publishing""#)
        try expectObedience(server)
    }

    @Test func `a key service whose keeper drips stops while it starts`() throws {
        let drip = try DrippingService()
        defer { drip.stop() }
        let process = try Spawned([
            ServerProcess.program, "keys", "--listen", "127.0.0.1:0", "--hsm", drip.url, "--trust",
            try freshDigest().description,
        ])
        #expect(Patience.wait { drip.connections > 0 })
        process.signal(SIGTERM)
        #expect(process.wait() == 0)
    }

    /// A request with a token asks the key service; others are answered meanwhile.
    @Test func `an application server answers and stops beside a key service that drips`() throws {
        let drip = try DrippingService()
        defer { drip.stop() }
        let app = try ServerProcess(
            [
                "app", "--listen", "127.0.0.1:0", "--address-rate", "0", "--keys", drip.url, "--trust",
                try freshDigest().description,
            ], folder: folder)
        let server = try TestServer()
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        var waiting: [HTTPClient] = []
        for _ in 0..<8 {
            let body = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: server.clock.now).bytes
            let client = try HTTPClient(app.address)
            client.send(
                Array("POST /foo/bar HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
            waiting.append(client)
        }
        try app.waitUntilReady(says: #""failing":["key service"]"#)
        #expect(try HTTPClient(app.address).get("/health").text == "ok\n")
        for client in waiting { #expect(try client.reply().status != 200) }
        app.process.signal(SIGTERM)
        #expect(app.process.wait() == 0, "\(app.log)")
    }

    @Test func `a lock on the keys that nobody lets go stops neither a server nor a command for ever`() throws {
        // Old enough to be rotated at once.
        _ = try KeyFile(keysFile).loadOrCreate(
            responseLifetime: 1000, accessLifetime: 1000, usedFrom: TestClock().now)
        let held = try OwnedDescriptor(folder, O_RDONLY | O_DIRECTORY)
        #expect(flock(held.number, LOCK_EX) == 0)
        let server = try ServerProcess(serving(["--rotate-keys-seconds", "3600"]), folder: folder)
        try server.waitForLog("another process is changing")
        try server.waitUntilReady(says: "ready\n")
        let rotated = try runServerCommand(["rotate-keys", "--keys-file", keysFile], folder)
        #expect(rotated.status == 1 && rotated.output.contains("another process is changing"), "\(rotated.output)")
        try expectObedience(server)
        flock(held.number, LOCK_UN)
        #expect(try runServerCommand(["rotate-keys", "--keys-file", keysFile], folder).status == 0)
    }

    @Test func `keys that nobody could learn are not made, and do not sign`() throws {
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        let server = try ServerProcess(
            serving(["--rotate-keys-seconds", "3600", "--publish-seconds", "0"] + scene.publishing(hsm, keys)),
            folder: folder)
        try server.waitUntilReady(says: "ready\n")
        func metrics() throws -> String { try HTTPClient(server.address).get("/metrics").text }
        func key() throws -> String { try HTTPClient(server.address).post("/key/response", []).text }
        keys.process.end(SIGTERM)
        #expect(try Patience.wait { try metrics().contains("holdfast_publishing 0\n") })
        // Old enough to be rotated, were it not for that.
        _ = try KeyFile(keysFile).update(responseLifetime: 1 << 40, accessLifetime: 1 << 40) {
            found throws(CryptographyError) in
            try found.rotate(now: SystemClock().now.adding(seconds: -7200), publishedSeconds: 0)
            return true
        }
        #expect(try Patience.wait { try metrics().contains("{generation=\"1\",") })
        let (file, before) = (try Data(contentsOf: URL(fileURLWithPath: keysFile)), try key())
        func goThroughRounds() throws {
            let failures = server.log.count(of: #""event":"reloaded""#)
            for more in 1...3 {
                server.process.signal(SIGHUP)
                #expect(Patience.wait { server.log.count(of: #""event":"reloaded""#) >= failures + more })
                try server.waitUntilReady(says: "ready")
            }
        }
        try goThroughRounds()
        #expect(try Data(contentsOf: URL(fileURLWithPath: keysFile)) == file)
        // Somebody makes one nevertheless: it waits until clients can learn it.
        let made = try runServerCommand(["rotate-keys", "--keys-file", keysFile, "--publish-seconds", "0"], folder)
        #expect(made.status == 0)
        // The server has it when its generation is that of the file.
        let generation = try KeyFile(keysFile).load(responseLifetime: 1, accessLifetime: 1).lineage.generation
        #expect(try Patience.wait { try metrics().contains("{generation=\"\(generation)\",") })
        try goThroughRounds()
        #expect(try key() == before)
        #expect(try HTTPClient(server.address).get("/ready").text == "ready\n")
        let back = try scene.keys(of: hsm, keys.address)
        #expect(try Patience.wait { try key() != before })
        #expect(try HTTPClient(back.address).get("/keys/\(key())").status == 200)
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
