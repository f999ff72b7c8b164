import Foundation
import RealParts
import TestSupport
import Testing

/// Options in a file and in the environment, and reading them again while the server runs.
@Suite struct ConfigurationTests {
    private let fixture: StoreFixture
    private var folder: String { fixture.folder }
    private var path: String { folder + "/server.conf" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func write(_ lines: String...) throws {
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func check(_ environment: String...) throws -> (status: Int32, output: String) {
        try runServerCommand(["check-config", path], folder, before: ["env"] + environment)
    }

    @Test func `the command line comes before the environment, and that before the file`() throws {
        try write(
            "# a comment", "", "listen = 127.0.0.1:1", "  database=\(fixture.path)  ", "log = error", "connections = 3")
        let one = try check()
        #expect(one.status == 0, "\(one.output)")
        #expect(one.output.contains("log = error\n") && one.output.contains("connections = 3\n"))
        let two = try check("HOLDFAST_SERVER_LOG=warning", "HOLDFAST_SERVER_TRUSTED_PROXY=10.0.0.0/8 ::1")
        #expect(two.output.contains("log = warning\n"))
        #expect(two.output.contains("trusted-proxy = 10.0.0.0/8\ntrusted-proxy = ::1\n"), "\(two.output)")
        let server = try ServerProcess(["serve", "--config", path, "--listen", "127.0.0.1:0"], folder: folder)
        #expect(!server.address.hasSuffix(":1"))
        #expect(FileManager.default.fileExists(atPath: fixture.path))
        // Another command takes what it has.
        server.process.end(SIGTERM)
        #expect(try runServerCommand(["check", "--config", path], folder).status == 0)
    }

    @Test func `attributes that fit into no token are refused before any session is`() throws {
        let file = folder + "/attributes.json"
        // What is random stays as long as it is.
        for (count, status) in [(40, 0), (200, 2)] as [(Int, Int32)] {
            let words = (0..<count).map { _ in "\"\(UUID())\"" }.joined(separator: ",")
            try "{\"permissionsByRole\":{\"user\":[\(words)]}}\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            try write("listen = 127.0.0.1:0", "database = \(fixture.path)", "attributes = \(file)")
            let result = try check()
            #expect(result.status == status, "\(result.output)")
            #expect((status == 0) != result.output.contains("longer than any that is taken"), "\(result.output)")
        }
    }

    @Test func `keys are not rotated more often than their file has room for`() throws {
        let base = ["listen = 127.0.0.1:0", "database = \(fixture.path)"]
        for (lines, least) in [
            ([], 1594), (["publish-seconds = 0"], 1881), (["refresh-seconds = 5184000"], 114_907),
        ] as [([String], Int)] {
            for (seconds, status) in [(least, 0), (least - 1, 2), (1, 2), (0, 0)] as [(Int, Int32)] {
                try (base + lines + ["rotate-keys-seconds = \(seconds)"]).joined(separator: "\n")
                    .write(toFile: path, atomically: true, encoding: .utf8)
                let result = try check()
                #expect(result.status == status, "\(lines) \(seconds): \(result.output)")
                #expect((status == 0) != result.output.contains("\(least) is the least"), "\(result.output)")
                guard status == 2 else { continue }
                let refused = try runServerCommand(["serve", "--config", path], folder)
                #expect(refused.status == 2 && refused.output.contains("no room for so many"), "\(refused.output)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
    }

    @Test func `the documented file is accepted`() throws {
        let file = #filePath.components(separatedBy: "/Tests/")[0] + "/Docs/server.conf"
        // The folder that the unit makes.
        try write(String(contentsOfFile: file, encoding: .utf8).replacing("/var/lib/holdfast-server", with: folder))
        let result = try check()
        #expect(result.status == 0 && result.output.contains("listen = 127.0.0.1:8080"), "\(result.output)")
    }

    @Test func `what is wrong in the environment is named with its variable`() throws {
        try write("listen = 127.0.0.1:0", "database = \(fixture.path)")
        let variable = try check("HOLDFAST_SERVER_CONNECTION=3")
        #expect(variable.status == 2, "\(variable.output)")
        #expect(
            variable.output
                == "$HOLDFAST_SERVER_CONNECTION: there is no option connection; did you mean connections?\n")
        // A check makes nothing.
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
    }

    @Test func `a reload takes a new certificate over, and keeps the old one when the new one cannot be used`() throws {
        let (certificate, key, earlier) = (folder + "/certificate", folder + "/key", folder + "/earlier")
        try makeCertificate(certificate, key)
        try FileManager.default.copyItem(atPath: certificate, toPath: earlier)
        try write(
            "listen = 127.0.0.1:0", "database = \(fixture.path)", "tls-certificate = \(certificate)", "tls-key = \(key)"
        )
        let server = try ServerProcess(["serve", "--config", path], folder: folder)
        #expect(try server.isTrusted(earlier))
        try "no certificate\n".write(toFile: certificate, atomically: true, encoding: .utf8)
        #expect(try check().status == 1)
        server.process.signal(SIGHUP)
        try server.waitForLog("not reloaded")
        #expect(try server.isTrusted(earlier))
        try makeCertificate(certificate, key)
        server.process.signal(SIGHUP)
        try server.waitForLog("\"reloaded\"")
        #expect(try server.isTrusted(certificate) && !server.isTrusted(earlier))
    }

    /// What a balancer is told: elsewhere they may have a better one.
    @Test func `with an expired certificate the server is not ready, until a reload brings another`() throws {
        let (certificate, key) = (folder + "/certificate", folder + "/key")
        let program = """
            import datetime, sys
            from cryptography import x509
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec
            key = ec.generate_private_key(ec.SECP256R1())
            name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, 'localhost')])
            end = datetime.datetime.utcnow() - datetime.timedelta(days=1)
            made = x509.CertificateBuilder(name, name, key.public_key(), 1, end - datetime.timedelta(days=1), end)
            open(sys.argv[1], 'wb').write(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
            open(sys.argv[2], 'wb').write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            """
        try #require(try Spawned(["/usr/bin/python3", "-c", program, certificate, key]).wait() == 0)
        unsafe chmod(key, 0o600)
        try write(
            "listen = 127.0.0.1:0", "database = \(fixture.path)", "tls-certificate = \(certificate)", "tls-key = \(key)"
        )
        let server = try ServerProcess(["serve", "--config", path], folder: folder)
        let unready = try server.readiness()
        #expect(unready.contains("503") && unready.contains(#""failing":["certificate"]"#), "\(unready)")
        #expect(server.log.contains("the certificate expired at "))
        try makeCertificate(certificate, key)
        server.process.signal(SIGHUP)
        try server.waitForLog("\"reloaded\"")
        var last = ""
        let isReady = try Patience.wait {
            last = try server.readiness()
            return last == "200 ready\n"
        }
        #expect(isReady, "\(last)")
    }

    @Test func `a reload that changes nothing of the front keeps its connections`() throws {
        try write("listen = 127.0.0.1:0", "database = \(fixture.path)")
        let server = try ServerProcess(["serve", "--config", path], folder: folder)
        let client = try HTTPClient(server.address)
        #expect(try client.get("/health").status == 200)
        server.process.signal(SIGHUP)
        try server.waitForLog(#""reloaded","connections":"kept""#)
        #expect(try client.get("/health").headers["connection"] == nil)
        // Rates are not the front's.
        try write("listen = 127.0.0.1:0", "database = \(fixture.path)", "address-rate = 0.001")
        server.process.signal(SIGHUP)
        while try client.get("/ready").status != 429 {}
        #expect(try client.get("/health").headers["connection"] == nil)
        try write("listen = 127.0.0.1:0", "database = \(fixture.path)", "trusted-proxy = 127.0.0.1")
        server.process.signal(SIGHUP)
        try server.waitForLog(#""connections":"renewed""#)
        #expect(try client.get("/health").headers["connection"] == "close")
    }

    @Test func `a reload takes limits, log and certificate over, and says what needs a restart`() throws {
        try write("listen = 127.0.0.1:0", "database = \(fixture.path)", "log = error")
        let server = try ServerProcess(["serve", "--config", path], folder: folder)
        let client = try HTTPClient(server.address)
        #expect(try client.get("/health").status == 200)
        func reload(until line: String) throws {
            server.process.signal(SIGHUP)
            try server.waitForLog(line)
        }
        try write(
            "listen = 127.0.0.1:0", "database = \(fixture.path)", "log = notice", "address-rate = 0.001",
            "connections = 700")
        try reload(until: "restart needed")
        #expect(server.log.contains(#""options":"connections""#))
        // A connection that was there ends with its next reply, and new ones have the new limits.
        let old = try client.get("/health")
        #expect(old.status == 200 && old.headers["connection"] == "close")
        let new = try HTTPClient(server.address)
        let replies = try (0..<12).map { _ in try new.get("/ready").status }
        #expect(replies.contains(429), "\(replies)")
        // What cannot be used changes nothing.
        try write("listen = 127.0.0.1:0", "database = \(fixture.path)", "address-rate = fast")
        try reload(until: "not reloaded")
        #expect(server.log.contains(":3: address-rate: must be"))
        #expect(try new.get("/ready").status == 429)
        server.process.end(SIGTERM)
    }
}
