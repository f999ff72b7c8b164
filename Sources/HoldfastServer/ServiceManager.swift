internal import BetterAuthHTTP
internal import CommandLineArguments
internal import SystemCalls

/// What a server and systemd say to each other: sd_notify(3) and sd_listen_fds(3), whose protocols are documented
/// there.
enum ServiceManager {
    /// What `--listen` says for the socket that the service manager passes.
    static let listening = "systemd"
    private static let firstDescriptor: Int32 = 3

    /// The socket that was passed to this process, and no other one.
    /// - Throws: ``UsageError`` when there is none, or more than one.
    static func listener() throws -> HTTPListener {
        guard number("LISTEN_PID") == Int(getpid()), let count = number("LISTEN_FDS") else {
            throw UsageError("--listen systemd: no socket was passed; a socket unit starts the server with one")
        }
        guard count == 1 else {
            throw UsageError("--listen systemd: one socket was expected, and \(count) were passed")
        }
        return try HTTPListener(inherited: firstDescriptor)
    }

    enum State {
        case ready, reloading, stopping, alive
        /// It starts, and may need so many seconds for that.
        case starting(seconds: Int)

        var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Int(MonotonicClock.seconds * 1_000_000))"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .starting(let seconds): "EXTEND_TIMEOUT_USEC=\(seconds * 1_000_000)"
            }
        }
    }

    /// Tells the service manager, where there is one. What it does not hear it finds out by itself.
    static func tell(_ state: State) {
        guard let path = text("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        // An abstract name begins with a zero byte.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(state.text.utf8)
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }

    private static func text(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }

    private static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}
