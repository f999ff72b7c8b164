internal import CommandLineArguments
internal import Cryptography
internal import Holdfast
internal import ProgramProtocols
internal import SecretMemory
internal import Synchronization
internal import SystemCalls
internal import VaultStorage

/// Answers the connections that systemd makes for `LoadCredential=` (systemd.exec(5)): it sends the secret and closes.
///
/// One thread accepts; reading has threads of its own, since a vault, a chip or the user may be slow. A secret fits
/// into the socket's buffer, so no reader is waited for.
///
/// systemd takes every answer that it reads to its end for the secret, an empty one too, and starts the unit. So what
/// is not given is answered with more bytes than systemd takes (1 MiB): then the unit does not start. Such a refusal is
/// never ended early, for however slow a reader, and not by a signal: only a further one of the same process does that.
/// The bytes are random, so that a reader of a part has nothing that anybody could guess.
final class CredentialServer {
    /// Units that are read for at once.
    private static let lookups = 64
    /// Connections that are looked up or being refused, at most. A further one waits in the socket until one has ended.
    private static let mostConnections = 512
    /// Refusals of one process, at most. A unit is started by a process of its own, which reads one after the other.
    private static let refusalsOfProcess = 8
    /// Bytes of a refusal: systemd's limit, and more.
    private static let refusal = (1 << 20) + (1 << 16)
    /// Milliseconds that a peer may take to read a part of a secret.
    private static let patience: Int32 = 10_000
    /// Milliseconds until what the kernel had no memory for is sent again.
    private static let pause: Int32 = 50
    /// Milliseconds without a client after which it ends, and the vault is locked. systemd starts it again.
    private static let rest: UInt64 = 10_000

    private let listener: Int32
    private let source: CredentialSource
    private let noise: [UInt8]
    private let finished: Finished
    private var underWay = 0
    private var refused: [Int32: Refused] = [:]
    private var refusals: UInt64 = 0
    /// Refusals that the kernel had no memory for.
    private var stalled: Set<Int32> = []
    /// There was no descriptor for a client, and nothing has ended since.
    private var isFull = false

    private struct Refused {
        var sent = 0
        let process: Int32
        let number: UInt64
    }

    /// What threads have done.
    private final class Finished: Sendable {
        struct Lookup: Sendable {
            let socket: Int32
            let isGiven: Bool
        }

        private let lookups = Mutex<[Lookup]>([])
        /// Readable when there is something.
        let descriptor: Int32
        private let wakes: Int32

        init() throws(CommandError) {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { throw .failure(.system, "pipe: \(SystemError.last)") }
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                LocalSocket.setNonBlocking(end)
            }
            (descriptor, wakes) = (ends[0], ends[1])
        }

        deinit {
            close(descriptor)
            close(wakes)
        }

        func add(_ lookup: Lookup) {
            lookups.withLock { $0.append(lookup) }
            var byte: UInt8 = 0
            _ = unsafe write(wakes, &byte, 1)
        }

