internal import SystemCalls

/// The process at the other end of a socket, as the kernel reports it. The number of a process may be used again;
/// together with its start it names one process.
struct Peer: Sendable, Hashable {
    let process: Int32
    let user: UInt32
    /// Ticks from the boot to the start of the process; nil when it could not be read.
    let start: UInt64?
    /// What it ran when it connected; nil when the kernel does not tell.
    let program: ProgramFile?
    /// The path of that.
    let path: String?

    /// Nil when the kernel does not say.
    init?(_ descriptor: Int32) {
        guard let (process, user) = LocalSocket.peer(descriptor) else { return nil }
        self.init(process: process, user: user)
    }

    init(process: Int32, user: UInt32) {
        self.process = process
        self.user = user
        start = ProcessStat(of: process)?.start
        program = ProgramFile(of: process)
        path = ProgramFile.path(of: process)
    }

    /// How a question names it.
    func shown(_ stat: ProcessStat?) -> Question.Asker {
        guard let now = ProgramFile.path(of: process) else { return .hidden(stat?.name ?? "nothing") }
        guard ProcessFiles.areOurs(process) else { return .elsewhere(now) }
        return ProgramFile(of: process) == program ? .program(now) : .changed(now, from: path)
    }

    var isSameUser: Bool { user == geteuid() }
}

/// A client of one of the agent's sockets.
protocol SocketClient {
    var peer: Peer { get }
    /// Counts the agent's messages.
    var lastUsed: UInt64 { get }
    /// Whether something is being done for it.
    var isWorking: Bool { get }
}

extension Collection where Element: SocketClient {
    /// The one that is closed if there are too many: of the program with the most connections the one that was silent
    /// longest, so that a program with many of them is in nobody's way but its own. Nil where all are being worked for.
    var nextToLeave: Element? {
        var counts: [Int32: Int] = [:]
        for client in self { counts[client.peer.process, default: 0] += 1 }
        func rank(_ client: Element) -> (Int, UInt64) { (counts[client.peer.process] ?? 0, .max - client.lastUsed) }
        return filter { !$0.isWorking }.max { rank($0) < rank($1) }
    }
}

extension Peer {
    /// The process at the other end of a connection, as the kernel tells now and told when it connected.
    ///
    /// A connection is its maker's, whoever holds it now: a child that inherited it asks as its parent, and as nobody
    /// once that has ended.
    /// - Parameters:
    ///   - socket: The connection.
    ///   - claimed: The program that the client says it is; believed where the kernel does not tell.
    ///   - isForwarded: Whether requests of another machine come over it.
    func asker(_ socket: Int32, claimed: ProgramFile?, isForwarded: Bool) -> LeaseAsker {
        asker(claimed: claimed, isForwarded: isForwarded) { isAlive(socket) }
    }

    /// As above, for any connection.
    /// - Parameter isAlive: Whether the process that made it still runs.
    func asker(claimed: ProgramFile?, isForwarded: Bool, isAlive: () -> Bool) -> LeaseAsker {
        guard process > 0, let start, let now = ProcessStat(of: process), now.start == start else { return .gone }
        let program = ProgramFile(of: process)
        let leader = now.session > 0 ? ProcessStat(of: now.session) : nil
        // Last: the process that was looked at was there all the time, so no other one had its number.
        guard isAlive() else { return .gone }
        let itself = LeaseAsker.process(ProcessName(process: process, start: start))
        guard !isForwarded, let leader, leader.session == now.session, program == self.program,
            let program = program ?? claimed
        else { return itself }
        return .client(
            LeaseClient(session: ProcessName(process: now.session, start: leader.start), program: program))
    }

    /// Whether the process that made the connection still runs. Kernels before 6.5 do not tell; then its number and its
    /// start must do.
    private func isAlive(_ socket: Int32) -> Bool {
        #if os(Linux) && !canImport(Darwin)
        var process: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        let option: Int32 = 77  // SO_PEERPIDFD, which the C library may not know
        guard unsafe getsockopt(socket, SOL_SOCKET, option, &process, &size) == 0 else { return errno == ENOPROTOOPT }
        defer { close(process) }
        var waiting = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) == 0
        #else
        return false
        #endif
    }
}
