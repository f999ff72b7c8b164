internal import BetterAuthMessages

// What is said about answers that are not the server's. Addresses and paths were checked, a status is a number, a
// content type is a media type or nothing; of the body, which may be hostile, nothing is ever shown.
extension IdentityError {
    private static func place(_ request: TransportRequest) -> String { "\(request.server)\(request.path)" }

    /// Nothing came back.
    init(unanswered request: TransportRequest, _ error: TransportError) {
        self.init(.unreachable, "\(error) (\(IdentityError.place(request)))")
    }

    /// Something else refused.
    init(rejected request: TransportRequest, _ reply: TransportReply) {
        self.init(
            .notTheServer,
            "something other than the server answered at \(IdentityError.place(request)) (\(reply.facts))")
    }

    /// Something said yes, or moved away, or began to answer, and it is not an answer.
    init(malformed request: TransportRequest, _ reply: TransportReply, _ error: MessageError) {
        let isMoved = (300..<400).contains(reply.status)
        self.init(
            .invalidReply,
            "the answer from \(IdentityError.place(request)) is not one of the server (\(reply.facts); "
                + (isMoved ? "redirects are not followed)" : "\(error))"))
    }

    /// No key where a server says which one is its own.
    init(noKey request: TransportRequest, _ reply: TransportReply) {
        self.init(
            .unknownServerKey,
            "\(IdentityError.place(request)) does not say which key the server signs with (\(reply.facts))")
    }

    /// No challenge, without which no session is opened with any key.
    init(challenging result: ExchangeResult<RequestSession.ResponseBody>) {
        let error = result.failure ?? .undecided
        guard case .refused = result else {
            self = error
            return
        }
        self = error.adding(
            "it opens no session for this identity; the device's keys are kept. If it stays so, the device was "
                + "unlinked, or the account was recovered or deleted")
    }

    /// A session that was not refreshed.
    init(refreshing result: ExchangeResult<RefreshSession.ResponseBody>) {
        let error = result.failure ?? .undecided
        if case .absent = result {
            self = error
        } else {
            // A server refreshes a token once, and it may have done so.
            self = error.adding("the session may be over")
        }
    }
}

extension TransportReply {
    /// What answered, for people.
    fileprivate var facts: String {
        (["status \(status)", contentType] + (body.isEmpty ? ["empty"] : [])).compactMap(\.self).joined(separator: ", ")
    }
}
