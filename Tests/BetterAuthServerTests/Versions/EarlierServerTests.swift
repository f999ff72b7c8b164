import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
import Testing

@testable import BetterAuthPostgres
@testable import HoldfastServer

/// Another version of the program: `HOLDFAST_EARLIER_SERVER`, made by `scripts/earlier-server REV`.
enum EarlierServer {
    static let program = ProcessInfo.processInfo.environment["HOLDFAST_EARLIER_SERVER"]

    /// Runs it in the place of this one, which stands behind.
    static var words: [String] { ["sh", "-c", "shift; exec \"$0\" \"$@\"", program ?? ""] }

    /// Its options without limits of addresses.
    static let unlimited = ["--address-rate", "0", "--creation-rate", "0", "--challenge-rate", "0"]
}

/// This program and an earlier one with the same files and databases, one after the other and at once.
@Suite(
    .seeded,
    .enabled(
        if: EarlierServer.program != nil,
        "SKIPPED: set HOLDFAST_EARLIER_SERVER (scripts/earlier-server) to try two versions at once"
    )
) struct EarlierServerTests {
    enum Version: CaseIterable { case earlier, own }

    private let fixture: StoreFixture
    private var folder: String { fixture.folder }

    init() throws { fixture = try StoreFixture(.memory) }

    private func run(_ version: Version, _ arguments: [String]) throws -> (status: Int32, output: String) {
        try runServerCommand(arguments, folder, before: version == .own ? [] : EarlierServer.words)
    }

    private func start(_ version: Version, _ arguments: [String]) throws -> ServerProcess {
        let isServing = arguments.first == "serve"
        let unlimited = version == .own ? ServerProcess.unlimited : EarlierServer.unlimited
        return try ServerProcess(
            arguments + (isServing ? unlimited : []), folder: folder,
            before: version == .own ? [] : EarlierServer.words)
    }

    /// The version of the tables that a program makes: the number in its last words.
    private func tables(_ version: Version, _ database: String) throws -> Int {
        let made = try run(
            version, ["migrate", "--database", database] + (version == .own ? ["--backup-made"] : []))
        #expect(made.status == 0, "\(made.output)")
        return try #require(made.output.split { !$0.isNumber }.last.flatMap { Int($0) }, "\(made.output)")
    }

    /// Everything an account does, each step at the next of some servers.
    private func live(_ addresses: [String]) throws {
        var turn = 0
        func next() throws -> HTTPClient {
            turn += 1
            return try HTTPClient(addresses[turn % addresses.count])
        }
        func post(_ path: String, _ body: [UInt8]) throws -> HTTPClient.Reply {
            let reply = try next().post(path, body)
            #expect(reply.status == 200, "\(path) at \(turn % addresses.count): \(reply.text)")
            return reply
        }
        func token<X: RoutedExchange>(_ kind: X.Type, _ reply: HTTPClient.Reply) throws -> X.ResponseBody {
            try SignedMessage<Response<X>>(parsing: reply.body).payload.body
        }
        var device = try TestDevice.registered(over: next())
        func open(_ device: TestDevice) throws -> TestSession {
            let question = RequestSession.Request(nonce: try freshNonce(), identity: device.identity)
            let asked = try post("/session/request", UnsignedMessage(question).bytes)
            let (opening, current, after) = try TestSession.opening(
                device, token(RequestSession.self, asked).challenge)
            let opened = try token(CreateSession.self, post("/session/create", opening.bytes))
            return TestSession(current: current, next: after, token: opened.token)
        }
        var session = try open(device)
        for _ in 0..<3 {
            let (message, after) = try session.refreshing()
            let refreshed = try token(RefreshSession.self, post("/session/refresh", message.bytes))
            // A repeat elsewhere is the same, and another refresh by that key is none.
            _ = try post("/session/refresh", message.bytes)
            #expect(try next().post("/session/refresh", session.refreshing().0.bytes).status != 200)
            session = TestSession(current: session.next, next: after, token: refreshed.token)
            let (rotation, rotated) = try device.rotation()
            _ = try post("/device/rotate", rotation.bytes)
            device = rotated
        }
        let other = try TestDevice(identity: device.identity)
        let (linking, linked) = try device.linking(other.container())
        _ = try post("/device/link", linking.bytes)
        _ = try open(other)
        let (unlinking, alone) = try linked.unlinking(other.id)
        _ = try post("/device/unlink", unlinking.bytes)
        _ = try post("/account/delete", alone.deletion().bytes)
        #expect(try next().post("/device/rotate", alone.rotation().0.bytes).status != 200)
    }

    @Test func `two versions serve one PostgreSQL and Redis, and one takes over from the other under load`() throws {
        let pair = try DatabasePair()
        let database = try pair.postgres.makeDatabase()
        let url = pair.postgres.url(of: database)
        func serving(_ address: String) -> [String] {
            [
                "serve", "--listen", address, "--database", url, "--redis", pair.redis.location, "--keys-file",
                folder + "/keys", "--trusted-proxy", "127.0.0.1",
            ]
        }
        let earlier = try tables(.earlier, url)
        guard earlier == PostgresSchema.current.version else {
            return try expectOrder(serving("127.0.0.1:0"), url)
        }
        #expect(try tables(.own, url) == earlier)
        let both = try Version.allCases.map { try start($0, serving("127.0.0.1:0")) }
        for addresses in [both.map(\.address), both.reversed().map(\.address)] {
            for _ in 0..<3 { try live(addresses) }
        }
        for server in both { #expect(try HTTPClient(server.address).get("/ready").text == "ready\n") }
        for server in both { server.process.end(SIGTERM) }
        // Upgraded and taken back, again and again.
        var server = try start(.earlier, serving("127.0.0.1:0") + ["--share-port"])
        let proxy = try ReverseProxy(.nginx, upstream: server.address)
        let load = UpgradeLoad(proxy.address, clients: 4)
        load.waitForMore(20)
        for version in [Version.own, .earlier, .own, .earlier, .own] {
            let next = try start(version, serving(server.address) + ["--share-port"])
            server.process.signal(SIGTERM)
            #expect(server.process.wait() == 0)
            server = next
            load.waitForMore(20)
        }
        #expect(load.end() == [])
    }

    /// Tables of different versions: the order that the documents say, and no other.
    private func expectOrder(_ serving: [String], _ url: String) throws {
        let early = try run(.own, serving)
        #expect(early.status == 1 && early.output.contains("holdfast-server migrate"), "\(early.output)")
        let before = try start(.earlier, serving)
        try live([before.address])
        before.process.end(SIGTERM)
        #expect(try tables(.own, url) == PostgresSchema.current.version)
        let late = try run(.earlier, serving)
        #expect(late.status == 1 && late.output.contains("has version"), "\(late.output)")
        #expect(try run(.earlier, ["migrate", "--database", url]).status == 1)
        #expect(try tables(.own, url) == PostgresSchema.current.version)
        let after = try start(.own, serving)
        try live([after.address])
    }

    @Test func `a key chain is kept and published by one version after the other`() throws {
        let scene = try KeyChainScene(folder)
        for (index, version) in [Version.earlier, .own, .earlier, .own].enumerated() {
            let other = version == .own ? Version.earlier : .own
            let hsm = try start(version, ["hsm", "--listen", "127.0.0.1:0"] + scene.options)
            let keys = try start(
                other, ["keys", "--listen", "127.0.0.1:0", "--hsm", "http://\(hsm.address)", "--trust", hsm.key])
            for publisher in Version.allCases {
                let database = folder + "/\(publisher).db"
                let server = try start(
                    publisher,
                    ["serve", "--listen", "127.0.0.1:0", "--database", database] + scene.publishing(hsm, keys))
                try server.waitUntilReady(says: "ready\n")
                server.process.end(SIGTERM)
            }
            #expect(try scene.order("/rotate", generation: index, of: hsm).status == 200)
            for process in [keys, hsm] { process.process.end(SIGTERM) }
        }
    }

    @Test func `this version serves the files of an earlier one, which serves them again or refuses them whole`() throws
    {
        let database = fixture.path
        let serving = [
            "serve", "--listen", "127.0.0.1:0", "--database", database, "--audit-log", folder + "/audit.log",
        ]
        func audit(_ version: Version) throws {
            let result = try run(version, ["audit", "verify", folder + "/audit.log", "--database", database])
            #expect(result.status == 0, "\(result.output)")
        }
        let before = try start(.earlier, serving)
        let client = try HTTPClient(before.address)
        var device = try TestDevice.registered(over: client)
        let session = try TestSession.opened(device, over: client)
        before.process.end(SIGTERM)
        let own = try start(.own, serving)
        #expect(own.key == before.key)
        #expect(try HTTPClient(own.address).post("/session/refresh", session.refreshing().0.bytes).status == 200)
        let (rotation, rotated) = try device.rotation()
        #expect(try HTTPClient(own.address).post("/device/rotate", rotation.bytes).status == 200)
        device = rotated
        try live([own.address])
        own.process.end(SIGTERM)
        try audit(.own)
        try audit(.earlier)
        #expect(
            try run(.own, ["rotate-keys", "--keys-file", database + ".keys", "--publish-seconds", "0"]).status == 0)
        let whole = try Data(contentsOf: URL(fileURLWithPath: database))
        let back = try run(.earlier, ["migrate", "--database", database])
        if back.status == 0 {
            let again = try start(.earlier, serving)
            let (message, _) = try device.rotation()
            #expect(try HTTPClient(again.address).post("/device/rotate", message.bytes).status == 200)
            try live([again.address])
            again.process.end(SIGTERM)
            try audit(.own)
        } else {
            #expect(back.status == 1 && back.output.contains("has version"), "\(back.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == whole)
        }
    }
}
