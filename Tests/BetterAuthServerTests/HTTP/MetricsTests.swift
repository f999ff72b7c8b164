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
            "holdfast_store_duration_seconds_count{call=\"change\"} 1\n", "holdfast_key_info{generation=\"0\"} 1\n",
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
            return try [server, hsm].map { try HTTPClient($0.address).get("/metrics").text }.joined()
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

    /// What happens first after the start is told too: each of these samples is there before it counts anything.
    @Test(.enabled(if: MetricsTests.isInstalled, "promtool is not installed"))
    func `alerts fire when they should, and carry how grave they are`() throws {
        let fixture = try StoreFixture(.memory)
        let rules = Self.documents.appending(path: "alerts.yml").path
        let text = try String(contentsOfFile: rules, encoding: .utf8)
        let alerts = text.ranges(of: "- alert: ").count
        let grave = ["critical", "warning"].reduce(0) { $0 + text.ranges(of: "severity: \($1)").count }
        #expect(alerts > 15 && grave == alerts)
        func expected(_ minute: Int, _ name: String, _ labels: String, _ summary: String?) -> String {
            let found = summary.map {
                "\n      - exp_labels: {\(labels)}\n        exp_annotations: {summary: \"\($0)\"}"
            }
            return "    - eval_time: \(minute)m\n      alertname: \(name)\n      exp_alerts:\(found ?? " []")\n"
        }
        let one = "instance: a, severity: critical"
        let cases = """
            rule_files: [\(rules)]
            evaluation_interval: 1m
            tests:
            - interval: 1m
              input_series:
              - {series: 'holdfast_faults_total{instance="a"}', values: '0x5 1x20'}
              - {series: 'holdfast_redis_lost_total{instance="a",database="redis"}', values: '0x5 1x20'}
              - {series: 'up{job="holdfast-keys",instance="b"}', values: '1x10 0x20'}
              - {series: 'holdfast_certificate_expiry_timestamp_seconds{instance="a"}', values: '1213200x200'}
              - {series: 'holdfast_publishing{instance="a"}', values: '1x5 0x40'}
              - {series: 'holdfast_chain_room{instance="a"}', values: '2000x5 1999x40'}
              alert_rule_test:

            """
        let tests = [
            expected(4, "HoldfastFault", one, nil),
            expected(7, "HoldfastFault", one, "a answered with a fault of its own."),
            expected(20, "HoldfastFault", one, nil),
            expected(
                7, "HoldfastRedisForgot", one + ", database: redis",
                "a noticed that Redis has forgotten which keys have refreshed."),
            expected(9, "HoldfastDown", "", nil),
            expected(
                13, "HoldfastDown", "instance: b, job: holdfast-keys, severity: critical",
                "holdfast-keys at b does not answer."),
            expected(50, "HoldfastCertificateExpires", "", nil),
            expected(
                150, "HoldfastCertificateExpires", "instance: a, severity: warning",
                "The certificate of a expires in less than 14 days."),
            expected(5, "HoldfastChainFills", "", nil),
            expected(
                6, "HoldfastChainFills", "instance: a, severity: warning",
                "The key chain of a can be rotated 1999 times more."),
            expected(10, "HoldfastNotPublishing", "", nil),
            expected(
                30, "HoldfastNotPublishing", "instance: a, severity: warning",
                "a cannot publish its keys: clients lose them when their records end."),
        ]
        let file = fixture.folder + "/rules-test.yml"
        try (cases + tests.joined()).write(toFile: file, atomically: true, encoding: .utf8)
        let said = try complaint(["test", "rules", file], fixture.folder)
        #expect(said == nil, "\(said ?? "")")
    }
}
