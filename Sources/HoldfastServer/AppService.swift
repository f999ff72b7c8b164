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

    func refusal(_ method: HTTPRequest.Method?, _ path: String, _ address: ClientAddress) -> HTTPReply? {
        let isKnown = ExampleApp.Path(rawValue: path) != nil || path == "/key/response" || path == "/health"
        guard isKnown else { return HTTPReply(.plain(.unknownPath)) }
        guard method == .post || (method == .get && path == "/health") else { return HTTPReply(.plain(.wrongMethod)) }
        return rates.admit(address, now: MonotonicClock.seconds) ? nil : HTTPReply(.plain(.limited))
    }

    func handle(_ request: HTTPRequest, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        if let path = ExampleApp.Path(rawValue: request.path) {
            example.handle(path, request.body, answer)
        } else if request.path == "/health" {
            answer(.text("ok\n"))
        } else {
            answer(.text(keys.responseKey(now: SystemClock().now).publicKey.description))
        }
    }

    func sent(_ reply: HTTPReply, to path: String, _ address: ClientAddress, duration: Int) {
        guard reply.status >= 500 || log.wants(.requests) else { return }
        log.write(
            reply.status >= 500 ? .error : .requests, "reply",
            ["status": String(reply.status), "code": reply.code?.rawValue ?? "ok", "address": address.description])
    }
}
