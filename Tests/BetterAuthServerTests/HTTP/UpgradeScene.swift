import BetterAuthHTTP
import BetterAuthServer
import Foundation
import RealParts
import TestSupport
import Testing

/// How one server takes the place of another (operations.md 7).
enum UpgradeWay: String, CaseIterable, CustomTestStringConvertible, Sendable {
    /// PostgreSQL and Redis; the new one starts, then the old one stops.
    case port = "shared port"
    /// SQLite; the old one stops, then the new one starts.
    case socket = "systemd's socket"
    /// PostgreSQL and Redis; two behind a proxy, one after the other.
    case processes = "several processes"

    var testDescription: String { rawValue }
}

/// What works together with each.
enum UpgradeFeature: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case sqlite = "SQLite"
    case admin = "`admin-socket`"
    case audit = "`audit-log`"
    case tls = "TLS"
    case rotation = "`rotate-keys`"
    case chain = "a key chain"
    case configuration = "`config`"
    case tpm = "`keys-in tpm`"
    case metrics = "`/metrics`, `/ready`"

    var testDescription: String { rawValue }

    /// What the documents say of the pair.
    func promise(_ way: UpgradeWay) -> String {
        switch (self, way) {
        case (.sqlite, .port), (.sqlite, .processes): "refused"
        case (.admin, .port): "goes over"
        case (.admin, .processes): "one each"
        case (.rotation, .port), (.rotation, .processes): "on one machine"
        default: "yes"
        }
    }
}

/// Servers that are replaced while clients live their lives.
final class UpgradeScene {
    let way: UpgradeWay
    let fixture: StoreFixture
    let keys: String
    private let databases: DatabasePair?
    private let listener: HTTPListener
    private let options: (_ place: Int) -> [String]
    private let environment: [String: String]
    private(set) var servers: [ServerProcess] = []
    private(set) var load: UpgradeLoad?
    private var proxy: ReverseProxy?

    /// - Parameter options: Of the server in a place: 0 for the only one.
    init(
        _ way: UpgradeWay, _ fixture: StoreFixture, environment: [String: String] = [:],
        _ options: @escaping (_ place: Int) -> [String]
    ) throws {
        self.way = way
        self.fixture = fixture
        self.environment = environment
        self.options = options
        listener = try HTTPListener("127.0.0.1:0")
        databases = way == .socket ? nil : try DatabasePair()
        keys = way == .socket ? fixture.path + ".keys" : fixture.folder + "/keys"
    }

    deinit { _ = load?.end() }

    /// What follows `serve` for a server in a place.
    func words(_ place: Int, at address: String? = nil) -> [String] {
        let listening =
            switch way {
            case .port: ["--listen", address ?? "127.0.0.1:0", "--share-port"]
            case .socket: ["--listen", "systemd"]
            // Addresses that no other program's connections come from: a port is free for the next one.
            case .processes: ["--listen", address ?? "127.0.0.77:0"]
            }
        let data =
            databases.map {
                ["--database", $0.postgres.url, "--redis", $0.redis.location, "--keys-file", keys]
            } ?? ["--database", fixture.path]
        return ["serve"] + listening + data + ServerProcess.unlimited + options(place)
    }

    private func start(_ place: Int, at address: String? = nil) throws -> ServerProcess {
        try ServerProcess(
            words(place, at: address), folder: fixture.folder, environment: environment,
            before: way == .socket ? UpgradeTests.activation : [], passing: way == .socket ? listener.passable : nil)
    }

    private func stop(_ server: ServerProcess) {
        server.process.signal(SIGTERM)
        #expect(server.process.wait() == 0, "\(server.log)")
    }

    func begin(speaksTLS: Bool = false) throws {
        for place in 0..<(way == .processes ? 2 : 1) { servers.append(try start(place)) }
        let isDirect = way == .socket && !speaksTLS
        if !isDirect {
            proxy = try ReverseProxy(.nginx, upstreams: servers.map(\.address), speaksTLS: speaksTLS)
        }
        load = UpgradeLoad(proxy?.address ?? servers[0].address, clients: 4)
        load?.waitForMore(10)
    }

    /// Replaces each server.
    /// - Parameter meanwhile: Called with all that run, before one of them stops.
    func replace(_ meanwhile: ([ServerProcess]) throws -> Void) throws {
        for place in servers.indices {
            let old = servers[place]
            try load?.across {
                if way == .port { servers[place] = try start(place, at: old.address) }
                try meanwhile(way == .port ? [old] + servers : servers)
                stop(old)
                if way != .port { servers[place] = try start(place, at: old.address) }
            }
            load?.waitForMore(10)
        }
    }

    /// Ends the clients, then the servers.
    /// - Returns: What failed.
    func end() -> [String] {
        let failures = load?.end() ?? []
        servers.forEach { stop($0) }
        servers = []
        return failures
    }
}
