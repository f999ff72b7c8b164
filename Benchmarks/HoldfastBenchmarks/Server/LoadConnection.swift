import Foundation

/// One connection of the load generator.
final class LoadConnection: @unchecked Sendable {  // one thread's
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw BenchmarkError("the server cannot be reached") }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    func send(_ path: String, _ body: [UInt8]) throws {
        let request = Array("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        guard unsafe Foundation.send(descriptor, request, request.count, 0) == request.count else {
            throw BenchmarkError("the server takes no request")
        }
    }

    /// The body of the next reply, which must be a response.
    func reply() throws -> [UInt8] {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let mark = received.firstRange(of: end) {
                let head = String(decoding: received[..<mark.lowerBound], as: UTF8.self)
                guard let line = head.components(separatedBy: "\r\n").first(where: { $0.hasPrefix("Content-Length:") }),
                    let count = Int(line.dropFirst(16))
                else { throw BenchmarkError("a reply without length") }
                while received.count < mark.upperBound + count { try receive() }
                let body = Array(received[mark.upperBound..<mark.upperBound + count])
                received.removeSubrange(..<(mark.upperBound + count))
                guard head.hasPrefix("HTTP/1.1 200") else {
                    throw BenchmarkError("refused: \(String(decoding: body, as: UTF8.self))")
                }
                return body
            }
            try receive()
        }
    }

    private func receive() throws {
        var block = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe recv(descriptor, &block, block.count, 0)
        guard count > 0 else { throw BenchmarkError("the server has closed") }
        received += block[..<count]
    }
}
