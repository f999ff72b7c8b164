internal import SystemCalls

/// The process at the other end of a socket, as the kernel reports it. The number of a process may be used again;
/// together with its start it names one process.
struct Peer: Sendable, Hashable {
    let process: Int32
    let user: UInt32
    /// Ticks from the boot to the start of the process; nil when it could not be read.
    let start: UInt64?

    /// Nil when the kernel does not say.
    init?(_ descriptor: Int32) {
        #if os(Linux) && !canImport(Darwin)
        // struct ucred: process, user, group. It is GNU's own and does not import.
        var credentials: [Int32] = [0, -1, -1]
        var size = socklen_t(credentials.count * 4)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, size == 12 else {
            return nil
        }
        process = credentials[0]
        user = UInt32(bitPattern: credentials[1])
        start = Peer.start(of: process)
        #else
        var (user, group) = (uid_t.max, gid_t.max)
        guard unsafe getpeereid(descriptor, &user, &group) == 0 else { return nil }
        process = 0
        self.user = user
        start = nil
        #endif
    }

    var isSameUser: Bool { user == geteuid() }

    private static func start(of process: Int32) -> UInt64? {
        let file = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe read(file, &bytes, bytes.count)
        return count > 0 ? start(in: bytes[..<count]) : nil
    }

    /// Field 22 of proc_pid_stat(5). The second one is the program's name in parentheses, which may hold any byte.
    static func start(in line: ArraySlice<UInt8>) -> UInt64? {
        guard let end = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return String(validating: fields[19], as: UTF8.self).flatMap { UInt64($0) }
    }
}
