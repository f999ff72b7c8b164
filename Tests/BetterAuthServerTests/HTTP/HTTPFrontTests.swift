import BetterAuth
import BetterAuthHTTP
import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Cryptography
import Dispatch
import Foundation
import RealParts
import Synchronization
import TestSupport
import Testing

/// A front in this process.
final class TestFront {
    let server: TestServer
    let service: AuthService
    let front: HTTPServer
    private var isStopped = false

    init(
        _ store: any ServerStore = MemoryStore(), _ settings: HTTPSettings = HTTPSettings(),
        rates: AuthService.Rates? = nil
    ) throws {
        let server = try TestServer(store)
        self.server = server
        service = AuthService(server.server, rates: rates ?? AuthService.Rates(perSecond: 0))
        front = try HTTPServer(listening: "127.0.0.1:0", service, settings)
    }

    @discardableResult
    func stop() -> Bool {
        guard !isStopped else { return true }
        isStopped = true
        return front.stop()
    }

    deinit {
        stop()
        service.close()
    }
}

/// A session's access request.
func accessRequest(
    _ session: TestSession, _ body: String, now: Timestamp, nonce: NonceText? = nil
) throws -> SignedMessage<Access.Request> {
    let request = Access.Request(
        nonce: try nonce ?? freshNonce(), timestamp: now, token: session.token, body: try ApplicationData(json: body))
    return try SignedMessage(request, by: session.current)
}

@Suite struct HTTPFrontTests {
    @Test(arguments: [StoreKind.memory, .sqlite])
    func operationsOverOneConnection(_ kind: StoreKind) throws {
        let fixture = try StoreFixture(kind)
        let front = try TestFront(fixture.store)
        let client = try HTTPClient(front.front.address)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        let creation = try device.creation(hash)
        let reply = try client.post("/account/create", creation.bytes)
        #expect(reply.status == 200 && reply.headers["content-type"] == "application/json")
        let response = try SignedMessage<Response<CreateAccount>>(parsing: reply.body)
        #expect(response.payload.nonce == creation.payload.nonce)
        // A repeat is answered with the same bytes, also from another connection.
        #expect(try client.post("/account/create", creation.bytes).body == reply.body)
        #expect(try HTTPClient(front.front.address).post("/account/create", creation.bytes).body == reply.body)
        let rotation = try device.rotation().0
        #expect(try client.post("/device/rotate", rotation.bytes).status == 200)
        let refused = try client.post("/device/rotate", device.rotation().0.bytes)
        #expect(refused.status == 400 && refused.text.hasPrefix(#"{"error":{"code":"BA104","#))
        front.stop()
    }

