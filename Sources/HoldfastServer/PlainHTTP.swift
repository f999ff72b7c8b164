internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import SystemCalls

/// A client for services beside this one, over plain HTTP and without keeping connections. Its calls wait for the other
/// side: they are for threads that nothing else needs.
struct PlainHTTP: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// What the other side answered; nil when it did not.
        var status: Int?
    }

    private let host: String
    private let port: String
    /// Both, as a URL has them.
    private let shown: String
    /// Bytes of an answer: the longest list, behind a head.
    private static let largest = MessageLimits.keyList + 65_536
    /// Seconds for a whole exchange, however the other side spreads its bytes. Only the search for a name is not among
    /// them: the system's resolver has limits of its own.
    private static let seconds = 5.0

    /// - Parameter url: `http://HOST:PORT`.
    init?(_ url: String) {
        guard url.hasPrefix("http://") else { return nil }
        let place = url.dropFirst(7).split(separator: "/", omittingEmptySubsequences: false)
        guard place.count == 1 || place.count == 2 && place[1].isEmpty, let colon = place[0].lastIndex(of: ":") else {
            return nil
        }
        var name = place[0][..<colon]
        // An address of version 6 stands in brackets.
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        if isBracketed { name = name.dropFirst().dropLast() }
        let digits = place[0][place[0].index(after: colon)...]
        guard !name.isEmpty, isBracketed == name.contains(":"), UInt16(digits) != nil else { return nil }
        (host, port) = (String(name), String(digits))
        shown = isBracketed ? "[\(name)]:\(digits)" : "\(name):\(digits)"
    }

    /// The body of an answer; nil for one that says there is nothing.
    func get(_ path: String) throws -> [UInt8]? { try ask("GET", path, "", []) }

    /// - Parameter token: For the header `Authorization`; nil for none.
    func post(_ path: String, _ body: [UInt8], token: SecretText? = nil) throws -> [UInt8]? {
        try ask("POST", path, "Content-Length: \(body.count)\r\n", body, token)
    }

    private func ask(
        _ method: String, _ path: String, _ headers: String, _ body: [UInt8], _ token: SecretText? = nil
    ) throws -> [UInt8]? {
        let exchange = try connect()
        // Version 1.0: the answer ends with the connection, and is not cut into chunks.
        let trace = RequestTrace.current?.headerLines ?? ""
        let head = Array("\(method) \(path) HTTP/1.0\r\nHost: \(shown)\r\n\(trace)\(headers)".utf8)
        var isSent = exchange.send(head)
        if let token, isSent {
            isSent =
                exchange.send(Array("Authorization: Bearer ".utf8)) && token.withArray { exchange.send($0) }
                && exchange.send(Array("\r\n".utf8))
        }
        guard isSent, exchange.send(Array("\r\n".utf8) + body) else {
            throw Failure(description: "\(shown) takes no requests")
        }
        var answer: [UInt8] = []
        while let block = try exchange.receive(orElse: Failure(description: "\(shown) does not answer in time")) {
            answer += block
            guard answer.count <= PlainHTTP.largest else { throw Failure(description: "\(shown) says too much") }
        }
        let mark = Array("\r\n\r\n".utf8)
        let end = answer.indices.first { answer[$0...].starts(with: mark) }
        let lines = String(decoding: answer[..<(end ?? 0)], as: UTF8.self).split(separator: "\r\n")
        let status = lines.first?.split(separator: " ") ?? []
        guard let end, status.count >= 2, status[0].hasPrefix("HTTP/1.") else {
            throw Failure(description: "\(shown) does not speak HTTP")
        }
        switch status[1] {
        case "200":
            let content = answer[(end + mark.count)...]
            // A connection that broke ends like one that was closed: only the length tells that this is all of it.
            let lengths = lines.compactMap { line -> Substring? in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 && parts[0].lowercased() == "content-length" ? parts[1] : nil
            }
            guard lengths.flatMap({ $0.split { $0 == " " || $0 == "\t" } }) == ["\(content.count)"] else {
                throw Failure(description: "\(shown) broke off its answer, or did not say how long it is")
            }
            return Array(content)
        case "404": return nil
        default:
            throw Failure(
                description: "\(shown) answers with status \(status[1].prefix(3))", status: Int(status[1]))
        }
    }

    /// To the first address of the name that answers.
    private func connect() throws -> Exchange {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &found) == 0 else {
            throw Failure(description: "\(host) cannot be found")
        }
        defer { unsafe freeaddrinfo(found) }
        let end = MonotonicClock.seconds + PlainHTTP.seconds
        var next = unsafe found
        while let place = unsafe next {
            let kind = unsafe place.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let number = unsafe socket(place.pointee.ai_family, kind, 0)
            if number >= 0 {
                let exchange = Exchange(OwnedDescriptor(owning: number), until: end)
                if unsafe exchange.reaches(place.pointee) { return exchange }
            }
            unsafe next = place.pointee.ai_next
        }
        throw Failure(description: "\(shown) cannot be reached")
    }

    /// One connection, until its end.
    private struct Exchange: ~Copyable {
        private let descriptor: OwnedDescriptor
        private let end: Double

        init(_ descriptor: consuming OwnedDescriptor, until end: Double) {
            self.descriptor = descriptor
            self.end = end
        }

        /// Whether somebody listens there.
        func reaches(_ place: addrinfo) -> Bool {
            if unsafe SystemCalls.connect(descriptor.number, place.ai_addr, place.ai_addrlen) == 0 { return true }
            guard errno == EINPROGRESS, wait(POLLOUT) else { return false }
            var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            return unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0
        }

        /// Waits until the socket is ready; false at the end of the time.
        private func wait(_ events: Int32) -> Bool {
            while true {
                let left = end - MonotonicClock.seconds
                guard left > 0 else { return false }
                var watched = pollfd(fd: descriptor.number, events: Int16(events), revents: 0)
                let count = unsafe poll(&watched, 1, Int32((left * 1000).rounded(.up)))
                if count > 0 { return true }
                guard count == 0 || errno == EINTR else { return false }
            }
        }

        /// Whether all of it went.
        func send(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                guard wait(POLLOUT) else { return false }
                let count = unsafe rest.withUnsafeBytes {
                    unsafe SystemCalls.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 || errno == EAGAIN || errno == EINTR else { return false }
                rest = rest.dropFirst(max(count, 0))
            }
            return true
        }

        /// What came; nil at the end of the answer.
        func receive(orElse failure: Failure) throws(Failure) -> [UInt8]? {
            var block = [UInt8](repeating: 0, count: 65_536)
            while wait(POLLIN) {
                let count = unsafe recv(descriptor.number, &block, block.count, 0)
                if count >= 0 { return count == 0 ? nil : Array(block[..<count]) }
                guard errno == EAGAIN || errno == EINTR else { throw failure }
            }
            throw failure
        }
    }
}

/// The key service: what it answers is verified by the chain, so the way to it need not be trusted.
struct HTTPKeyService: KeyService {
    private let http: PlainHTTP
    /// Threads that wait for it: those of the concurrency runtime are few, and other requests need them.
    private let pool = WorkerPool(4)

    init?(_ url: String) {
        guard let http = PlainHTTP(url) else { return nil }
        self.http = http
    }

    /// Whether it answers.
    func probe() throws { _ = try http.get("/health") }

    private func get(_ path: String) async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            // The other side's log has the request's name too.
            let trace = RequestTrace.current
            let isBegun = pool.run { [http] in
                RequestTrace.$current.withValue(trace) { continuation.resume(with: Result { try http.get(path) }) }
            }
            if !isBegun {
                continuation.resume(throwing: PlainHTTP.Failure(description: "too much waits for the key service"))
            }
        }
    }

    func keyEvents() async throws -> [UInt8] {
        guard let body = try await get("/hsm/keys") else {
            throw PlainHTTP.Failure(description: "the key service has no events")
        }
        return body
    }

    func endorsement(of name: PublicKeyText) async throws -> [UInt8]? {
        try await get("/keys/\(name)")
    }
}
