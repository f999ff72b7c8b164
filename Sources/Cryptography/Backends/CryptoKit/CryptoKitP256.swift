#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
package import SecretMemory

/// A point on P-256 that verifies signatures, by CryptoKit.
package final class CryptoKitP256PublicKey: Sendable {
    private let key: P256.Signing.PublicKey
    /// The point in 33 bytes: 02 or 03, then x.
    package let compressed: [UInt8]

    /// Takes a compressed point (SEC 1, section 2.3.4).
    /// - Throws: ``CryptographyError/invalidPoint`` unless it is 33 bytes that start with 02 or 03, with x below the
    ///   field's prime and on the curve.
    package init(compressed bytes: RawSpan) throws(CryptographyError) {
        guard bytes.byteCount == Self.compressedSize else { throw .invalidPoint }
        let compressed = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        guard compressed[0] == 2 || compressed[0] == 3 else { throw .invalidPoint }
        do {
            key = try P256.Signing.PublicKey(compressedRepresentation: compressed)
        } catch { throw .invalidPoint }
        self.compressed = compressed
    }

    fileprivate init(_ key: P256.Signing.PublicKey) {
        self.key = key
        compressed = key.compressedRepresentation.array()
    }

    /// The point as 04, x, y: 65 bytes.
    package var uncompressed: [UInt8] { key.x963Representation.array() }

    /// Verifies an ECDSA signature over the SHA-256 of `message`.
    /// - Parameter signature: r then s, 64 bytes; a high s is accepted.
    /// - Returns: False for any other size and for r or s outside 1 to n - 1.
    package func isValid(signature: RawSpan, for message: RawSpan) -> Bool {
        guard signature.byteCount == CryptoKitP256PrivateKey.signatureSize else { return false }
        return unsafe signature.withUnsafeBytes { signature in
            guard let signature = try? unsafe P256.Signing.ECDSASignature(rawRepresentation: signature) else {
                return false
            }
            return unsafe message.withUnsafeBytes { unsafe key.isValidSignature(signature, for: $0) }
        }
    }
}

/// A P-256 private key that signs and agrees on keys. CryptoKit holds the scalar and wipes it when the key goes.
package struct CryptoKitP256PrivateKey: ~Copyable, Sendable {
    private let key: P256.Signing.PrivateKey
    /// The point that verifies this key's signatures.
    package let publicKey: CryptoKitP256PublicKey

    /// Takes a scalar and computes its public point.
    /// - Parameter scalar: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/invalidSize``; ``CryptographyError/scalarOutOfRange`` for zero and from the group
    ///   order on; ``CryptographyError/library(code:)``.
    package init(scalar: borrowing SecretBytes) throws(CryptographyError) {
        guard scalar.count == Self.scalarSize else { throw .invalidSize }
        guard scalar.withBytes(Self.isInRange) else { throw .scalarOutOfRange }
        let key = try scalar.withBytes { bytes throws(CryptographyError) in
            try CryptographyError.converting {
                try unsafe bytes.withUnsafeBytes { try unsafe P256.Signing.PrivateKey(rawRepresentation: $0) }
            }
        }
        self.key = key
        publicKey = CryptoKitP256PublicKey(key.publicKey)
    }

    /// The scalar: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package borrowing func scalar() throws(CryptographyError) -> SecretBytes {
        var copy = key.rawRepresentation
        defer { copy.wipe() }
        return try copy.secret(lifetime: .transient)
    }

    /// Signs the SHA-256 of `message` with ECDSA.
    /// - Returns: r then s, 64 bytes.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func sign(_ message: RawSpan) throws(CryptographyError) -> [UInt8] {
        let key = key
        return try CryptographyError.converting {
            try unsafe message.withUnsafeBytes { try unsafe key.signature(for: $0).rawRepresentation.array() }
        }
    }

    /// The x coordinate of scalar times point: elliptic-curve Diffie-Hellman (NIST SP 800-56A, 5.7.1.2; SEC 1, 3.3.1).
    ///
    /// Not a key yet: derive one with ``HKDFSHA256``, over both public points too.
    /// - Returns: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/library(code:)``, ``CryptographyError/memory(_:)``.
    package borrowing func sharedSecret(
        with peer: CryptoKitP256PublicKey
    ) throws(CryptographyError) -> SecretBytes {
        let scalar = try scalar()
        let shared = try scalar.withBytes { bytes throws(CryptographyError) in
            try CryptographyError.converting {
                let own = try unsafe bytes.withUnsafeBytes {
                    try unsafe P256.KeyAgreement.PrivateKey(rawRepresentation: $0)
                }
                let other = try P256.KeyAgreement.PublicKey(compressedRepresentation: peer.compressed)
                return try own.sharedSecretFromKeyAgreement(with: other)
            }
        }
        return try shared.secret(lifetime: .transient)
    }

    /// n, the order of the group (SEC 2, section 2.4.2).
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]

    /// Whether 0 < scalar < n, without a branch on its bytes.
    private static func isInRange(_ scalar: RawSpan) -> Bool {
        var (all, borrow) = (UInt8(0), 0)
        for index in stride(from: scalarSize - 1, through: 0, by: -1) {
            let byte = unsafe scalar.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            all |= byte
            borrow = (Int(byte) - Int(order[index]) - borrow) >> 8 & 1
        }
        return all != 0 && borrow == 1
    }
}
#endif
