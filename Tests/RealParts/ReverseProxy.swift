import Foundation

/// A proxy of Debian's, run with the configuration that the documents give operators, in front of a server.
package final class ReverseProxy {
    package enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy, caddy

        package var isInstalled: Bool { program != nil }

        var program: String? {
            ["/usr/sbin/", "/usr/bin/", "/usr/local/bin/"].map { $0 + rawValue }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        fileprivate var document: String {
            switch self {
            case .nginx: "nginx.conf"
            case .haproxy: "haproxy.cfg"
            case .caddy: "Caddyfile"
            }
        }
    }

    /// `HOST:PORT`.
    package let address: String
    private let process: Spawned
    private let started: Started
    private let folder: String

    /// - Parameter upstream: `HOST:PORT` of the server.
    package convenience init(_ kind: Kind, upstream: String) throws { try self.init(kind, upstreams: [upstream]) }

    /// - Parameters:
    ///   - upstreams: `HOST:PORT` of each server. They take the places of the document's one in turn.
    ///   - given: Where it listens; nil for a free port.
    ///   - speaksTLS: Whether to the servers, whose certificate it does not look at; only nginx.
    package init(
        _ kind: Kind, upstreams: [String], at given: UInt16? = nil, speaksTLS: Bool = false
    ) throws {
        guard let program = kind.program else { throw PostgresServer.Missing(description: "\(kind) is not installed") }
        folder = NSTemporaryDirectory() + "holdfast-proxy-\(UUID().uuidString.prefix(8))"
        started = Started(in: folder, endingWith: SIGKILL)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Docs/proxies/\(kind.document)")
        var turn = 0
        var text = try String(contentsOf: document, encoding: .utf8).replacing(/127\.0\.0\.1:8080/) { _ in
            turn += 1
            return upstreams[(turn - 1) % upstreams.count]
        }
        if speaksTLS { text.replace("http://holdfast", with: "https://holdfast") }
        // Between asking the kernel for a port and using it another program may take it.
        for _ in 0..<20 {
            let port = try given ?? ReverseProxy.freePort()
            let path = "\(folder)/configuration"
            try ReverseProxy.configuration(kind, text, port, folder)
                .write(toFile: path, atomically: true, encoding: .utf8)
            let output = unsafe open("\(folder)/output", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(output) }
            let child = try Spawned(
                [program] + ReverseProxy.arguments(kind, path, folder),
                environment: ["HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder], output: output)
            while child.isRunning {
                guard ReverseProxy.isListening(port) else {
                    usleep(5000)
                    continue
                }
                started.add(child)
                process = child
                address = "127.0.0.1:\(port)"
                return
            }
        }
        let output = (try? String(contentsOfFile: "\(folder)/output", encoding: .utf8)) ?? ""
        throw PostgresServer.Missing(description: "\(kind) does not start: \(output)")
    }

    deinit { started.end() }

    /// What it has said about its servers.
    package var log: String { (try? String(contentsOfFile: "\(folder)/output", encoding: .utf8)) ?? "" }

    package func end(_ signal: Int32) { process.end(signal) }

    /// The document's own text, at another address and without TLS, which the tests' client does not speak.
    private static func configuration(_ kind: Kind, _ text: String, _ port: UInt16, _ folder: String) -> String {
        switch kind {
        case .nginx:
            let server = text.split(separator: "\n").filter { !$0.contains(" ssl_") }.joined(separator: "\n")
                .replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
            return """
                daemon off; master_process off; pid \(folder)/pid; error_log stderr warn;
                events { worker_connections 512; }
                http { access_log off; \(temporary)
                \(server)
                }

                """
        case .haproxy:
            return text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.contains(" bind :443") ? "    bind 127.0.0.1:\(port)" : $0 }.joined(separator: "\n") + "\n"
        case .caddy:
            return "{\n\tadmin off\n\tauto_https off\n}\n"
                + text.replacing("identity.example.org {", with: "http://:\(port) {\n\tbind 127.0.0.1")
        }
    }

    private static func arguments(_ kind: Kind, _ path: String, _ folder: String) -> [String] {
        switch kind {
        case .nginx: ["-c", path, "-p", folder, "-e", "stderr"]
        case .haproxy: ["-db", "-f", path]
        case .caddy: ["run", "--config", path, "--adapter", "caddyfile"]
        }
    }

    /// A port that nobody has at this moment.
    static func freePort() throws -> UInt16 {
        guard let port = bound(0) else { throw PostgresServer.Missing(description: "no port") }
        return port
    }

    /// A port for what is ended and started again: none of those that the kernel gives to connections, which would take
    /// it meanwhile.
    package static func lastingPort() throws -> UInt16 {
        let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range?.split(separator: "\t").first.flatMap { UInt16($0) } ?? 32_768
        for _ in 0..<1000 {
            if let port = bound(.random(in: 2000..<max(first, 3000))) { return port }
        }
        throw PostgresServer.Missing(description: "no port")
    }

    /// The port that a socket of its own gets, closed by now.
    private static func bound(_ wanted: UInt16) -> UInt16? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = wanted.bigEndian
        unsafe inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isBound ? UInt16(bigEndian: place.sin_port) : nil
    }

    private static func isListening(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
        return unsafe withUnsafePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
