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
