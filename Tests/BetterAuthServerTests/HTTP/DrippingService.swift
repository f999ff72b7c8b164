import Foundation
import Synchronization
import SystemCalls
import TestSupport

/// A service that answers everybody one byte at a time, and never to the end; or at once, with what it is given.
final class DrippingService: Sendable {
    let url: String
    private let listener: Int32
    private let asked = Mutex(0)
    private let isOver = Mutex(false)

    /// Connections that came.
    var connections: Int { asked.withLock { $0 } }

    /// - Parameter answer: What it answers at once before it closes the connection; nil for one that drips.
    init(answering answer: String? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? =
            unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(listener, $0, size) == 0 && listen(listener, 64) == 0
                        && getsockname(listener, $0, &size) == 0
                }
            } ? UInt16(bigEndian: address.sin_port) : nil
        guard let port else { throw HTTPClient.Problem(description: "no port for the dripping service") }
        self.listener = listener
        url = "http://127.0.0.1:\(port)"
        _ = DetachedThread.start { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                asked.withLock { $0 += 1 }
                if !DetachedThread.start({ [self] in drip(connection, answer) }) { close(connection) }
            }
        }
    }

    private func drip(_ connection: Int32, _ answer: String?) {
        // Another test may be starting a program, which gets a copy, and the connection has to end now.
        defer {
            shutdown(connection, Int32(SHUT_RDWR))
            close(connection)
        }
        if let answer {
            // With the request unread, the end of the connection would be an error.
            var request = [UInt8](repeating: 0, count: 4096)
            _ = unsafe recv(connection, &request, request.count, 0)
            let bytes = Array(answer.utf8)
            _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            return
        }
        for byte in "HTTP/1.0 200 OK\r\n\r\n".utf8 + [UInt8](repeating: 0x20, count: 1 << 20) {
            var byte = byte
            let isGone = unsafe send(connection, &byte, 1, Int32(MSG_NOSIGNAL)) != 1
            if isGone || isOver.withLock({ $0 }) { return }
            usleep(20_000)
        }
    }

    func stop() {
        isOver.withLock { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
