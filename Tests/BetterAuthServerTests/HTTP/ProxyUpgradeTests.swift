import BetterAuthHTTP
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
import Testing

/// A server that is replaced behind a proxy, while clients live their lives.
@Suite(.seeded) struct ProxyUpgradeTests {
    private static let installed = ReverseProxy.Kind.expected
    private static let limits = ["--trusted-proxy", "127.0.0.1", "--log", "warning"] + ServerProcess.unlimited
    private let upgrades = TestRun.count(test: 3, check: 10, soak: 100)

    /// The configuration of the documents: one server that systemd holds the socket of, with its accounts in SQLite.
    @Test(arguments: TestRun.kinds(installed, of: "restarts"))
    func `no request is lost behind a proxy when the server is restarted on its socket`(
        _ kind: ReverseProxy.Kind
    ) throws {
        let fixture = try StoreFixture(.memory)
        let listener = try HTTPListener("127.0.0.1:0")
        func start() throws -> ServerProcess {
            try ServerProcess(
                ["serve", "--listen", "systemd", "--database", fixture.path] + Self.limits, folder: fixture.folder,
                before: UpgradeTests.activation, passing: listener.passable)
        }
        var server = try start()
        let proxy = try ReverseProxy(kind, upstream: listener.address)
        let load = UpgradeLoad(proxy.address)
        load.waitForMore(20)
        for _ in 0..<upgrades {
            try load.across {
                server.process.signal(SIGTERM)
                #expect(server.process.wait() == 0, "\(server.log)")
                server = try start()
            }
            load.waitForMore(20)
        }
        #expect(load.end() == [], "\(proxy.log)")
        server.process.end(SIGTERM)
        try load.expectAccounts(in: fixture.path, fixture.folder)
    }

    /// Two processes over PostgreSQL and Redis share the port while one takes over from the other. The kernel resets
    /// what waits at a socket that is closed. Caddy 2.6 answers 502 then, also when it keeps bodies and may send a POST
    /// again (`buffer_requests`, `lb_retry_match`), and is left out.
    @Test(arguments: TestRun.kinds(installed.filter { $0 != .caddy }, of: "successors"))
    func `no request is lost behind a proxy when a second server takes over the port`(
        _ kind: ReverseProxy.Kind
    ) throws {
        let pair = try DatabasePair()
        let fixture = try StoreFixture(.memory)
        func start(_ address: String) throws -> ServerProcess {
            try ServerProcess(
                [
                    "serve", "--listen", address, "--share-port", "--database", pair.postgres.url, "--redis",
                    pair.redis.location, "--keys-file", fixture.folder + "/keys",
                ] + Self.limits, folder: fixture.folder)
        }
        var server = try start("127.0.0.1:0")
        let address = server.address
        let proxy = try ReverseProxy(kind, upstream: address)
        let load = UpgradeLoad(proxy.address)
        load.waitForMore(20)
        for _ in 0..<upgrades {
            try load.across {
                let next = try start(address)
                server.process.signal(SIGTERM)
                #expect(server.process.wait() == 0, "\(server.log)")
                server = next
            }
            load.waitForMore(20)
        }
        #expect(load.end() == [], "\(proxy.log)")
    }
}
