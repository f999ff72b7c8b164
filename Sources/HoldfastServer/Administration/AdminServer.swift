internal import BetterAuthHTTP
internal import BetterAuthServer
internal import Synchronization
internal import SystemCalls

/// Answers an operator on this machine while the server runs: one line asks, one line of JSON answers, and the
/// connection ends. One at a time, on a thread of its own.
final class AdminServer: Sendable {
    /// Where `accounts` looks for the socket when nothing else is said.
    static let place = "/run/holdfast-server/admin.sock"
    private static let longestLine = 4096
    /// Seconds for a whole line, and for a whole answer: one client holds up the others, and a stop.
    private static let patience = 5.0
    private static let unwritable = #"{"error":"the audit log cannot be written; the server's log says why"}"#
    private static let unrecorded =
        #"{"error":"it was done, but the audit log could not be written; the server's log says why"}"#

    /// One socket, and the thread that answers at it.
    private final class Listening: Sendable {
        let name: AdminSocket.Name
        private let wake: WakePipe
        private let thread: JoinableThread

        init(_ listener: consuming AdminSocket.Listener, _ serve: @escaping @Sendable (Int32, WakePipe) -> Void) throws
        {
            let (name, number) = (listener.name, listener.descriptor.number)
            // The thread closes it.
            let held = HeldDescriptor(listener.descriptor)
            do {
                let wake = try WakePipe()
                let started = JoinableThread {
                    while wake.waits(for: number) {
                        RequestTrace.$current.withValue(.fresh()) { serve(number, wake) }
                    }
                    held.release()
                }
                guard let started else { throw AdminSocket.Failure("no thread for the admin socket") }
                (self.wake, self.name, thread) = (wake, name, started)
            } catch {
                name.remove()
                throw error
            }
        }

        func end() {
            // First, so that nobody connects any more.
            name.remove()
            wake.wake()
            thread.join()
        }
    }

    private struct State {
        var listening: Listening?
        var isClosed = false
    }

    private let path: String
    private let administration: AccountAdministration
    private let log: ServerLog
    private let audit: AuditTrail?
    private let state = Mutex(State())

    init(_ path: String, _ administration: AccountAdministration, _ log: ServerLog, audit: AuditTrail? = nil) {
        self.path = path
        self.administration = administration
        self.log = log
        self.audit = audit
    }

    deinit { close() }

    /// Begins to answer.
    /// - Parameter replaces: Whether the name may be that of a server that runs, over the same database.
    /// - Throws: ``AdminSocket/Failure``, ``StoreError``.
    func open(replaces: Bool) throws {
        guard replaces else { return try listen(replacing: nil) }
        var tries = 8
        while true {
            let predecessor = try AdminSocket.predecessor(path, over: administration.store)
            do { return try listen(replacing: predecessor) } catch let failure as AdminSocket.Failure
                where failure.isServed && tries > 0
            {
                // Another successor has taken the name since the question.
                tries -= 1
            }
        }
    }

    /// Takes the name again when it was lost, as after the end of a server that had taken it over; not once this one is
    /// closed. It waits for the folder's lock, and for the answer that is being given.
    /// - Throws: ``AdminSocket/Failure``, also where a server of another database has the name.
    func keepName() throws {
        let name = state.withLock { $0.isClosed ? nil : $0.listening?.name }
        guard let name, !name.isOwn else { return }
        guard !LocalSocket.isServed(path) else {
            // Otherwise commands would be done to another database, and said to be done.
            guard AdminSocket.isSuccessor(path, over: administration.store) else {
                throw AdminSocket.Failure.served(path)
            }
            return
        }
        try listen(replacing: nil)
        log.write(.notice, "administration", ["reason": "the name of the socket was gone, and is there again"])
    }

    private func listen(replacing predecessor: stat?) throws {
        let next = try Listening(AdminSocket.listen(path, replacing: predecessor)) {
            [administration, log, audit] number, wake in
            AdminServer.serve(number, wake, administration, log, audit)
        }
        let last: Listening? = state.withLock { state in
            guard !state.isClosed else { return next }
            defer { state.listening = next }
            return state.listening
        }
        last?.end()
    }

    /// Ends a connection that has asked for nothing yet. A second call does nothing.
    func close() {
        let listening = state.withLock { state in
            state.isClosed = true
            return state.listening.take()
        }
        listening?.end()
    }

