public import BetterAuthMessages

/// An access request that has passed every check: what the application may act on.
public struct VerifiedAccess: Sendable, Hashable {
    /// The identity and device that sent the request, and their attributes from the auth server.
    public let claims: AccessClaims
    /// What is asked, as it was signed.
    package let request: Access.Request

    /// What is asked; it was signed by the session's key. Path and host were not (protocol.md 12.12).
    public var body: ApplicationData { request.body }

    /// Signs the reply to this request.
    /// - Parameters:
    ///   - body: What is answered.
    ///   - key: The server's response key.
    /// - Returns: The body of the HTTP reply.
    /// - Throws: What signing throws.
    public func reply(_ body: ApplicationData, signedBy key: some SigningKey) throws -> [UInt8] {
        try SignedMessage(
            Response<Access>(nonce: request.nonce, serverIdentity: key.publicKey, body: body), signedBy: key
        ).bytes
    }
}

/// Why an access request is not acted on.
public struct AccessRefusal: Error, Sendable, CustomStringConvertible {
    package enum Cause: Sendable {
        /// It was looked at and refused.
        case refused(ProtocolError)
        /// A store or key source could not be asked: it is neither good nor bad, and not acted on.
        case unavailable(any Error)
    }

    package let cause: Cause

    package static func refused(_ error: ProtocolError) -> AccessRefusal { AccessRefusal(cause: .refused(error)) }
    package static func unavailable(_ error: any Error) -> AccessRefusal { AccessRefusal(cause: .unavailable(error)) }

    /// What goes back to the client. Why a store failed is not the client's business.
    package var reply: ProtocolError {
        switch cause {
        case .refused(let error): error
        case .unavailable: .plain(.base)
        }
    }

    /// The protocol's code (protocol.md 9.2), or one of ours that begins with HF: `BA501` for a request that is too
    /// old.
    public var code: String { reply.code.rawValue }

    /// The body of the HTTP reply.
    public var body: [UInt8] { reply.encoded }

    /// The status of the reply that carries it: 503 where a store or key source failed.
    public var httpStatus: Int {
        switch cause {
        case .refused(let error): error.code.httpStatus
        case .unavailable: 503
        }
    }

    /// What a store or key source threw, for the log; nil where the request itself was refused.
    public var failure: (any Error)? {
        switch cause {
        case .refused: nil
        case .unavailable(let error): error
        }
    }

    /// The code and one sentence. Nothing of what was sent.
    public var description: String { "\(code): \(reply.code.message)" }
}
