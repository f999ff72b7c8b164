internal import AgentMessages
internal import AppLockCore
internal import Cryptography
internal import DeviceOwner
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultHeader
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

/// Holds the one unlocked vault of a profile and serves it on a socket.
///
/// One thread waits for clients, signals and the timer; it never waits for a client or for the disk. What blocks is
/// done by threads that exist only while there is work.
package final class Agent {
    var settings: AgentSettings
    let clock: any AgentClock
    let vault: Vault
    /// Keeps the index of searches until the lock.
    let items: ItemStore
    let signals: SignalPipe
    let completions: Completions
    let folder: SocketFolder
    let socketName: String
    var listener: Int32

    var lock: AgentLock
    var connections: [UInt64: Connection] = [:]
    private var lastConnection: UInt64 = 0
    var messages: UInt64 = 0

    /// Reading and writing; unlocking; locking. Each has threads of its own, so that none waits for another.
    let work: Lane
    let unlocking: Lane
    let locking: Lane
    /// Signing in a chip, which takes long and one at a time.
    let signing: Lane
    /// Speaking with the identity's servers, which may be slow.
    let speaking: Lane
    /// For what reads everything that is stored: long work, one at a time, in nobody's way.
    let examining: Lane
    /// Rounds of the sync, one at a time.
    let syncingLane: Lane
    var syncing = Syncing()
    /// Whether a client has stored something that other devices are to get.
    let stored = StoredNote()
    /// Having the system confirm the device owner, which takes time.
    let asking: Lane
    var confirming: Confirming?
    /// Tells of lock, sleep and lid.
    let watch: SessionWatch?
    /// The machine waits for us before it sleeps, or sleeps.
    var isSleeping = false
    /// The screen is locked, or another session is in front.
    var isUserAway = false
    /// The last job that was begun before that.
    var lastJobBeforeSleep: UInt64 = 0

    /// What programs may use without being asked for again, and the questions that the user is asked.
    var leases = LeaseBook()
    var prompts = PromptQueue()
    var openPrompts: [UInt64: OpenPrompt] = [:]
    /// Asking: each open question has a thread.
    let prompting: Lane

    /// What SSH programs use, once that was asked for.
    var ssh: SSHEndpoint?
    /// What makes it the Secret Service of the session, once that was asked for.
    var secrets: SecretServiceEndpoint?

    var waitingUnlocks: [WaitingUnlock] = []
    var runningUnlock: RunningUnlock?
    /// What waits for the vault, and the question that is asked for it.
    var unlocks = UnlockBook()
    var unlockWaits: [UInt64: UnlockWait] = [:]
    /// What was wrong with the last answer to it.
    var unlockProblem = ""
    /// The vault that opens without asking, for whoever waits.
    var unasked: VaultID?
    /// The generation of the header whose rules hold here.
    var followed: UInt64?
    /// Clients that are told when the keys are gone, and what the jobs before this one knew.
    var lockers: [(connection: UInt64, lastJob: UInt64)] = []
    /// The same for programs of the bus, with what each asked to lock.
    var busLockers: [(call: BusCall, paths: [String])] = []
    /// The change of self-destruct that is under way.
    var change: HeldChange?
    /// One that the lock has ended, until a thread writes that down.
    var endedChange: SelfDestructSwitch?
    /// Why the keys have to go, until a thread takes care of it.
    var dropReason: LogLockReason?
    var isDroppingKeys = false
    /// When the agent ends at the latest; ms of the `MonotonicClock`.
    var endsAt: UInt64?
    /// Since when it is not needed; ms of the agent's clock.
    var restsSince: UInt64?
    private var armed: BootInstant?
    /// The vault's folder and that of the sockets, where the file system counts a folder's links.
    private let counted: [Int32]
    /// What poll(2) told of each descriptor.
    private var ready: [Int32: Int16] = [:]

    /// An unlock whose turn has not come.
    struct WaitingUnlock {
        let client: Client
        let key: Key
        let limits: AgentLock.Limits
        /// Whether it was typed to another command, and the vault's rules may refuse that it stays open.
        var isRemembered = false

        /// Who hears how it ended.
        enum Client: Equatable {
            case connection(UInt64)
            /// All who wait in ``Agent/unlocks``.
            case waiters

            var connection: UInt64? {
                if case .connection(let number) = self { return number }
                return nil
            }
        }

        /// What it is opened with.
        enum Key {
            case secret(UnlockSecret, Body, Range<Int>)
            case release(OwnerReleaseBox)
            /// The share that the device keeps; nobody is asked. The vault may have to be a certain one.
            case device(VaultID?)

            /// Nil where nobody was asked.
            var method: UnlockMethod? {
                switch self {
                case .secret(let secret, _, _): .secret(secret)
                case .release(let release): .owner(release.step)
                case .device: nil
                }
            }
        }
    }

    /// The one that a thread checks.
    struct RunningUnlock {
        let client: WaitingUnlock.Client
        let prompt: UInt64?
        let limits: AgentLock.Limits
        let method: UnlockMethod?
    }

    /// Finds the vault, makes sure that no other agent serves it, and accepts clients from then on.
    /// - Throws: What finding a vault throws; `agentRunning`; `agentUnavailable` when the socket cannot be made.
    package init(_ settings: AgentSettings, clock: any AgentClock) throws(VaultError) {
        self.settings = settings
        self.clock = clock
        vault = try Vault(at: settings.home, settings: settings.vault)
        items = ItemStore(vault)
        try HomeClaim.claim(vault.home.descriptor)
        signals = try SignalPipe()
        completions = Completions(signals.waker)
        work = Lane(threads: AgentSettings.workers, queue: AgentSettings.connections, completions)
        unlocking = Lane(threads: 1, queue: 1, completions)
        locking = Lane(threads: 1, queue: 1, completions, awaited: .byEnd)
        signing = Lane(threads: 1, queue: SSHEndpoint.connections, completions)
        speaking = Lane(threads: 2, queue: 16, completions, awaited: .byEnd)
        examining = Lane(threads: 1, queue: 4, completions)
        syncingLane = Lane(threads: 1, queue: 0, completions)
        asking = Lane(threads: 1, queue: 8, completions, awaited: .byNothing)
        prompting = Lane(threads: PromptQueue.mostOpen, queue: PromptQueue.mostOpen, completions)
        folder = try SocketFolder.make(runtime: settings.runtime, home: vault.home.descriptor)
        counted = [vault.home.descriptor, folder.descriptor].filter { !Agent.hasNoLink($0) }
        socketName = try Profile(home: vault.home.descriptor).socketName
        // Only the process with the claim gets here, so an existing socket belongs to a dead agent.
        if try folder.holds(socketName) { folder.remove(socketName) }
        listener = try folder.listen(socketName)
        lock = AgentLock(limits: settings.limits(idle: nil, timeout: nil))
        watch = settings.watch.map { SessionWatch($0) }
        vault.loadKeptOwner()
        noteUnasked()
        if settings.servesSSH || settings.passed.ssh != nil { _ = try serveSSH() }
        if settings.servesSecrets { serveSecretsFromTheBeginning() }
        HomeClaim.say(F_RDLCK, vault.home.descriptor)
    }

    deinit {
        if listener >= 0 { close(listener) }
    }

    /// Serves until it is told to end. The keys are gone when this returns.
    package func run() {
        while true {
            arm()
            wait()
            for signal in signals.drain() where signal != SIGALRM { end() }
            clock.drain()
            if let reason = lock.checkTime(clock.now()) { dropKeys(because: reason) }
            for event in watch?.takeEvents() ?? [] { hear(event) }
            // The names that were asked for. Before anybody is told that the vault is locked.
            if takeCompletions() { WorkingMemory.wipeAll() }
            if isCutOff { end() }
            serve()
            accept()
            runSSH()
            runSecrets()
            advanceUnlocks()
            advance()
            advancePrompts()
            workForSecrets()
            advanceSync()
            noteRest()
            if let endsAt, isQuiet || MonotonicClock.milliseconds >= endsAt { break }
        }
        finish()
    }

    /// Takes what threads have finished. Nothing of it is left when this returns.
    /// - Returns: Whether something with names in it has ended.
    private func takeCompletions() -> Bool {
        let completed = completions.takeAll()
        noteStored()
        for completion in completed { handle(completion) }
        return completed.contains(where: \.isLock)
    }

    private func finish() {
        for connection in connections.values { _ = connection.flush() }
        connections = [:]
        guard isQuiet else { _exit(0) }  // a thread hangs at the disk; its keys go with the process
        vault.lock(because: .ended)
        folder.removeIfEmptyInHome(vault.home.descriptor)
    }

    /// Whether nothing is being done for anybody.
    var isQuiet: Bool {
        runningUnlock == nil && confirming == nil && !isDroppingKeys && dropReason == nil && completions.areQuiet
            && lockers.isEmpty
    }

    /// Whether the vault's folder or that of the sockets was removed: nobody can come any more, and nobody could lock
    /// it.
    private var isCutOff: Bool { counted.contains { Agent.hasNoLink($0) } }

    private static func hasNoLink(_ folder: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(folder, &status) == 0 && status.st_nlink == 0
    }

    private func arm() {
        guard lock.due != armed else { return }
        armed = lock.due
        clock.arm(armed)
    }

    /// Stops taking clients, drops the keys and ends when they are gone.
    func end() {
        guard endsAt == nil else { return }
        endsAt = MonotonicClock.milliseconds + AgentSettings.endPatience
        // Before the socket goes: whoever finds no socket then does not take us for one elsewhere.
        HomeClaim.say(F_UNLCK, vault.home.descriptor)
        close(listener)
        listener = -1
        if let passed = settings.passed.agent { close(passed) }
        settings.passed.agent = nil
        folder.remove(socketName)
        endSSH()
        endSecrets()
        cancelUnlocks()
        cancelConfirming()
        lock.lock(clock.now())
        dropKeys(because: .ended)
    }
}

