/// An access token as it travels: a signature and the unpadded base64url of a gzip member (protocol.md 6.1).
///
/// Its form has been checked, its contents not: clients pass tokens on, verifiers make an ``AccessToken`` of them.
package struct TokenText: Sendable, Hashable, CustomStringConvertible {
    /// The characters, at most ``MessageLimits/token``.
    package let bytes: [UInt8]

    /// What is wrong with a text.
    enum Refusal: Error {
        case tooLarge
        case notAToken
        case badSignature

        var reason: MessageError.Reason {
            switch self {
            case .tooLarge: .tokenTooLarge
            case .notAToken: .invalidToken
            case .badSignature: .invalidEncoding
            }
        }
    }

    init(checking text: RawSpan) throws(Refusal) {
        guard text.byteCount <= MessageLimits.token else { throw .tooLarge }
        let size = SignatureText.textSize
        guard text.byteCount > size else { throw .notAToken }
        guard SignatureText(text: text.extracting(0..<size)) != nil else { throw .badSignature }
        guard Base64URL.isValid(text.extracting(size..<text.byteCount)) else { throw .notAToken }
        bytes = text.copied
    }

    /// Reads a token.
    /// - Throws: ``MessageError`` with the place `token`.
    package init(parsing text: RawSpan) throws(MessageError) {
        do throws(Refusal) {
            try self.init(checking: text)
        } catch {
            throw MessageError(error.reason, "token", at: 0)
        }
    }

    /// Reads a token.
    /// - Throws: ``MessageError`` with the place `token`.
    package init(parsing text: String) throws(MessageError) {
        let bytes = Array(text.utf8)
        try unsafe self.init(parsing: bytes.span.bytes)
    }

    /// Joins a signature and what it signs, compressed.
    init?(_ signature: SignatureText, gzip: RawSpan) {
        let text = signature.textBytes + Base64URL.encode(gzip)
        guard text.count <= MessageLimits.token, text.count > SignatureText.textSize else { return nil }
        bytes = text
    }

    /// Lends the characters, of which the digest is taken that keys caches.
    package func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(bytes.span.bytes)
    }

    /// The text. A token alone gives no access, because requests are signed too; but it names an identity.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
