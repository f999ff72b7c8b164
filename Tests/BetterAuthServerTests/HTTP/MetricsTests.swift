import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import Testing

/// What operators are told by numbers, read by Prometheus's own tool.
@Suite struct MetricsTests {
    private static let tool = "/usr/bin/promtool"
    static let isInstalled = FileManager.default.isExecutableFile(atPath: tool)
    private static let documents = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Docs/monitoring")

    /// Runs promtool and returns what it says when it is not content.
    private func complaint(_ arguments: [String], input: String? = nil, _ folder: String) throws -> String? {
        let path = "\(folder)/promtool-\(UUID().uuidString.prefix(8))"
        if let input { try input.write(toFile: path, atomically: true, encoding: .utf8) }
        let output = unsafe open(path + ".out", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(output) }
        let words = input == nil ? [] : ["sh", "-c", "exec \"$@\" < \"$0\"", path]
        let status = try Spawned(words + [Self.tool] + arguments, output: output).wait()
        let said = try String(contentsOfFile: path + ".out", encoding: .utf8)
        return status == 0 && (input == nil || said.isEmpty) ? nil : said
    }

    @Test(.enabled(if: MetricsTests.isInstalled, "promtool is not installed"))
    func `promtool finds nothing wrong with the metrics of any server`() throws {
        let fixture = try StoreFixture(.memory)
        let folder = fixture.folder
        let scene = try KeyChainScene(folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        let app = try ServerProcess(
            ["app", "--listen", "127.0.0.1:0", "--keys", "http://\(keys.address)", "--trust", hsm.key], folder: folder)
        let server = try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", fixture.path], folder: folder)
        let hash = RecoveryHash(try freshDigest())
        #expect(
            try HTTPClient(server.address).post("/account/create", TestDevice(recovery: hash).creation(hash).bytes)
                .status == 200)
        try server.waitUntilReady(says: "ready\n")
        for process in [hsm, keys, app, server] {
            #expect(try HTTPClient(process.address).get("/ready").text == "ready\n")
            let text = try HTTPClient(process.address).get("/metrics").text
            let said = try complaint(["check", "metrics"], input: text, folder)
            #expect(said == nil, "\(said ?? "")")
            for name in [
                "holdfast_build_info", "holdfast_connections ", "process_open_fds ", "process_resident_memory_bytes ",
            ] {
                #expect(text.contains("\n\(name)"), "\(name)")
            }
        }
        let text = try HTTPClient(server.address).get("/metrics").text
        for part in [
            "holdfast_ready 1\n", "holdfast_database_bytes{part=\"wal\"} ",
            "holdfast_store_queue{store=\"sqlite\"} 0\n",
            "holdfast_replies_total{path=\"/account/create\",code=\"ok\"} 1\n",
            "holdfast_request_duration_seconds_count{path=\"/account/create\"} 1\n",
            "holdfast_store_duration_seconds_count{call=\"change\"} 1\n", "holdfast_key_info{generation=\"0\",keys=\"E",
            "holdfast_store_failures_total{kind=\"store\"} 0\n",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test(.enabled(if: MetricsTests.isInstalled, "promtool is not installed"))
    func `the alert rules are valid, and name metrics that there are`() throws {
        let fixture = try StoreFixture(.memory)
        for arguments in [["check", "rules"], ["check", "config"]] {
            let file = Self.documents.appending(path: arguments[1] == "rules" ? "alerts.yml" : "prometheus.yml").path
            let said = try complaint(arguments + [file], fixture.folder)
            #expect(said == nil, "\(said ?? "")")
        }
        let pair = try DatabasePair.shared()
        let scene = try KeyChainScene(fixture.folder)
        let hsm = try scene.keeper()
        let keys = try scene.keys(of: hsm)
        func metrics(_ options: [String]) throws -> String {
            let server = try ServerProcess(
                ["serve", "--listen", "127.0.0.1:0", "--audit-log", fixture.folder + "/audit.log"] + options
                    + scene.publishing(hsm, keys), folder: fixture.folder)
            try server.waitUntilReady(says: "ready\n")
            return try [server, hsm, keys].map { try HTTPClient($0.address).get("/metrics").text }.joined()
        }
        let database = try pair.postgres.makeDatabase()
        let url = pair.postgres.url(of: database)
        #expect(try runServerCommand(["migrate", "--database", url], fixture.folder).status == 0)
        let (embedded, remote) = (
            try metrics(["--database", fixture.path]),
            try metrics([
                "--database", url, "--redis", pair.redis.location, "--keys-file",
                fixture.folder + "/keys",
            ])
        )
        let certificate = "holdfast_certificate_expiry_timestamp_seconds"  // with TLS only
        // What only one of the stores has.
        let ofFile: Set = ["holdfast_database_bytes"]
        let ofPair: Set = [
            "holdfast_database_up", "holdfast_pool_idle", "holdfast_pool_used", "holdfast_redis_lost_total",
            "holdfast_workers", "holdfast_workers_busy",
        ]
        for file in ["alerts.yml", "dashboard.json"] {
            let text = try String(contentsOf: Self.documents.appending(path: file), encoding: .utf8)
            // Names of jobs have a hyphen, and folders of rules no underscore.
            for match in text.matches(of: /(holdfast|process)_[a-z_]+[a-z]/) where match.output.0 != certificate {
                let name = String(match.output.0)
                #expect(ofPair.contains(name) || embedded.contains("\n\(name)"), "\(file), SQLite: \(name)")
                #expect(ofFile.contains(name) || remote.contains("\n\(name)"), "\(file), PostgreSQL: \(name)")
            }
        }
    }

    /// Breaks all rules in each way that their unit tests must notice: silent for ever, firing for ever, later, sooner.
    @Test(.enabled(if: MetricsTests.isInstalled, "promtool is not installed"))
    func `every alert has a unit test that says when it fires and when it does not`() throws {
        let fixture = try StoreFixture(.memory)
        let file = Self.documents.appending(path: "alerts.test.yml")
        let said = try complaint(["test", "rules", file.path], fixture.folder)
        #expect(said == nil, "\(said ?? "")")
        let tests = fixture.folder + "/alerts.test.yml"
        try FileManager.default.copyItem(atPath: file.path, toPath: tests)
        let text = try String(contentsOf: Self.documents.appending(path: "alerts.yml"), encoding: .utf8)
        let rules = text.components(separatedBy: "      - alert: ").dropFirst()
        #expect(rules.count > 15 && text.matches(of: /severity: (critical|warning)\n/).count == rules.count)
        let expression = /expr: (>-\n( {10}.*\n)+|.*\n)/
        let wait = /for: ([0-9]+)m\n/
        let minutes = text.replacing("for: 1h\n", with: "for: 60m\n")
        for (broken, isMeant) in [
            (text.replacing(expression, with: "expr: vector(1) > 1\n"), { _ in true }),
            (text.replacing(expression, with: "expr: vector(1)\n"), { _ in true }),
            (minutes.replacing(wait) { "for: \(Int($0.output.1)! + 1)m\n" }, { $0.contains("for: ") }),
            (minutes.replacing(wait) { "for: \(Int($0.output.1)! - 1)m\n" }, { $0.contains("for: ") }),
        ] as [(String, (String) -> Bool)] {
            try broken.write(toFile: fixture.folder + "/alerts.yml", atomically: true, encoding: .utf8)
            let noticed = try complaint(["test", "rules", tests], fixture.folder) ?? ""
            for rule in rules where isMeant(rule) {
                let name = rule.prefix { $0 != "\n" }
                #expect(noticed.contains("alertname: \(name), "), "no unit test notices that \(name) is broken")
            }
        }
    }
}
