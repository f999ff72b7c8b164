internal import BetterAuthMessages
internal import CMicrohttpd
internal import Synchronization

/// One request from its first lines to its reply. Made by the daemon's thread, answered by any.
@safe final class HTTPExchange: @unchecked Sendable {  // shared parts are locked, others the daemon's thread's
    private enum State {
        case running
        case suspended
        case answered(HTTPReply)
        /// The connection is gone, or the reply on its way.
        case over
    }

    let path: String
    let endpoint: any HTTPEndpoint
    let method: HTTPRequest.Method
    let origin: RequestOrigin
    let isLocal: Bool
    let authorization: String?
    let trace: RequestTrace
    let start: Double
    var body: [UInt8] = []
    var isTooLarge = false
    /// What its first lines were answered with already.
    var refusal: HTTPReply?
    var isHandled = false
    private let connection: OpaquePointer
    private let state = Mutex(State.running)

    init(
        _ connection: OpaquePointer, method: HTTPRequest.Method, path: String, _ endpoint: any HTTPEndpoint,
        origin: RequestOrigin, isLocal: Bool, authorization: String?, trace: RequestTrace, start: Double
    ) {
        unsafe self.connection = connection
        self.method = method
        self.path = path
        self.endpoint = endpoint
        self.origin = origin
        self.isLocal = isLocal
        self.authorization = authorization
        self.trace = trace
        self.start = start
    }

    /// Hands the request over. A reply that is there at once is returned; otherwise the connection rests until it is.
    func handle() -> HTTPReply? {
        isHandled = true
        let request = HTTPRequest(
            method: method, path: path, body: body, address: origin.address, isProven: origin.isProven,
            isLocal: isLocal, authorization: authorization, trace: trace)
        body = []
        RequestTrace.$current.withValue(trace) { endpoint.handle(request) { [self] in answer($0) } }
        return state.withLock { state in
            if case .answered(let reply) = state {
                state = .over
                return reply
            }
            state = .suspended
            // Under the lock: the answering thread resumes only a connection that is already suspended.
            unsafe MHD_suspend_connection(connection)
            return nil
        }
    }

    private func answer(_ reply: HTTPReply) {
        let resumes = state.withLock { state in
            switch state {
            case .running:
                state = .answered(reply)
                return false
            case .suspended:
                state = .answered(reply)
                return true
            case .answered, .over: return false
            }
        }
        if resumes { unsafe MHD_resume_connection(connection) }
    }

    /// The reply that came while the connection rested.
    func takeReply() -> HTTPReply? {
        state.withLock { state in
            guard case .answered(let reply) = state else { return nil }
            state = .over
            return reply
        }
    }
}
