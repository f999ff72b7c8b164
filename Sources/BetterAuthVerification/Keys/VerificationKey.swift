public import BetterAuthMessages
public import Cryptography

/// A public key that verifies signatures, beside its text. Making one costs about a third of a verification: keep those
/// that are used again.
public struct VerificationKey: Sendable {
    /// The key as the protocol writes it.
    public let text: PublicKeyText
    private let key: P256PublicKey

    /// Imports a key.
    /// - Throws: ``Cryptography/CryptographyError/invalidPoint`` for a text that is no point of the curve;
    ///   ``Cryptography/CryptographyError/library(code:)``.
    public init(_ text: PublicKeyText) throws(CryptographyError) {
        key = try text.withRawBytes { point throws(CryptographyError) in try P256PublicKey(compressed: point) }
        self.text = text
    }

    /// Whether the signature is that of this key over the message (ECDSA with SHA-256; a high s is accepted). False also
    /// when the library fails.
    package func isValid(_ signature: SignatureText, for message: RawSpan) -> Bool {
        signature.withRawBytes { key.isValid(signature: $0, for: message) }
    }

    /// Whether the message was signed by this key, over the bytes as they came.
    package func isValid<Payload>(_ message: SignedMessage<Payload>) -> Bool {
        message.withSignedBytes { isValid(message.signature, for: $0) }
    }
}
