import BetterAuthServer
import Foundation
import RealParts
import SystemCalls
import TestSupport
import Testing

/// The table of operations.md 7: each way to replace a server with each thing that it may have.
@Suite(.seeded) struct UpgradeTableTests {
    struct Pair: CustomTestStringConvertible, Sendable {
        let way: UpgradeWay
        let feature: UpgradeFeature

        var testDescription: String { "\(way.rawValue) with \(feature.rawValue)" }
    }

    /// All in `make check`, one of each way in `make test`.
    private static let pairs = UpgradeWay.allCases.flatMap { way in
        TestRun.kinds(UpgradeFeature.allCases, of: way.rawValue).map { Pair(way: way, feature: $0) }
    }

    private let fixture: StoreFixture
    private var folder: String { fixture.folder }

    init() throws { fixture = try StoreFixture(.memory) }

    @Test func `the documents have this table`() throws {
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Docs/operations.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        #expect(text.contains("| | " + UpgradeWay.allCases.map(\.rawValue).joined(separator: " | ") + " |\n"))
        for feature in UpgradeFeature.allCases {
            let cells = UpgradeWay.allCases.map { feature.promise($0) }
            #expect(text.contains("| \(feature.rawValue) | \(cells.joined(separator: " | ")) |\n"), "\(feature)")
        }
    }

    @Test(.enabled(if: ReverseProxy.Kind.nginx.isInstalled || TestRun.isBootstrapped), arguments: pairs)
    func `a server is replaced, and nothing is lost`(_ pair: Pair) throws {
        switch pair.feature {
        case .sqlite: try sqlite(pair.way)
        case .admin: try admin(pair.way)
        case .audit: try audit(pair.way)
        case .tls: try tls(pair.way)
        case .rotation: try rotation(pair.way)
        case .chain: try chain(pair.way)
        case .configuration: try configuration(pair.way)
        case .tpm: try tpm(pair.way)
        case .metrics: try metrics(pair.way)
        }
    }

    private static let common = ["--trusted-proxy", "127.0.0.1", "--log", "notice"]

    private func scene(
        _ way: UpgradeWay, environment: [String: String] = [:], _ options: @escaping (Int) -> [String] = { _ in [] }
    ) throws -> UpgradeScene {
        try UpgradeScene(way, fixture, environment: environment) { Self.common + options($0) }
    }

    private func run(_ words: String...) throws -> (status: Int32, output: String) {
        try runServerCommand(words, folder)
    }

    private func expectReady(_ servers: [ServerProcess]) throws {
        for server in servers { try server.waitUntilReady(says: "ready\n") }
    }

