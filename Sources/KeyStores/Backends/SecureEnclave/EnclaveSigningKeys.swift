#if canImport(CryptoKit)
internal import CryptoKit
internal import Cryptography
internal import Foundation
internal import LocalAuthentication
package import SecretMemory
internal import Security
package import VaultFormat

/// P-256 keys in the Secure Enclave: made there, used there, never to be had outside.
///
/// The authorisation is the keys' application password, which the Enclave mixes into what it encrypts them with. What
/// is kept of a key is a handle that this device alone can use; the system keeps nothing.
package struct EnclaveSigningKeys: SigningKeyStore {
    package let assurance = Assurance.hardwareBound

    package init() {}

    /// Whether this device has an Enclave.
    package static var isAvailable: Bool { SecureEnclave.isAvailable }

    /// Bytes of a handle that are taken; what the system makes has some hundreds.
    private static let maximumHandle = 1024

    package func makeKey(authorisation: borrowing SecretBytes) throws(KeyStoreError) -> SigningKeyObject {
        try check()
        let control = try Keychain.accessControl(
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .applicationPassword])
        let context = context(authorisation)
        defer { context.invalidate() }
        let key = try enclaveErrors {
            try SecureEnclave.P256.Signing.PrivateKey(accessControl: control, authenticationContext: context)
        }
        let handle = Array(key.dataRepresentation)
        guard handle.count <= EnclaveSigningKeys.maximumHandle else {
            throw KeyStoreError(.unsupported, "the Enclave's handle is too large to be kept")
        }
        return SigningKeyObject(publicKey: Array(key.publicKey.compressedRepresentation), data: handle)
    }

    package func sign(
        _ message: RawSpan, with key: SigningKeyObject, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> [UInt8] {
        try check()
        let handle = try handle(of: key)
        let context = context(authorisation)
        defer { context.invalidate() }
        let own = try enclaveErrors {
            try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: handle, authenticationContext: context)
        }
        // The handle names its public half itself: a swapped one must not sign in the name of another.
        guard Array(own.publicKey.compressedRepresentation) == key.publicKey else {
            throw KeyStoreError(.damaged, "this key is not the one that its public key says")
        }
        let signature = try enclaveErrors {
            try unsafe message.withUnsafeBytes { Array(try unsafe own.signature(for: $0).rawRepresentation) }
        }
        do throws(CryptographyError) {
            let point = try unsafe P256PublicKey(compressed: key.publicKey.span.bytes)
            guard unsafe point.isValid(signature: signature.span.bytes, for: message) else { throw .invalidPoint }
        } catch { throw KeyStoreError(.failure, "the Secure Enclave returned something that is not a signature") }
        return signature
    }

    package func delete(_ key: SigningKeyObject) throws(KeyStoreError) {
        _ = try handle(of: key)  // the system keeps nothing of it
    }

    private func check() throws(KeyStoreError) {
        guard SecureEnclave.isAvailable else { throw KeyStoreError(.unavailable, "the device has no Secure Enclave") }
    }

    private func handle(of key: SigningKeyObject) throws(KeyStoreError) -> Data {
        guard (1...EnclaveSigningKeys.maximumHandle).contains(key.data.count) else {
            throw KeyStoreError(.damaged, "this is no key of a Secure Enclave")
        }
        return Data(key.data)
    }

    /// A context that carries the authorisation and shows no prompt.
    private func context(_ authorisation: borrowing SecretBytes) -> LAContext {
        let context = Keychain.silentContext()
        var password = authorisation.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
        context.setCredential(password, type: .applicationPassword)
        // The context has its own copy, which goes with `invalidate`.
        password.resetBytes(in: 0..<password.count)
        return context
    }
}

/// Runs a call of the Enclave. Which password was wrong it does not say in a word of its own, so what looks like it is
/// called that; nothing is counted by it.
func enclaveErrors<R>(_ body: () throws -> R) throws(KeyStoreError) -> R {
    do { return try body() } catch is CryptoKitError {
        throw KeyStoreError(.foreign, "this key was made by another device, or is none")
    } catch {
        let error = error as NSError
        switch (error.domain, error.code) {
        case (LAErrorDomain, LAError.Code.authenticationFailed.rawValue),
            (NSOSStatusErrorDomain, Int(errSecAuthFailed)):
            throw KeyStoreError(.wrongSecret, "the Enclave's key takes another authorisation")
        case (LAErrorDomain, LAError.Code.notInteractive.rawValue),
            (NSOSStatusErrorDomain, Int(errSecInteractionNotAllowed)):
            throw KeyStoreError(.lockedOut, "the device is locked")
        case (NSOSStatusErrorDomain, Int(errSecParam)), (NSOSStatusErrorDomain, Int(errSecDecode)):
            throw KeyStoreError(.foreign, "this key was made by another device, or is none")
        default: throw KeyStoreError(.failure, "the Enclave failed (\(error.code))")
        }
    }
}
#endif
