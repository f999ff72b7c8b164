import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Foundation
import RealParts
import Testing

/// What names a request: in the reply, in the log, and at the services behind.
@Suite struct RequestTraceTests {
    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func isFresh(_ id: String?) -> Bool {
        guard let id else { return false }
        return id.count == 32 && id.allSatisfy { "0123456789abcdef".contains($0) }
    }

    @Test func `a client names no request, and each reply has a name`() throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        var seen: Set<String> = []
        for _ in 0..<50 {
            let reply = try client.post(
                "/health", [], headers: "X-Request-Id: mine\r\ntraceparent: \(Self.parent)\r\n")
            #expect(isFresh(reply.headers["x-request-id"]) && reply.headers["traceparent"] == nil)
            seen.insert(reply.headers["x-request-id"] ?? "")
        }
        #expect(seen.count == 50)
        // Refusals too, those that end the connection among them.
        #expect(isFresh(try client.get("/nothing").headers["x-request-id"]))
        let bad = try HTTPClient(front.front.address)
        bad.send(Array("GET /health HTTP/1.1\r\n\r\n".utf8))
        #expect(isFresh(try bad.reply().headers["x-request-id"]))
    }

    @Test func `a trusted proxy names requests, in the right form only`() throws {
        var settings = HTTPSettings()
        settings.trustedProxies = [try #require(AddressBlock("127.0.0.1"))]
        let front = try TestFront(MemoryStore(), settings)
        let client = try HTTPClient(front.front.address)
        let longest = String(repeating: "a", count: 128)
        for id in ["a", "0af7651916cd43dd8448eb211c80319c", "A-z_0.9:x", longest] {
            let reply = try client.post("/health", [], headers: "X-Request-Id: \(id)\r\n")
            #expect(reply.headers["x-request-id"] == id)
        }
        for lines in [
            "X-Request-Id: \(longest)a\r\n", "X-Request-Id: \r\n", "X-Request-Id: a b\r\n", "X-Request-Id: a\"b\r\n",
            "X-Request-Id: ä\r\n", "X-Request-Id: a,b\r\n", "X-Request-Id: a\r\nX-Request-Id: a\r\n", "",
        ] {
            let reply = try client.post("/health", [], headers: lines)
            #expect(isFresh(reply.headers["x-request-id"]), "\(lines)")
        }
        #expect(
            try client.post("/health", [], headers: "Traceparent: \(Self.parent)\r\n").headers["traceparent"]
                == Self.parent)
        for text in [
            "01" + Self.parent.dropFirst(2), "ff" + Self.parent.dropFirst(2), Self.parent.uppercased(),
            Self.parent + "-00", String(Self.parent.dropLast()),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", Self.parent.replacing("-", with: "_"), "",
            Self.parent + "\r\ntraceparent: " + Self.parent,
        ] {
            let reply = try client.post("/health", [], headers: "traceparent: \(text)\r\n")
            #expect(reply.status == 200 && reply.headers["traceparent"] == nil, "\(text)")
        }
    }

    @Test func `the log of each service on the way has the name that the proxy gave`() throws {
        let fixture = try StoreFixture(.memory)
        let folder = fixture.folder
        let scene = try KeyChainScene(folder)
        let common = ["--listen", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1", "--log", "requests"]
        let more = Array(common.dropFirst(2))
        let hsm = try scene.keeper("127.0.0.1:0", more)
        let keys = try scene.keys(of: hsm, "127.0.0.1:0", more)
        let app = try ServerProcess(
            ["app", "--keys", "http://\(keys.address)", "--trust", hsm.key] + common, folder: folder)
        let server = try TestServer(clock: TestClock())
        let account = try TestAccount(on: server)
        let session = try TestSession(account.device, on: server)
        // Nobody has endorsed the key that the token names: the key service is asked for it.
        let access = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: server.clock.now)
        let headers =
            "X-Request-Id: from-the-proxy\r\ntraceparent: \(Self.parent)\r\ntracestate: a=1\r\ntracestate: b@c=2\r\n"
        let reply = try HTTPClient(app.address).post("/foo/bar", access.bytes, headers: headers)
        #expect(reply.status != 200 && reply.headers["x-request-id"] == "from-the-proxy")
        let fields = #""request":"from-the-proxy","traceparent":"\#(Self.parent)""#
        try app.waitForLog(fields)
        try keys.waitForLog(fields)
        // What the key service fails with stands in the log under the name of the request that it failed.
        keys.process.end(SIGKILL)
        let later = "X-Request-Id: without-keys\r\n"
        let other = try TestServer(clock: TestClock())
        let second = try TestSession(TestAccount(on: other).device, on: other)
        let unknown = try accessRequest(second, #"{"foo":1,"bar":2}"#, now: other.clock.now)
        #expect(try HTTPClient(app.address).post("/foo/bar", unknown.bytes, headers: later).status == 503)
        try app.waitForLog(#""event":"access""#)
        let line = app.log.split(separator: "\n").first { $0.contains(#""event":"access""#) }
        #expect(line?.contains(#""request":"without-keys""#) == true, "\(app.log)")
        // A request to the keeper of the chain, refused.
        _ = try HTTPClient(hsm.address).post("/sign", [], headers: "X-Request-Id: to-the-keeper\r\n")
        try hsm.waitForLog(#""request":"to-the-keeper""#)
    }

    @Test func `a failing store is told with the request that found it`() throws {
        let fixture = try StoreFixture(.memory)
        let path = fixture.folder + "/log"
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        var settings = HTTPSettings()
        settings.trustedProxies = [try #require(AddressBlock("127.0.0.1"))]
        let server = try TestServer(AwayStore())
        let service = AuthService(server.server, log: ServerLog(.notice, descriptor: file))
        let front = try HTTPServer(listening: "127.0.0.1:0", service, settings)
        defer { front.stop() }
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        let client = try HTTPClient(front.address)
        // Answered on another thread, and at once.
        for (name, path, body) in [
            ("first", "/account/create", try device.creation(hash).bytes),
            (
                "second", "/session/request",
                UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: device.identity)).bytes
            ),
        ] {
            #expect(try client.post(path, body, headers: "X-Request-Id: \(name)\r\n").status == 503)
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("out for lunch") && lines[0].hasSuffix(#""request":"first"}"#))
    }
}

/// A store that nobody reaches.
struct AwayStore: ServerStore {
    private static let error = StoreError.unavailable("out for lunch")

    let isRemote = false

    private func fail<Value>(_ then: @escaping Completion<Value>) {
        Thread { then(.failure(AwayStore.error)) }.start()
    }

    func account(_ identity: IdentityID) throws(StoreError) -> Account? { throw AwayStore.error }

    func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>) { fail(then) }

    func open(_ challenge: Challenge, then: @escaping Completion<Void>) { fail(then) }

    func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState { throw AwayStore.error }

    func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>) { fail(then) }

    func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>) { fail(then) }

    func probe(now: Timestamp) throws(StoreError) { throw AwayStore.error }

    func keyMark() throws(StoreError) -> KeyMark? { throw AwayStore.error }

    func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool { throw AwayStore.error }

    func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] { throw AwayStore.error }

    func close() {}
}
