internal import COpenSSL
package import SecretMemory

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
package enum OpenSSLHMACSHA256 {
    /// Computes the 32-byte tag of `message`.
    /// - Parameter key: 1 byte or more.
    /// - Throws: ``CryptographyError/invalidSize`` for an empty key, ``CryptographyError/library(code:)``.
    package static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes
    ) throws(CryptographyError) -> Digest {
        guard key.count > 0 else { throw .invalidSize }
        try OpenSSL.start()
        let algorithm = try unsafe OpenSSL.hmac.pointer()
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw OpenSSL.takeError() }
        defer { unsafe EVP_MAC_CTX_free(context) }
        let parameters = unsafe [OpenSSL.parameter("digest", text: "SHA2-256"), OSSL_PARAM_construct_end()]
        let initialised = key.withBytes { key in
            unsafe parameters.withUnsafeBufferPointer { parameters in
                unsafe key.withPointer { unsafe EVP_MAC_init(context, $0, key.byteCount, parameters.baseAddress) == 1 }
            }
        }
        var digest = Digest()
        var written = 0
        let computed =
            unsafe initialised
            && message.withPointer { unsafe EVP_MAC_update(context, $0, message.byteCount) == 1 }
            && digest.withMutableBytes { digest in
                let size = digest.byteCount
                return unsafe digest.withMutablePointer { unsafe EVP_MAC_final(context, $0, &written, size) == 1 }
            }
        guard computed, written == 32 else { throw OpenSSL.takeError() }
        return digest
    }
}
