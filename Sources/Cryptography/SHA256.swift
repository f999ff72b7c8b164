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
