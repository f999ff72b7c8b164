#if canImport(CryptoKit)
package typealias AES256GCM = CryptoKitAES256GCM
#elseif canImport(COpenSSL)
package typealias AES256GCM = OpenSSLAES256GCM
#else
#error("no AES-256-GCM backend")
#endif

// A sealed box here is ciphertext then tag; the nonce travels beside it. GCM does not commit to its key: a box can be
// made that opens under two keys. Slots therefore carry a commitment of their own.
extension AES256GCM {
    /// Bytes of a key.
    package static let keySize = 32
    /// Bytes of a nonce. With random nonces a key must be replaced long before 2^32 seals (NIST SP 800-38D, 8.3).
    package static let nonceSize = 12
    /// Bytes of a tag; shorter tags are not offered.
    package static let tagSize = 16
}
