internal import COpenSSL

/// A point that verifies signatures of Ed25519 (RFC 8032, section 5.1.7).
@safe package struct OpenSSLEd25519PublicKey: ~Copyable {
    private let key: OpaquePointer

    /// Takes a point as it is written, 32 bytes. Whether it is on the curve is seen when it verifies.
    /// - Throws: ``CryptographyError/invalidSize``; ``CryptographyError/library(code:)``.
    package init(_ point: RawSpan) throws(CryptographyError) {
        guard point.byteCount == OpenSSLEd25519PrivateKey.size else { throw .invalidSize }
        try OpenSSL.start()
        let key = unsafe point.withPointer { point in
            unsafe EVP_PKEY_new_raw_public_key_ex(
                nil, ("ED25519" as StaticString).cName, nil, point, OpenSSLEd25519PrivateKey.size)
        }
        guard let key = unsafe key else { throw OpenSSL.takeError() }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Verifies a signature.
    /// - Returns: False for any size but 64 bytes, and also when libcrypto fails.
    package borrowing func isValid(signature: RawSpan, for message: RawSpan) -> Bool {
        defer { ERR_clear_error() }
        guard signature.byteCount == OpenSSLEd25519PrivateKey.signatureSize, let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1 else { return false }
        let (count, size) = (signature.byteCount, message.byteCount)
        return unsafe signature.withPointer { signature in
            unsafe message.withPointer { message in
                unsafe EVP_DigestVerify(context, signature, count, message, size) == 1
            }
        }
    }
}
