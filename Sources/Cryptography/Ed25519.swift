#if canImport(COpenSSL) && !canImport(CryptoKit)
/// For the keys of SSH, which only programs on Linux serve.
package typealias Ed25519PrivateKey = OpenSSLEd25519PrivateKey
/// For the keys of the hosts that SSH programs connect to.
package typealias Ed25519PublicKey = OpenSSLEd25519PublicKey
#endif
