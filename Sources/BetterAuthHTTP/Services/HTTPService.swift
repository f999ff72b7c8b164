package import BetterAuthMessages
package import BetterAuthServer

/// A request that has arrived whole.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable { case get = "GET", post = "POST" }

    package let method: Method
    package let path: String
    package let body: [UInt8]
    /// The client's, which limits apply to.
    package let address: ClientAddress
    /// Whether the address is proven, and not only claimed by a header that anyone may have written.
    package let isProven: Bool
    /// Whether it came from a program on this machine, and not through a proxy on it.
    package let isLocal: Bool
    /// The header `Authorization`.
    package let authorization: String?
    package let trace: RequestTrace
}

/// What goes back.
package struct HTTPReply: Sendable {
    package let status: Int
    package let type: HTTPContentType
    package let body: [UInt8]
    /// Why it is a refusal.
    package let code: ErrorCode?
    /// The header `Retry-After` of a refusal that passes; 0 for none.
    package let retrySeconds: Int
    /// The header `Allow` of a refused method; nil for none.
    package let allowed: StaticString?

    package init(
        status: Int = 200, _ type: HTTPContentType = .json, _ body: [UInt8], code: ErrorCode? = nil,
        retrySeconds: Int? = nil, allowed: StaticString? = nil
    ) {
        self.status = status
        self.type = type
        self.body = body
        self.code = code
        self.retrySeconds = retrySeconds ?? (code == .limited || code == .unavailable ? HTTPReply.patience : 0)
        self.allowed = allowed
    }

    /// Seconds after which a client may ask again whatever it was refused for.
    private static let patience = 2

    package init(_ reply: ServerReply) {
        self.init(
            status: reply.status, .json, reply.body, code: reply.code, retrySeconds: reply.isLasting ? 0 : nil)
    }

    package init(_ error: ProtocolError, retrySeconds: Int? = nil) {
        self.init(
            status: error.code.httpStatus, .json, error.encoded, code: error.code, retrySeconds: retrySeconds)
    }

    /// A refusal of a request's method.
    /// - Parameter methods: Those that are taken.
    package static func wrongMethod(allowed methods: StaticString) -> HTTPReply {
        let error = ProtocolError.plain(.wrongMethod)
        return HTTPReply(status: error.code.httpStatus, .json, error.encoded, code: error.code, allowed: methods)
    }

    package static func text(_ text: String, status: Int = 200) -> HTTPReply {
        HTTPReply(status: status, .text, Array(text.utf8))
    }
}

package enum HTTPContentType: Sendable {
    case json, text, metrics

    var header: StaticString {
        switch self {
        case .json: "application/json"
        case .text: "text/plain; charset=utf-8"
        case .metrics: "text/plain; version=0.0.4; charset=utf-8"
        }
    }
}

/// What answers requests.
package protocol HTTPService: Sendable {
    /// What the service has at a path.
    associatedtype Route: Sendable

    /// Finds what the service has at a path; nil for nothing. Called once for each request: what it found goes to the
    /// calls below.
    func route(_ path: String) -> Route?

    /// Refuses a request by its first lines, before its body is read and any work done; nil lets it in.
    func refusal(_ method: HTTPRequest.Method?, at route: Route, _ address: ClientAddress) -> HTTPReply?

    /// Answers a request, once, from any thread.
    func handle(_ request: HTTPRequest, at route: Route, _ answer: @escaping @Sendable (HTTPReply) -> Void)

    /// Called by the front for each reply that is sent.
    /// - Parameters:
    ///   - route: What the service has at the path; nil for nothing.
    func sent(_ reply: HTTPReply, to path: String, at route: Route?, _ request: AnsweredRequest)
}

extension HTTPService {
    /// The service at the path of one request.
    func endpoint(_ path: String) -> any HTTPEndpoint { MatchedService(service: self, path: path, route: route(path)) }
}

/// A service, and what it has at the path of one request.
protocol HTTPEndpoint: Sendable {
    func refusal(_ method: HTTPRequest.Method?, _ address: ClientAddress) -> HTTPReply?
    func handle(_ request: HTTPRequest, _ answer: @escaping @Sendable (HTTPReply) -> Void)
    func sent(_ reply: HTTPReply, _ request: AnsweredRequest)
}

private struct MatchedService<Service: HTTPService>: HTTPEndpoint {
    let service: Service
    let path: String
    let route: Service.Route?

    func refusal(_ method: HTTPRequest.Method?, _ address: ClientAddress) -> HTTPReply? {
        guard let route else { return HTTPReply(.plain(.unknownPath)) }
        return service.refusal(method, at: route, address)
    }

    func handle(_ request: HTTPRequest, _ answer: @escaping @Sendable (HTTPReply) -> Void) {
        guard let route else { return answer(HTTPReply(.plain(.unknownPath))) }
        service.handle(request, at: route, answer)
    }

    func sent(_ reply: HTTPReply, _ request: AnsweredRequest) {
        service.sent(reply, to: path, at: route, request)
    }
}
