package import BetterAuthMessages

/// An access request that has passed every check: what the application may act on.
package struct VerifiedAccess: Sendable, Hashable {
    /// Who asks, and what the auth server says of him.
    package let claims: AccessClaims
    /// What is asked; its body was signed by the session's key. Path and host were not (protocol, section 12, item 12).
    package let request: Access.Request

    /// Signs the reply to this request.
    /// - Parameter key: The server's response key.
    /// - Returns: The message, whose bytes are the body of the HTTP reply.
    /// - Throws: What signing throws.
    package func reply(
        _ body: ApplicationData, signedBy key: some SigningKey
    ) throws -> SignedMessage<Response<Access>> {
        try SignedMessage(
            Response(nonce: request.nonce, serverIdentity: key.publicKey, body: body), signedBy: key)
    }
}

/// Why an access request is not acted on.
package enum AccessRefusal: Error, Sendable {
    /// It was looked at and refused.
    case refused(ProtocolError)
    /// A store or key source could not be asked: it is neither good nor bad, and not acted on.
    case unavailable(any Error)

    /// What goes back to the client. Why a store failed is not the client's business.
    package var reply: ProtocolError {
        switch self {
        case .refused(let error): error
        case .unavailable: .plain(.base)
        }
    }

    /// The status of the reply that carries it.
    package var httpStatus: Int {
        switch self {
        case .refused(let error): error.code.httpStatus
        case .unavailable: 503
        }
    }
}
