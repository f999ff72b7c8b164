package import SecretMemory

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
