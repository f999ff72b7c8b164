internal import SystemCalls
internal import VaultCore
package import VaultStorage

/// Listening sockets that the service manager has made, and passes to the agent that it starts for a client of one
/// (sd_listen_fds(3)).
///
/// They stay the manager's: the agent neither makes nor removes their names, and the client that comes when it has
/// ended starts the next one.
package struct PassedSockets: Sendable {
    /// Its clients are the agent's own; the socket unit calls it `agent`.
    var agent: Int32?
    /// For SSH programs: `ssh`.
    var ssh: Int32?

    /// What commands look for in the runtime folder, where there is no agent: to connect starts one.
    static let agentName = "agent.sock"
    private static let firstDescriptor: Int32 = 3

    package init() {}

    package var isEmpty: Bool { agent == nil && ssh == nil }

    /// Takes those of this process, and keeps them from the programs that it starts.
    /// - Throws: `agentUnavailable` for one with another name, for two with the same, and for what no Unix stream
    ///   socket is that listens.
    package static func take() throws(VaultError) -> PassedSockets {
        let taken = try take(["agent", "ssh"])
        var passed = PassedSockets()
        (passed.agent, passed.ssh) = (taken["agent"], taken["ssh"])
        return passed
    }

    /// As ``take()``, where the process answers units of the service manager.
    /// - Returns: Nil where none was passed.
    package static func takeCredentials() throws(VaultError) -> Int32? { try take(["credentials"])["credentials"] }

    private static func take(_ known: Set<String>) throws(VaultError) -> [String: Int32] {
        var passed: [String: Int32] = [:]
        defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) } }
        guard variable("LISTEN_PID").flatMap({ Int32($0) }) == getpid(),
            let count = variable("LISTEN_FDS").flatMap({ Int32($0) }), count > 0
        else { return passed }
        let strange = VaultError.unavailable(
            "the service manager passes other sockets than this command takes: \(known.sorted().joined(separator: ", "))"
        )
        let names = (variable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
            .map(String.init)
        guard count <= known.count, names.count == Int(count) else { throw strange }
        for (index, name) in names.enumerated() {
            let descriptor = firstDescriptor + Int32(index)
            guard isListening(descriptor) else {
                throw .unavailable("what the service manager passes as \(name) is not a listening Unix stream socket")
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            LocalSocket.setNonBlocking(descriptor)
            guard known.contains(name), passed.updateValue(descriptor, forKey: name) == nil else { throw strange }
        }
        return passed
    }

    /// Closes the connections that wait.
    func turnAway() {
        for listener in [agent, ssh].compactMap(\.self) {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                close(client)
            }
        }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        func option(_ name: Int32) -> Int32? {
            var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
        }
        return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == Int32(SOCK_STREAM.rawValue)
            && option(SO_ACCEPTCONN) == 1
        #else
        return false
        #endif
    }

    /// Where clients find a socket; nil for one without a path.
    static func path(_ descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isNamed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isNamed, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
        return path.first == UInt8(ascii: "/") ? String(validating: path, as: UTF8.self) : nil
    }
}

/// Which vault an agent serves: the folder itself, however its path is written.
package struct Profile: Sendable, Hashable {
    /// The device that the home is on.
    package let device: UInt64
    /// The home's inode there.
    package let inode: UInt64

    /// - Throws: `agentUnavailable` when the descriptor cannot be examined.
    init(home descriptor: Int32) throws(VaultError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("examining the home") }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// The name of its socket in a folder that may hold those of other profiles.
    var socketName: String { "\(String(device, radix: 16))-\(String(inode, radix: 16)).sock" }
}
