internal import BetterAuthHTTP
internal import CommandLineArguments
internal import SystemCalls

/// A socket in the file system, for this machine alone.
enum LocalSocket {
    /// Seconds that either side waits for the other.
    private static let seconds = 30

    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// Whether it is the side that asks which failed.
        var asks = false

        init(_ path: String, _ error: SystemError) { description = "\(path): \(error)" }
        init(_ description: String) { self.description = description }
    }

    /// Binds and listens, with mode 0600. A socket that nobody listens at any more is replaced.
    static func listen(_ path: String) throws(Failure) -> OwnedDescriptor {
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFSOCK) else {
                throw Failure("\(path) exists and is not a socket")
            }
            guard (try? connect(path)) == nil else { throw Failure("\(path): another server listens there") }
            unsafe unlink(path)
        }
        let descriptor = try make(path)
        try bind(descriptor.number, path)
        // Nobody can connect before it listens.
        guard unsafe chmod(path, 0o600) == 0, SystemCalls.listen(descriptor.number, 16) == 0 else {
            throw Failure(path, .last)
        }
        return descriptor
    }

    static func connect(_ path: String) throws(Failure) -> OwnedDescriptor {
        let descriptor = try make(path)
        limit(descriptor.number)
        let isConnected = try unsafe withAddress(path) { address, length in
            unsafe SystemCalls.connect(descriptor.number, address, length) == 0
        }
        guard isConnected else {
            var failure = Failure(path, .last)
            failure.asks = true
            throw failure
        }
        return descriptor
    }

    /// No read or write waits for ever.
    static func limit(_ descriptor: Int32) {
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Whether the other end is this user's, or root's.
    static func isOwnUser(_ descriptor: Int32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        // Process, user and group, four bytes each (unix(7)).
        var credentials: (Int32, UInt32, UInt32) = (0, .max, .max)
        var size = socklen_t(12)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, size == 12 else {
            return false
        }
        return credentials.1 == geteuid() || credentials.1 == 0
        #else
        var (user, group) = (uid_t.max, gid_t.max)
        guard unsafe getpeereid(descriptor, &user, &group) == 0 else { return false }
        return user == geteuid() || user == 0
        #endif
    }

    private static func make(_ path: String) throws(Failure) -> OwnedDescriptor {
        #if os(Linux) && !canImport(Darwin)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { throw Failure(path, .last) }
        return OwnedDescriptor(owning: number)
    }

    private static func bind(_ descriptor: Int32, _ path: String) throws(Failure) {
        let isBound = try unsafe withAddress(path) { address, length in
            unsafe SystemCalls.bind(descriptor, address, length) == 0
        }
        guard isBound else { throw Failure(path, .last) }
    }

    private static func withAddress<R>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) throws(Failure) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure("\(path) is too long for a socket")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
