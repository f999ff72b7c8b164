internal import BetterAuthMessages
internal import BetterAuthServer
internal import RequestLengths
internal import Synchronization
internal import SystemCalls

/// A listening front. One thread accepts and deals connections out in turn, since libmicrohttpd's own pool gives one
/// thread most of them; the others serve.
@safe package final class HTTPServer: @unchecked Sendable {  // the accepting thread has `listener` until it ends
    /// Seconds that a request has to come while the front stops.
    private static let patience = 2
    /// What it is bound to, with the port that the system chose.
    package let address: String
    private let settings: HTTPSettings
    private let service: any HTTPService
    /// The last one takes new connections; the others end when theirs have gone.
    private let generations: Mutex<[HTTPGeneration]>
    private var listener: HTTPListener?
    private var wake: (read: Int32, write: Int32)
    private var accepting: JoinableThread?

    /// Starts to listen and serve.
    /// - Throws: ``HTTPError``.
    package convenience init(
        listening address: String, _ service: any HTTPService, _ settings: HTTPSettings = HTTPSettings()
    ) throws(HTTPError) {
        try self.init(HTTPListener(address), service, settings)
    }

    /// Serves a socket, which listens from now on if it did not before.
    /// - Throws: ``HTTPError``.
    package init(
        _ listener: consuming HTTPListener, _ service: any HTTPService, _ settings: HTTPSettings = HTTPSettings()
    ) throws(HTTPError) {
        guard request_lengths_are_bound() == 1 else { throw .unbound }
        // A client that goes while it is written to is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        HTTPServer.raiseDescriptorLimit(to: settings.connections + 256, settings.onFewDescriptors)
        self.settings = settings
        self.address = listener.address
        self.service = service
        let first = try HTTPGeneration(service, settings)
        generations = Mutex([first])
        do { try listener.begin() } catch {
            first.drop()
            throw error
        }
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else {
            let reason = errno
            first.drop()
            throw .system("pipe", reason)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wake = (ends[0], ends[1])
        self.listener = consume listener
        accepting = JoinableThread { [unowned self] in accept() }
        guard accepting != nil else {
            first.drop()
            throw .system("starting a thread", EAGAIN)
        }
    }

    /// Connections that there are.
    package var connections: Int { generations.withLock { $0.reduce(0) { $0 + $1.connections } } }

    /// Serves new connections with other settings: certificate, limits, proxies. A connection that is there keeps its
    /// own until its next reply, which ends it. The number of connections and threads stays as it was.
    /// - Throws: ``HTTPError/daemon``; then nothing has changed.
    package func renew(_ settings: HTTPSettings) throws(HTTPError) {
        var settings = settings.counting(with: self.settings)
        settings.threads = self.settings.threads
        settings.connections = self.settings.connections
        let next = try HTTPGeneration(service, settings)
        generations.withLock { generations in
            generations.forEach { $0.beginStopping() }
            generations.append(next)
        }
    }

    /// Whether a front can be started with these settings, such as a certificate and its key.
    /// - Throws: ``HTTPError/daemon``.
    package static func check(_ settings: HTTPSettings) throws(HTTPError) {
        try HTTPGeneration(NoService(), settings).drop()
    }

    /// Takes no more connections, lets requests under way finish, and ends. Called once.
    /// - Returns: Whether all of them finished in time.
    @discardableResult
    package func stop() -> Bool {
        generations.withLock { $0.forEach { $0.beginStopping() } }
        close(wake.write)
        accepting?.join()
        accepting = nil
        listener = nil
        close(wake.read)
        let begin = MonotonicClock.seconds
        while !reap(all: true) {
            let now = MonotonicClock.seconds
            // Anybody can send half a request.
            if now >= begin + Double(Self.patience) {
                generations.withLock { $0 }.forEach { $0.endSlow(now: now, after: Self.patience) }
            }
            guard now < begin + Double(settings.stopSeconds) else {
                // A connection that rests cannot be closed: what the store still owes after so long is left to the
                // process's end, and so are the threads that would send it and what they use.
                unsafe _ = Unmanaged.passRetained(self)
                return false
            }
            usleep(2000)
        }
        return true
    }

    /// Ends generations that have nothing more to do.
    /// - Parameter all: Whether the one that takes new connections may end too.
    /// - Returns: Whether none is left.
    private func reap(all: Bool = false) -> Bool {
        let now = MonotonicClock.seconds
        let old = generations.withLock { all ? $0[...] : $0.dropLast() }
        // Outside the lock: it waits for threads.
        let ended = old.filter { (all || $0.connections == 0) && $0.end(now: now) }
        return generations.withLock { generations in
            generations.removeAll { generation in ended.contains { $0 === generation } }
            return generations.isEmpty
        }
    }

    private func accept() {
        guard let descriptor = listener?.descriptor else { return }
        var next = 0
        var swept = MonotonicClock.seconds
        var events = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            unsafe poll(&events, 2, 1000)
            guard events[1].revents == 0 else {
                // Who was let in by the system is answered.
                while accept(descriptor, &next) {}
                return
            }
            let now = MonotonicClock.seconds
            if now - swept >= 1 {
                swept = now
                generations.withLock { $0 }.forEach { $0.endSlow(now: now) }
                _ = reap()
            }
            guard events[0].revents != 0 else { continue }
            while accept(descriptor, &next) {}
        }
    }

    /// Accepts one connection; false when none waits.
    private func accept(_ descriptor: Int32, _ next: inout Int) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let address = unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            // libmicrohttpd makes it non-blocking and closed on exec.
            let client = unsafe SystemCalls.accept(descriptor, address, &length)
            guard client >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: return true
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    // No room for now: not to be tried without pause.
                    usleep(20_000)
                    return false
                default: return false
                }
            }
            var yes: Int32 = 1
            unsafe setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            let current = generations.withLock { $0.last }
            unsafe current?.add(client, address, length, turn: next)
            next &+= 1
            return true
        }
    }

    private static func raiseDescriptorLimit(to count: Int, _ tell: (Int, Int) -> Void) {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(kind, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(count))
        unsafe setrlimit(kind, &limit)
        if limit.rlim_cur < rlim_t(count) { tell(Int(clamping: limit.rlim_cur), count) }
    }
}

/// What a front that is only tried serves: nothing.
private struct NoService: HTTPService {
    func route(_ path: String) -> Bool? { nil }

    func refusal(_ method: HTTPRequest.Method?, at route: Bool, _ address: ClientAddress) -> HTTPReply? { nil }

    func handle(_ request: HTTPRequest, at route: Bool, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        answer(HTTPReply(.plain(.unknownPath)))
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Bool?, _ request: AnsweredRequest) {}
}
