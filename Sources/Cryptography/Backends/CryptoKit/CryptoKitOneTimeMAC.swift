#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
internal import SecretMemory

enum CryptoKitOneTimeMAC {
    static func authenticate(
        _ message: RawSpan, key: borrowing SecretBytes, hash: OneTimeHash
    ) throws(CryptographyError) -> SecretBytes {
        let key = SymmetricKey(copying: key)
        return switch hash {
        case .sha1: try code(HMAC<Insecure.SHA1>.self, message, key)
        case .sha256: try code(HMAC<CryptoKit.SHA256>.self, message, key)
        case .sha512: try code(HMAC<CryptoKit.SHA512>.self, message, key)
        }
    }

    private static func code<Hash: HashFunction>(
        _: HMAC<Hash>.Type, _ message: RawSpan, _ key: SymmetricKey
    ) throws(CryptographyError) -> SecretBytes {
        let code = unsafe message.withUnsafeBytes { message in
            unsafe HMAC<Hash>.authenticationCode(for: message, using: key)
        }
        return try code.secret(lifetime: .transient)
    }
}
#endif
