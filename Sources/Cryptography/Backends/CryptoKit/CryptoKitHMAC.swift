#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
package import SecretMemory

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1) by CryptoKit.
package enum CryptoKitHMACSHA256 {
    /// Computes the 32-byte tag of `message`.
    /// - Parameter key: 1 byte or more.
    /// - Throws: ``CryptographyError/invalidSize`` for an empty key.
    package static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes
    ) throws(CryptographyError) -> Digest {
        guard key.count > 0 else { throw .invalidSize }
        let key = SymmetricKey(copying: key)
        let code = unsafe message.withUnsafeBytes { message in
            unsafe HMAC<CryptoKit.SHA256>.authenticationCode(for: message, using: key)
        }
        let digest = unsafe code.withUnsafeBytes { unsafe Digest(copying: RawSpan(_unsafeBytes: $0)) }
        guard let digest else { throw .invalidSize }
        return digest
    }
}

enum CryptoKitSHA256 {
    static func hash(_ bytes: RawSpan) -> Digest {
        let hash = unsafe bytes.withUnsafeBytes { unsafe CryptoKit.SHA256.hash(data: $0) }
        var digest = Digest()
        unsafe hash.withUnsafeBytes { hash in
            digest.withMutableBytes { bytes in
                for offset in 0..<min(bytes.byteCount, hash.count) {
                    bytes.storeBytes(of: unsafe hash[offset], toByteOffset: offset, as: UInt8.self)
                }
            }
        }
        return digest
    }
}
#endif
