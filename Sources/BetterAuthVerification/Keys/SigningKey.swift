public import BetterAuthMessages
public import Cryptography
public import SecretMemory

/// A P-256 key that signs, wherever its private half rests: in memory, inside the vault, or in a chip that never gives it
/// away.
public protocol SigningKey: Sendable {
    /// The half that everybody may know.
    var publicKey: PublicKeyText { get }
    /// Signs the SHA-256 of a message with ECDSA. May take as long as a chip takes.
    /// - Throws: What the key's place throws; nothing was signed then.
    func sign(_ message: RawSpan) throws -> SignatureText
}

/// A key whose scalar lies in locked memory for as long as this object lives.
public final class SoftwareSigningKey: SigningKey {
    /// The half that everybody may know.
    public let publicKey: PublicKeyText
    private let key: P256PrivateKey

    /// Takes a key.
    /// - Throws: ``Cryptography/CryptographyError/invalidPoint``, which no key that the library made gives.
    package init(_ key: consuming P256PrivateKey) throws(CryptographyError) {
        let point = key.publicKey.compressed
        guard let text = unsafe PublicKeyText(raw: point.span.bytes) else { throw .invalidPoint }
        publicKey = text
        self.key = key
    }

    /// Takes a scalar.
    /// - Parameter scalar: 32 bytes, big endian.
    /// - Throws: ``Cryptography/CryptographyError`` for 32 bytes that are no key.
    public convenience init(scalar: borrowing SecretBytes) throws(CryptographyError) {
        try self.init(P256PrivateKey(scalar: scalar))
    }

    /// A fresh key.
    /// - Throws: ``Cryptography/CryptographyError/library(code:)``, ``Cryptography/CryptographyError/memory(_:)``.
    public static func generate() throws(CryptographyError) -> SoftwareSigningKey {
        try SoftwareSigningKey(P256PrivateKey.generate())
    }

    /// The scalar, 32 bytes, to be stored where secrets may be.
    /// - Throws: ``Cryptography/CryptographyError/library(code:)``, ``Cryptography/CryptographyError/memory(_:)``.
    public func scalar() throws(CryptographyError) -> SecretBytes { try key.scalar() }

    /// Signs the SHA-256 of a message with ECDSA.
    /// - Throws: ``Cryptography/CryptographyError/library(code:)``.
    public func sign(_ message: RawSpan) throws -> SignatureText {
        let signature = try key.sign(message)
        // The library gives r and s between 1 and the order, which is all that is asked of them.
        guard let text = unsafe SignatureText(raw: signature.span.bytes) else { throw CryptographyError.invalidSize }
        return text
    }
}

extension SignedMessage {
    /// Signs a payload.
    /// - Throws: What signing throws.
    package init(_ payload: Payload, signedBy key: some SigningKey) throws {
        try self.init(payload) { bytes throws in try key.sign(bytes) }
    }
}
