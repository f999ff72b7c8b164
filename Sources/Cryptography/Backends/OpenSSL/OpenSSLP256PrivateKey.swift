internal import COpenSSL
package import SecretMemory

/// A P-256 private key that signs and agrees on keys. The scalar lies in libcrypto's locked heap and is cleansed with
/// this value.
package struct OpenSSLP256PrivateKey: ~Copyable, Sendable {
    let key: OpenSSLP256.Key
    private let signatures: OpenSSLP256.Signatures
    /// The point that verifies this key's signatures.
    package let publicKey: OpenSSLP256PublicKey

    deinit { WorkingMemory.wipe() }

    /// Takes a scalar and computes its public point.
    /// - Parameter scalar: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/invalidSize``; ``CryptographyError/scalarOutOfRange`` for zero and from the group
    ///   order on; ``CryptographyError/library(code:)``, also when the locked heap is full;
    ///   ``CryptographyError/memory(_:)``.
    package init(scalar: borrowing SecretBytes) throws(CryptographyError) {
        guard scalar.count == OpenSSLP256.size else { throw .invalidSize }
        try OpenSSL.start()
        let point = try OpenSSLCurve.p256.publicPoint(scalar)
        let publicKey = try unsafe OpenSSLP256PublicKey(uncompressed: point.span.bytes)
        let key = try OpenSSLCurve.p256.makeKey(scalar, point)
        self.publicKey = publicKey
        self.key = key
        signatures = OpenSSLP256.Signatures(with: key)
    }

    /// The scalar: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
    package borrowing func scalar() throws(CryptographyError) -> SecretBytes {
        var scalar = try SecretBytes.zeroed(OpenSSLP256.size, lifetime: .transient)
        let isRead = scalar.withMutableBytes { scalar in
            unsafe scalar.withMutablePointer { bytes in
                var parameters = unsafe [
                    OSSL_PARAM_construct_BN(("priv" as StaticString).cName, bytes, OpenSSLP256.size),
                    OSSL_PARAM_construct_end(),
                ]
                return unsafe parameters.withUnsafeMutableBufferPointer {
                    unsafe EVP_PKEY_get_params(key.pointer, $0.baseAddress) == 1
                        && $0[0].return_size == OpenSSLP256.size
                }
            }
        }
        guard isRead else { throw OpenSSL.takeError() }
        scalar.swapNativeAndBigEndian()
        return scalar
    }

    /// Signs the SHA-256 of `message` with ECDSA; the per-signature number is random, mixed with key and digest.
    /// - Returns: r then s, 64 bytes.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func sign(_ message: RawSpan) throws(CryptographyError) -> [UInt8] {
        let digest = try OpenSSLP256.digest(message)
        var signature = [UInt8](repeating: 0, count: Self.signatureSize)
        let isSigned = try unsafe signatures.withContext { context in
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: OpenSSLP256.maximumDERCount) { der in
                var count = der.count
                let status = digest.withBytes { digest in
                    unsafe digest.withPointer {
                        unsafe EVP_PKEY_sign(context, der.baseAddress, &count, $0, OpenSSLP256.size)
                    }
                }
                guard status == 1 else { return false }
                let written = unsafe UnsafeMutableRawBufferPointer(start: der.baseAddress, count: count)
                return unsafe OpenSSLP256.decodeDER(written, into: &signature)
            }
        }
        guard isSigned else { throw OpenSSL.takeError() }
        return signature
    }
}

extension OpenSSLP256PrivateKey {
    /// The x coordinate of scalar times point: elliptic-curve Diffie-Hellman (NIST SP 800-56A, 5.7.1.2; SEC 1, 3.3.1).
    ///
    /// Not a key yet: derive one with ``HKDFSHA256``, over both public points too. The peer's point was found to lie on
    /// the curve when it was made; with cofactor 1 there is no smaller group to be led into.
    /// - Returns: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/library(code:)``, ``CryptographyError/memory(_:)``.
    package borrowing func sharedSecret(
        with peer: OpenSSLP256PublicKey
    ) throws(CryptographyError) -> SecretBytes {
        var secret = try SecretBytes.zeroed(OpenSSLP256.size, lifetime: .transient)
        let peer = try peer.makeKey()
        guard let context = unsafe key.makeContext() else { throw OpenSSL.takeError() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        // Not checked once more: multiplying the point by the order of its group costs as much as the agreement itself.
        guard unsafe EVP_PKEY_derive_init(context) == 1,
            unsafe EVP_PKEY_derive_set_peer_ex(context, peer.pointer, 0) == 1
        else { throw OpenSSL.takeError() }
        var count = OpenSSLP256.size
        let status = secret.withMutableBytes { secret in
            unsafe secret.withMutablePointer { unsafe EVP_PKEY_derive(context, $0, &count) }
        }
        guard status == 1, count == OpenSSLP256.size else { throw OpenSSL.takeError() }
        return secret
    }
}
