import Foundation
import Testing

/// A port that nobody listens on, and that nobody else gets meanwhile.
final class ClosedPort {
    private let socket: Int32
    let address: String

    init() throws {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(socket >= 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        try #require(isBound)
        self.socket = socket
        address = "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))"
    }

    deinit { close(socket) }
}
