#if canImport(Security)
internal import Foundation
internal import LocalAuthentication
internal import Security

/// Every call of the keychain, with what it answers turned into our errors.
///
/// Queries are made here alone. Each asks for the data-protection keychain: a Mac would else take the old one, which
/// knows nothing of access control.
enum Keychain {
    /// What an item has to be released for.
    enum Guard: Sendable, Hashable {
        /// The fingers or the face that are enrolled when the item is made. The system gives the item up when they
        /// change.
        case currentBiometry
        /// The device's passcode.
        case devicePasscode
        /// As ``currentBiometry``, or the device's passcode.
        case currentBiometryOrPasscode
        /// Whatever the device takes for its owner.
        case ownerPresence

        var flags: SecAccessControlCreateFlags {
            switch self {
            case .currentBiometry: .biometryCurrentSet
            case .devicePasscode: .devicePasscode
            case .currentBiometryOrPasscode: [.biometryCurrentSet, .or, .devicePasscode]
            case .ownerPresence: .userPresence
            }
        }
    }

    /// - Throws: ``KeyStoreError``: `unavailable`, where the device has no passcode for instance.
    static func accessControl(
        _ protection: CFString, _ flags: SecAccessControlCreateFlags
    ) throws(KeyStoreError) -> SecAccessControl {
        var error: Unmanaged<CFError>?
        let control = unsafe SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, &error)
        guard let control else {
            unsafe error?.release()
            throw KeyStoreError(.unavailable, "the system refused this access rule for a share")
        }
        return control
    }

    /// What finds one item, or makes it.
    /// - Parameter context: In which the owner was confirmed. Where a query brings none, the system makes one that asks
    ///   by itself, from whatever thread: so each brings one, and asks nobody.
    static func query(service: String, account: String, group: String?, context: AnyObject?) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecUseDataProtectionKeychain as String: true,
            kSecUseAuthenticationContext as String: context ?? silentContext(),
        ]
        if let group { query[kSecAttrAccessGroup as String] = group }
        return query
    }

    /// A context that shows no prompt.
    static func silentContext() -> LAContext {
        let context = LAContext()
        context.interactionNotAllowed = true
        return context
    }

    /// What an answer of the keychain means. None of them means that the wrong person tried: `errSecAuthFailed` also
    /// comes for a device that was locked meanwhile and for a context that had ended, so it counts as nothing.
    static func check(_ status: OSStatus) throws(KeyStoreError) {
        switch status {
        case errSecSuccess: return
        case errSecItemNotFound:
            throw KeyStoreError(
                .notFound, "the keychain no longer has this share, or the enrolled faces or fingers have changed")
        case errSecUserCanceled: throw KeyStoreError(.cancelled, "the prompt was cancelled")
        case errSecAuthFailed: throw KeyStoreError(.busy, "the keychain did not release the share this time")
        case errSecInteractionNotAllowed, errSecInteractionRequired:
            throw KeyStoreError(.lockedOut, "the device is locked, or its owner was not confirmed for this share")
        case errSecNotAvailable: throw KeyStoreError(.unavailable, "there is no keychain")
        case errSecMissingEntitlement:
            throw KeyStoreError(.unavailable, "this program may not use the keychain: it is not signed for it")
        case errSecDecode: throw KeyStoreError(.damaged, "the keychain cannot read the share any more")
        case errSecAllocate: throw KeyStoreError(.outOfMemory, "the keychain has no memory")
        default: throw KeyStoreError(.failure, "the keychain failed (\(status))")
        }
    }
}
#endif
