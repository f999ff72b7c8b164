/// An access token that has been opened: its claims, and the text that its signature covers (protocol.md 6.1).
///
/// Well-formed, not authentic: the signature is still to be verified with the key of `claims.serverIdentity`, once that
/// key is known to be the server's.
package struct AccessToken: Sendable, Hashable {
    package let claims: AccessClaims
    package let signature: SignatureText
    /// What the signature covers, as it came out of the compression.
    package let signedBytes: [UInt8]

    /// Opens a token.
    /// - Throws: ``MessageError`` with the place `token` or one of its members; offsets count in the opened text.
    package init(
        opening text: TokenText, with compression: some TokenCompression
    ) throws(MessageError) {
        let size = SignatureText.textSize
        let parts = text.withText { text in
            (SignatureText(text: text.extracting(0..<size)), Base64URL.decode(text.extracting(size..<text.byteCount)))
        }
        guard let signature = parts.0, let member = parts.1 else { throw MessageError(.invalidToken, "token", at: 0) }
        let bytes: [UInt8]
        do throws(TokenCompressionError) {
            let limit = MessageLimits.claims
            try GzipMember.check(member, limit: limit)
            bytes = try unsafe compression.inflate(member.span.bytes, limit: limit)
            guard bytes.count <= limit else { throw .tooLarge }
            guard bytes.count == GzipMember.size(member) else { throw .damaged }
        } catch {
            throw MessageError(error == .tooLarge ? .tokenTooLarge : .invalidGzip, "token", at: size)
        }
        var reader = MessageReader(bytes)
        // As deep as application data in a message may be, so that attributes can be carried on.
        reader.depth = 1
        claims = try AccessClaims(reading: &reader)
        try reader.expectEnd("token")
        self.signature = signature
        signedBytes = bytes
    }

    /// Signs claims.
    /// - Parameter sign: Takes the text that the signature covers.
    /// - Throws: What `sign` throws.
    package init<E: Error>(_ claims: AccessClaims, sign: (RawSpan) throws(E) -> SignatureText) throws(E) {
        let bytes = claims.encoded
        signature = try unsafe sign(bytes.span.bytes)
        self.claims = claims
        signedBytes = bytes
    }

    /// The token as it travels.
    /// - Throws: ``TokenCompressionError/tooLarge`` when verifiers would refuse it: the attributes are too long.
    package func text(_ compression: some TokenCompression) throws(TokenCompressionError) -> TokenText {
        guard signedBytes.count <= MessageLimits.claims else { throw .tooLarge }
        let member = try unsafe compression.deflate(signedBytes.span.bytes)
        guard let text = unsafe TokenText(signature, gzip: member.span.bytes) else { throw .tooLarge }
        return text
    }

    /// Lends what the signature covers.
    package func withSignedBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(signedBytes.span.bytes)
    }
}
