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
        let (sign, admin) = (folder + "/sign", folder + "/admin")
        try writeSecret(String(repeating: "s", count: 40), to: sign)
        try writeSecret(String(repeating: "a", count: 40), to: admin)
        let hsm = try ServerProcess(
            [
                "hsm", "--listen", "127.0.0.1:0", "--folder", folder + "/chain", "--sign-token-file", sign,
                "--admin-token-file", admin,
            ], folder: folder)
        let keys = try ServerProcess(
            ["keys", "--listen", "127.0.0.1:0", "--hsm", "http://\(hsm.address)", "--trust", hsm.key], folder: folder)
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
        let server = try ServerProcess(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", fixture.path, "--audit-log",
                fixture.folder + "/audit.log",
            ], folder: fixture.folder)
        _ = try HTTPClient(server.address).get("/ready")
        let known = try HTTPClient(server.address).get("/metrics").text
        let certificate = "holdfast_certificate_expiry_timestamp_seconds"  // with TLS only
        for file in ["alerts.yml", "dashboard.json"] {
            let text = try String(contentsOf: Self.documents.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /(holdfast|process)_[a-z_]+[a-z]/) where match.output.0 != certificate {
                #expect(known.contains("\n\(match.output.0)"), "\(file): \(match.output.0)")
            }
        }
    }
}
