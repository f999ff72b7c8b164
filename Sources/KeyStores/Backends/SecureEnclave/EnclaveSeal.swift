#if canImport(CryptoKit)
internal import Cryptography
internal import CryptoKit
internal import Foundation
internal import LocalAuthentication
internal import SecretMemory
internal import Security
internal import VaultFormat

/// Shares sealed to a key of the Secure Enclave, whose handle lies beside the sealed share: in the keychain's item, so
/// that both go with it. A handle alone could not be revoked.
enum EnclaveSeal {
    /// Bytes of what two keys on P-256 agree on.
    private static let agreedSize = 32

    static var isAvailable: Bool { SecureEnclave.isAvailable }

    /// What an item holds: the handle of the key and the box sealed to it, each behind its 16-bit length, little
    /// endian.
    /// - Parameter flags: What the key is released for; nil for nobody's confirmation.
    static func seal(
        _ share: borrowing SecretBytes, name: ShareName, protection: CFString, flags: SecAccessControlCreateFlags?
    ) throws -> [UInt8] {
        let control = try Keychain.accessControl(protection, flags.map { [$0, .privateKeyUsage] } ?? .privateKeyUsage)
        let key = try enclaveErrors { try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: control) }
        let compressed = Array(key.publicKey.compressedRepresentation)
        let recipient = try unsafe P256PublicKey(compressed: compressed.span.bytes)
        let context = name.bytes
        let nothing: [UInt8] = []
        let box = try share.withBytes { bytes in
            try unsafe P256SealedBox.seal(
                bytes, nothing.span.bytes, to: recipient, context: context.span.bytes,
                authenticating: nothing.span.bytes)
        }
        return CountedParts.encode([Array(key.dataRepresentation), box])
    }

    /// Opens it in the Enclave.
    /// - Parameter context: In which the owner was confirmed. It shows no prompt.
    static func open(_ content: [UInt8], name: ShareName, context: AnyObject?) throws -> SecretBytes {
        guard let parts = CountedParts.parse(content, from: 0, count: 2) else { throw ShareFailure.lost(.replaced) }
        let silent = Keychain.silentContext()
        defer { silent.invalidate() }
        let key = try enclaveErrors {
            try SecureEnclave.P256.KeyAgreement.PrivateKey(
                dataRepresentation: Data(parts[0]), authenticationContext: context as? LAContext ?? silent)
        }
        let box = parts[1]
        do {
            let ephemeral = try unsafe P256SealedBox.ephemeralPoint(of: box.span.bytes)
            let agreed = try enclaveErrors {
                try key.sharedSecretFromKeyAgreement(
                    with: P256.KeyAgreement.PublicKey(compressedRepresentation: ephemeral))
            }
            var shared = try SecretBytes(zeroed: EnclaveSeal.agreedSize)
            shared.withMutableBytes { target in
                unsafe agreed.withUnsafeBytes { source in
                    for index in 0..<min(source.count, EnclaveSeal.agreedSize) {
                        target.storeBytes(of: unsafe source[index], toByteOffset: index, as: UInt8.self)
                    }
                }
            }
            let bound = name.bytes
            let nothing: [UInt8] = []
            return try unsafe P256SealedBox.open(
                box.span.bytes, shared: shared, recipient: Array(key.publicKey.compressedRepresentation),
                context: bound.span.bytes, authenticating: nothing.span.bytes)
        } catch CryptographyError.authenticationFailed, CryptographyError.invalidSize, CryptographyError.invalidPoint {
            throw ShareFailure.lost(.replaced)
        }
    }
}

/// The passcode of the device itself.
enum DevicePasscode {
    /// Whether there is one. It asks nobody.
    static var isSet: Bool { unsafe LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) }
}
#endif