    @Test func otherPaths() throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        #expect(try client.post("/key/response", []).text == front.server.responseKey.publicKey.description)
        #expect(try client.get("/health").text == "ok\n")
        #expect(try client.get("/ready").text == "ready\n")
        let unknown = try client.post("/foo/bar", Array("{}".utf8))
        #expect(unknown.status == 404 && unknown.text.contains("HF404"))
        let method = try client.get("/account/create")
        #expect(method.status == 405 && method.text.contains("HF405"))
        let bad = try client.post("/account/create", Array("{}".utf8))
        #expect(bad.status == 400 && bad.text.contains("BA101"))
        let metrics = try client.get("/metrics").text
        #expect(metrics.contains(#"holdfast_replies_total{path="/account/create",code="BA101"} 1"#))
        #expect(metrics.contains(#"holdfast_replies_total{path="other",code="HF404"} 1"#))
        front.service.beginStopping()
        #expect(try client.get("/ready").status == 503)
        #expect(try client.get("/health").status == 200)
    }

    @Test func bodiesThatAreTooLarge() throws {
        let front = try TestFront()
        let body = [UInt8](repeating: 0x20, count: 65_537)
        let announced = try HTTPClient(front.front.address).post("/account/create", body)
        #expect(announced.status == 413 && announced.text.contains("HF413"))
        // Far too large: answered before it is sent.
        let huge = try HTTPClient(front.front.address)
        huge.send(Array("POST /account/create HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n".utf8))
        #expect(try huge.reply().status == 413)
        // At the limit it is a message like any other.
        let client = try HTTPClient(front.front.address)
        #expect(try client.post("/account/create", [UInt8](repeating: 0x20, count: 65_536)).status == 400)
    }

    /// What does not fit into a connection's memory is refused by the library, with a page of its own.
    @Test(arguments: [
        (String(repeating: "X: y\r\n", count: 2000), "/health"),
        ("X: \(String(repeating: "x", count: 60_000))\r\n", "/health"),
        ("", "/health?\(String(repeating: "x", count: 60_000))"),
        ("X: \(String(repeating: "x", count: 3_000_000))\r\n", "/health"),
    ])
    func `a head larger than a connection's memory ends the connection`(_ lines: String, _ target: String) throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        let second = "GET /key/response HTTP/1.1\r\nHost: a\r\n\r\n"
        client.send(Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\(second)".utf8))
        let text = String(decoding: client.rest(), as: UTF8.self)
        // The end of a connection with unread bytes may take the reply with it.
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 431") || text.hasPrefix("HTTP/1.1 414"), "\(text.prefix(80))")
        #expect(!text.contains("200 OK"))
        #expect(try HTTPClient(front.front.address).get("/health").status == 200)
    }

    @Test func headersThatAreTooLarge() throws {
        let front = try TestFront()
        let client = try HTTPClient(front.front.address)
        let reply = try client.post("/account/create", [], headers: "X: \(String(repeating: "x", count: 30_000))\r\n")
        #expect((400..<500).contains(reply.status))
    }

    @Test func anAddressIsLimited() throws {
        var rates = AuthService.Rates()
        rates.requests = (0.001, 5)
        rates.creations = (0.001, 2)
        let front = try TestFront(rates: rates)
        let client = try HTTPClient(front.front.address)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try client.post("/account/create", [0x7B]).status) }
        #expect(statuses == [400, 400, 429])
        for _ in 0..<3 { statuses.append(try client.post("/device/rotate", [0x7B]).status) }
        #expect(statuses.suffix(3) == [400, 400, 429])
        #expect(try client.get("/health").status == 200)
    }

    /// Behind a proxy each client is limited alone, and nobody by an address that a client has written down.
    @Test func clientsBehindAProxyAreLimitedEach() throws {
        var rates = AuthService.Rates()
        rates.requests = (0.001, 2)
        var settings = HTTPSettings()
        func status(_ client: HTTPClient, _ forwarded: String) throws -> Int {
            try client.post("/device/rotate", [0x7B], headers: "X-Forwarded-For: \(forwarded)\r\n").status
        }
        let open = try TestFront(MemoryStore(), settings, rates: rates)
        let stranger = try HTTPClient(open.front.address)
        #expect(try (1...3).map { try status(stranger, "9.9.9.\($0)") } == [400, 400, 429])
        settings.trustedProxies = [try #require(AddressBlock("127.0.0.0/8"))]
        let front = try TestFront(MemoryStore(), settings, rates: rates)
        let proxy = try HTTPClient(front.front.address)
        #expect(try ["9.9.9.1", "9.9.9.1", "9.9.9.1"].map { try status(proxy, $0) } == [400, 400, 429])
        #expect(try status(proxy, "9.9.9.2") == 400)
        // What stands before the last address, the client may have written.
        #expect(try status(proxy, "8.8.8.8, 9.9.9.1") == 429)
    }

    @Test func theExampleApplication() throws {
        let front = try TestApp()
        let account = try TestAccount(on: front.server)
        let session = try TestSession(account.device, on: front.server)
        let client = try HTTPClient(front.front.address)
        let now = front.server.clock.now
        let message = try accessRequest(session, #"{"foo":"x","bar":[1,{"y":"é"}]}"#, now: now)
        let reply = try client.post("/foo/bar", message.bytes)
        let response = try SignedMessage<Response<Access>>(parsing: reply.body)
        #expect(response.payload.nonce == message.payload.nonce)
        #expect(
            String(decoding: response.payload.body.bytes, as: UTF8.self)
                == #"{"wasFoo":"x","wasBar":[1,{"y":"é"}],"serverName":"test"}"#)
        let isAuthentic = response.withSignedBytes { bytes in
            response.signature.withRawBytes { front.server.responseKey.verifier.isValid(signature: $0, for: bytes) }
        }
        #expect(isAuthentic)
        #expect(try client.post("/foo/bar", message.bytes).text.contains("HF410"))
        let bad = try client.post("/bad/nonce", accessRequest(session, #"{"foo":1,"bar":2}"#, now: now).bytes)
        let other = try SignedMessage<Response<Access>>(parsing: bad.body)
        #expect(throws: ProtocolError.self) { try other.payload.check(nonce: message.payload.nonce) }
        // Unlinked, the device is refused at once.
        #expect(try front.server.send(DeleteAccount.self, account.device.deletion()) == nil)
        let refused = try client.post("/foo/bar", accessRequest(session, #"{"foo":1,"bar":2}"#, now: now).bytes)
        #expect(refused.text.contains("BA103"))
    }

    /// Bodies of all kinds, over the wire: each gets an answer, and the server continues.
    @Test func everyBodyIsAnswered() throws {
        let front = try TestFront()
        let account = try TestAccount(on: front.server)
        let bodies = try DamagedBodies(account.device)
        let failures = try bodies.post(TestRun.isSoak ? 200_000 : 1200, to: front.front.address)
        #expect(failures.isEmpty, "seed \(bodies.seed)")
        #expect(try HTTPClient(front.front.address).get("/health").status == 200)
    }

    /// The same against the built server: it does not grow by what it refuses.
    @Test(.enabled(if: !Sanitizer.isPresent, "sizes say nothing under a sanitizer"))
    func damagedBodiesLeaveNothingBehind() throws {
        let fixture = try StoreFixture(.memory)
        let server = try ServerProcess(
            freshServer(in: fixture.folder) + ServerProcess.unlimited,
            folder: fixture.folder)
        func resident() throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(server.process.identifier)/status", encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
            return try #require(Int(line.filter(\.isNumber)))
        }
        let bodies = try DamagedBodies(TestDevice())
        let count = TestRun.isSoak ? 100_000 : 1500
        #expect(try bodies.post(count, to: server.address).isEmpty, "seed \(bodies.seed)")
        let before = try resident()
        #expect(try bodies.post(count, to: server.address).isEmpty, "seed \(bodies.seed)")
        #expect(try resident() <= before + 2048, "KiB; seed \(bodies.seed)")
    }

    /// What is no HTTP at all ends its own connection and nothing else.
    @Test func brokenRequestsHurtNobody() throws {
        let front = try TestFront()
        for text in [
            "\r\n\r\n\r\n", "GARBAGE\r\n\r\n", "POST\r\n\r\n", "POST /account/create HTTP/9.9\r\n\r\n",
            "POST /account/create HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST /account/create HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST /account/create HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        ] {
            let client = try HTTPClient(front.front.address)
            client.send(Array(text.utf8))
            #expect(try HTTPClient(front.front.address).get("/health").status == 200)
        }
    }

    @Test func slowClientsHoldNobodyUpAndAreEnded() throws {
        var settings = HTTPSettings()
        settings.requestSeconds = 1
        settings.connectionsPerAddress = 5000
        let front = try TestFront(MemoryStore(), settings)
        let slow = try (0..<2000).map { _ in try HTTPClient(front.front.address) }
        // A third says nothing, a third half of its headers, a third half of its body.
        for (index, client) in slow.enumerated() where index % 3 > 0 {
            let head = "POST /account/create HTTP/1.1\r\nHost: a\r\nContent-Len"
            client.send(Array((index % 3 == 1 ? head : head + "gth: 100\r\n\r\n{\"pay").utf8))
        }
        let quick = try HTTPClient(front.front.address)
        for _ in 0..<50 { #expect(try quick.get("/health").status == 200) }
        // Each further byte comes in time, and the whole request does not.
        for client in slow.enumerated().filter({ $0.offset % 3 == 2 }).map(\.element) { client.send([0x6C]) }
        for client in slow { #expect(client.isClosed()) }
    }

    @Test func connectionsOfAnAddressAreLimited() throws {
        var settings = HTTPSettings()
        settings.connectionsPerAddress = 5
        let front = try TestFront(MemoryStore(), settings)
        let held = try (0..<5).map { _ in try HTTPClient(front.front.address) }
        for client in held { #expect(try client.get("/health").status == 200) }
        #expect(throws: HTTPClient.Problem.self) { try HTTPClient(front.front.address).get("/health") }
        #expect(try held[0].get("/health").status == 200)
    }

    /// Behind a proxy all clients come from one address: the limit of one address is not the proxy's.
    @Test func `connections of a trusted proxy are not limited as those of one address`() throws {
        var settings = HTTPSettings()
        settings.connectionsPerAddress = 5
        settings.trustedProxies = [try #require(AddressBlock("127.0.0.1"))]
        let front = try TestFront(MemoryStore(), settings)
        let held = try (0..<12).map { _ in try HTTPClient(front.front.address) }
        for client in held { #expect(try client.get("/health").status == 200) }
        let others = try (0..<5).map { _ in try HTTPClient(front.front.address, from: "127.0.0.2") }
        for client in others { #expect(try client.get("/health").status == 200) }
        #expect(throws: HTTPClient.Problem.self) {
            try HTTPClient(front.front.address, from: "127.0.0.2").get("/health")
        }
    }

    /// A stop lets in nobody and loses nothing: what was answered is there, and everything that was asked is answered.
    @Test func stoppingFinishesWhatIsUnderWay() throws {
        let fixture = try StoreFixture(.sqlite)
        let front = try TestFront(fixture.store)
        let address = front.front.address
        let made = Mutex<[IdentityID]>([])
        let refused = Mutex(0)
        let begun = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for _ in 0..<8 {
            let thread = Thread {
                defer { group.leave() }
                do {
                    let client = try HTTPClient(address)
                    while true {
                        let hash = RecoveryHash(try freshDigest())
                        let device = try TestDevice(recovery: hash)
                        let reply = try client.post("/account/create", device.creation(hash).bytes)
                        if reply.status == 200 {
                            made.withLock { $0.append(device.identity) }
                        } else {
                            refused.withLock { $0 += 1 }
                        }
                        begun.signal()
                    }
                } catch {}
            }
            group.enter()
            thread.start()
        }
        for _ in 0..<40 { begun.wait() }
        #expect(front.stop())
        group.wait()
        #expect(refused.withLock { $0 } == 0)
        for identity in made.withLock({ $0 }) { #expect(try fixture.store.account(identity) != nil) }
        #expect(throws: HTTPClient.Problem.self) { try HTTPClient(address) }
    }
}

@Suite struct AddressTests {
    @Test func blocksContainTheirAddresses() throws {
        let cases: [(String, String, Bool)] = [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::1", "::1", true),
            ("2001:db8::1/128", "2001:db8::2", false),
        ]
        for (block, address, isInside) in cases {
            #expect(
                try #require(AddressBlock(block)).contains(#require(ClientAddress(address))) == isInside,
                "\(block) \(address)")
        }
        for text in ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "host", "1.2.3", "::/129", "1.2.3.4/8/8"] {
            #expect(AddressBlock(text) == nil, "\(text)")
        }
    }

    @Test func aBucketFillsAgain() throws {
        let rates = AddressRates(perSecond: 2, burst: 3)
        let (one, other) = (try #require(ClientAddress("2001:db8::1")), try #require(ClientAddress("2001:db9::1")))
        let neighbour = try #require(ClientAddress("2001:db8::2"))
        for _ in 0..<3 { #expect(rates.admit(one, now: 0)) }
        // The whole network of one subscriber counts together.
        #expect(!rates.admit(neighbour, now: 0) && rates.admit(other, now: 0))
        #expect(rates.admit(one, now: 0.6) && !rates.admit(one, now: 0.6))
        for _ in 0..<3 { #expect(rates.admit(one, now: 100)) }
        #expect(!rates.admit(one, now: 100))
    }
}