    private static func serve(
        _ listener: Int32, _ wake: WakePipe, _ administration: AccountAdministration, _ log: ServerLog,
        _ audit: AuditTrail?
    ) {
        let number = accept(listener, nil, nil)
        guard number >= 0 else {
            // Without descriptors or memory the next call would fail at once, too.
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { usleep(20_000) }
            return
        }
        let client = OwnedDescriptor(owning: number)
        LocalSocket.setNonBlocking(number)
        guard AdminSocket.isOwnUser(number) else {
            log.write(.warning, "administration", ["reason": "another user connected"])
            return
        }
        let line = line(client, wake)
        if let line, let text = DatabaseWord.answer(to: line, administration.store) { return answer(client, text) }
        guard let line, let request = AccountAdministration.Request(line: line) else {
            return answer(client, #"{"error":"this is not a request"}"#)
        }
        guard audit?.admits != false else { return answer(client, unwritable) }
        do throws(StoreError) {
            let text = try administration.answer(request)
            let isDone = !AccountAdministration.isRefusal(text)
            if isDone, let change = request.changes {
                // Without the identity: the log names nobody.
                log.write(.notice, "administration", ["change": .text(change)])
            }
            let isRecorded = audit?.recordAdministration(request, isDone ? .done : .refused) ?? true
            guard !isRecorded else { return answer(client, text) }
            answer(client, isDone && request.changes != nil ? unrecorded : unwritable)
        } catch {
            // It may have been done.
            _ = audit?.recordAdministration(request, .unknown)
            let advice = OperatorAdvice.line(for: error)
            if let change = request.changes {
                log.write(.error, "administration", ["change": .text(change), "reason": .text(advice)])
            }
            answer(client, "{\"error\":\(ServerLog.quoted(advice))}")
        }
    }

    private static func line(_ client: borrowing OwnedDescriptor, _ wake: WakePipe) -> String? {
        let end = MonotonicClock.seconds + patience
        var bytes: [UInt8] = []
        while bytes.count < longestLine, wake.waits(for: client.number, until: end) {
            guard let more = try? client.readPrefix(1), let byte = more.first else { return nil }
            if byte == UInt8(ascii: "\n") { return String(validating: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    private static func answer(_ client: borrowing OwnedDescriptor, _ text: String) {
        let bytes = Array((text + "\n").utf8)
        let end = MonotonicClock.seconds + patience
        var sent = 0
        while sent < bytes.count {
            switch unsafe LocalSocket.send(client.number, bytes.span.bytes.extracting(sent...)) {
            case .moved(let count): sent += count
            case .ended: return
            case .noMemory: usleep(20_000)
            case .wouldBlock:
                var event = pollfd(fd: client.number, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&event, 1, WakePipe.milliseconds(until: end))
            }
            guard MonotonicClock.seconds < end else { return }
        }
    }
}

/// A descriptor that a thread closes.
private final class HeldDescriptor: @unchecked Sendable {  // only one thread releases it
    private var descriptor: OwnedDescriptor?

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = consume descriptor }

    func release() { descriptor = nil }
}

/// Ends a wait for connections.
final class WakePipe: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() throws {
        var numbers: [Int32] = [0, 0]
        guard unsafe pipe(&numbers) == 0 else { throw AdminSocket.Failure("pipe", .last) }
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        ends = (numbers[0], numbers[1])
    }

    deinit {
        SystemCalls.close(ends.read)
        SystemCalls.close(ends.write)
    }

    /// Waits for a connection, or for something to read; false once ``wake()`` was called, and at the end.
    func waits(for descriptor: Int32, until end: Double = .infinity) -> Bool {
        var events = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&events, 2, WakePipe.milliseconds(until: end))
            if count > 0 { return events[1].revents == 0 }
            guard MonotonicClock.seconds < end else { return false }
        }
    }

    /// How long `poll` may wait.
    static func milliseconds(until end: Double) -> Int32 {
        end == .infinity ? -1 : Int32(clamping: Int64(max(0, end - MonotonicClock.seconds) * 1000) + 1)
    }

    func wake() {
        var byte: UInt8 = 0
        _ = unsafe SystemCalls.write(ends.write, &byte, 1)
    }
}
