internal import DeviceOwner
internal import FaceMessages
internal import SystemCalls

/// Asks with a pinentry program, which runs only for this question.
struct PinentryPrompt {
    /// The program; nil for the first one at the usual places.
    let program: String?
    /// Where it can show something.
    var display = ""
    var waylandDisplay = ""
    var terminalType = ""

    /// Where a pinentry program is looked for. Never in `$PATH`, which a client's starter could have changed.
    private static let places = ["/usr/bin/pinentry", "/usr/local/bin/pinentry", "/bin/pinentry"]
    /// Milliseconds that it has to end after the answer.
    private static let endPatience: UInt64 = 500

    /// - Parameter terminal: Where a program for terminals asks.
    func ask(
        _ question: Question, on terminal: UInt32?, patience: UInt64, _ cancellation: Cancellation
    ) -> PromptAnswer {
        guard let path = program ?? PinentryPrompt.places.first(where: { unsafe access($0, X_OK) == 0 }) else {
            return .unanswered("nobody can be asked: there is no terminal and no pinentry program")
        }
        var ends: [Int32] = [-1, -1]
        #if os(Linux) && !canImport(Darwin)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return .unanswered("\(SystemError.last)") }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let started = Spawn.start(
            path, ["pinentry"], environment: environment, descriptors: [(0, ends[1]), (1, ends[1]), (2, nil)],
            closesRest: true)
        close(ends[1])
        guard case .success(let process) = started else { return .unanswered("the pinentry program cannot be started") }
        defer { PinentryPrompt.end(process) }
        LocalSocket.setNonBlocking(ends[0])
        let outcome = talk(
            ends[0], words(question, terminal, patience), MonotonicClock.milliseconds + patience, cancellation)
        switch outcome {
        case .allowed: return .allowed
        case .refused: return .refused
        case .timedOut, nil: return .unanswered("nobody answered in time")
        case .failed: return .unanswered("the pinentry program cannot ask here")
        case .hostile: return .unanswered("the pinentry program does not speak its protocol")
        }
    }

    private func words(_ question: Question, _ terminal: UInt32?, _ patience: UInt64) -> PinentryDialog.Words {
        var words = PinentryDialog.Words()
        words.title = "Holdfast"
        words.description = "\(question.request)\n\(question.offer)"
        words.yes = "Allow"
        words.no = "Refuse"
        words.seconds = UInt32(clamping: max(1, patience / 1000))
        if let terminal, let descriptor = PromptPlace.open(terminal: terminal) {
            if let path = PromptPlace.path(descriptor) { words.options.append(("ttyname", path)) }
            close(descriptor)
            words.options.append(("ttytype", terminalType.isEmpty ? "vt100" : terminalType))
        }
        if !display.isEmpty { words.options.append(("display", display)) }
        for (name, variable) in [("lc-ctype", "LC_CTYPE"), ("lc-messages", "LC_MESSAGES")] {
            if let value = PinentryPrompt.variable(variable) ?? PinentryPrompt.variable("LANG") {
                words.options.append((name, value))
            }
        }
        return words
    }

    /// - Returns: Nil when the time is over or the question was withdrawn.
    private func talk(
        _ socket: Int32, _ words: PinentryDialog.Words, _ deadline: UInt64, _ cancellation: Cancellation
    ) -> PinentryDialog.Outcome? {
        var dialog = PinentryDialog(words)
        while PromptWait.isReady(socket, Int16(POLLIN), deadline, cancellation) {
            var piece = [UInt8](repeating: 0, count: 1024)
            let count = unsafe recv(socket, &piece, piece.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return dialog.receiveEnd() }
            switch dialog.receive(piece[..<count]) {
            case .wait: break
            case .end(let outcome):
                _ = unsafe LocalSocket.send(socket, Array("BYE\n".utf8).span.bytes)
                return outcome
            case .send(let line):
                // A program that reads nothing is none; the socket has room for all that is ever sent.
                guard case .moved(line.count) = unsafe LocalSocket.send(socket, line.span.bytes) else { return .failed }
            }
        }
        return nil
    }

    /// What it needs to show something, and nothing else that this process was started with.
    private var environment: [[UInt8]] {
        let kept = [
            "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "XAUTHORITY", "XDG_RUNTIME_DIR",
            "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS",
        ]
        var variables = Spawn.environment().filter { variable in
            kept.contains { variable.starts(with: Array("\($0)=".utf8)) }
        }
        variables.append(Array("PATH=/usr/local/bin:/usr/bin:/bin".utf8))
        if !display.isEmpty { variables.append(Array("DISPLAY=\(display)".utf8)) }
        if !waylandDisplay.isEmpty { variables.append(Array("WAYLAND_DISPLAY=\(waylandDisplay)".utf8)) }
        return variables
    }

    static func variable(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
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
