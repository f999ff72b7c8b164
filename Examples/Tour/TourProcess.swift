internal import SystemCalls

/// A program that the tour starts. It ends with this object, and also where the tour is killed: a shell between them
/// waits for the end of a pipe that only the tour holds open, and then ends the program by its process id.
final class TourProcess {
    /// Nanoseconds that the tour waits for another program; busy machines are slow.
    static let patience: UInt64 = 120_000_000_000

    private static let shell = "/bin/sh"
    private static let script = """
        "$0" "$@" & child=$!
        exec >/dev/null
        read -r line
        kill $child
        wait $child
        """

    /// Another program of the same build, beside this one; nil if it is not there.
    static func program(_ name: String) -> String? {
        #if os(Linux) && !canImport(Darwin)
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let link = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = link.lastIndex(of: "/") else { return nil }
        let path = "\(link[..<slash])/\(name)"
        return unsafe access(path, X_OK) == 0 ? path : nil
        #else
        return nil
        #endif
    }

    private var process: pid_t = 0
    /// Open for as long as the program is wanted.
    private var life: Int32 = -1
    /// Its standard output.
    private var output: Int32 = -1

    /// - Parameters:
    ///   - program: A path, or a name to be looked for.
    ///   - words: Its arguments.
    /// - Throws: ``TourFailure`` where nothing can be started.
    init(_ program: String, _ words: [String]) throws(TourFailure) {
        var (lives, outputs): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard unsafe pipe(&lives) == 0, unsafe pipe(&outputs) == 0 else {
            throw TourFailure(description: "no pipe: \(SystemError.last)")
        }
        for end in lives + outputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let error = spawn(["sh", "-c", TourProcess.script, program] + words, input: lives[0], output: outputs[1])
        close(lives[0])
        close(outputs[1])
        (life, output) = (lives[1], outputs[0])
        guard error == 0 else {
            throw TourFailure(description: "\(program) cannot be started: \(SystemError(error))")
        }
    }

    private func spawn(_ words: [String], input: Int32, output: Int32) -> Int32 {
        #if os(Linux) && !canImport(Darwin)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_RDWR, 0)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        // POSIX_SPAWN_SETSIGMASK, because the tour's threads block signals, and POSIX_SPAWN_SETPGROUP, because Ctrl-C
        // on the terminal is for the tour.
        unsafe posix_spawnattr_setflags(&attributes, 0x08 | 0x02)
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        return unsafe posix_spawn(&process, TourProcess.shell, &actions, &attributes, &arguments, environ)
    }

    deinit {
        end()
        close(output)
    }

    /// The next line of its standard output; nil when it ended without another, or none came in time.
    func line() -> String? {
        var line: [UInt8] = []
        let deadline = MonotonicClock.nanoseconds + TourProcess.patience
        while line.count < 4096, MonotonicClock.nanoseconds < deadline {
            var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            guard unsafe read(output, &byte, 1) == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Asks it to end (SIGTERM) and waits for that.
    /// - Returns: Its exit code, or 128 and the signal that ended it, as a shell says it.
    @discardableResult
    func end() -> Int32 {
        if life >= 0 { close(life) }
        life = -1
        guard process > 0 else { return 0 }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
        process = 0
        return status >> 8 & 0xFF
    }
}
