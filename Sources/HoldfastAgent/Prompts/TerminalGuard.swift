internal import SecretMemory
internal import Synchronization
internal import SystemCalls

/// A process that gives a terminal back when the agent ends under its question, by whatever signal. Nobody else would:
/// `ssh` knows nothing of it, and the terminal would stay stopped and dark, with no key to help.
///
/// It has the terminal and one end of a pair of sockets, and no other thing of the agent's: when the other end has
/// gone, so has the agent. In a session of its own, it makes no terminal its own and gets none of its signals.
package struct TerminalGuard: ~Copyable {
    private let process: Int32
    private let socket: Int32

    /// What it gets on its command line, in front of the settings of the terminal that are to be put back.
    private static let word = "guard-terminal"

    /// Whether this program guards terminals when it is started for that.
    private static let served = Atomic<Bool>(false)

    /// Begins before the question changes the terminal.
    /// - Parameter echo: Of the terminal's local settings, what the question turns off.
    /// - Returns: Nil where there is none: a question is asked without it.
    init?(_ terminal: Int32, echo: tcflag_t) {
        guard TerminalGuard.served.load(ordering: .relaxed) else { return nil }
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return nil
        }
        let started = Spawn.start(
            "/proc/self/exe", ["holdfast", TerminalGuard.word, "\(echo)"],
            environment: Spawn.environment().filter { $0.starts(with: "LD_".utf8) },
            descriptors: [(0, ends[1]), (1, terminal), (2, nil)], closesRest: true)
        close(ends[1])
        guard case .success(let process) = started else {
            close(ends[0])
            return nil
        }
        (self.process, socket) = (process, ends[0])
    }

    /// The question is over, and the terminal given back.
    deinit {
        // Until it is reaped its number is its own. It must not see the socket close.
        kill(process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        close(socket)
    }

    /// What a program calls before it does anything else: guards a terminal, if it was started for that.
    /// - Returns: The exit code; nil for a program that was started for what it is.
    package static func serve() -> Int32? {
        served.store(true, ordering: .relaxed)
        guard CommandLine.argc == 3, let first = unsafe CommandLine.unsafeArgv[1], unsafe strcmp(first, word) == 0,
            let second = unsafe CommandLine.unsafeArgv[2],
            let echo = unsafe String(validatingCString: second).flatMap({ tcflag_t($0) }),
            echo & ~PromptScreen.echo == 0, isSocket(STDIN_FILENO), isatty(STDOUT_FILENO) == 1
        else { return nil }
        ProcessTitle.set("holdfast")
        // A service manager that ends what a killed agent left ends this, too.
        signal(SIGTERM, SIG_IGN)
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { break }
        }
        PromptScreen.giveBack(STDOUT_FILENO, echo: echo)
        return 0
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
