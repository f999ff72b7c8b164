internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import SecretMemory
internal import SystemCalls
internal import VaultStorage

/// The agent as the Secret Service of the user's session bus. Used by the agent's own thread alone.
final class SecretServiceEndpoint {
    static let name = "org.freedesktop.secrets"
    /// Threads that work for calls: half of the agent's, so that its own commands never wait for all of them.
    private static let mostThreads = AgentSettings.workers / 2
    /// Questions for one call; items beyond that are left out.
    private static let mostAsked = 16
    /// Clients whose user is kept; then all are looked up again.
    private static let mostKnown = 256
    /// Calls that are taken in one turn of the agent's loop.
    static let callsPerTurn = 64

    let bus: ServiceBus
    var sessions = SecretServiceSessions<SecretServiceCipher>()
    var prompts = SecretServicePrompts()
    /// The collection `session`.
    let memory = SecretServiceMemory()
    /// What clients with a session were told of.
    var survey = SecretServiceSurvey.State()
    private var working: [UInt64: Working] = [:]
    /// Whose turn it is. A user often has 8 MiB of locked memory: large secrets share half of that.
    private var calls = SecretServiceCalls(
        threads: mostThreads, room: SecretServiceStore.longest + SecretServiceCalls.small)
    /// Whether large secrets have gone through the heap since it was given back.
    private var hasGrown = false
    /// What the bus told of clients, kept because the agent's thread waits for that.
    private var known: [String: (peer: Peer, process: BusProcess)] = [:]

    /// A call that is answered when something is done in the open vault.
    struct Working {
        let call: BusCall
        let kind: SecretServiceCall
        /// What secrets in the answer are encrypted for.
        let session: Session?
        /// Makes what a thread does, when it is the call's turn: until then a secret stays in its message. Nil for what
        /// was not encrypted with the key of its session.
        let prepare: () throws(VaultError) -> Body?
        /// Bytes of a secret that it brings.
        var held = 0
        /// Whether it names several items, of which one that is refused is left out.
        var isMany = false
        /// What the user is asked for first; nil while a thread works for it.
        var closed: LeaseCheck.Needed?
        /// What the user has allowed for this call, and whether nothing more is asked for.
        var allowed: [LeaseCheck.Needed] = []
        var isRefused = false
        /// What a thread has of locked memory for it.
        var room: SecretServiceRoom?

        /// What stands before what a thread reads for it.
        var gate: LeaseCheck {
            LeaseCheck(allowed, asks: !isRefused && allowed.count < SecretServiceEndpoint.mostAsked)
        }
    }

    typealias Body = @Sendable (SecretServiceWork) throws -> SecretServiceAnswer

    /// A session of the client that calls.
    struct Session {
        let path: String
        let cipher: SecretServiceCipher
    }

    init(_ bus: ServiceBus) { self.bus = bus }

    /// The process of a client, as it was when it was first heard of; nil for one of another user, which the bus may
    /// let in.
    func peer(of client: String) -> Peer? { find(client)?.peer }

    private func find(_ client: String) -> (peer: Peer, process: BusProcess)? {
        if let found = known[client] { return found }
        guard let process = bus.process(of: client) else { return nil }
        let peer = Peer(process: process.process, user: process.user)
        guard peer.isSameUser else { return nil }
        if known.count >= SecretServiceEndpoint.mostKnown { known = [:] }
        known[client] = (peer, process)
        return (peer, process)
    }

    /// Who asks, as the bus told when it was first heard of, and the kernel tells now. The bus has nothing newer: a
    /// client's unique name and its process are one for as long as it is connected.
    func asker(_ client: String) -> (peer: Peer, asker: LeaseAsker)? {
        guard let (peer, process) = find(client) else { return nil }
        return (peer, peer.asker(claimed: nil, isForwarded: isBehindProxy(client)) { process.isAlive })
    }

