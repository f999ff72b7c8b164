internal import Holdfast
internal import SystemCalls

/// The child of `run --mask`: its output goes through a ``Masker``, signals go to it, and where it stops, this process
/// stops.
///
/// It is in the same process group. What a terminal sends (Ctrl-C, Ctrl-\, Ctrl-Z) reaches it without us and is not
/// sent again; what other processes send to us is.
final class MaskedChild {
    private static let signals = [
        SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGWINCH, SIGCONT,
    ]

    private let process: pid_t
    private let signals: SignalQueue
    private let streams: [Stream]

    private final class Stream {
        let source: Int32
        let target: Int32
        var masker: Masker
        var isOpen = true

        init(_ source: Int32, _ target: Int32, _ values: [ReferencedValue]) throws(CommandError) {
            self.source = source
            self.target = target
            do throws(SecretMemoryError) {
                var copies: [Masker.RawValue] = []
                for value in values { copies.append(Masker.RawValue(try value.bytes.copy())) }
                masker = try Masker(copies)
            } catch { throw CommandError(error) }
        }

        /// Reads what is there, once.
        /// - Returns: False when nothing is there now.
        func pump(_ buffer: inout SecretBytes) -> Bool {
            let source = source
            let count = buffer.withMutableBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes { unsafe read(source, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EAGAIN || errno == EINTR { return false }
            do throws(CommandError) {
                guard count > 0 else { return try finish() }
                let target = target
                try buffer.withBytes { bytes throws(CommandError) in
                    try masker.mask(bytes.extracting(0..<count)) { bytes throws(CommandError) in
                        try Descriptors.write(bytes, to: target)
                    }
                }
                return true
            } catch {
                // Nobody reads: the child is told so at its next write, as without us.
                close()
                return false
            }
        }

        @discardableResult
        func finish() throws(CommandError) -> Bool {
            guard isOpen else { return false }
            close()
            let target = target
            try masker.finish { bytes throws(CommandError) in try Descriptors.write(bytes, to: target) }
            return false
        }

        func close() {
            guard isOpen else { return }
            isOpen = false
            SystemCalls.close(source)
        }
    }

    /// Starts the program.
    /// - Throws: A failure when it cannot be started.
    init(
        _ path: String, _ words: [String], _ variables: [UnsafeMutablePointer<CChar>?], _ values: [ReferencedValue]
    ) throws(CommandError) {
        signals = try SignalQueue(MaskedChild.signals)
        var ends: [[Int32]] = [[-1, -1], [-1, -1]]
        for index in ends.indices {
            guard unsafe pipe(&ends[index]) == 0 else { throw .failure(.system, "pipe: \(SystemError.last)") }
            for end in ends[index] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[index][0], F_SETFL, O_NONBLOCK)
        }
        streams = [
            try Stream(ends[0][0], STDOUT_FILENO, values), try Stream(ends[1][0], STDERR_FILENO, values),
        ]
        process = try unsafe MaskedChild.spawn(path, words, variables, ends[0][1], ends[1][1], signals.maskBefore)
        close(ends[0][1])
        close(ends[1][1])
    }

    private static func spawn(
        _ path: String, _ words: [String], _ variables: [UnsafeMutablePointer<CChar>?], _ output: Int32,
        _ errors: Int32, _ mask: sigset_t
    ) throws(CommandError) -> pid_t {
        #if os(Linux) && !canImport(Darwin)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let flags: Int32 = 0x08 | 0x04  // POSIX_SPAWN_SETSIGMASK, POSIX_SPAWN_SETSIGDEF
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = mask
        var standard = sigset_t()
        unsafe sigemptyset(&standard)
        unsafe sigaddset(&standard, SIGPIPE)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setsigdefault(&attributes, &standard)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var variables = unsafe variables
        var process: pid_t = 0
        let error = unsafe posix_spawn(&process, path, &actions, &attributes, &arguments, &variables)
        guard error == 0 else {
            throw CommandError(
                error == ENOENT ? .noProgram : .programFailed, code: .notStarted,
                "\(Escaping.name(words.first ?? "")) cannot be started: \(SystemError(error))")
        }
        return process
    }

    /// Passes output and signals on until the child ends.
    /// - Returns: Its exit code, or 128 and the number of the signal that ended it.
    func run() throws(CommandError) -> Int32 {
        var buffer = try secret(65_536)
        while true {
            var waiting = [pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)]
            for stream in streams where stream.isOpen {
                waiting.append(pollfd(fd: stream.source, events: Int16(POLLIN), revents: 0))
            }
            _ = unsafe poll(&waiting, nfds_t(waiting.count), -1)
            for stream in streams where stream.isOpen { _ = stream.pump(&buffer) }
            for signal in signals.drain() { pass(on: signal) }
            if let code = ended() {
                // What it wrote is in the pipes; what outlives it writes into nothing.
                for stream in streams {
                    while stream.isOpen, stream.pump(&buffer) {}
                    _ = try? stream.finish()
                }
                return code
            }
        }
    }

    private func pass(on signal: SignalQueue.Arrived) {
        switch signal.number {
        case SIGCHLD, SIGCONT: break
        case SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGHUP:
            if !signal.isFromKernel { kill(process, signal.number) }
        default: kill(process, signal.number)
        }
    }

    /// Nil while it lives. Where it was stopped, this process stops as well, and continues it when it is continued.
    private func ended() -> Int32? {
        while true {
            var status: Int32 = 0
            let changed = unsafe waitpid(process, &status, WNOHANG | WUNTRACED)
            guard changed == process else { return changed == -1 && errno == ECHILD ? 1 : nil }
            if status & 0xFF == 0x7F {
                raise(SIGSTOP)
                kill(process, SIGCONT)
                continue
            }
            let signal = status & 0x7F
            return signal == 0 ? status >> 8 & 0xFF : 128 + signal
        }
    }
}
