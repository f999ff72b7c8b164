internal import BetterAuthMessages
internal import Synchronization
internal import SystemCalls

/// A service with `/ready` and `/metrics` beside its own paths.
package final class OperatedService<Service: HTTPService>: HTTPService {
    private let service: Service
    private let metrics = HTTPMetrics()
    private let rates = AddressRates(perSecond: 20, burst: 100)
    private let access: MetricsAccess
    private let failing: @Sendable () -> [String]
    private let readiness: Readiness?
    private let more: @Sendable (inout MetricsText) -> Void

    /// - Parameters:
    ///   - access: Who may read `/metrics`, and what is told of the front.
    ///   - failing: What is not ready, where that is known without waiting.
    ///   - readiness: What is not ready, where it is to be tried; nil for nothing.
    ///   - more: Writes the service's own families.
    package init(
        _ service: Service, _ access: MetricsAccess, failing: @escaping @Sendable () -> [String] = { [] },
        readiness: Readiness? = nil,
        more: @escaping @Sendable (inout MetricsText) -> Void = { _ in }
    ) {
        self.service = service
        self.access = access
        self.failing = failing
        self.readiness = readiness
        self.more = more
    }

    package enum Route: Sendable {
        case own(Service.Route)
        case ready, metrics
    }

    package func route(_ path: String) -> Route? {
        switch path {
        case "/ready": .ready
        case "/metrics": .metrics
        default: service.route(path).map(Route.own)
        }
    }

    package func refusal(_ method: HTTPRequest.Method?, at route: Route, _ address: ClientAddress) -> HTTPReply? {
        if case .own(let route) = route { return service.refusal(method, at: route, address) }
        guard method == .get else { return .wrongMethod(allowed: "GET, HEAD") }
        return rates.refusal(address, now: MonotonicClock.seconds)
    }

    package func handle(
        _ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void
    ) {
        switch route {
        case .own(let route): service.handle(request, at: route, answer)
        case .ready:
            guard let readiness else { return answer(Readiness.reply(failing())) }
            readiness.ask { [failing] in answer(Readiness.reply(failing() + $0)) }
        case .metrics:
            answer(
                access.reply(to: request) { text in
                    metrics.write(to: &text, hasStore: false)
                    text.gauge(
                        "holdfast_ready", failing().isEmpty && readiness?.isReady != false,
                        "Whether the service is ready.")
                    more(&text)
                })
        }
    }

    package func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest) {
        // What a path names beyond its kind, and other paths, are a client's text.
        let name = route == nil ? "other" : path.hasPrefix("/keys/") ? "/keys/" : path
        metrics.count(name, reply.code, duration: request.duration)
        if case .own(let own) = route { service.sent(reply, to: path, at: own, request) }
    }
}

/// Who may read `/metrics`, and what every front tells there.
package struct MetricsAccess: Sendable {
    private let blocks: [AddressBlock]
    private let front: FrontCounters
    private let connections: Int
    private let certificate: CertificateDates?
    private let version: String

    /// - Parameters:
    ///   - blocks: The addresses that may read, in addition to this machine.
    ///   - version: The program's.
    package init(_ blocks: [AddressBlock], _ settings: HTTPSettings, version: String) {
        self.blocks = blocks
        front = settings.counters
        connections = settings.connections
        certificate = settings.certificate.flatMap { CertificateDates(pem: $0) }
        self.version = version
        ProcessMetrics.begin()
    }

    /// - Parameter write: Writes the families of the service.
    func reply(to request: HTTPRequest, _ write: (inout MetricsText) -> Void) -> HTTPReply {
        guard request.isLocal || request.isProven && blocks.contains(where: { $0.contains(request.address) }) else {
            return HTTPReply(.plain(.unknownPath))
        }
        var text = MetricsText()
        ProcessMetrics.write(to: &text, version: version)
        text.gauge("holdfast_connections", front.connections, "Connections of clients.")
        text.counter("holdfast_connections_total", front.all, "Connections that were made.")
        text.gauge("holdfast_connections_limit", connections, "The most connections at one time.")
        text.counter(
            "holdfast_connections_refused_total", front.refused, "Connections beyond the limit of their address.")
        if let certificate {
            text.gauge(
                "holdfast_certificate_expiry_timestamp_seconds", Double(certificate.notAfter.milliseconds) / 1000,
                "When the TLS certificate expires, in seconds since 1970.")
        }
        write(&text)
        return HTTPReply(.metrics, Array(text.text.utf8))
    }
}

/// What a front counts of its connections.
package final class FrontCounters: Sendable {
    private let open = Atomic(0)
    private let made = Atomic(0)
    private let turnedAway = Atomic(0)

    package init() {}

    /// Connections at this moment.
    package var connections: Int { open.load(ordering: .relaxed) }

    /// Connections that there ever were.
    package var all: Int { made.load(ordering: .relaxed) }

    /// Connections that were ended since their address had too many.
    package var refused: Int { turnedAway.load(ordering: .relaxed) }

    func opened() {
        open.add(1, ordering: .relaxed)
        made.add(1, ordering: .relaxed)
    }

    func closed() { open.subtract(1, ordering: .relaxed) }

    func refuse() { turnedAway.add(1, ordering: .relaxed) }
}
