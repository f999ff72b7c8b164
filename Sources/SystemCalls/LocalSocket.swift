#if os(Linux) && !canImport(Darwin)
/// Unix stream sockets in the file system.
package enum LocalSocket {
    /// Binds and listens. Only this process's user can connect.
    /// - Parameter backlog: Connections that may wait to be accepted.
    /// - Returns: A descriptor that the caller closes, and that no program inherits.
    /// - Throws: ``SystemError``; `ENAMETOOLONG` for a path that no address holds.
    package static func listen(_ path: String, backlog: Int32) throws(SystemError) -> Int32 {
        try made { descriptor throws(SystemError) in
            // The mode is the socket's from its first moment on.
            let mask = umask(0o177)
            defer { umask(mask) }
            try unsafe withAddress(path) { unsafe bind(descriptor, $0, $1) }
            guard SystemCalls.listen(descriptor, backlog) == 0 else { throw .last }
        }
    }

    /// Connects.
    /// - Parameter patience: Seconds that this and each later call may wait for the other side.
    /// - Returns: A descriptor that the caller closes, and that no program inherits.
    /// - Throws: ``SystemError``: as ``listen(_:backlog:)``, `ENOENT` and `ECONNREFUSED` where nobody listens, `EAGAIN`
    ///   where nobody accepts.
    package static func connect(_ path: String, patience: Int) throws(SystemError) -> Int32 {
        try made { descriptor throws(SystemError) in
            setPatience(descriptor, seconds: patience)
            try unsafe withAddress(path) { unsafe SystemCalls.connect(descriptor, $0, $1) }
        }
    }

    /// Whether somebody listens there, or may do so. It waits for nobody: a full queue is somebody's.
    package static func isServed(_ path: String) -> Bool {
        do throws(SystemError) {
            let descriptor = try made { descriptor throws(SystemError) in
                setNonBlocking(descriptor)
                try unsafe withAddress(path) { unsafe SystemCalls.connect(descriptor, $0, $1) }
            }
            close(descriptor)
            return true
        } catch { return error.number != ECONNREFUSED && error.number != ENOENT }
    }

    private static func made(_ prepare: (Int32) throws(SystemError) -> Void) throws(SystemError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .last }
        do throws(SystemError) { try prepare(descriptor) } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func withAddress(
        _ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw SystemError(ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw .last }
    }

    /// The process and the user at the other end when it connected, as the kernel says; nil when it does not.
    package static func peer(_ descriptor: Int32) -> (process: Int32, user: UInt32)? {
        // struct ucred: process, user and group, four bytes each (unix(7)). It is GNU's own and does not import.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var size = socklen_t(12)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, size == 12 else {
            return nil
        }
        return (credentials.process, credentials.user)
    }

    /// The name that the other end has bound, without its family; nothing where it has none.
    package static func peerAddress(_ descriptor: Int32) -> [UInt8] {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(descriptor, $0, &size) == 0
            }
        }
        let count = Int(size) - MemoryLayout.size(ofValue: address.sun_family)
        guard isKnown, address.sun_family == sa_family_t(AF_UNIX), count > 0 else { return [] }
        return unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix(count)) }
    }

    /// No call waits for the other side from now on.
    package static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// How long a call waits for the other side.
    package static func setPatience(_ descriptor: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// What happened to a transfer.
    package enum Transfer: Sendable {
        /// Bytes that were moved; none where a signal came first.
        case moved(Int)
        /// Nothing can be moved now.
        case wouldBlock
        /// The kernel has no memory for it now, which `poll` does not wait for; the other side is still there.
        case noMemory
        /// The other side has gone.
        case ended
    }

    /// Reads some bytes to where a span begins.
    package static func receive(_ descriptor: Int32, into bytes: inout MutableRawSpan) -> Transfer {
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return outcome(got, isEndAtZero: true)
    }

    /// Writes some bytes. A reader that has gone is no signal.
    package static func send(_ descriptor: Int32, _ bytes: RawSpan) -> Transfer {
        let flags = Int32(MSG_NOSIGNAL)
        let sent = unsafe bytes.withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0.baseAddress, $0.count, flags) }
        return outcome(sent, isEndAtZero: false)
    }

    private static func outcome(_ count: Int, isEndAtZero: Bool) -> Transfer {
        if count > 0 || (count == 0 && !isEndAtZero) { return .moved(count) }
        if count == 0 { return .ended }
        switch errno {
        case EINTR: return .moved(0)
        case EAGAIN: return .wouldBlock
        case ENOBUFS, ENOMEM: return .noMemory
        default: return .ended
        }
    }
}
#endif
