internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import SystemCalls

/// The example application alone.
final class AppService: HTTPService {
    private let example: ExampleApp
    private let keys: ServerKeys
    private let rates: AddressRates
    private let log: ServerLog

    init(_ example: ExampleApp, _ keys: ServerKeys, rate: Double, log: ServerLog) {
        self.example = example
        self.keys = keys
        self.log = log
        rates = AddressRates(perSecond: rate, burst: rate * 4)
    }

    enum Route: Sendable {
        case example(ExampleApp.Path)
        case responseKey, health
    }

    func route(_ path: String) -> Route? {
        switch path {
        case "/health": .health
        case "/key/response": .responseKey
        default: ExampleApp.Path(rawValue: path).map(Route.example)
        }
    }

    func refusal(_ method: HTTPRequest.Method?, at route: Route, _ address: ClientAddress) -> HTTPReply? {
        switch (method, route) {
        case (.post, _), (.get, .health): break
        default: return .wrongMethod(allowed: "POST")
        }
        return rates.refusal(address, now: MonotonicClock.seconds)
    }

    func handle(_ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        switch route {
        case .example(let path): example.handle(path, request.body, answer)
        case .health: answer(.text("ok\n"))
        case .responseKey: answer(.text(keys.responseKey(now: SystemClock().now).publicKey.description))
        }
    }

    func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest) {
        // Why one failed is told as a state.
        guard log.wants(.info) else { return }
        log.write(
            .info, "reply",
            [
                "status": .number(reply.status), "code": .text(reply.code?.rawValue ?? "ok"),
                "address": .text(request.address.description),
            ], of: request.trace)
    }
}
