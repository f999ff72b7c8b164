import AgentMessages
import Foundation
import TestSupport
import Testing

/// A connection over which anything can be sent.
final class RawConnection {
    let socket: Int32

    init(_ path: String) throws {
        socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // The scratch folder's path may be too long for an address.
        let folder = unsafe open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
        defer { close(folder) }
        let short = Array("/proc/self/fd/\(folder)/\(URL(fileURLWithPath: path).lastPathComponent)".utf8)
        try #require(bytes.count > 0 && short.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            for (index, byte) in short.enumerated() { unsafe target[index] = byte }
        }
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            close(socket)
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        // An answer that does not come fails the test; it does not hold up all others.
        var patience = Patience.interval
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// - Returns: Whether all of it was taken; the agent may have closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Bytes that have come and were not received.
    var available: Int {
        var count: Int32 = 0
        return unsafe ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Waits for the agent to close, however much is still to be received.
    func waitForClose() -> Bool {
        // POLLRDHUP, which is not imported
        var waiting = pollfd(fd: socket, events: 0x2000, revents: 0)
        return unsafe poll(&waiting, 1, Patience.milliseconds) == 1
    }

    /// The next message; nil when the agent closes, in the middle of one too.
    func receive() throws -> Reply? {
        guard let head = read(Frame.size) else { return nil }
        let frame = try unsafe Frame(parsing: head.span.bytes)
        guard let body = read(frame.bodySize) else { return nil }
        return try unsafe Reply(frame, body: body.span.bytes)
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(socket, $0.baseAddress! + done, count - done, 0)
            }
            guard got > 0 else { return nil }
            done += got
        }
        return bytes
    }
}

extension Reply {
    /// The code of a failure.
    var code: String? {
        if case .failure(let failure) = self { return failure.code }
        return nil
    }
}
