package import BetterAuthMessages
package import BetterAuthServer

/// A request that has arrived whole.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable { case get = "GET", post = "POST" }

    package let method: Method
    package let path: String
    package let body: [UInt8]
    package let address: ClientAddress
    /// The header `Authorization`.
    package let authorization: String?
}

/// What goes back.
package struct HTTPReply: Sendable {
    package let status: Int
    package let type: HTTPContentType
    package let body: [UInt8]
    /// Why it is a refusal.
    package let code: ErrorCode?

    package init(status: Int = 200, _ type: HTTPContentType = .json, _ body: [UInt8], code: ErrorCode? = nil) {
        self.status = status
        self.type = type
        self.body = body
        self.code = code
    }

    package init(_ reply: ServerReply) { self.init(status: reply.status, .json, reply.body, code: reply.code) }

    package init(_ error: ProtocolError) { self.init(ServerReply(error)) }

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
    /// Refuses a request by its first lines, before its body is read and any work done; nil lets it in.
    func refusal(_ method: HTTPRequest.Method?, _ path: String, _ address: ClientAddress) -> HTTPReply?

    /// Answers a request, once, from any thread.
    func handle(_ request: HTTPRequest, _ answer: @escaping @Sendable (HTTPReply) -> Void)

    /// Called by the front for each reply that is sent.
    /// - Parameter duration: Microseconds since the first lines were there.
    func sent(_ reply: HTTPReply, to path: String, _ address: ClientAddress, duration: Int)
}
