internal import SecretMemory

#if canImport(CryptoKit)
package typealias P256PrivateKey = CryptoKitP256PrivateKey
package typealias P256PublicKey = CryptoKitP256PublicKey
#elseif canImport(COpenSSL)
package typealias P256PrivateKey = OpenSSLP256PrivateKey
package typealias P256PublicKey = OpenSSLP256PublicKey
#else
#error("no P-256 backend")
#endif

// ECDSA over NIST P-256 with SHA-256 (FIPS 186-5). Signatures are r then s, 32 bytes each, big endian. A high s is
// accepted and may be produced, so a signature must not serve as the identity of what it signs.
extension P256PrivateKey {
    /// Bytes of a scalar, big endian.
    package static let scalarSize = 32
    /// Bytes of a signature.
    package static let signatureSize = 64

    /// A key from a fresh random scalar, drawn again while out of range (FIPS 186-5, A.2.2).
    /// - Throws: ``CryptographyError/library(code:)``, ``CryptographyError/memory(_:)``.
    package static func generate() throws(CryptographyError) -> P256PrivateKey {
        while true {
            let scalar = try SecureRandom.secret(scalarSize)
            do throws(CryptographyError) {
                return try P256PrivateKey(scalar: scalar)
            } catch {
                guard error == .scalarOutOfRange else { throw error }
            }
        }
    }
}

extension P256PublicKey {
    /// Bytes of a compressed point: 02 or 03, then x (SEC 1, section 2.3.3).
    package static let compressedSize = 33
}

#if canImport(COpenSSL) && !canImport(CryptoKit)
/// For the keys of SSH, which only programs on Linux serve.
package typealias Ed25519PrivateKey = OpenSSLEd25519PrivateKey
/// For the keys of the hosts that SSH programs connect to.
package typealias Ed25519PublicKey = OpenSSLEd25519PublicKey
/// For the keys of SSH on larger curves.
package typealias ECDSAPrivateKey = OpenSSLECDSAPrivateKey
package typealias RSAPrivateKey = OpenSSLRSAPrivateKey
#endif
