package import SecretMemory

#if canImport(CryptoKit)
package typealias SecureRandom = CryptoKitSecureRandom
#elseif canImport(COpenSSL)
package typealias SecureRandom = OpenSSLSecureRandom
#else
#error("no random number backend")
#endif

extension SecureRandom {
    /// Random bytes that are not secret: identifiers, salts, challenges.
    /// - Parameter count: 0 to 2^30 bytes.
    /// - Throws: ``CryptographyError/invalidSize`` for another count, else as `fill`.
    package static func bytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
        guard count >= 0, count <= 1 << 30 else { throw .invalidSize }
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var rawSpan = unsafe span.mutableBytes  // any bits are a UInt8
        try fillPublic(&rawSpan)
        return bytes
    }

    /// A fresh random secret, drawn straight into locked memory.
    /// - Parameters:
    ///   - count: 0 to 2^30 bytes.
    ///   - lifetime: Where the secret lies.
    /// - Throws: ``CryptographyError/memory(_:)`` when the locked memory cannot be had, else as `fill`.
    package static func secret(
        _ count: Int, lifetime: SecretLifetime = .transient
    ) throws(CryptographyError) -> SecretBytes {
        var secret = try SecretBytes.zeroed(count, lifetime: lifetime)
        try secret.withMutableBytes { bytes throws(CryptographyError) in try fill(&bytes) }
        return secret
    }
}
