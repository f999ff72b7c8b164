internal import ProgramProtocols
internal import SystemCalls

/// A pinentry program that runs, and our end of its pipe.
struct PinentryChild {
    let process: Int32
    let socket: Int32

    /// Why there is none.
    struct Problem: Error {
        let reason: String
    }

    /// Milliseconds that it has to end after the answer.
    private static let endPatience: UInt64 = 500

    func end() {
        PinentryChild.end(process)
        close(socket)
    }

    /// Ends the program and what it started, and waits for it.
    private static func end(_ process: Int32) {
        let deadline = MonotonicClock.milliseconds + endPatience
        kill(-process, SIGTERM)
        while !hasEnded(process), MonotonicClock.milliseconds < deadline { usleep(5_000) }
        // It is not reaped yet, so its number is still its own: what it left in its group ends too.
        kill(-process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
    }

    private static func hasEnded(_ process: Int32) -> Bool {
        var info = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return true }
        return unsafe info.si_signo == SIGCHLD
    }
}

extension PinentryPrompt {
    func start() -> Result<PinentryChild, PinentryChild.Problem> {
        guard let path = chosen else {
            return .failure(.init(reason: "nobody can be asked: there is no terminal and no pinentry program"))
        }
        var ends: [Int32] = [-1, -1]
        #if os(Linux) && !canImport(Darwin)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            return .failure(.init(reason: "\(SystemError.last)"))
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let started = Spawn.start(
            path, ["pinentry"], environment: environment, descriptors: [(0, ends[1]), (1, ends[1]), (2, nil)],
            closesRest: true)
        close(ends[1])
        guard case .success(let process) = started else {
            close(ends[0])
            return .failure(.init(reason: "the pinentry program cannot be started"))
        }
        LocalSocket.setNonBlocking(ends[0])
        return .success(PinentryChild(process: process, socket: ends[0]))
    }

    /// What it needs to show something, and nothing else that this process was started with.
    private var environment: [[UInt8]] {
        var variables = AgentEnvironment.forDisplay()
        variables.append(Array("PATH=/usr/local/bin:/usr/bin:/bin".utf8))
        if !display.isEmpty { variables.append(Array("DISPLAY=\(display)".utf8)) }
        if !waylandDisplay.isEmpty { variables.append(Array("WAYLAND_DISPLAY=\(waylandDisplay)".utf8)) }
        return variables
    }

    static func variable(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
