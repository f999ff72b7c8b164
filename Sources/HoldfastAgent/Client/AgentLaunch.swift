internal import AgentMessages
internal import SecretMemory
internal import SystemCalls
internal import VaultCore
package import VaultStorage

/// Starts an agent as a process of its own, and tells its starter how that went.
///
/// It gets nothing of its starter but what ``AgentEnvironment`` names of the environment: no terminal, no working
/// folder, no descriptor but the one that it reports on; and no secret, which has to come through the socket like
/// everybody's.
package enum AgentLaunch {
    /// The descriptor that a started agent reports on.
    static let report: Int32 = 3
    /// Milliseconds until one that was started must accept clients.
    static let patience: UInt64 = 60_000
    /// Milliseconds for an agent of somebody else's, which starts or ends, until that is said.
    static let patienceForOthers: UInt64 = 10_000

    /// The client of an agent that was there or was started.
    package enum Found: ~Copyable {
        /// It was there already.
        case running(AgentClient)
        /// It was started; the number is its process.
        case started(AgentClient, Int32)
    }

    /// Connects to the agent of a home, and starts one where there is none, or has the service manager do so. Two
    /// callers at once get the same agent.
    /// - Parameters:
    ///   - home: Path of the home.
    ///   - runtime: The user's runtime folder, where there is one.
    ///   - program: What to run.
    ///   - arguments: Its name and what is behind it; has to make it call ``run(_:reporting:)``.
    ///   - patience: Milliseconds for one that has the home and does not accept clients, since it starts or ends.
    /// - Throws: What the agent could not do; `agentRunning` for one that serves elsewhere; `agentUnavailable`.
    package static func connect(
        home: String, runtime: String?, program: String, arguments: [String], patience: UInt64 = patienceForOthers
    ) throws(VaultError) -> Found {
        let deadline = MonotonicClock.milliseconds + patience
        var mayWake = true
        var isElsewhere = false
        while true {
            if let client = try AgentClient(home: home, runtime: runtime) { return .running(client) }
            guard !isElsewhere else {
                throw VaultError(.agentRunning, "an agent serves this vault, but not in this runtime folder")
            }
            guard MonotonicClock.milliseconds < deadline else {
                throw VaultError(.agentRunning, "an agent has this vault, and neither serves it nor ends")
            }
            if mayWake {
                mayWake = false
                // The service manager's may serve another vault.
                if try AgentClient.wake(home: home, runtime: runtime) { continue }
            }
            // Another starter's, one that is ending, or one that serves elsewhere: a process that is started meanwhile
            // would be turned away, and looking costs nothing.
            if HomeClaim.isTaken(home: home) {
                isElsewhere = HomeClaim.isServing(home: home)
                if !isElsewhere { usleep(10_000) }
                continue
            }
            let process: Int32
            do throws(VaultError) {
                process = try start(program, arguments, runtime)
            } catch let error where error.code == .agentRunning { continue }
            guard let client = try AgentClient(home: home, runtime: runtime) else {
                throw .unavailable("the agent ended right after it was started")
            }
            return .started(client, process)
        }
    }

    /// Runs an agent to its end.
    /// - Parameter reporting: Whether it was started by ``connect(home:runtime:program:arguments:)``.
    /// - Throws: As ``Agent/init(_:clock:)``; told to the starter too.
    package static func run(_ settings: AgentSettings, reporting: Bool) throws(VaultError) {
        // What is missing of the machine's libraries ends it now, not a client's work.
        CLibraries.load()
        if reporting { closeStrangers() }
        // The folder it was started in may be one to unmount.
        unsafe chdir("/")
        umask(0o077)
        do throws(VaultError) {
            let agent = try Agent(settings, clock: try SystemAgentClock())
            if reporting { tell(.done) }
            agent.run()
        } catch {
            // Whoever waits for this agent would have the next one started, which ends as well.
            settings.passed.turnAway()
            if reporting { tell(.failure(error.failure)) }
            throw error
        }
    }

    /// Closes what the starter's own parents left open: a lock or a pipe of theirs would live as long as the agent.
    private static func closeStrangers() {
        for stranger in Spawn.openDescriptors() where stranger > report { close(stranger) }
    }

    private static func tell(_ reply: Reply) {
        let bytes = reply.head()
        _ = unsafe write(report, bytes, bytes.count)
        close(report)
    }

    private static func start(
        _ program: String, _ arguments: [String], _ runtime: String?
    ) throws(VaultError) -> Int32 {
        // The agent's own error would be seen by nobody.
        CLibraries.load()
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
        // The report's first, since the numbers below may be the descriptor's own.
        let started = Spawn.start(
            program, arguments, environment: AgentEnvironment.forAgent(runtime),
            descriptors: [(report, descriptor), (0, nil), (1, nil), (2, nil)])
        do throws(SystemError) { return try started.get() } catch { throw .system("starting the agent", error.number) }
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
