import BetterAuthMessages
import BetterAuthServer
import MemoryServerStore
import Foundation
import RealParts
import TestSupport
import Testing

@testable import BetterAuthHTTP

/// The server behind proxies of Debian's, with the configurations of Docs/proxies.
@Suite(.seeded) struct ProxyTests {
    private static let installed = TestRun.kinds(ReverseProxy.Kind.expected, of: "proxies")

    private func front(_ burst: Double) throws -> TestFront {
        var rates = AuthService.Rates()
        rates.requests = (0.0001, burst)
        var settings = HTTPSettings()
        settings.trustedProxies = [try #require(AddressBlock("127.0.0.1"))]
        return try TestFront(MemoryStore(), settings, rates: rates)
    }

    @Test(arguments: installed)
    func `behind a proxy a client has its own address, whatever it writes itself`(_ kind: ReverseProxy.Kind) throws {
        let front = try front(3)
        let proxy = try ReverseProxy(kind, upstream: front.front.address)
        for client in ["127.0.0.7", "127.0.0.8"] {
            let connection = try HTTPClient(proxy.address, from: client)
            var statuses: [Int] = []
            for number in 1...5 {
                // One line, two lines, a list, the proxy's own address, no address at all.
                let header = [
                    "X-Forwarded-For: 9.9.9.1\r\n", "X-Forwarded-For: 9.9.9.2\r\nX-Forwarded-For: 9.9.9.3\r\n",
                    "X-Forwarded-For: 9.9.9.4, 9.9.9.5\r\n", "x-forwarded-for: 127.0.0.1\r\n",
                    "X-Forwarded-For: nonsense\r\nForwarded: for=9.9.9.6\r\n",
                ][number - 1]
                statuses.append(try connection.post("/device/rotate", [0x7B], headers: header).status)
            }
            #expect(statuses == [400, 400, 400, 429, 429], "\(client)")
        }
        #expect(try HTTPClient(front.front.address).get("/metrics").status == 200)
        let outside = try HTTPClient(proxy.address, from: "127.0.0.9")
        #expect(try outside.get("/metrics").status == 404)
    }

    @Test(arguments: installed)
    func `behind a proxy each request is named by the proxy, and never by a client`(_ kind: ReverseProxy.Kind) throws {
        let front = try front(1_000_000)
        let proxy = try ReverseProxy(kind, upstream: front.front.address)
        let client = try HTTPClient(proxy.address)
        var names: Set<String> = []
        for _ in 0..<3 {
            let reply = try client.post(
                "/health", [],
                headers: "X-Request-Id: mine\r\ntraceparent: \(RequestTraceTests.parent)\r\n")
            let name = try #require(reply.headers["x-request-id"])
            // Each of the three makes them in another form.
            #expect(name != "mine" && name.count >= 32 && reply.headers["traceparent"] == nil, "\(name)")
            if kind != .nginx { #expect(name.count == 36) }
            names.insert(name)
        }
        #expect(names.count == 3)
    }

    @Test(arguments: installed)
    func `limits and framing hold through a proxy, and connections are kept`(_ kind: ReverseProxy.Kind) throws {
        let front = try front(1_000_000)
        let proxy = try ReverseProxy(kind, upstream: front.front.address)
        let client = try HTTPClient(proxy.address)
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        #expect(try client.post("/account/create", device.creation(hash).bytes).status == 200)
        func connections() throws -> Int {
            let text = try HTTPClient(front.front.address).get("/metrics").text
            let line = text.split(separator: "\n").first { $0.hasPrefix("holdfast_connections_total ") }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }
        let before = try connections()
        for _ in 0..<200 { #expect(try client.get("/health").text == "ok\n") }
        // HAProxy looks at /ready now and then, with a connection each time.
        #expect(try connections() - before < 100, "the proxy keeps its connections")
        let head = try HTTPClient(proxy.address).post(
            "/account/create", [], headers: "X: \(String(repeating: "x", count: 17_000))\r\n")
        #expect(head.status == 413 && head.text.contains("HF413"), "\(head.status) \(head.text)")
        let fitting = try HTTPClient(proxy.address).post(
            "/account/create", [], headers: "X: \(String(repeating: "x", count: 15_000))\r\n")
        #expect(fitting.status == 400 && !fitting.text.contains("HF"), "\(fitting.status) \(fitting.text)")
        let large = try HTTPClient(proxy.address).post("/account/create", [UInt8](repeating: 0x20, count: 65_537))
        #expect(large.status == 413 && large.text.contains("HF413"))
        // Two requests in the bytes of one: whoever sees two, they are not both answered as if nothing was.
        let hidden = "GET /key/response HTTP/1.1\r\nHost: a\r\n\r\n"
        for head in [
            "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 0\r\nContent-Length: \(hidden.utf8.count)\r\n",
            "Content-Length : \(hidden.utf8.count)\r\n", "Transfer-Encoding: xchunked\r\n",
            "X: a\r\n Transfer-Encoding: chunked\r\n",
        ] {
            let smuggler = try HTTPClient(proxy.address)
            smuggler.send(Array("POST /device/rotate HTTP/1.1\r\nHost: a\r\n\(head)\r\n\(hidden)".utf8))
            let text = String(decoding: smuggler.rest(), as: UTF8.self)
            // 5xx is a proxy's word for what it does not pass on.
            let isRefused = ["HTTP/1.1 4", "HTTP/1.1 5", "HTTP/1.0 4"].contains { text.hasPrefix($0) }
            #expect(isRefused || text.isEmpty, "\(head): \(text)")
        }
        #expect(try client.get("/health").text == "ok\n")
    }
}

@Suite struct RequestOriginTests {
    private func origin(_ peer: String, _ forwarded: [String], _ isMarked: Bool = false) throws -> RequestOrigin {
        let proxies = [try #require(AddressBlock("10.0.0.0/8"))]
        return RequestOrigin(
            peer: try #require(ClientAddress(peer)), forwarded: forwarded, isMarked: isMarked, trusting: proxies)
    }

    @Test func `only proxies are believed, and the end of what they say`() throws {
        let cases: [(String, [String], String)] = [
            ("1.2.3.4", ["9.9.9.9"], "1.2.3.4"), ("10.0.0.1", ["9.9.9.9"], "9.9.9.9"),
            ("10.0.0.1", ["6.6.6.6, 9.9.9.9"], "9.9.9.9"), ("10.0.0.1", ["9.9.9.9, 10.0.0.2"], "9.9.9.9"),
            ("10.0.0.1", [], "10.0.0.1"), ("10.0.0.1", ["6.6.6.6", "9.9.9.9"], "9.9.9.9"),
            ("10.0.0.1", ["6.6.6.6", "9.9.9.9, 10.0.0.2", "10.0.0.3"], "9.9.9.9"),
            ("10.0.0.1", ["10.0.0.9"], "10.0.0.9"), ("10.0.0.1", ["9.9.9.9:443"], "9.9.9.9"),
            ("10.0.0.1", ["[2001:db8::1]:443"], "2001:db8:0:0:0:0:0:1"),
            ("10.0.0.1", ["2001:db8::1"], "2001:db8:0:0:0:0:0:1"),
            ("10.0.0.1", ["\t 9.9.9.9 "], "9.9.9.9"),
        ]
        for (peer, forwarded, client) in cases {
            #expect(try origin(peer, forwarded).address.description == client, "\(peer) \(forwarded)")
        }
    }

    @Test func `what a proxy writes that is no address is not the proxy`() throws {
        for forwarded in [
            ["unknown"], ["1.1.1.1, garbage, 10.0.0.2"], [""], ["9.9.9.9,"], ["unix:"], ["9.9.9.9:x"], ["[::1"],
            ["[9.9.9.9]"],
        ] {
            let origin = try origin("10.0.0.1", forwarded)
            #expect(origin.address == .unknown && !origin.isProven, "\(forwarded)")
        }
        #expect(try !origin("1.2.3.4", [], true).isProven)
        #expect(try origin("1.2.3.4", []).isProven && origin("10.0.0.1", ["9.9.9.9"]).isProven)
    }

    @Test func `a header from a proxy that is not trusted closes the metrics and is told once`() throws {
        let told = Told()
        var settings = HTTPSettings()
        settings.onUntrustedProxy = { told.add($0.description) }
        let front = try TestFront(MemoryStore(), settings)
        let client = try HTTPClient(front.front.address)
        #expect(try client.get("/metrics").status == 200)
        for _ in 0..<3 {
            let reply = try client.post("/metrics", [], headers: "X-Forwarded-For: 127.0.0.1\r\n")
            #expect(reply.status == 404)
        }
        // The proxy is on this machine, so what comes from this machine may be anybody's.
        #expect(try client.get("/metrics").status == 404)
        #expect(told.all == ["127.0.0.1"])
        // A reload does not forget it, unless it is the one that trusts the proxy.
        settings.requestSeconds += 1
        settings.trustedProxies = [try #require(AddressBlock("10.0.0.0/8"))]
        try front.front.renew(settings)
        #expect(try HTTPClient(front.front.address).get("/metrics").status == 404)
        settings.trustedProxies = [try #require(AddressBlock("127.0.0.0/8"))]
        try front.front.renew(settings)
        #expect(try HTTPClient(front.front.address).get("/metrics").status == 200)
    }

    /// Any program of this machine can send the header once.
    @Test func `what was claimed on this machine is forgotten ten minutes later`() throws {
        let claims = ProxyClaims()
        let (local, other) = (try origin("127.0.0.1", ["9.9.9.9"]), try origin("9.9.9.9", ["1.1.1.1"]))
        #expect(claims.note(other, now: 1000) && !claims.areLocal(now: 1000))
        #expect(!claims.note(local, now: 1000) && claims.areLocal(now: 1000))
        #expect(!claims.note(try origin("127.0.0.1", []), now: 1500), "no claim")
        #expect(claims.areLocal(now: 1599.9) && !claims.areLocal(now: 1600))
        // A proxy continues claiming.
        _ = claims.note(local, now: 1590)
        #expect(claims.areLocal(now: 2189) && claims.trusting([]).areLocal(now: 2189) && !claims.areLocal(now: 2190))
    }

    @Test func `metrics that are open to this machine's address by an option stay open`() throws {
        let fixture = try StoreFixture(.memory)
        for (options, after) in [([], 404), (["--metrics-from", "127.0.0.1"], 200)] as [([String], Int)] {
            let server = try ServerProcess(
                freshServer(in: fixture.folder) + options, folder: fixture.folder)
            let client = try HTTPClient(server.address)
            #expect(try client.get("/metrics").status == 200)
            _ = try client.post("/health", [], headers: "X-Forwarded-For: 9.9.9.9\r\n")
            #expect(try client.get("/metrics").status == after, "\(options)")
            // Never what a proxy may have passed on.
            let reply = try client.post("/metrics", [], headers: "X-Forwarded-For: 127.0.0.1\r\n")
            #expect(reply.status == 404)
        }
    }
}

extension ReverseProxy.Kind {
    static var expected: [Self] { TestRun.expected(allCases, where: \.isInstalled) }
}