extension Agent {
    private func wait() {
        var waiting = [pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)]
        if let descriptor = clock.descriptor {
            waiting.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        for listener in listeners { waiting.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
        for bus in watch?.descriptors ?? [] {
            waiting.append(pollfd(fd: bus.descriptor, events: bus.events, revents: 0))
        }
        let now = MonotonicClock.milliseconds
        var deadline = min(endsAt ?? .max, now + settings.folderPatience)
        for connection in connections.values {
            var events = connection.isReading ? POLLIN : 0
            if connection.hasOutput || connection.isContinuing { events |= POLLOUT }
            waiting.append(pollfd(fd: connection.socket, events: Int16(events), revents: 0))
            if let began = connection.began, connection.isReading {
                deadline = min(deadline, began + settings.messagePatience)
            }
            if let end = connection.takesUntil { deadline = min(deadline, end) }
        }
        if let ssh {
            waiting.append(pollfd(fd: ssh.listener, events: Int16(POLLIN), revents: 0))
            for client in ssh.clients.values {
                let events = (client.isReading ? POLLIN : 0) | (client.hasOutput ? POLLOUT : 0)
                waiting.append(pollfd(fd: client.socket, events: Int16(events), revents: 0))
                if let began = client.began { deadline = min(deadline, began + settings.messagePatience) }
            }
            if let due = ssh.due {
                let today = clock.now().milliseconds
                deadline = min(deadline, now + (due > today ? due - today : 0))
            }
        }
        for watch in syncing.descriptors {
            waiting.append(pollfd(fd: watch, events: Int16(POLLIN), revents: 0))
        }
        if let due = syncing.schedule.due {
            let today = clock.now().milliseconds
            deadline = min(deadline, now + (due > today ? due - today : 0))
        }
        if let restDue {
            let today = clock.now().milliseconds
            deadline = min(deadline, now + (restDue > today ? restDue - today : 0))
        }
        if let secrets {
            waiting.append(pollfd(fd: secrets.bus.descriptor, events: secrets.bus.events, revents: 0))
            if secrets.bus.hasMore { deadline = now }
        }
        _ = unsafe poll(&waiting, nfds_t(waiting.count), deadline > now ? Int32(clamping: deadline - now) : 0)
        ready = [:]
        for entry in waiting where entry.revents != 0 { ready[entry.fd] = entry.revents }
    }

    /// Sends and reads what can be.
    private func serve() {
        let now = MonotonicClock.milliseconds
        for connection in connections.values {
            let events = Int32(ready[connection.socket] ?? 0)
            if connection.hasOutput {
                flush(connection)
            } else if connection.isContinuing {
                sendNextPiece(connection)
            }
            if let end = connection.takesUntil, now >= end { drop(connection) }
            guard connections[connection.number] != nil else { continue }
            if events & (POLLIN | POLLHUP | POLLERR) != 0, connection.isReading {
                read(connection)
            } else if events & (POLLHUP | POLLERR | POLLNVAL) != 0 {
                drop(connection)  // results that a thread still produces for it are dropped
            }
            if let began = connection.began, now > began, now - began >= settings.messagePatience {
                refuse(connection, VaultError(.agentProtocol, "the message took too long"))
            }
        }
    }

    private func read(_ connection: Connection) {
        switch connection.read() {
        case .unfinished: break
        case .ended: drop(connection)
        case .refused(let error): refuse(connection, error)
        case .message(let request, let body):
            messages += 1
            connection.lastUsed = messages
            handle(request, body, connection)
        }
    }

    func flush(_ connection: Connection) {
        guard connection.flush() else { return drop(connection) }
        if connection.isEnding && !connection.hasOutput { drop(connection) }
    }

    func drop(_ connection: Connection) {
        connections[connection.number] = nil
        cancelConfirming(connection.number)
        waitingUnlocks.removeAll { $0.client == .connection(connection.number) }
        leaveUnlock(connection.number)
        lockers.removeAll { $0.connection == connection.number }
        leaveChange(of: connection)
    }

    /// Says what is wrong and closes: nothing behind it can be understood.
    private func refuse(_ connection: Connection, _ error: VaultError) {
        guard !connection.isEnding else { return }
        connection.isEnding = true
        send(.failure(error.failure), to: connection)
    }

    func send(_ reply: Reply, to connection: Connection) {
        // Without memory for an answer there is none.
        guard let packet = try? Packet(reply) else { return drop(connection) }
        connection.append(packet)
        flush(connection)
    }

    func fail(_ connection: Connection, _ error: VaultError) {
        connection.stage = .resting
        connection.asking = nil
        send(.failure(error.failure), to: connection)
    }

    /// Accepts new clients; if there are too many, one is closed (``Swift/Collection/nextToLeave``).
    private func accept() {
        for listener in listeners where ready[listener] != nil { acceptAll(listener) }
    }

    private var listeners: [Int32] { (listener >= 0 ? [listener] : []) + (settings.passed.agent.map { [$0] } ?? []) }

    func acceptAll(_ listener: Int32) {
        for _ in 0..<64 {
            let socket = SystemCalls.accept(listener, nil, nil)
            guard socket >= 0 else {
                if errno == EMFILE || errno == ENFILE, makeRoom() { continue }
                return
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            LocalSocket.setNonBlocking(socket)
            guard let peer = Peer(socket), peer.isSameUser else {
                close(socket)
                continue
            }
            lastConnection += 1
            messages += 1
            let connection = Connection(socket, peer, number: lastConnection, now: messages)
            guard connections.count < AgentSettings.connections || makeRoom() else {
                refuse(connection, VaultError(.busy, "the agent has too many clients"))
                continue
            }
            connections[lastConnection] = connection
            read(connection)  // its request is mostly there already
        }
    }

    /// What poll(2) told of a descriptor.
    func isReady(_ descriptor: Int32) -> Int16 { ready[descriptor] ?? 0 }

    func nextConnection() -> UInt64 {
        lastConnection += 1
        return lastConnection
    }

    private func makeRoom() -> Bool {
        let quiet = connections.values.filter { change?.connection != $0.number }.nextToLeave
        guard let quiet else { return false }
        refuse(quiet, VaultError(.busy, "the agent has too many clients; this one was idle for the longest"))
        drop(quiet)
        return true
    }
}
