/// What comes back from a server: the signed response to an operation, or its word that there is none.
///
/// The HTTP status does not tell the two apart; the body does (protocol.md 9.4).
package enum Reply<Kind: Exchange>: Sendable, Hashable {
    /// Still to be verified with the key of `payload.serverIdentity`, and its nonce compared.
    case response(SignedMessage<Response<Kind>>)
    case failure(ServerFailure)

    /// Reads a body.
    /// - Throws: ``MessageError`` when it is neither.
    package init(parsing bytes: RawSpan) throws(MessageError) {
        do throws(MessageError) {
            self = .response(try SignedMessage(parsing: bytes))
        } catch {
            guard error.reason != .tooLarge, let failure = ServerFailure(parsing: bytes) else { throw error }
            self = .failure(failure)
        }
    }

    /// Reads a body.
    /// - Throws: ``MessageError`` when it is neither.
    package init(parsing bytes: [UInt8]) throws(MessageError) {
        try unsafe self.init(parsing: bytes.span.bytes)
    }
}
