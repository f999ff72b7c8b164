package import SecretMemory

#if canImport(CryptoKit)
package typealias HKDFSHA256 = CryptoKitHKDFSHA256
#elseif canImport(COpenSSL)
package typealias HKDFSHA256 = OpenSSLHKDFSHA256
#else
#error("no HKDF backend")
#endif

extension HKDFSHA256 {
    /// Most bytes one derivation can give: 255 blocks of 32 (RFC 5869, section 2.3).
    package static let maximumCount = 255 * 32

    /// Derives `count` bytes for the purpose that a fixed string names.
    /// - Throws: as ``derive(_:salt:info:count:lifetime:)``.
    package static func derive(
        _ inputKey: borrowing SecretBytes, salt: RawSpan, info: StaticString, count: Int,
        lifetime: SecretLifetime = .transient
    ) throws(CryptographyError) -> SecretBytes {
        let info = unsafe UnsafeRawBufferPointer(start: info.utf8Start, count: info.utf8CodeUnitCount)
        return try unsafe derive(
            inputKey, salt: salt, info: RawSpan(_unsafeBytes: info), count: count, lifetime: lifetime)
    }
}

#if canImport(CryptoKit)
package typealias HMACSHA256 = CryptoKitHMACSHA256
#elseif canImport(COpenSSL)
package typealias HMACSHA256 = OpenSSLHMACSHA256
#else
#error("no HMAC backend")
#endif

extension HMACSHA256 {
    /// Compares in time that does not depend on the bytes; only a full tag of 32 bytes can be valid.
    /// - Returns: False also when the tag could not be computed.
    package static func isValid(_ tag: RawSpan, for message: RawSpan, key: borrowing SecretBytes) -> Bool {
        guard let expected = try? authenticate(message, key: key) else { return false }
        return expected.withBytes { constantTimeEquals($0, tag) }
    }
}

/// SHA-256 (FIPS 180-4, section 6.2).
package enum SHA256 {
    #if canImport(CryptoKit)
    private typealias Implementation = CryptoKitSHA256
    #elseif canImport(COpenSSL)
    private typealias Implementation = OpenSSLSHA256
    #else
    #error("no SHA-256 backend")
    #endif

    /// The digest of `bytes` in one call.
    package static func hash(_ bytes: RawSpan) -> Digest { Implementation.hash(bytes) }
}

/// SHA-1 (FIPS 180-4, section 6.1), by which lists of breached passwords name them. It proves nothing.
package enum SHA1 {
    #if canImport(CryptoKit)
    private typealias Implementation = CryptoKitSHA1
    #elseif canImport(COpenSSL)
    private typealias Implementation = OpenSSLSHA1
    #else
    #error("no SHA-1 backend")
    #endif

    /// Bytes of a digest.
    package static let size = 20

    /// The digest of bytes that are secret, in locked memory.
    /// - Throws: ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
    package static func hash(ofSecret bytes: RawSpan) throws(CryptographyError) -> SecretBytes {
        var digest = try SecretBytes.zeroed(size, lifetime: .transient)
        try digest.withMutableBytes { digest throws(CryptographyError) in
            try Implementation.hash(bytes, into: &digest)
        }
        return digest
    }
}

/// The hashes that one-time codes are computed with (RFC 6238, section 1.2). SHA-1 is in use there by nearly everybody,
/// and in Holdfast elsewhere only to find a password in a list (``SHA1``).
package enum OneTimeHash: Sendable, Hashable, CaseIterable {
    case sha1, sha256, sha512

    /// Bytes of its digests.
    package var size: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }
}

/// HMAC (RFC 2104) with the hash of a one-time code.
package enum OneTimeMAC {
    #if canImport(CryptoKit)
    private typealias Implementation = CryptoKitOneTimeMAC
    #elseif canImport(COpenSSL)
    private typealias Implementation = OpenSSLOneTimeMAC
    #else
    #error("no HMAC backend")
    #endif

    /// Computes the tag of `message`; as many bytes as the hash has.
    /// - Parameter key: 1 byte or more.
    /// - Throws: ``CryptographyError/invalidSize`` for an empty key, ``CryptographyError/memory(_:)``,
    ///   ``CryptographyError/library(code:)``.
    package static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes, hash: OneTimeHash
    ) throws(CryptographyError) -> SecretBytes {
        guard key.count > 0 else { throw .invalidSize }
        return try Implementation.authenticate(message, key: key, hash: hash)
    }
}
