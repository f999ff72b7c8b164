internal import AgentMessages
internal import SecretMemory
internal import VaultCore
package import VaultStorage
internal import SystemCalls

/// Starts an agent as a process of its own, and tells its starter how that went.
///
/// It gets nothing of its starter but the environment: no terminal, no working folder, no descriptor but the one that it
/// reports on; and no secret, which has to come through the socket like everybody's.
package enum AgentLaunch {
    /// The descriptor that a started agent reports on.
    static let report: Int32 = 3
    /// Milliseconds until it must accept clients.
    static let patience: UInt64 = 10_000

    /// The client of an agent that was there or was started.
    package enum Found: ~Copyable {
        /// It was there already.
        case running(AgentClient)
        /// It was started; the number is its process.
        case started(AgentClient, Int32)
    }

    /// Connects to the agent of a home, and starts one where there is none. Two callers at once get the same agent.
    /// - Parameters:
    ///   - home: Path of the home.
    ///   - runtime: The user's runtime folder, where there is one.
    ///   - program: What to run.
    ///   - arguments: Its name and what is behind it; has to make it call ``run(_:reporting:)``.
    /// - Throws: What the agent could not do; `agentUnavailable`.
    package static func connect(
        home: String, runtime: String?, program: String, arguments: [String]
    ) throws(VaultError) -> Found {
        let deadline = MonotonicClock.milliseconds + patience
        while true {
            if let client = try AgentClient(home: home, runtime: runtime) { return .running(client) }
            let process: Int32?
            do throws(VaultError) {
                process = try start(program, arguments, runtime)
            } catch let error where error.code == .agentRunning {
                process = nil  // another starter's, or one that is ending
            }
            if let process {
                guard let client = try AgentClient(home: home, runtime: runtime) else {
                    throw .unavailable("the agent ended right after it was started")
                }
                return .started(client, process)
            }
            guard MonotonicClock.milliseconds < deadline else {
                throw VaultError(
                    .agentRunning,
                    "an agent serves this vault, but not in this runtime folder")
            }
            usleep(10_000)
        }
    }

    /// Runs an agent to its end.
    /// - Parameter reporting: Whether it was started by ``connect(home:runtime:program:arguments:)``.
    /// - Throws: As ``Agent/init(_:clock:)``; told to the starter too.
    package static func run(_ settings: AgentSettings, reporting: Bool) throws(VaultError) {
        if reporting { closeStrangers() }
        // The folder it was started in may be one to unmount.
        unsafe chdir("/")
        umask(0o077)
        do throws(VaultError) {
            let agent = try Agent(settings, clock: try SystemAgentClock())
            if reporting { tell(.done) }
            agent.run()
        } catch {
            if reporting { tell(.failure(error.failure)) }
            throw error
        }
    }

    /// Closes what the starter's own parents left open: a lock or a pipe of theirs would live as long as the agent.
    private static func closeStrangers() {
        guard let folder = unsafe opendir("/proc/self/fd") else { return }
        var strangers: [Int32] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
            }
            if let number = name.flatMap({ Int32($0) }), number > report { strangers.append(number) }
        }
        let own = unsafe dirfd(folder)
        for stranger in strangers where stranger != own { close(stranger) }
        unsafe closedir(folder)
    }

    private static func tell(_ reply: Reply) {
        let bytes = reply.head()
        _ = unsafe write(report, bytes, bytes.count)
        close(report)
    }

    private static func start(
        _ program: String, _ arguments: [String], _ runtime: String?
    ) throws(VaultError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .system("making a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process: Int32
        do throws(VaultError) { process = try spawn(program, arguments, runtime, reportingOn: ends[1]) } catch {
            close(ends[0])
            close(ends[1])
            throw error
        }
        close(ends[1])
        defer { close(ends[0]) }
        do throws(VaultError) {
            try awaitReport(ends[0])
        } catch {
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
            throw error
        }
        return process
    }

    private static func spawn(
        _ program: String, _ arguments: [String], _ runtime: String?, reportingOn descriptor: Int32
    ) throws(VaultError) -> Int32 {
        #if os(Linux) && !canImport(Darwin)
        var actions = unsafe posix_spawn_file_actions_t()
        #else
        var actions: posix_spawn_file_actions_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // First, since the numbers below may be the descriptor's own.
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, report)
        for standard in 0..<3 as Range<Int32> {
            unsafe posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
        }
        #if os(Linux) && !canImport(Darwin)
        var attributes = posix_spawnattr_t()
        let flags: Int32 = 0x80 | 0x08 | 0x04  // POSIX_SPAWN_SETSID, SETSIGMASK, SETSIGDEF
        #else
        var attributes: posix_spawnattr_t?
        let flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_CLOEXEC_DEFAULT | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #endif
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var variables = unsafe environment(runtime)
        defer { unsafe variables.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
        guard error == 0 else { throw .system("starting the agent", error) }
        return process
    }

    /// Ours, with the runtime folder that its client will look in.
    private static func environment(_ runtime: String?) -> [UnsafeMutablePointer<CChar>?] {
        let name = "XDG_RUNTIME_DIR="
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            if unsafe strncmp(variable, name, name.utf8.count) != 0 { unsafe variables.append(strdup(variable)) }
            unsafe next += 1
        }
        if let runtime { unsafe variables.append(strdup(name + runtime)) }
        return unsafe variables + [nil]
    }

    /// Reads the one message that a started agent sends.
    private static func awaitReport(_ descriptor: Int32) throws(VaultError) {
        let deadline = MonotonicClock.milliseconds + patience
        var bytes: [UInt8] = []
        while true {
            let now = MonotonicClock.milliseconds
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard now < deadline else { throw .unavailable("the agent was started but is not responding") }
            guard unsafe poll(&waiting, 1, Int32(clamping: deadline - now)) > 0 else { continue }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        let report: Reply
        do throws(MessageError) {
            let head = Array(bytes.prefix(Frame.size))
            let body = Array(bytes.dropFirst(Frame.size))
            report = try unsafe Reply(Frame(parsing: head.span.bytes), body: body.span.bytes)
        } catch { throw .unavailable("the agent ended before it was ready") }
        if case .failure(let failure) = report { throw VaultError(failure) }
    }
}
