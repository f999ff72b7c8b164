internal import BetterAuthServer
internal import Synchronization
internal import SystemCalls

/// A listening front. One thread accepts and deals connections out in turn, since libmicrohttpd's own pool gives one
/// thread most of them; the others serve.
@safe package final class HTTPServer: @unchecked Sendable {  // the accepting thread has `listener` until it ends
    /// What it is bound to, with the port that the system chose.
    package let address: String
    private let settings: HTTPSettings
    private let handler: HTTPHandler
    private let daemons: [HTTPDaemon]
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

    /// Serves a socket that listens already.
    /// - Throws: ``HTTPError``.
    package init(
        _ listener: consuming HTTPListener, _ service: any HTTPService, _ settings: HTTPSettings = HTTPSettings()
    ) throws(HTTPError) {
        // A client that goes while it is written to is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        HTTPServer.raiseDescriptorLimit(to: settings.connections + 256, settings.onFewDescriptors)
        self.settings = settings
        self.address = listener.address
        handler = HTTPHandler(service, settings)
        var daemons: [HTTPDaemon] = []
        for _ in 0..<max(settings.threads, 1) {
            guard let daemon = HTTPDaemon(handler, settings) else {
                daemons.forEach { $0.stop() }
                throw .daemon
            }
            daemons.append(daemon)
        }
        self.daemons = daemons
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else {
            let reason = errno
            daemons.forEach { $0.stop() }
            throw .system("pipe", reason)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wake = (ends[0], ends[1])
        self.listener = consume listener
        accepting = JoinableThread { [unowned self] in accept() }
        guard accepting != nil else {
            daemons.forEach { $0.stop() }
            throw .system("starting a thread", EAGAIN)
        }
    }

    /// Connections that there are.
    package var connections: Int { handler.peers.count }

    /// Takes no more connections, lets requests under way finish, and ends. Called once.
    /// - Returns: Whether all of them finished in time.
    @discardableResult
    package func stop() -> Bool {
        handler.beginStopping()
        close(wake.write)
        accepting?.join()
        accepting = nil
        listener = nil
        close(wake.read)
        let end = MonotonicClock.seconds + Double(settings.stopSeconds)
        while !handler.close() {
            guard MonotonicClock.seconds < end else {
                // A connection that rests cannot be closed: what the store still owes after so long is left to the
                // process's end, and so are the threads that would send it and what they use.
                unsafe _ = Unmanaged.passRetained(self)
                return false
            }
            usleep(2000)
        }
        daemons.forEach { $0.stop() }
        return true
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
            guard events[1].revents == 0 else { return }
            let now = MonotonicClock.seconds
            if now - swept >= 1 {
                swept = now
                handler.peers.endSlow(before: now - Double(settings.requestSeconds))
            }
            guard events[0].revents != 0 else { continue }
            while takeConnection(descriptor, &next) {}
        }
    }

    /// Accepts one connection; false when none waits.
    private func takeConnection(_ descriptor: Int32, _ next: inout Int) -> Bool {
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
            unsafe daemons[next % daemons.count].add(client, address, length)
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
