internal import BetterAuthMessages
package import BetterAuthServer
internal import Synchronization
internal import SystemCalls

/// The auth server's paths (protocol.md 4.1), and what operators ask.
package final class AuthService: HTTPService {
    /// Requests per second and at once of one address.
    package struct Rates: Sendable {
        /// Requests per second of an address that nothing else is said of: a household, or an office behind one.
        package static let standard = 50.0

        package var requests: (perSecond: Double, burst: Double)
        /// Of accounts that are made: each is a row for ever. Of challenges: each is remembered for a minute.
        package var creations: (perSecond: Double, burst: Double)
        package var challenges: (perSecond: Double, burst: Double)

        /// - Parameter number: 0 for no limit.
        package init(perSecond number: Double = standard) {
            requests = (number, max(10, number * 4))
            creations = (number / 50, max(10, number * 1.2))
            challenges = (number / 5, max(10, number * 2))
        }
    }

    /// Threads that wait for PostgreSQL and Redis: three servers stay below the 100 connections of an untouched
    /// PostgreSQL, and more threads only wait for each other there.
    private static let workers = 32

    private let server: AuthServer
    private let audit: AuditTrail?
    private let metrics: HTTPMetrics
    private let log: ServerLog
    private let conditions: Conditions
    private let readiness: Readiness
    private let all: AddressRates
    private let creations: AddressRates
    private let challenges: AddressRates
    private let access: Mutex<MetricsAccess>
    private let gauges: @Sendable (inout MetricsText) -> Void
    /// Threads for a store that is waited for.
    private let pool: WorkerPool?
    private let isStopping = Atomic(false)
    private let isHeld: Atomic<Bool>

    /// - Parameters:
    ///   - audit: Told of account operations; nil where none is wanted.
    ///   - conditions: Told what fails.
    ///   - checks: What is to be ready beside the store.
    ///   - isHeld: Whether operations are refused until ``release()``.
    ///   - access: Who may read `/metrics`; this machine alone when it is nil.
    ///   - gauges: Writes families of the server's own.
    package init(
        _ server: AuthServer, audit: AuditTrail? = nil,
        metrics: HTTPMetrics = HTTPMetrics(),
        log: ServerLog = ServerLog(.error), conditions: Conditions? = nil, checks: [Readiness.Check] = [],
        isHeld: Bool = false, rates: Rates = Rates(), access: MetricsAccess? = nil,
        gauges: @escaping @Sendable (inout MetricsText) -> Void = { _ in }
    ) {
        self.server = server
        self.audit = audit
        self.metrics = metrics
        self.log = log
        self.access = Mutex(access ?? MetricsAccess([], HTTPSettings(), version: "test"))
        self.gauges = gauges
        self.isHeld = Atomic(isHeld)
        let conditions = conditions ?? Conditions(log)
        self.conditions = conditions
        let store = Readiness.Check("store") {
            do throws(StoreError) {
                try server.store.probe(now: server.clock.now)
                return nil
            } catch { return error.description }
        }
        readiness = Readiness([store] + checks, conditions: conditions)
        all = AddressRates(perSecond: rates.requests.perSecond, burst: rates.requests.burst)
        creations = AddressRates(perSecond: rates.creations.perSecond, burst: rates.creations.burst)
        challenges = AddressRates(perSecond: rates.challenges.perSecond, burst: rates.challenges.burst)
        pool = server.store.isRemote ? WorkerPool(AuthService.workers) : nil
    }

    /// From now on operations are done.
    package func release() { isHeld.store(false, ordering: .relaxed) }

    /// Looks whether the server is ready, so that a state is logged though nobody asks.
    package func examine() {
        audit?.examine()
        readiness.ask { _ in }
    }

    /// Whether a look at what it needs does not come to an end, though each has a limit of its own.
    package var isStuck: Bool { readiness.isStuck(seconds: 60) }

    /// Other limits, and others who may read `/metrics`, from now on.
    package func adjust(_ rates: Rates, _ access: MetricsAccess) {
        all.adjust(perSecond: rates.requests.perSecond, burst: rates.requests.burst)
        creations.adjust(perSecond: rates.creations.perSecond, burst: rates.creations.burst)
        challenges.adjust(perSecond: rates.challenges.perSecond, burst: rates.challenges.burst)
        self.access.withLock { $0 = access }
    }

    /// From now on the server says that it is not ready, so that balancers look elsewhere.
    package func beginStopping() { isStopping.store(true, ordering: .relaxed) }

    /// Ends the threads of its own.
    package func close() {
        readiness.close()
        pool?.close()
    }

    /// What the server has at a path.
    package enum Route: Sendable {
        case operation(AuthOperation)
        case responseKey, health, ready, metrics
    }

    package func route(_ path: String) -> Route? {
        if let operation = AuthOperation(path: path) { return .operation(operation) }
        switch path {
        case "/key/response": return .responseKey
        case "/health": return .health
        case "/ready": return .ready
        case "/metrics": return .metrics
        default: return nil
        }
    }

    package func refusal(
        _ method: HTTPRequest.Method?, at route: Route, _ address: ClientAddress
    ) -> HTTPReply? {
        let now = MonotonicClock.seconds
        switch route {
        case .health: return method == nil ? .wrongMethod(allowed: "GET, HEAD, POST") : nil
        case .responseKey, .ready, .metrics:
            guard method != nil else { return .wrongMethod(allowed: "GET, HEAD, POST") }
            return all.refusal(address, now: now)
        case .operation(let operation):
            guard method == .post else { return .wrongMethod(allowed: "POST") }
            if let refusal = all.refusal(address, now: now) { return refusal }
            switch operation {
            case .createAccount: return creations.refusal(address, now: now)
            case .requestSession: return challenges.refusal(address, now: now)
            default: return nil
            }
        }
    }

    package func handle(
        _ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void
    ) {
        switch route {
        case .operation(let operation):
            guard !isHeld.load(ordering: .relaxed), audit?.admits != false else {
                return answer(HTTPReply(.plain(.unavailable)))
            }
            let subject = audit.map { _ in OperationSubject() }
            run(request, answer) { [self] in
                server.handle(operation, request.body, about: subject) { reply in
                    self.note(reply, request.trace)
                    guard let audit = self.audit, let subject else { return answer(HTTPReply(reply)) }
                    audit.record(operation, reply, subject, request, answer)
                }
            }
        case .responseKey:
            answer(.text(server.keys.responseKey(now: server.clock.now).publicKey.description))
        case .health: answer(.text("ok\n"))
        case .ready:
            guard !isStopping.load(ordering: .relaxed) else { return answer(Readiness.reply(["stopping"])) }
            readiness.ask { answer(Readiness.reply($0)) }
        case .metrics:
            answer(access.withLock { $0 }.reply(to: request) { write(&$0) })
        }
    }

    private func write(_ text: inout MetricsText) {
        metrics.write(to: &text, hasStore: true)
        audit?.write(to: &text)
        text.gauge("holdfast_ready", readiness.isReady, "Whether the server was ready when that was last proven.")
        for gauge in server.store.gauges {
            text.family(gauge.name, gauge.isCounter ? .counter : .gauge, gauge.help)
            for sample in gauge.samples { text.sample(gauge.name, [sample.label: sample.value], sample.number) }
        }
        if let pool {
            text.family("holdfast_store_queue", .gauge, "Operations that wait for the database.")
            text.sample("holdfast_store_queue", ["store": "remote"], pool.waiting)
            text.gauge("holdfast_workers_busy", pool.busy, "Threads that wait for PostgreSQL and Redis.")
            text.gauge("holdfast_workers", pool.count, "Threads that can.")
        }
        gauges(&text)
    }

    /// On this thread, or on one where waiting blocks nothing else.
    private func run(
        _ request: HTTPRequest, _ answer: @Sendable (HTTPReply) -> Void, _ body: @escaping @Sendable () -> Void
    ) {
        guard let pool else { return body() }
        let isTaken = pool.run { RequestTrace.$current.withValue(request.trace, operation: body) }
        if !isTaken { answer(HTTPReply(.plain(.unavailable))) }
    }

    /// Says why the store failed, which the client is not told.
    private func note(_ reply: ServerReply, _ trace: RequestTrace) {
        guard let failure = reply.failure else { return }
        metrics.count(failure)
        RequestTrace.$current.withValue(trace) { conditions.fail(failure.subject, failure.description) }
    }

    package func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest) {
        // Other paths are a client's text.
        let name = route == nil ? "other" : path
        metrics.count(name, reply.code, duration: request.duration)
        // What a store refuses is a state, and told as one; this is a fault of ours.
        if reply.code == .base {
            RequestTrace.$current.withValue(request.trace) {
                conditions.fail("fault", "a request to \(name) could not be served")
            }
        }
        guard log.wants(.info) else { return }
        log.write(
            .info, "reply",
            [
                "path": .text(name), "status": .number(reply.status), "code": .text(reply.code?.rawValue ?? "ok"),
                "address": .text(request.address.description), "microseconds": .number(request.duration),
            ], of: request.trace)
    }
}

/// Shared by the threads of a pool.
private final class WorkerCount: Sendable {
    let number = Atomic(0)
}

/// Threads for what blocks.
package final class WorkerPool: Sendable {
    private let queue = WaitingQueue<@Sendable () -> Void>(capacity: 4096)
    private let threads: [JoinableThread]
    private let working = WorkerCount()

    package init(_ count: Int) {
        let (queue, working) = (queue, working)
        threads = (0..<max(count, 1)).compactMap { _ in
            JoinableThread {
                while let work = queue.takeFirst() {
                    working.number.add(1, ordering: .relaxed)
                    work()
                    working.number.subtract(1, ordering: .relaxed)
                }
            }
        }
    }

    /// Work that no thread has begun.
    var waiting: Int { queue.count }
    /// Threads with work.
    var busy: Int { working.number.load(ordering: .relaxed) }
    var count: Int { threads.count }

    /// False when too much waits.
    package func run(_ work: @escaping @Sendable () -> Void) -> Bool { !threads.isEmpty && queue.add(work) }

    func close() {
        queue.close()
        threads.forEach { $0.join() }
    }
}