    /// The file is one process's: a second one says so, and changes nothing for the first.
    private func sqlite(_ way: UpgradeWay) throws {
        guard way != .socket else {
            let scene = try scene(way)
            try scene.begin()
            for _ in 0..<3 { try scene.replace { _ in } }
            #expect(scene.end() == [])
            return try #require(scene.load).expectAccounts(in: fixture.path, folder)
        }
        func words(_ address: String) -> [String] {
            ["serve", "--listen", address, "--database", fixture.path] + (way == .port ? ["--share-port"] : [])
                + ServerProcess.unlimited
        }
        let server = try ServerProcess(words(way == .port ? "127.0.0.1:0" : "127.0.0.77:0"), folder: folder)
        let load = UpgradeLoad(server.address, clients: 2)
        load.waitForMore(10)
        let second = try runServerCommand(words(way == .port ? server.address : "127.0.0.77:0"), folder)
        #expect(second.status == 1 && second.output.contains("in use by another process"), "\(second.output)")
        // Connections that the kernel gave to the second one are reset; later ones are not.
        if way == .processes { load.waitForMore(10) }
        let failures = load.end()
        if way == .processes { #expect(failures == []) }
        #expect(try HTTPClient(server.address).get("/ready").text == "ready\n")
    }

    private func admin(_ way: UpgradeWay) throws {
        func socket(_ place: Int) -> String { folder + "/admin-\(place).sock" }
        let scene = try scene(way) { ["--admin-socket", socket($0)] }
        // A server that was killed between the two steps has left this, and the name of one before it.
        for name in [socket(0), socket(0) + ".new"] { close(try LocalSocket.listen(name, backlog: 1)) }
        func expectAnswers() throws {
            for place in scene.servers.indices {
                let answer = try run("accounts", "count", "--admin-socket", socket(place), "--json")
                #expect(answer.status == 0 && answer.output.contains(#""open":"#), "\(answer.output)")
            }
        }
        try scene.begin()
        for _ in 0..<3 {
            try scene.replace { _ in try expectAnswers() }
            try expectAnswers()
        }
        if way == .processes {
            let third = try runServerCommand(scene.words(0), folder)
            #expect(third.status == 1 && third.output.contains("another server listens there"), "\(third.output)")
            try expectAnswers()
        }
        #expect(scene.end() == [])
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".sock") }
        #expect(left == [])
    }

    /// The file is moved away while both write to it, and every line is in one of the files.
    private func audit(_ way: UpgradeWay) throws {
        let log = folder + "/audit.log"
        let scene = try scene(way) { _ in ["--audit-log", log] }
        try scene.begin()
        var files: [String] = []
        for _ in 0..<3 {
            try scene.replace { running in
                files.append("\(log).\(files.count)")
                try FileManager.default.moveItem(atPath: log, toPath: files.last ?? "")
                running.forEach { $0.process.signal(SIGHUP) }
                // Until each has turned to the new file: logrotate waits with compressing for that.
                #expect(Patience.wait { FileManager.default.fileExists(atPath: log) })
            }
        }
        #expect(scene.end() == [])
        var counts: [String: Int] = [:]
        for file in files + [log] {
            let verified = try run("audit", "verify", file, "--keys-file", scene.keys)
            #expect(verified.status == 0 && verified.output.contains(" 0 faults\n"), "\(verified.output)")
            #expect(!verified.output.contains("not written"))
            let shown = try run("audit", "show", file, "--keys-file", scene.keys, "--json")
            for line in shown.output.split(separator: "\n") {
                guard let found = line.firstMatch(of: /"operation":"([^"]*)","outcome":"done"/) else { continue }
                counts[String(found.output.1), default: 0] += 1
            }
        }
        for (operation, count) in try #require(scene.load).acknowledged {
            #expect(counts[operation, default: 0] >= count, "\(operation)")
        }
    }

    private func tls(_ way: UpgradeWay) throws {
        let (certificate, key) = (folder + "/certificate", folder + "/key")
        try makeCertificate(certificate, key)
        let scene = try scene(way) { _ in ["--tls-certificate", certificate, "--tls-key", key] }
        try scene.begin(speaksTLS: true)
        for _ in 0..<2 {
            try scene.replace { running in
                try makeCertificate(certificate, key)
                running.forEach { $0.process.signal(SIGHUP) }
            }
            for server in scene.servers {
                #expect(server.scheme == "https")
                #expect(try Patience.wait { try server.isTrusted(certificate) })
            }
        }
        #expect(scene.end() == [])
    }

    /// New keys, which all processes know before one of them signs with them.
    private func rotate(_ scene: UpgradeScene) throws -> String {
        let made = try run("rotate-keys", "--keys-file", scene.keys, "--publish-seconds", "8")
        let key = made.output.firstMatch(of: /response: (\S+)/).map { String($0.output.1) }
        #expect(made.status == 0, "\(made.output)")
        return try #require(key)
    }

    /// One server may rotate by itself, and the command does on the same machine; all of them turn to the new keys.
    private func rotation(_ way: UpgradeWay) throws {
        let scene = try scene(way) { $0 == 0 ? ["--rotate-keys-seconds", "86400"] : [] }
        try scene.begin()
        var newest = ""
        try scene.replace { _ in newest = try rotate(scene) }
        for server in scene.servers {
            #expect(try Patience.wait { try HTTPClient(server.address).post("/key/response", []).text == newest })
        }
        scene.load?.waitForMore(10)
        try expectReady(scene.servers)
        #expect(scene.end() == [])
    }

    private func chain(_ way: UpgradeWay) throws {
        let parts = try KeyChainScene(folder)
        let keeper = try parts.keeper()
        let keys = try parts.keys(of: keeper)
        let scene = try scene(way) { _ in parts.publishing(keeper, keys) }
        try scene.begin()
        var newest = ""
        try scene.replace { _ in newest = try rotate(scene) }
        for server in scene.servers {
            let key = try HTTPClient(server.address).post("/key/response", []).text
            #expect(try HTTPClient(keys.address).get("/keys/\(key)").status == 200)
            #expect(try Patience.wait { try HTTPClient(keys.address).get("/keys/\(newest)").status == 200 })
        }
        try expectReady(scene.servers)
        #expect(scene.end() == [])
    }

    private func configuration(_ way: UpgradeWay) throws {
        let file = folder + "/server.conf"
        try "log = warning\ntrusted-proxy = 127.0.0.1\n".write(toFile: file, atomically: true, encoding: .utf8)
        let scene = try UpgradeScene(way, fixture) { _ in ["--config", file] }
        try scene.begin()
        for level in ["notice", "requests"] {
            try scene.replace { running in
                try "log = \(level)\ntrusted-proxy = 127.0.0.1\n".write(
                    toFile: file, atomically: true, encoding: .utf8)
                running.forEach { $0.process.signal(SIGHUP) }
            }
            for server in scene.servers {
                server.process.signal(SIGHUP)
                try server.waitForLog(#""event":"reloaded""#)
            }
            try expectReady(scene.servers)
        }
        #expect(scene.end() == [])
    }

    private func tpm(_ way: UpgradeWay) throws {
        try #require(SoftwareTPM.isInstalled || !TestRun.isBootstrapped)
        guard SoftwareTPM.isInstalled else { return }
        let chip = try SoftwareTPM()
        let scene = try scene(way, environment: ["HOLDFAST_TPM": chip.location]) { _ in ["--keys-in", "tpm"] }
        try scene.begin()
        let key = scene.servers[0].key
        for _ in 0..<2 {
            try scene.replace { _ in }
            #expect(scene.servers.allSatisfy { $0.key == key })
            try expectReady(scene.servers)
        }
        #expect(scene.end() == [])
        let file = try Data(contentsOf: URL(fileURLWithPath: scene.keys))
        #expect(file.starts(with: Data("HOLDFAST SEALED KEYS 1\n".utf8)))
    }

    private func metrics(_ way: UpgradeWay) throws {
        let scene = try scene(way)
        try scene.begin()
        for _ in 0..<3 {
            try scene.replace { _ in }
            try expectReady(scene.servers)
            for server in scene.servers {
                let reply = try HTTPClient(server.address).get("/metrics")
                #expect(reply.status == 200 && reply.text.contains("holdfast_replies_total"), "\(reply.text)")
                #expect(!reply.text.contains(#"status="500""#))
            }
        }
        #expect(scene.end() == [])
    }
}
