internal import SystemCalls

/// A socket that listens, and what it is bound to.
package struct HTTPListener: ~Copyable {
    let descriptor: Int32
    /// With the port that the system chose, where it did.
    package let address: String

    /// Binds and listens: what a server makes is made after that, since a port may be taken.
    /// - Parameter text: `HOST:PORT` or `[HOST]:PORT`, with an address or a name for the host; port 0 lets the system choose.
    /// - Throws: ``HTTPError``.
    package init(_ text: String) throws(HTTPError) {
        guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil else {
            throw .notAnAddress(text)
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard
            unsafe getaddrinfo(host.isEmpty ? nil : host, String(text[text.index(after: colon)...]), &hints, &found)
                == 0,
            let first = unsafe found
        else { throw .notAnAddress(text) }
        defer { unsafe freeaddrinfo(found) }
        let descriptor = unsafe socket(
            first.pointee.ai_family, first.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0)
        guard descriptor >= 0 else { throw .system("socket", errno) }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
            listen(descriptor, 4096) == 0
        else {
            let reason = errno
            close(descriptor)
            throw .system("listening on \(text)", reason)
        }
        self.descriptor = descriptor
        address = HTTPListener.name(descriptor, host: host)
    }

    private static func name(_ descriptor: Int32, host: String) -> String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let address = unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            guard unsafe getsockname(descriptor, address, &length) == 0 else { return host }
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
    /// A call of the system, and its number.
    case system(String, Int32)
    /// libmicrohttpd does not start; with TLS it is mostly the key or the certificate.
    case daemon

    package var description: String {
        switch self {
        case .notAnAddress(let text): "\(text) is not an address to listen on"
        case .system(let call, let number): "\(call): \(SystemError(number))"
        case .daemon: "the HTTP daemon does not start"
        }
    }
}