        func takeAll() -> [Lookup] {
            var bytes = [UInt8](repeating: 0, count: 64)
            while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
            return lookups.withLock { lookups in
                defer { lookups = [] }
                return lookups
            }
        }
    }

    /// - Parameter listener: The socket of the service manager, which stays its own.
    init(_ listener: Int32, _ source: CredentialSource) throws(CommandError) {
        self.listener = listener
        self.source = source
        finished = try Finished()
        do throws(CryptographyError) { noise = try SecureRandom.bytes(1 << 16) } catch { throw CommandError(error) }
    }

    /// Serves until nobody has come for a while, or a signal comes: what is under way is done first.
    func run() throws(CommandError) {
        let signals = try SignalWatch([SIGTERM, SIGINT, SIGHUP])
        defer { source.close() }
        var isEnding = false
        var restsUntil = MonotonicClock.milliseconds + CredentialServer.rest
        while true {
            let isIdle = underWay == 0 && refused.isEmpty
            let now = MonotonicClock.milliseconds
            if isIdle, isEnding || now >= restsUntil { return }
            let ready = wait(signals.descriptor, accepts: !isEnding && hasRoom, until: isIdle ? restsUntil : .max)
            while signals.next() != nil { isEnding = true }
            for lookup in finished.takeAll() { finish(lookup) }
            for socket in Array(refused.keys) { refuse(socket, isReady: ready.contains(socket)) }
            if ready.contains(listener) { accept() }
            if underWay > 0 || !refused.isEmpty || ready.contains(listener) {
                restsUntil = MonotonicClock.milliseconds + CredentialServer.rest
            }
        }
    }

    /// - Returns: The descriptors that something can be done with.
    private func wait(_ signals: Int32, accepts: Bool, until end: UInt64) -> Set<Int32> {
        var waiting = [signals, finished.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if accepts { waiting.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
        for socket in refused.keys where !stalled.contains(socket) {
            waiting.append(pollfd(fd: socket, events: Int16(POLLOUT), revents: 0))
        }
        let now = MonotonicClock.milliseconds
        var patience = end == .max ? -1 : end > now ? Int32(clamping: end - now) : 0
        if !stalled.isEmpty { patience = CredentialServer.pause }
        _ = unsafe poll(&waiting, nfds_t(waiting.count), patience)
        defer { stalled = [] }
        return stalled.union(waiting.filter { $0.revents != 0 }.map(\.fd))
    }

    private var hasRoom: Bool {
        !isFull && underWay < CredentialServer.lookups && underWay + refused.count < CredentialServer.mostConnections
    }

    private func accept() {
        while hasRoom {
            let socket = SystemCalls.accept(listener, nil, nil)
            guard socket >= 0 else {
                isFull = (errno == EMFILE || errno == ENFILE) && underWay + refused.count > 0
                return
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            LocalSocket.setNonBlocking(socket)
            // The manager of the system, or the user's own, asks for its units; an address alone anybody can write.
            guard let peer = LocalSocket.peer(socket), peer.user == 0 || peer.user == geteuid() else {
                close(socket)
                continue
            }
            // systemd binds an address for each credential. A connection without one would only take their room.
            guard let wanted = UnitCredential(parsing: LocalSocket.peerAddress(socket)) else {
                Output.note("a program of user \(peer.user) that is no service manager asked for a credential")
                close(socket)
                continue
            }
            begin(wanted, socket)
        }
    }

    private func begin(_ wanted: UnitCredential, _ socket: Int32) {
        let (source, finished) = (source, finished)
        let isStarted = DetachedThread.start {
            let isGiven = CredentialServer.give(wanted, source, socket)
            WorkingMemory.wipeAll()
            finished.add(Finished.Lookup(socket: socket, isGiven: isGiven))
        }
        guard isStarted else { return beginRefusal(socket) }
        underWay += 1
    }

    private static func give(_ wanted: UnitCredential, _ source: CredentialSource, _ socket: Int32) -> Bool {
        do {
            let value = try source.value(wanted)
            // A part of it is followed by the refusal: the whole is then too long for systemd.
            guard value.withBytes({ send($0, to: socket) }) else {
                throw CommandError(.failure, code: .system, "it did not read it")
            }
            Output.note("gave \(wanted.unit) its credential \(wanted.id)")
            return true
        } catch {
            var error = CommandError(error)
            if error.code == .recordNotFound {
                error.advice =
                    "holdfast put \(ShellWord.quoted("\(UnitCredential.collection)/\(wanted.entry)")) stores it"
            }
            Output.note("\(wanted.unit) does not get its credential \(wanted.id): \(error.message)")
            return false
        }
    }

    private static func send(_ value: RawSpan, to socket: Int32) -> Bool {
        var (sent, pauses) = (0, patience / pause)
        while sent < value.byteCount {
            switch LocalSocket.send(socket, value.extracting(sent..<value.byteCount)) {
            case .moved(let count): sent += count
            case .wouldBlock:
                var waiting = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&waiting, 1, patience) > 0 else { return false }
            case .noMemory:
                pauses -= 1
                guard pauses > 0 else { return false }
                _ = poll(nil, 0, pause)
            case .ended: return false
            }
        }
        return true
    }

    private func finish(_ lookup: Finished.Lookup) {
        underWay -= 1
        isFull = false
        if lookup.isGiven { close(lookup.socket) } else { beginRefusal(lookup.socket) }
    }

    private func beginRefusal(_ socket: Int32) {
        // The process as the kernel names it; it names none outside of its own namespace.
        let process = LocalSocket.peer(socket)?.process ?? 0
        if process > 0 { makeRoom(for: process) }
        refusals += 1
        refused[socket] = Refused(process: process, number: refusals)
        refuse(socket, isReady: true)
    }

    private func refuse(_ socket: Int32, isReady: Bool) {
        guard var state = refused[socket] else { return }
        while isReady, state.sent < CredentialServer.refusal {
            let start = state.sent % noise.count
            let outcome = noise.withRawSpan { LocalSocket.send(socket, $0.extracting(start..<$0.byteCount)) }
            var isStopped = true
            switch outcome {
            case .moved(let count): (state.sent, isStopped) = (state.sent + count, false)
            case .wouldBlock: break
            case .noMemory: stalled.insert(socket)
            case .ended: state.sent = CredentialServer.refusal
            }
            if isStopped { break }
        }
        refused[socket] = state
        if state.sent >= CredentialServer.refusal { end(socket) }
    }

    private func end(_ socket: Int32) {
        refused[socket] = nil
        stalled.remove(socket)
        isFull = false
        close(socket)
    }

    /// Closes the oldest refusal of a process that has too many; those of others stay.
    private func makeRoom(for process: Int32) {
        let own = refused.filter { $0.value.process == process }
        guard own.count >= CredentialServer.refusalsOfProcess,
            let oldest = own.min(by: { $0.value.number < $1.value.number })
        else { return }
        end(oldest.key)
    }
}
