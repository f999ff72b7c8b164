/// The payload of the response to an operation (protocol.md 3.6 and 4.2).
package struct Response<Kind: Exchange>: MessagePayload {
    /// Repeats the nonce of the request.
    package let nonce: NonceText
    /// The key that signs.
    package let serverIdentity: PublicKeyText
    package let body: Kind.ResponseBody

    package init(nonce: NonceText, serverIdentity: PublicKeyText, body: Kind.ResponseBody) {
        self.nonce = nonce
        self.serverIdentity = serverIdentity
        self.body = body
    }

    package init(reading reader: inout MessageReader) throws(MessageError) {
        var payload = try reader.open(ResponseShapes.payload)
        (nonce, serverIdentity) = try reader.object(ResponseShapes.access, in: &payload)
        body = try reader.read(&payload)
        try reader.close(payload)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"access":"#)
        writer.object(ResponseShapes.access, nonce, serverIdentity)
        writer.literal(#","response":"#)
        body.write(to: &writer)
        writer.literal("}")
    }

    /// Compares the nonce with that of the request.
    /// - Throws: ``ProtocolError/incorrectNonce(expected:actual:)`` (BA203).
    package func check(nonce expected: NonceText) throws(ProtocolError) {
        guard nonce == expected else { throw .incorrectNonce(expected: expected, actual: nonce) }
    }
}

/// The response to everything that only succeeds: `{}`.
package struct EmptyBody: MemberValue {
    package init() {}

    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try reader.member(&object)
        try reader.close(reader.open(ResponseShapes.empty))
    }

    package func write(to writer: inout MessageWriter) { writer.literal("{}") }
}

/// The response to a request for a session: `{"authentication":{"nonce":"…"}}`.
package struct ChallengeBody: MemberValue {
    /// The server's challenge, valid for 60 seconds.
    package let challenge: NonceText

    package init(challenge: NonceText) { self.challenge = challenge }

    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try reader.member(&object)
        var response = try reader.open(ResponseShapes.challenge)
        challenge = try reader.object(ResponseShapes.challengeAuthentication, in: &response)
        try reader.close(response)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"authentication":"#)
        writer.object(ResponseShapes.challengeAuthentication, challenge)
        writer.literal("}")
    }
}

/// The response that opens or continues a session: `{"access":{"token":"…"}}`.
package struct TokenBody: MemberValue {
    package let token: TokenText

    package init(token: TokenText) { self.token = token }

    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try reader.member(&object)
        var response = try reader.open(ResponseShapes.token)
        token = try reader.object(ResponseShapes.tokenAccess, in: &response)
        try reader.close(response)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"access":"#)
        writer.object(ResponseShapes.tokenAccess, token)
        writer.literal("}")
    }
}

enum ResponseShapes {
    static let payload = ObjectShape("payload", ["access", "response"])
    static let access = ObjectShape("payload.access", ["nonce", "serverIdentity"])
    static let empty = ObjectShape("payload.response", [])
    static let challenge = ObjectShape("payload.response", ["authentication"])
    static let challengeAuthentication = ObjectShape("payload.response.authentication", ["nonce"])
    static let token = ObjectShape("payload.response", ["access"])
    static let tokenAccess = ObjectShape("payload.response.access", ["token"])
}
