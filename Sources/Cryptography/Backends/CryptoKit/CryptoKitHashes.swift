#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
package import SecretMemory
internal import Security

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

enum CryptoKitSHA1 {
    static func hash(_ bytes: RawSpan, into digest: inout MutableRawSpan) throws(CryptographyError) {
        guard digest.byteCount == SHA1.size else { throw .invalidSize }
        let hash = unsafe bytes.withUnsafeBytes { unsafe Insecure.SHA1.hash(data: $0) }
        unsafe hash.withUnsafeBytes { hash in
            unsafe digest.withUnsafeMutableBytes { unsafe $0.copyMemory(from: hash) }
        }
    }
}

enum CryptoKitOneTimeMAC {
    static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes, hash: OneTimeHash
    ) throws(CryptographyError) -> SecretBytes {
        let key = SymmetricKey(copying: key)
        return switch hash {
        case .sha1: try code(HMAC<Insecure.SHA1>.self, message, key)
        case .sha256: try code(HMAC<CryptoKit.SHA256>.self, message, key)
        case .sha512: try code(HMAC<CryptoKit.SHA512>.self, message, key)
        }
    }

    private static func code<Hash: HashFunction>(
        _: HMAC<Hash>.Type, _ message: RawSpan, _ key: SymmetricKey
    ) throws(CryptographyError) -> SecretBytes {
        let code = unsafe message.withUnsafeBytes { message in
            unsafe HMAC<Hash>.authenticationCode(for: message, using: key)
        }
        return try code.secret(lifetime: .transient)
    }
}

/// Random bytes from the system's generator, which the kernel seeds and which survives a fork.
package enum CryptoKitSecureRandom {
    /// Overwrites `bytes` with random bytes fit for keys.
    /// - Throws: ``CryptographyError/library(code:)`` when the generator fails (`bytes` is then wiped),
    ///   ``CryptographyError/invalidSize`` from 2 GiB on.
    package static func fill(_ bytes: inout MutableRawSpan) throws(CryptographyError) {
        guard bytes.byteCount <= Int(Int32.max) - 64 else { throw .invalidSize }
        guard bytes.byteCount > 0 else { return }
        let status = unsafe bytes.withUnsafeMutableBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return errSecParam }
            return unsafe SecRandomCopyBytes(kSecRandomDefault, bytes.count, base)
        }
        guard status == errSecSuccess else {
            bytes.wipe()
            throw .library(code: UInt(status.magnitude))
        }
    }

    /// Overwrites `bytes` with random bytes that will be seen by others; the system has one generator for both.
    /// - Throws: as ``fill(_:)``.
    package static func fillPublic(_ bytes: inout MutableRawSpan) throws(CryptographyError) { try fill(&bytes) }
}
#endif
