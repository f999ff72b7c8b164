import Foundation
import RealParts
import TestSupport
import Testing

/// The units of Docs: what they promise is what the server does.
@Suite struct ServiceUnitTests {
    private static let documents = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Docs")
    private static let analyze = "/usr/bin/systemd-analyze"

    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder("units") }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.documents.appending(path: name), encoding: .utf8)
    }

    /// The last value of each key, in any section.
    private func values(_ name: String) throws -> [String: String] {
        let pairs = try text(name).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: "=", maxSplits: 1).map(String.init) }.filter { $0.count == 2 }
        return Dictionary(pairs.map { ($0[0], $0[1]) }) { $1 }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: analyze), "systemd-analyze is not installed"))
    func `systemd knows every word of the units, alone and with PostgreSQL's part`() throws {
        let service = try text("holdfast-server.service").replacing("/usr/local/bin/holdfast-server", with: "/bin/true")
        #expect(service.contains("/bin/true"))
        try service.write(toFile: folder["holdfast-server.service"], atomically: true, encoding: .utf8)
        try text("holdfast-server.socket").write(
            toFile: folder["holdfast-server.socket"], atomically: true, encoding: .utf8)
        let parts = folder["holdfast-server.service.d"]
        for part in [nil, "holdfast-server-postgres.conf"] {
            if let part {
                try FileManager.default.createDirectory(atPath: parts, withIntermediateDirectories: false)
                try text(part).write(toFile: parts + "/postgres.conf", atomically: true, encoding: .utf8)
            }
            // It says what it does not know, and is still content.
            let said = try verify()
            #expect(said.isEmpty, "\(said)")
        }
        try "[Service]\nBogus=1\n".write(toFile: parts + "/bogus.conf", atomically: true, encoding: .utf8)
        #expect(try verify().contains("Bogus"))
    }

    private func verify() throws -> String {
        let said = folder["said"]
        let file = unsafe open(said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        let words = [
            Self.analyze, "verify", "--man=no", folder["holdfast-server.service"], folder["holdfast-server.socket"],
        ]
        #expect(
            try Spawned(
                words, environment: ["SYSTEMD_UNIT_PATH": folder.path + ":", "SYSTEMD_LOG_LEVEL": "warning"],
                output: file
            ).wait() == 0)
        return try String(contentsOfFile: said, encoding: .utf8)
    }

    /// With PostgreSQL's part: while the databases are away the server ends with what systemd restarts it for, whatever
    /// the number of times, and begins when they are there. A mistake in the options ends it with what systemd leaves.
    @Test func `a server waits for its database by being started again, and not for a mistake to go away`() throws {
        let unit = try values("holdfast-server.service")
        #expect(unit["Restart"] == "on-failure" && unit["StartLimitIntervalSec"] == "0")
        let left = try #require(unit["RestartPreventExitStatus"].flatMap { Int32($0) })
        // Beyond what a look at a database may take before it counts as stuck.
        #expect(try #require(unit["WatchdogSec"].flatMap { Int($0) }) > 60 + 2 * 5)
        let pair = try DatabasePair()
        // As the part's comments have it, with another folder in place of the unit's credentials.
        let part = try text("holdfast-server-postgres.conf")
        let lines = part.split(separator: "\n").filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
        let settings = lines.joined(separator: "\n")
            .replacing("/run/credentials/holdfast-server.service", with: folder.path)
            .replacing("/var/lib/holdfast-server", with: folder.path)
        try (settings + "\nlisten = 127.0.0.1:0\n").write(
            toFile: folder["server.conf"], atomically: true, encoding: .utf8)
        let credentials = part.split(separator: "\n").compactMap { line -> String? in
            guard line.hasPrefix("LoadCredential=") else { return nil }
            return line.split(separator: "=")[1].split(separator: ":").first.map(String.init)
        }
        #expect(credentials.sorted() == ["database", "redis"])
        try writeSecret(pair.postgres.url + "\n", to: folder["database"])
        try writeSecret(pair.redis.location + "\n", to: folder["redis"])
        let words = ["serve", "--config", folder["server.conf"]]
        pair.postgres.stop(SIGINT)
        for _ in 0..<2 {
            let away = try runServerCommand(words, folder.path)
            #expect(away.status > 0 && away.status != left, "\(away.output)")
        }
        try pair.postgres.start()
        let server = try ServerProcess(words, folder: folder.path)
        #expect(try HTTPClient(server.address).get("/ready").text == "ready\n")
        server.process.end(SIGTERM)
        let mistake = try runServerCommand(words + ["--bogus", "1"], folder.path)
        #expect(mistake.status == left, "\(mistake.output)")
    }
}
