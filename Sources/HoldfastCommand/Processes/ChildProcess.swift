internal import Holdfast
internal import SecretMemory
internal import SystemCalls

/// Another program, started for the user: an editor, a clipboard tool, gpg.
///
/// It gets the descriptors that are named and no other, and the signals as a shell would give them.
struct ChildProcess: ~Copyable {
    /// The descriptor as which it gets a file.
    static let file: Int32 = 3

    let id: pid_t
    /// The raw status; nil while it runs.
    private var status: Int32?

    /// - Parameters:
    ///   - words: Its path and its arguments; a path without a slash is looked up in `$PATH`.
    ///   - input: Its standard input; nothing when nil. Likewise for the others.
    ///   - file: What it gets as ``file``.
    ///   - isApart: Whether it gets a session of its own, without the terminal.
    /// - Throws: A failure with the system's words.
    init(
        _ words: [String], input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil, file: Int32? = nil,
        isApart: Bool = false
    ) throws(CommandError) {
        #if os(Linux) && !canImport(Darwin)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        let (setsMask, setsDefault, setsSession): (Int32, Int32, Int32) = (0x08, 0x04, 0x80)
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        let (setsMask, setsDefault, setsSession) = (POSIX_SPAWN_SETSIGMASK, POSIX_SPAWN_SETSIGDEF, POSIX_SPAWN_SETSID)
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, source) in [(0, input), (1, output), (2, errors)] as [(Int32, Int32?)] {
            if let source {
                unsafe posix_spawn_file_actions_adddup2(&actions, source, number)
            } else {
                unsafe posix_spawn_file_actions_addopen(
                    &actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        if let file { unsafe posix_spawn_file_actions_adddup2(&actions, file, ChildProcess.file) }
        let last = file == nil ? STDERR_FILENO : ChildProcess.file
        // What our own parents left open, or a library opened: a lock or a pipe would live as long as the program.
        for stranger in Folder.names("/proc/self/fd").compactMap({ Int32($0) }) where stranger > last {
            unsafe posix_spawn_file_actions_addclose(&actions, stranger)
        }
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = setsMask | setsDefault | (isApart ? setsSession : 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
        guard error == 0 else {
            throw .failure(.program, "\(Escaping.name(words[0])) cannot be started: \(SystemError(error))")
        }
        id = process
    }

    /// Whether it has ended, without waiting.
    mutating func hasEnded() -> Bool {
        if status != nil { return true }
        var raw: Int32 = 0
        guard unsafe waitpid(id, &raw, WNOHANG) == id else { return false }
        status = raw
        return true
    }

    /// Waits for its end.
    /// - Returns: Its exit code; nil if a signal ended it.
    mutating func wait() -> Int32? {
        var raw = status ?? 0
        while status == nil {
            if unsafe waitpid(id, &raw, 0) == id || errno != EINTR { status = raw }
        }
        return raw & 0x7F == 0 ? raw >> 8 & 0xFF : nil
    }

    /// Sends it a signal, unless it has ended.
    func signal(_ number: Int32) {
        if status == nil { kill(id, number) }
    }

    /// Whether a program of this name is in `$PATH`.
    static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

    /// Where a program is; a name with a slash is its path. Nil where it is not.
    static func path(of name: String) -> String? {
        guard !name.contains("/") else { return name }
        guard let path = unsafe getenv("PATH").flatMap({ unsafe String(validatingCString: $0) }) else { return nil }
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }
}

/// The two ends of a pipe; neither is inherited by other programs.
struct Pipe: ~Copyable {
    let reading: Int32
    let writing: Int32

    init() throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failure(.system, "pipe: \(SystemError.last)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }
}