    /// Whether what calls is in a sandbox, and could not open the vault itself.
    func isBehindProxy(_ client: String) -> Bool {
        find(client).flatMap { ProgramFile.path(of: $0.peer.process) }.map(SecretServiceEndpoint.isProxy) ?? false
    }

    /// Programs in sandboxes all have the same one in between, which cannot be told apart by its file. Flatpak calls
    /// its own copy by another name, and the kernel writes ` (deleted)` behind one that was replaced.
    static func isProxy(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasPrefix("xdg-dbus-proxy") || name.hasPrefix("flatpak-dbus-proxy")
    }

    /// Who calls, for its share.
    func client(_ name: String) -> SecretServiceClient {
        guard let peer = peer(of: name), peer.process > 0, let start = peer.start else {
            return SecretServiceClient(name, nil)
        }
        return SecretServiceClient(name, SecretServiceClient.Process(peer.process, start: start))
    }

    /// A call waits for its turn.
    /// - Returns: Those that are turned away for it, or itself.
    func begin(_ number: UInt64, _ work: Working) -> [Working] {
        guard let ended = calls.begin(number, client(work.call.sender), holding: work.held) else { return [work] }
        working[number] = work
        return ended.compactMap { working.removeValue(forKey: $0) }
    }

    /// The call that takes a thread now; each once.
    func next() -> (number: UInt64, work: Working)? {
        while let (number, room) = calls.next() {
            working[number]?.room = SecretServiceRoom(room)
            if room > 0 { hasGrown = true }
            if let work = working[number] { return (number, work) }
            giveThread(number)
        }
        return nil
    }

    /// Gives the system back what messages with large secrets took of the heap, once they are sent: the C library keeps
    /// it otherwise, wiped, for as long as the agent is there.
    func giveBackMemory() {
        guard hasGrown, working.isEmpty, bus.events & Int16(POLLOUT) == 0 else { return }
        hasGrown = false
        // Of glibc alone, and in no header that Swift reads.
        guard let trim = unsafe dlsym(nil, "malloc_trim") else { return }
        unsafe _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
    }

    /// A thread has done what it worked for.
    func giveThread(_ number: UInt64) { calls.rest(number) }

    /// Has a call that lacked room wait for it.
    /// - Returns: False for one that lacked none.
    func waitForRoom(_ number: UInt64) -> Bool {
        guard let room = working[number]?.room?.missing else { return false }
        calls.again(number, room: room)
        return true
    }

    /// Takes out the calls that wait for their turn.
    func takeWaiting() -> [Working] { calls.waiting.compactMap { finish($0) } }

    func finish(_ number: UInt64) -> Working? {
        calls.finish(number)
        return working.removeValue(forKey: number)
    }

    subscript(number: UInt64) -> Working? { working[number] }

    /// The user is asked before this continues.
    func stop(_ number: UInt64, at closed: LeaseCheck.Needed?) { working[number]?.closed = closed }

    /// The user has answered: this continues with it when it is its turn.
    func resume(_ number: UInt64, allowed: LeaseCheck.Needed?) {
        guard working[number] != nil else { return }
        working[number]?.closed = nil
        if let allowed { working[number]?.allowed.append(allowed) } else { working[number]?.isRefused = true }
        calls.again(number)
    }

    /// The calls that the user is asked about.
    var asking: [UInt64] { working.filter { $0.value.closed != nil }.keys.sorted() }

    /// What a client leaves behind goes with it.
    func leave(_ client: String) {
        sessions.leave(client)
        prompts.leave(client)
        known[client] = nil
        for number in calls.leave(client) { working[number] = nil }
    }

    /// Whether a question is open, or may be, for a call or a prompt.
    func isWaiting(_ number: UInt64) -> Bool { working[number] != nil || prompts[number] != nil }

    /// The session that a client names; nil for one that is not its own.
    func session(_ path: String, of client: String) -> Session? {
        guard case .session(let number) = SecretServicePath(parsing: path),
            let cipher = sessions.key(number, of: client)
        else { return nil }
        return Session(path: path, cipher: cipher)
    }
}
