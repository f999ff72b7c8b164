internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import SystemCalls

/// A client for services beside this one, over plain HTTP and without keeping connections.
struct PlainHTTP: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let host: String
    private let port: String
    /// Bytes of an answer.
    private static let largest = 4 << 20
    private static let seconds = 5

    /// - Parameter url: `http://HOST:PORT`.
    init?(_ url: String) {
        guard url.hasPrefix("http://") else { return nil }
        let parts = url.dropFirst(7).split(separator: "/").first?.split(separator: ":") ?? []
        guard parts.count == 2, UInt16(parts[1]) != nil else { return nil }
        (host, port) = (String(parts[0]), String(parts[1]))
    }

    /// The body of an answer; nil for one that says there is nothing.
    func get(_ path: String) throws -> [UInt8]? { try ask("GET", path, "", []) }

    /// - Parameter token: For the header `Authorization`; nil for none.
    func post(_ path: String, _ body: [UInt8], token: String? = nil) throws -> [UInt8]? {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return try ask("POST", path, "\(authorization)Content-Length: \(body.count)\r\n", body)
    }

    private func ask(_ method: String, _ path: String, _ headers: String, _ body: [UInt8]) throws -> [UInt8]? {
        let descriptor = try connect()
        defer { close(descriptor) }
        // Version 1.0: the answer ends with the connection, and is not cut into chunks.
        let trace = RequestTrace.current?.headerLines ?? ""
        let request = Array("\(method) \(path) HTTP/1.0\r\nHost: \(host):\(port)\r\n\(trace)\(headers)\r\n".utf8) + body
        guard unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw Failure(description: "\(host):\(port) takes no requests")
        }
        var answer: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &block, block.count, 0)
            guard count >= 0 else { throw Failure(description: "\(host):\(port) does not answer") }
            if count == 0 { break }
            answer += block[..<count]
            guard answer.count <= PlainHTTP.largest else { throw Failure(description: "\(host):\(port) says too much") }
        }
        let mark = Array("\r\n\r\n".utf8)
        let end = answer.indices.first { answer[$0...].starts(with: mark) }
        let status = String(decoding: answer.prefix { $0 != 0x0D }, as: UTF8.self).split(separator: " ")
        guard let end, status.count >= 2, status[0].hasPrefix("HTTP/1.") else {
            throw Failure(description: "\(host):\(port) does not speak HTTP")
        }
        switch status[1] {
        case "200": return Array(answer[(end + mark.count)...])
        case "404": return nil
        default: throw Failure(description: "\(host):\(port) answers with status \(status[1].prefix(3))")
        }
    }

    private func connect() throws -> Int32 {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &found) == 0, let first = unsafe found else {
            throw Failure(description: "\(host) cannot be found")
        }
        defer { unsafe freeaddrinfo(found) }
        let descriptor = unsafe socket(
            first.pointee.ai_family, first.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket for \(host):\(port)") }
        var limit = timeval(tv_sec: PlainHTTP.seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard unsafe SystemCalls.connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            close(descriptor)
            throw Failure(description: "\(host):\(port) cannot be reached")
        }
        return descriptor
    }
}

/// The key service: what it answers is verified by the chain, so the way to it need not be trusted.
struct HTTPKeyService: KeyService {
    private let http: PlainHTTP

    init?(_ url: String) {
        guard let http = PlainHTTP(url) else { return nil }
        self.http = http
    }

    func keyEvents() async throws -> [UInt8] {
        guard let body = try http.get("/hsm/keys") else {
            throw PlainHTTP.Failure(description: "the key service has no events")
        }
        return body
    }

    func endorsement(of name: PublicKeyText) async throws -> [UInt8]? { try http.get("/keys/\(name)") }
}
