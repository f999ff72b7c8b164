internal import VaultCore
internal import VaultStorage
internal import SystemCalls

/// Calls around Unix stream sockets.
enum LocalSocket {
    /// A new socket that no program we start inherits.
    static func make() throws(VaultError) -> Int32 {
        #if os(Linux) && !canImport(Darwin)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .system("making a socket") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Calls `body` with the address of a path.
    static func withAddress<R>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) throws(VaultError) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .unavailable("the path of the socket is too long")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            for (index, byte) in bytes.enumerated() { unsafe target[index] = byte }
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// A listening socket that only its user can open.
    static func listen(in folder: borrowing SocketFolder, name: String) throws(VaultError) -> Int32 {
        let descriptor = try make()
        do throws(VaultError) {
            // The mode is the socket's from its first moment on.
            let mask = umask(0o177)
            defer { umask(mask) }
            let bound = try unsafe withAddress(folder.address(name)) { unsafe bind(descriptor, $0, $1) }
            guard bound == 0 else { throw .system("making a socket in \(folder.shown)") }
            guard SystemCalls.listen(descriptor, 128) == 0 else { throw .system("listening") }
            setNonBlocking(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Nil if nothing listens there.
    /// - Parameter patience: Seconds that a call may wait for the other side.
    static func connect(
        in folder: borrowing SocketFolder, name: String, patience: Int
    ) throws(VaultError) -> Int32? {
        let descriptor = try make()
        do throws(VaultError) {
            setPatience(descriptor, seconds: patience)
            let path = folder.address(name)
            let connected = try unsafe withAddress(path) { unsafe SystemCalls.connect(descriptor, $0, $1) }
            if connected == 0 { return descriptor }
            switch errno {
            case ECONNREFUSED, ENOENT: break
            case EAGAIN, EINTR: throw .unavailable("the agent does not accept connections")
            default: throw .system("connecting to the agent")
            }
        } catch {
            close(descriptor)
            throw error
        }
        close(descriptor)
        return nil
    }

    static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// How long a call waits for the other side.
    static func setPatience(_ descriptor: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }

    /// What happened to a transfer.
    enum Transfer {
        case moved(Int)
        /// Nothing can be moved now.
        case wouldBlock
        /// The other side has gone.
        case ended
    }

    /// Reads some bytes to where a span begins.
    static func receive(_ descriptor: Int32, into bytes: inout MutableRawSpan) -> Transfer {
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return outcome(got, isEndAtZero: true)
    }

    /// Writes some bytes. A reader that has gone is no signal.
    static func send(_ descriptor: Int32, _ bytes: RawSpan) -> Transfer {
        #if os(Linux) && !canImport(Darwin)
        let flags = Int32(MSG_NOSIGNAL)
        let sent = unsafe bytes.withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0.baseAddress, $0.count, flags) }
        #else
        let sent = unsafe bytes.withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0.baseAddress, $0.count, 0) }
        #endif
        return outcome(sent, isEndAtZero: false)
    }

    private static func outcome(_ count: Int, isEndAtZero: Bool) -> Transfer {
        if count > 0 || (count == 0 && !isEndAtZero) { return .moved(count) }
        if count == 0 { return .ended }
        switch errno {
        case EINTR: return .moved(0)
        case EAGAIN: return .wouldBlock
        default: return .ended
        }
    }
}
