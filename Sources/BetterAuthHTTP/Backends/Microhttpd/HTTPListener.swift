internal import SystemCalls

/// A socket that clients connect to, and what it is bound to.
package struct HTTPListener: ~Copyable {
    let descriptor: Int32
    /// The socket's number, to be passed to another process.
    package var passable: Int32 { descriptor }
    /// With the port that the system chose, where it did.
    package let address: String

    /// Binds: what a server makes is made after that, since a port may be taken. It listens, too, unless it shares the
    /// port: clients wait for a server that starts, but where another one serves, the kernel would give this one half
    /// of its connections, and reset them if this one does not start in the end.
    /// - Parameters:
    ///   - text: `HOST:PORT` or `[HOST]:PORT`, with an address or a name for the host; port 0 lets the system choose.
    ///   - sharesPort: Whether other processes of this user may listen there too.
    /// - Throws: ``HTTPError``.
    package init(_ text: String, sharesPort: Bool = false) throws(HTTPError) {
        let (host, port) = try HTTPListener.parts(text)
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard
            unsafe getaddrinfo(host.isEmpty ? nil : host, port, &hints, &found) == 0,
            let first = unsafe found
        else { throw .unresolved(text) }
        defer { unsafe freeaddrinfo(found) }
        let descriptor = unsafe socket(
            first.pointee.ai_family, first.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0)
        guard descriptor >= 0 else { throw .system("socket", errno) }
        HTTPListener.set(SO_REUSEADDR, true, of: descriptor)
        if sharesPort { HTTPListener.set(SO_REUSEPORT, true, of: descriptor) }
        guard unsafe bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
            sharesPort || listen(descriptor, HTTPListener.backlog) == 0
        else {
            let reason = errno
            close(descriptor)
            throw .system("listening on \(text)", reason)
        }
        // Where nobody listens yet, another user could bind the port too, and listen first.
        if sharesPort { HTTPListener.set(SO_REUSEADDR, false, of: descriptor) }
        self.descriptor = descriptor
        address = HTTPListener.name(descriptor, host: host)
    }

    /// Connections that wait to be accepted.
    private static let backlog: Int32 = 4096

    /// Listens from now on, if it does not already.
    /// - Throws: ``HTTPError/system(_:_:)`` when another program took the port that this one had asked for.
    package func begin() throws(HTTPError) {
        guard try !HTTPListener.listens(descriptor) else { return }
        guard listen(descriptor, HTTPListener.backlog) == 0 else { throw .system("listening on \(address)", errno) }
        // Its connections have this too; they rest for a minute when they have ended, and a later server binds beside
        // them.
        HTTPListener.set(SO_REUSEADDR, true, of: descriptor)
    }

    private static func set(_ option: Int32, _ isOn: Bool, of descriptor: Int32) {
        var value: Int32 = isOn ? 1 : 0
        unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func listens(_ descriptor: Int32) throws(HTTPError) -> Bool {
        var (isListening, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0 else {
            throw .system("the socket that was passed", errno)
        }
        return isListening != 0
    }

    /// Takes over a socket that listens already, as a service manager passes it.
    /// - Throws: ``HTTPError/system(_:_:)`` when the descriptor is no such socket.
    package init(inherited descriptor: Int32) throws(HTTPError) {
        guard try HTTPListener.listens(descriptor) else { throw .system("the socket that was passed", EINVAL) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        self.descriptor = descriptor
        address = HTTPListener.name(descriptor, host: nil)
    }

    /// Whether a text is an address to listen on, as far as its form tells.
    /// - Throws: ``HTTPError/notAnAddress(_:)``.
    package static func check(_ text: String) throws(HTTPError) { _ = try parts(text) }

    private static func parts(_ text: String) throws(HTTPError) -> (host: String, port: String) {
        guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil else {
            throw .notAnAddress(text)
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return (host, String(text[text.index(after: colon)...]))
    }

    /// - Parameter host: As it was given; nil for the address that the socket is bound to.
    private static func name(_ descriptor: Int32, host given: String?) -> String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let address = unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            guard unsafe getsockname(descriptor, address, &length) == 0 else { return given ?? "" }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let isNamed =
                unsafe given == nil
                && getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            let bound = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let host = given ?? (isNamed ? bound : "")
            // Both families have the port in the same place.
            let port = unsafe UnsafeRawPointer(pointer).loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    deinit { close(descriptor) }
}

/// Why a front does not start.
package enum HTTPError: Error, Sendable, CustomStringConvertible {
    case notAnAddress(String)
    /// The name of an address to listen on cannot be found now.
    case unresolved(String)
    /// A call of the system, and its number.
    case system(String, Int32)
    /// libmicrohttpd does not start; with TLS it is mostly the key or the certificate.
    case daemon
    /// libmicrohttpd does not ask this program for the lengths of requests: it was linked otherwise, or something
    /// stands in front of it.
    case unbound

    package var description: String {
        switch self {
        case .notAnAddress(let text): "\(text) is not an address to listen on"
        case .unresolved(let text): "the host of \(text) cannot be found"
        case .system(let call, let number): "\(call): \(SystemError(number))"
        case .daemon: "the HTTP daemon does not start"
        case .unbound: "the lengths of requests would not be checked: the program and libmicrohttpd do not fit"
        }
    }
}
