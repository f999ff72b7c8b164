#if canImport(COpenSSL) && !canImport(CryptoKit)
/// For the keys of SSH, which only programs on Linux serve.
package typealias Ed25519PrivateKey = OpenSSLEd25519PrivateKey
#endif
