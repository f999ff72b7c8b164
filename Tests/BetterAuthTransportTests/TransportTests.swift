import BetterAuth
import BetterAuthTransport
import Foundation
import RealParts
import Testing

/// A real HTTP server, as a private process on a port that the system chooses.
private final class TestServer {
    private static let script = """
        import http.server, ssl, sys, time
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *args): pass
            def answer(self, status, body, headers=()):
                self.send_response(status)
                for name, value in headers: self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self): self.answer(200, b"got " + self.path.encode())
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/echo":
                    kind = self.headers["Content-Type"].encode()
                    self.answer(200, kind + b"|" + self.headers.get("Expect", "-").encode() + b"|" + body)
                elif self.path == "/status": self.answer(422, b"{}")
                elif self.path == "/moved": self.answer(302, b"", [("Location", "/echo")])
                elif self.path == "/large": self.answer(200, b"x" * 100000)
                elif self.path == "/slow": time.sleep(30)
                elif self.path == "/cut":
                    self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 50\\r\\n\\r\\nshort")
                    self.close_connection = True
                elif self.path == "/noise":
                    self.wfile.write(b"\\x00\\x01 this is no HTTP\\r\\n\\r\\n")
                    self.close_connection = True
        class Server(http.server.ThreadingHTTPServer):
            # Python's five are fewer than some tests connect at once: the kernel drops what is one too many.
            request_queue_size = 128
        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        if len(sys.argv) > 1:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    private let process: Spawned
    let port: Int

    init(certificate: String? = nil) throws {
        let output = Pipe()
        process = try Spawned(
            ["python3", "-c", TestServer.script] + (certificate.map { [$0] } ?? []),
            output: output.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        var line = ""
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
            line += String(decoding: byte, as: UTF8.self)
        }
        port = try #require(Int(line), "\(line)")
    }

    func address(_ scheme: String = "http", _ host: String = "127.0.0.1") throws -> ServerAddress {
        try ServerAddress("\(scheme)://\(host):\(port)")
    }
}

/// A certificate for localhost and its key, in a file that goes with this value.
private final class TestCertificate {
    let path = NSTemporaryDirectory() + "holdfast-certificate-\(UUID().uuidString.prefix(8)).pem"

    private static let script = """
        import datetime, sys
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.utcnow()
        certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
        with open(sys.argv[1], "wb") as file:
            file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()))
            file.write(certificate.public_bytes(serialization.Encoding.PEM))
        """

    init() throws {
        let status = try Spawned(["python3", "-c", TestCertificate.script, path]).wait()
        try #require(status == 0)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The transport of this system: the same contract for each.
@Suite struct TransportTests {
    private func send(
        _ path: String, to server: ServerAddress, body: [UInt8]? = Array("{}".utf8), limit: Int = 65_536,
        _ transport: SystemTransport = SystemTransport()
    ) async throws(TransportError) -> TransportReply {
        try await transport.send(TransportRequest(server, path, body: body, limit: limit))
    }

    @Test func whatIsSentArrives() async throws {
        let server = try TestServer()
        let address = try server.address()
        let got = try await send("/some/where", to: address, body: nil)
        #expect(got.status == 200 && got.body == Array("got /some/where".utf8))
        for count in [0, 1, 2000, 60_000] {
            let body = [UInt8](repeating: UInt8(ascii: "z"), count: count)
            let reply = try await send("/echo", to: address, body: body)
            #expect(reply.body == Array("application/json|-|".utf8) + body)
        }
        #expect(try await send("/status", to: address) == TransportReply(status: 422, body: Array("{}".utf8)))
        // Not followed: the answer is the redirect itself.
        #expect(try await send("/moved", to: address) == TransportReply(status: 302, body: []))
        // A path in front of all paths.
        let deeper = try ServerAddress("\(address)/in/front")
        #expect(try await send("/x", to: deeper, body: nil).body == Array("got /in/front/x".utf8))
    }

    @Test func manySideBySide() async throws {
        let server = try TestServer()
        let address = try server.address()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let body = Array("\(number)".utf8)
                    let reply = try await send("/echo", to: address, body: body)
                    #expect(reply.body == Array("application/json|-|".utf8) + body)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func bounds() async throws {
        let server = try TestServer()
        let address = try server.address()
        #expect(try await send("/large", to: address, limit: 100_000).body.count == 100_000)
        await #expect(throws: TransportError.tooLarge) { try await send("/large", to: address, limit: 99_999) }
        var patience = SystemTransport.Patience()
        patience.total = .milliseconds(200)
        let hasty = SystemTransport(patience: patience)
        await #expect(throws: TransportError.timedOut) { try await send("/slow", to: address, hasty) }
    }

    @Test func brokenAnswers() async throws {
        let server = try TestServer()
        let address = try server.address()
        for path in ["/cut", "/noise"] {
            let error = await #expect(throws: TransportError.self) { try await send(path, to: address) }
            guard case .broken = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
        }
        let error = await #expect(throws: TransportError.self) { try await send("/a?b", to: address) }
        guard case .unreachable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func nobodyListens() async throws {
        var address: ServerAddress?
        do {
            let server = try TestServer()
            address = try server.address()
        }
        let gone = try #require(address)
        let error = await #expect(throws: TransportError.self) { try await send("/x", to: gone) }
        guard case .unreachable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aCertificateOfNobodysIsNotTrusted() async throws {
        let certificate = try TestCertificate()
        let server = try TestServer(certificate: certificate.path)
        for host in ["localhost", "127.0.0.1"] {
            let address = try server.address("https", host)
            let error = await #expect(throws: TransportError.self) { try await send("/x", to: address, body: nil) }
            switch error {
            case .untrusted: continue
            #if canImport(Security) && canImport(FoundationNetworking)
            // Foundation on Linux has no number for it.
            case .broken(let words) where words.contains("certificate"): continue
            #endif
            default: Issue.record("\(host): \(String(describing: error))")
            }
        }
    }

    #if !canImport(Security)
    @Test func aNamedAuthorityIsTrustedForItsNameOnly() async throws {
        let certificate = try TestCertificate()
        let server = try TestServer(certificate: certificate.path)
        let trusting = CurlTransport(authorities: certificate.path)
        let address = try server.address("https", "localhost")
        #expect(try await send("/x", to: address, body: nil, trusting).body == Array("got /x".utf8))
        let other = try server.address("https")
        let error = await #expect(throws: TransportError.self) { try await send("/x", to: other, body: nil, trusting) }
        guard case .untrusted = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
    #endif
}
