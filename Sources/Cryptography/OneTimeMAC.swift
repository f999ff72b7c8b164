package import SecretMemory

/// The hashes that one-time codes are computed with (RFC 6238, section 1.2). SHA-1 is in use there by nearly everybody, and
/// nowhere else in Holdfast.
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
