internal import COpenSSL
package import SecretMemory

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
        guard let context = unsafe key.makeContext() else { throw OpenSSL.takeError() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, peer.key.pointer) == 1
        else { throw OpenSSL.takeError() }
        var count = OpenSSLP256.size
        let status = secret.withMutableBytes { secret in
            unsafe secret.withMutablePointer { unsafe EVP_PKEY_derive(context, $0, &count) }
        }
        guard status == 1, count == OpenSSLP256.size else { throw OpenSSL.takeError() }
        return secret
    }
}
