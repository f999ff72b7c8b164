import Foundation
import RealParts
import TestSupport

/// The deployment that the documents describe, of their own configurations and commands: two servers on two machines,
/// a key chain, an application server, PostgreSQL, Redis, nginx in front, and Prometheus with the alert rules.
final class Deployment {
    let folder: ScratchFolder
    let pair: (postgres: PostgresServer, redis: RedisServer)
    let addresses: [Part: String]
    let database: String
    private var processes: [Part: ServerProcess] = [:]
    private var proxy: ReverseProxy?
    private var alerting: Prometheus?
    private var shell: DocumentShell
    /// Has the disk of the second machine's audit log; nil where nothing can be mounted.
    private var disk: Spawned?

    enum Part: String, CaseIterable {
        case first = "serve 1"
        case second = "serve 2"
        case hsm, keys, app, proxy, prometheus

        /// Those of ours, in the order of their start.
        static let servers: [Part] = [.hsm, .keys, .first, .second, .app]
    }

    static let isInstalled = Prometheus.isInstalled && ReverseProxy.Kind.nginx.isInstalled

    init() throws {
        folder = try ScratchFolder("whole")
        pair = (try PostgresServer(), try RedisServer())
        var ports: Set<UInt16> = []
        while ports.count < Part.allCases.count { ports.insert(try ReverseProxy.lastingPort()) }
        addresses = Dictionary(uniqueKeysWithValues: zip(Part.allCases, ports.map { "127.0.0.1:\($0)" }))
        database = try pair.postgres.makeDatabase()
        try pair.postgres.run("CREATE ROLE operated LOGIN", in: database)
        shell = DocumentShell(folder["chain"])
        shell.table = [
            ("127.0.0.1:11111", addresses[.hsm]!), ("127.0.0.1:8081", addresses[.keys]!),
            ("0.0.0.0:8081", addresses[.keys]!), ("0.0.0.0:8082", addresses[.app]!),
            ("redis://127.0.0.1", pair.redis.location),
        ]
        try FileManager.default.createDirectory(atPath: shell.folder, withIntermediateDirectories: false)
        try makeTables()
        for machine in 1...2 { try makeMachine(machine) }
        try makeChain()
        try start(.first)
        // As the documents say: before the second machine's first start.
        try FileManager.default.copyItem(atPath: keysFile(1), toPath: keysFile(2))
        try start(.second)
        try start(.app)
        try startProxy()
        try startPrometheus()
    }

    /// Ends everything, the first of all last.
    deinit {
        alerting = nil
        proxy = nil
        for part in Part.servers.reversed() { processes[part]?.process.end(SIGKILL) }
        disk?.end(SIGKILL)
    }

    func process(_ part: Part) throws -> ServerProcess {
        guard let process = processes[part] else { throw HTTPClient.Problem(description: "no \(part.rawValue)") }
        return process
    }

    /// Of a machine.
    func keysFile(_ machine: Int) -> String { folder["\(machine)/lib/keys"] }

    /// As it is reached from outside of the name space that its disk is mounted in.
    func auditFolder(_ machine: Int) -> String {
        let path = folder["\(machine)/log"]
        return machine == 2 ? disk.map { "/proc/\($0.identifier)/root\(path)" } ?? path : path
    }

    var canFillDisk: Bool { disk != nil }

    // MARK: - What the documents say

    private func makeTables() throws {
        let commands = try DocumentBlock.named("1. The first day", 2, in: "operations.md").commands
        var shell = shell
        try writeSecret(pair.postgres.url(of: database), to: folder["owner.url"])
        shell.table = [("/etc/holdfast", folder.path), ("TO holdfast'", "TO operated'")]
        shell.environment = ["PGHOST": pair.postgres.folder, "PGUSER": "holdfast", "PGDATABASE": database]
        for command in commands where !command.hasPrefix("holdfast-server serve") { try shell.run(command) }
    }

