import Foundation
import TestSupport

/// One connection to a front, over which anything can be sent.
final class HTTPClient {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    struct Reply {
        let status: Int
        let headers: [String: String]
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: Int32
    private var received: [UInt8] = []

    /// - Parameters:
    ///   - address: `HOST:PORT`, of version 4.
    ///   - source: The address of this machine that it comes from; nil for the one that the system chooses.
    init(_ address: String, from source: String? = nil) throws {
        let parts = address.split(separator: ":")
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let source {
            var own = sockaddr_in()
            own.sin_family = sa_family_t(AF_INET)
            unsafe inet_pton(AF_INET, source, &own.sin_addr)
            let isBound = unsafe withUnsafePointer(to: &own) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isBound else { throw Problem(description: "\(source) is no address of this machine: \(errno)") }
        }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(UInt16(parts[1]) ?? 0).bigEndian
        unsafe inet_pton(AF_INET, String(parts[0]), &place.sin_addr)
        let status = unsafe withUnsafePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Problem(description: "\(address) cannot be reached: \(errno)") }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        // An answer that does not come fails the test; it does not hold up all others.
        var patience = Patience.interval
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    func post(_ path: String, _ body: [UInt8], headers: String = "") throws -> Reply {
        send(
            Array("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\(headers)\r\n".utf8) + body)
        return try reply()
    }

    func get(_ path: String) throws -> Reply {
        send(Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        return try reply()
    }

    /// Everything until the other side closes, or leaves the connection alone for a while.
    func rest() -> [UInt8] {
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        while (try? receive()) != nil {}
        return received
    }

    /// Whether the other side has closed.
    func isClosed() -> Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, 0)
        return count == 0 || count < 0 && errno != EAGAIN
    }

    /// The next reply.
    func reply() throws -> Reply {
        let head = try head()
        let count = head.headers["content-length"].flatMap { Int($0) } ?? 0
        while received.count < count { try receive() }
        let body = Array(received[..<count])
        received.removeSubrange(..<count)
        return Reply(status: head.status, headers: head.headers, body: body)
    }

    /// The head of the next reply: all that comes after HEAD.
    func head() throws -> Reply {
        let end = Array("\r\n\r\n".utf8)
        while received.firstRange(of: end) == nil { try receive() }
        guard let mark = received.firstRange(of: end) else { throw Problem(description: "no head") }
        let lines = String(decoding: received[..<mark.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
        }
        received.removeSubrange(..<mark.upperBound)
        let words = lines[0].split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw Problem(description: "no status") }
        return Reply(status: status, headers: headers, body: [])
    }

    private func receive() throws {
        var block = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &block, block.count, 0)
        guard count > 0 else { throw Problem(description: "the connection ended without an answer") }
        received += block[..<count]
    }
}
