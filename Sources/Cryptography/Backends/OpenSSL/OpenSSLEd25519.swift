internal import COpenSSL
internal import SecretMemory

/// An Ed25519 private key that signs (RFC 8032, section 5.1). The seed lies in libcrypto's locked heap and is cleansed
/// with this value.
@safe package struct OpenSSLEd25519PrivateKey: ~Copyable {
    private let key: OpaquePointer

    /// Bytes of a seed, and of a public key.
    package static let size = 32
    /// Bytes of a signature.
    package static let signatureSize = 64

    /// Takes a seed.
    /// - Throws: ``CryptographyError/invalidSize``; ``CryptographyError/library(code:)``, also when the locked heap is
    ///   full; ``CryptographyError/memory(_:)``.
    package init(seed: RawSpan) throws(CryptographyError) {
        guard seed.byteCount == Self.size else { throw .invalidSize }
        try OpenSSL.start()
        let key = unsafe seed.withPointer { seed in
            unsafe EVP_PKEY_new_raw_private_key_ex(nil, ("ED25519" as StaticString).cName, nil, seed, Self.size)
        }
        guard let key = unsafe key else { throw OpenSSL.takeError() }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
        WorkingMemory.wipe()
    }

    /// The point that verifies this key's signatures, 32 bytes.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func publicKey() throws(CryptographyError) -> [UInt8] {
        var point = [UInt8](repeating: 0, count: Self.size)
        var count = point.count
        guard unsafe EVP_PKEY_get_raw_public_key(key, &point, &count) == 1, count == Self.size else {
            throw OpenSSL.takeError()
        }
        return point
    }

    /// Signs a message.
    /// - Returns: 64 bytes.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func sign(_ message: RawSpan) throws(CryptographyError) -> [UInt8] {
        try unsafe OpenSSL.sign(message, with: key, hash: nil)
    }
}

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
