public import BetterAuthMessages

/// What stands in the request or the response of an application, as a type of its own.
public protocol ApplicationBody: Sendable {
    /// Reads it; the text has been checked to be JSON.
    /// - Throws: When it is not what the type expects.
    init(_ data: ApplicationData) throws
    /// Writes it.
    func data() throws -> ApplicationData
}

extension ApplicationData: ApplicationBody {
    /// Takes it as it is.
    public init(_ data: ApplicationData) { self = data }
    /// Itself.
    public func data() -> ApplicationData { self }
}

extension BetterAuthClient {
    /// Asks an app server for something, in the name of this identity. Several may run side by side, to any number of
    /// servers.
    ///
    /// - Parameters:
    ///   - path: Where, on that server; begins with a slash.
    ///   - target: The app server; nil where it is the auth server itself.
    ///   - body: What is asked.
    ///   - answer: What the response is read as.
    ///   - other: How its response key is known; nil for as the auth server's.
    /// - Returns: The response, whose signature was verified.
    /// - Throws: ``IdentityError``; `noSession`, `refused`, `invalidReply`, `unknownServerKey`, `invalidData`.
    public func request<Answer: ApplicationBody>(
        _ path: String, at target: ServerAddress? = nil, _ body: some ApplicationBody,
        answer: Answer.Type = Answer.self,
        trust other: ResponseTrust? = nil
    ) async throws(IdentityError) -> Answer {
        let target = target ?? server
        guard ServerAddress.isPath(path) else { throw IdentityError(.invalidAddress, "this is no path: \(path)") }
        let (message, nonce, trusted) = try await exclusively { () async throws(IdentityError) in
            var credentials = try load()
            guard let session = credentials.session else { throw IdentityError.noSession }
            let trusted = try await trustedKeys(of: target, other ?? trust, &credentials)
            let (message, nonce) = try identityCall {
                let payload = Access.Request(
                    nonce: try .random(), timestamp: now(), token: session.token, body: try body.data())
                let key = try SoftwareDeviceKeys().signer(session.current)
                return (try SignedMessage(payload, signedBy: AnySigningKey(key)).bytes, payload.nonce)
            }
            return (message, nonce, trusted)
        }
        guard message.count <= MessageLimits.message else {
            throw IdentityError(.invalidData, "the request is larger than a message may be")
        }
        let request = TransportRequest(target, path, body: message, limit: MessageLimits.message)
        let result = await self.answer(Access.self, to: request, nonce: nonce, trusted)
        guard case .confirmed(let data) = result else { throw result.failure ?? .undecided }
        do { return try Answer(data) } catch {
            throw IdentityError(.invalidData, "the server's answer is not what was expected")
        }
    }
}
