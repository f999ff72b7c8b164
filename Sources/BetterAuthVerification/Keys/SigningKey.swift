public import BetterAuthMessages
public import Cryptography
public import SecretMemory

/// A P-256 key that signs, wherever its private half rests: in memory, inside the vault, or in a chip that never gives
/// it away.
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

/// A public key that verifies signatures, beside its text.
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

    /// Whether the signature is that of this key over the message (ECDSA with SHA-256; a high s is accepted). False
    /// also when the library fails.
    package func isValid(_ signature: SignatureText, for message: RawSpan) -> Bool {
        signature.withRawBytes { key.isValid(signature: $0, for: message) }
    }

    /// Whether the message was signed by this key, over the bytes as they came.
    package func isValid<Payload>(_ message: SignedMessage<Payload>) -> Bool {
        message.withSignedBytes { isValid(message.signature, for: $0) }
    }
}

extension Derivations {
    /// With BLAKE3-256, the hash function of this suite (protocol.md 1.2).
    package static let standard = Derivations { DigestText(blake3: $0) }
}

extension DigestText {
    /// The BLAKE3-256 of some bytes.
    package init(blake3 bytes: RawSpan) {
        let digest = BLAKE3.hash(bytes)
        self.init { target in
            for (offset, byte) in digest.bytes.enumerated() {
                target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            }
        }
    }
}

extension NonceText {
    /// 128 fresh random bits.
    /// - Throws: ``Cryptography/CryptographyError/library(code:)``.
    package static func random() throws(CryptographyError) -> NonceText {
        try NonceText { bytes throws(CryptographyError) in try SecureRandom.fillPublic(&bytes) }
    }
}