    /// The configuration of a machine: what server.conf has for it, without the comment signs, and with the database
    /// and Redis that the drop-in for systemd names.
    private func makeMachine(_ number: Int) throws {
        for name in ["", "/lib", "/run", "/log", "/credentials"] {
            try FileManager.default.createDirectory(
                atPath: folder["\(number)\(name)"], withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        if number == 2, Mounted.isAllowed { try mountDisk(folder["2/log"]) }
        try writeSecret(pair.postgres.url(of: database, user: "operated"), to: folder["\(number)/credentials/database"])
        try writeSecret(pair.redis.location, to: folder["\(number)/credentials/redis"])
        let dropIn = try DocumentBlock.text(of: "holdfast-server-postgres.conf").split(separator: "\n")
            .filter { $0.hasPrefix("#   ") }.map { String($0.dropFirst(4)) }
        let wanted = ["trusted-proxy", "admin-socket", "audit-log", "audit-full"]
        var lines: [String] = []
        for line in try DocumentBlock.text(of: "server.conf").split(separator: "\n").map(String.init) {
            let isWanted = wanted.contains { line.hasPrefix("#\($0) =") }
            if line.hasPrefix("database =") {
                lines += dropIn
            } else {
                lines.append(isWanted ? String(line.dropFirst()) : line)
            }
        }
        let places = [
            ("127.0.0.1:8080", addresses[number == 1 ? .first : .second]!),
            ("/run/credentials/holdfast-server.service", folder["\(number)/credentials"]),
            ("/var/lib/holdfast-server/audit.log", folder["\(number)/log/audit.log"]),
            ("/var/lib/holdfast-server", folder["\(number)/lib"]), ("/run/holdfast-server", folder["\(number)/run"]),
        ]
        let text = places.reduce(lines.joined(separator: "\n") + "\n") { $0.replacing($1.0, with: $1.1) }
        try text.write(toFile: configuration(number), atomically: true, encoding: .utf8)
        try shell.run("holdfast-server check-config \(configuration(number))")
    }

    func configuration(_ machine: Int) -> String { folder["\(machine)/server.conf"] }

    /// A file system in memory that the second server has alone, and that stays when it is killed.
    private func mountDisk(_ path: String) throws {
        let holder = try Spawned([
            "unshare", "-m", "sh", "-c",
            "mount -t tmpfs -o size=32m,mode=0700 tmpfs \(path) && : >\(path)/mounted && exec sleep 7200",
        ])
        disk = holder
        let mark = auditFolder(2) + "/mounted"
        guard Patience.wait(until: { FileManager.default.fileExists(atPath: mark) }) else {
            throw HTTPClient.Problem(description: "nothing was mounted")
        }
    }

    private func chain() throws -> [String] {
        try DocumentBlock.named("A key chain", in: "server.md").commands
    }

    private func makeChain() throws {
        let commands = try chain()
        try shell.run(commands[0])
        let said = try shell.run(commands[1])
        guard let identity = said.firstMatch(of: /E[A-Za-z0-9_-]{43}/)?.output else {
            throw HTTPClient.Problem(description: "no identity: \(said)")
        }
        shell.table.append(("IDENTITY", String(identity)))
        try start(.hsm)
        try start(.keys)
    }

    // MARK: - Its life

    func start(_ part: Part) throws {
        let name = [Part.first: "serve", .second: "serve"][part] ?? part.rawValue
        guard let command = try chain().first(where: { $0.hasPrefix("holdfast-server \(name) ") }) else {
            throw HTTPClient.Problem(description: "the document does not start \(name)")
        }
        let machine = part == .second ? 2 : 1
        let before = part == .second ? disk.map { ["nsenter", "-t", "\($0.identifier)", "-m", "--"] } : nil
        processes[part] = try shell.start(
            command.replacing("…", with: "--config \(configuration(machine))"), before: before ?? [])
    }

    func startProxy() throws {
        guard let port = addresses[.proxy]?.split(separator: ":").last.flatMap({ UInt16($0) }) else { return }
        proxy = try ReverseProxy(.nginx, upstreams: [addresses[.first]!, addresses[.second]!], at: port)
    }

    func endProxy(_ signal: Int32) { proxy?.end(signal) }

    /// Asks each second, and a minute of its rules is a second; an hour is somewhat less, so that nobody waits for it.
    private func startPrometheus() throws {
        var configuration = try DocumentBlock.text(of: "monitoring/prometheus.yml")
            .replacing("\"127.0.0.1:8080\"", with: "\"\(addresses[.first]!)\", \"\(addresses[.second]!)\"")
            .replacing("scrape_interval: 15s", with: "scrape_interval: 1s")
        for (printed, part) in [("11111", Part.hsm), ("8081", .keys), ("8082", .app)] {
            configuration = configuration.replacing("127.0.0.1:\(printed)", with: addresses[part]!)
        }
        let rules = try DocumentBlock.text(of: "monitoring/alerts.yml")
            .replacing(/for: ([0-9]+)m/) { "for: \($0.output.1)s" }
            .replacing(/\[([0-9]+)m\]/) { "[\(max(3, Int($0.output.1) ?? 0))s]" }
            .replacing("for: 1h", with: "for: 1m").replacing("[1h]", with: "[20s]")
        let port = addresses[.prometheus]?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        alerting = try Prometheus(
            configuration: "global: {scrape_interval: 1s, evaluation_interval: 1s}\n" + configuration, rules: rules,
            at: port)
        let isReady = Patience.wait {
            alerting?.isRunning != true || (try? asked("/-/ready"))?.contains("is Ready") == true
        }
        guard isReady, alerting?.isRunning == true else {
            throw HTTPClient.Problem(description: "Prometheus: \(alerting?.output ?? "")")
        }
    }

    /// What Prometheus answers, behind its head. In version 1.0, in which nothing comes in pieces.
    private func asked(_ path: String) throws -> String {
        let client = try HTTPClient(addresses[.prometheus]!)
        client.send(Array("GET \(path) HTTP/1.0\r\nHost: a\r\n\r\n".utf8))
        let text = String(decoding: client.rest(), as: UTF8.self)
        return text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    /// The labels of the alerts that are firing.
    func firing() throws -> [[String: String]] {
        let reply = try JSONSerialization.jsonObject(with: Data(asked("/api/v1/alerts").utf8)) as? [String: Any]
        guard let data = reply?["data"] as? [String: Any], let alerts = data["alerts"] as? [[String: Any]] else {
            throw HTTPClient.Problem(description: "Prometheus: \(reply ?? [:])")
        }
        return alerts.filter { $0["state"] as? String == "firing" }.compactMap { $0["labels"] as? [String: String] }
    }

    /// The names of all alerts that have ever fired.
    func everFired() throws -> Set<String> {
        let query = "count%20by(alertname)(count_over_time(ALERTS%7Balertstate=%22firing%22%7D%5B1h%5D))"
        let reply = try asked("/api/v1/query?query=\(query)")
        return Set(reply.matches(of: /"alertname":"([A-Za-z]+)"/).map { String($0.output.1) })
    }

    /// How many servers Prometheus reaches.
    func reachedServers() throws -> Int {
        let reply = try asked("/api/v1/query?query=sum(up)")
        return reply.firstMatch(of: /,"([0-9]+)"\]/).flatMap { Int($0.output.1) } ?? 0
    }

    /// What each server says that is not ready; empty when all are.
    func unready() -> [Part: String] {
        var unready: [Part: String] = [:]
        for part in Part.servers {
            let said = try? HTTPClient(addresses[part]!).get("/ready")
            if said?.text != "ready\n" { unready[part] = said?.text ?? "no answer" }
        }
        return unready
    }
}
