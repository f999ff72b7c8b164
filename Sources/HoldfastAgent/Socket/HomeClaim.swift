internal import SystemCalls
internal import VaultStorage

/// Who serves a home, wherever the agent's socket is. Both locks are on the folder itself and end with the process,
/// however that ends.
package enum HomeClaim {
    // `linux/fcntl.h`; glibc names them for C programs that ask for all of GNU's.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    /// Takes the home for this process, until it ends: one agent for one home.
    /// - Throws: `agentRunning`.
    static func claim(_ home: Int32) throws(VaultError) {
        let deadline = MonotonicClock.milliseconds + AgentSettings.claimPatience
        while flock(home, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                // Who only looks whether it is claimed shares it with others who look, for an instant; an agent does
                // not share it.
                guard flock(home, LOCK_SH | LOCK_NB) == 0, MonotonicClock.milliseconds < deadline else {
                    throw VaultError(.agentRunning, "an agent is already running for this vault")
                }
                flock(home, LOCK_UN)
                usleep(1000)
            default: throw .system("claiming the home")
            }
        }
    }

    /// Says that the agent's socket is there (F_RDLCK), or that it goes (F_UNLCK). Where the file system keeps no such
    /// locks, nobody knows; they wait for the socket.
    static func say(_ type: Int32, _ home: Int32) {
        var lock = firstByte(type)
        _ = unsafe fcntl(home, setLock, &lock)
    }

    /// Whether an agent has the home: one that starts, serves or ends.
    package static func isTaken(home: String) -> Bool {
        look(home) { flock($0, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK }
    }

    /// Whether an agent of the home accepts clients.
    package static func isServing(home: String) -> Bool {
        look(home) { folder in
            var lock = firstByte(F_WRLCK)
            return unsafe fcntl(folder, getLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
        }
    }

    private static func look(_ home: String, _ body: (Int32) -> Bool) -> Bool {
        let folder = unsafe open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        return body(folder)
    }

    private static func firstByte(_ type: Int32) -> flock {
        var lock = SystemCalls.flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_len = 1
        return lock
    }
}
