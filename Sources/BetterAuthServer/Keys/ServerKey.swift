package import BetterAuthMessages
package import Cryptography
package import SecretMemory

/// A key that the server signs with: responses, or access tokens.
package final class ServerKey: Sendable {
    private let privateKey: P256PrivateKey
    package let publicKey: PublicKeyText
    /// What verifies this key's signatures.
    package let verifier: P256PublicKey

    private init(_ privateKey: consuming P256PrivateKey) throws(CryptographyError) {
        let verifier = privateKey.publicKey
        let point = verifier.compressed
        guard let text = unsafe PublicKeyText(raw: point.span.bytes) else { throw .invalidPoint }
        self.verifier = verifier
        publicKey = text
        self.privateKey = privateKey
    }

    /// Takes a private scalar: 32 bytes, big-endian.
    /// - Throws: ``CryptographyError``.
    package convenience init(scalar: borrowing SecretBytes) throws(CryptographyError) {
        try self.init(P256PrivateKey(scalar: scalar))
    }

    /// A new key.
    /// - Throws: ``CryptographyError``.
    package static func generate() throws(CryptographyError) -> ServerKey { try ServerKey(P256PrivateKey.generate()) }

    /// The private scalar, to be kept in a file of the server's own.
    /// - Throws: ``CryptographyError``.
    package func scalar() throws(CryptographyError) -> SecretBytes { try privateKey.scalar() }

    /// Signs bytes.
    /// - Throws: ``CryptographyError``.
    package func sign(_ bytes: RawSpan) throws(CryptographyError) -> SignatureText {
        let raw = try privateKey.sign(bytes)
        guard let signature = unsafe SignatureText(raw: raw.span.bytes) else { throw .invalidSize }
        return signature
    }
}
