#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
package import SecretMemory

/// HKDF with SHA-256 (RFC 5869), extract and expand, by CryptoKit.
package enum CryptoKitHKDFSHA256 {
    /// Derives `count` bytes from key material that is already hard to guess; it does not stretch a passcode.
    /// - Parameters:
    ///   - inputKey: 1 byte or more.
    ///   - salt: Any size; empty means 32 zero bytes.
    ///   - info: Purpose of the result, up to 1,024 bytes.
    ///   - count: 1 to 8,160 bytes.
    ///   - lifetime: Where the result lies.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``.
    package static func derive(
        _ inputKey: borrowing SecretBytes, salt: RawSpan, info: RawSpan, count: Int,
        lifetime: SecretLifetime = .transient
    ) throws(CryptographyError) -> SecretBytes {
        guard inputKey.count > 0, inputKey.count <= Int(Int32.max) - 64, salt.byteCount <= Int(Int32.max) - 64,
            info.byteCount <= 1024, count >= 1, count <= maximumCount
        else { throw .invalidSize }
        let key = SymmetricKey(copying: inputKey)
        let derived = unsafe salt.withUnsafeBytes { salt in
            unsafe info.withUnsafeBytes { info in
                unsafe HKDF<CryptoKit.SHA256>.deriveKey(
                    inputKeyMaterial: key, salt: salt, info: info, outputByteCount: count)
            }
        }
        return try derived.secret(lifetime: lifetime)
    }
}
#endif
