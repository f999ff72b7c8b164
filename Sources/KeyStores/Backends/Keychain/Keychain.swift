#if canImport(Security)
internal import Foundation
internal import LocalAuthentication
internal import SecretMemory
internal import Security

/// Every call of the keychain, with what it answers turned into our errors.
///
/// Queries are made here alone. Each asks for the data-protection keychain: a Mac would else take the old one, which knows
/// nothing of access control.
struct Keychain {
    /// The access group of app and extensions; nil for the app's own.
    let group: String?

    /// What an item has to be released for.
    enum Guard: Sendable, Hashable {
        /// No rule: available to this app on the unlocked device.
        case none
        /// Any finger or face that is enrolled, now or later.
        case anyBiometry
        /// The fingers or the face that are enrolled when the item is made. The system gives the item up when they change.
        case currentBiometry
        /// The device's passcode.
        case devicePasscode
        /// As ``currentBiometry``, or the device's passcode.
        case currentBiometryOrPasscode
        /// Whatever the device takes for its owner.
        case ownerPresence

        var flags: SecAccessControlCreateFlags? {
            switch self {
            case .none: nil
            case .anyBiometry: .biometryAny
            case .currentBiometry: .biometryCurrentSet
            case .devicePasscode: .devicePasscode
            case .currentBiometryOrPasscode: [.biometryCurrentSet, .or, .devicePasscode]
            case .ownerPresence: .userPresence
            }
        }
    }

    private static let service = "org.holdfast.share"

    /// Stores a value under a name that is free. It never leaves this device, in no backup and no synchronisation.
    /// - Returns: False when the name is taken.
    /// - Throws: ``KeyStoreError``.
    func add(
        _ value: borrowing SecretBytes, as account: String, guardedBy owner: Guard
    ) throws(KeyStoreError) -> Bool {
        var attributes = query(account)
        if let flags = owner.flags {
            // Gone with the device's passcode, which is what the owner's finger stands for.
            attributes[kSecAttrAccessControl as String] = try Keychain.accessControl(
                kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags)
        } else {
            attributes[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        }
        // The dictionary is the system's way in: its copy lies in ordinary memory until the call is over.
        attributes[kSecValueData as String] = value.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe Data($0) }
        }
        var nothing: CFTypeRef?
        let status = unsafe SecItemAdd(attributes as CFDictionary, &nothing)
        if status == errSecDuplicateItem { return false }
        try Keychain.check(status)
        return true
    }

    /// Reads a value of 32 bytes with the context that the owner was confirmed in. It shows no prompt.
    /// - Throws: ``KeyStoreError``.
    func share(of account: String, context: AnyObject?) throws(KeyStoreError) -> SecretBytes {
        var query = query(account, context)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        try Keychain.check(unsafe SecItemCopyMatching(query as CFDictionary, &result))
        guard let value = result as? Data, value.count == 32 else {
            throw KeyStoreError(.damaged, "the keychain's share is not what was stored")
        }
        do throws(SecretMemoryError) {
            var share = try SecretBytes(zeroed: value.count)
            share.withMutableBytes { bytes in
                for (index, byte) in value.enumerated() {
                    bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
                }
            }
            return share
        } catch { throw KeyStoreError(error) }
    }

    /// Forgets an item; one that is gone already is fine.
    /// - Throws: ``KeyStoreError``.
    func delete(_ account: String) throws(KeyStoreError) {
        let status = SecItemDelete(query(account) as CFDictionary)
        if status != errSecItemNotFound { try Keychain.check(status) }
    }

    /// Makes sure that the keychain answers.
    /// - Throws: ``KeyStoreError``.
    func probe() throws(KeyStoreError) {
        var query = query("probe")
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var nothing: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &nothing)
        if status != errSecItemNotFound { try Keychain.check(status) }
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

    private func query(_ account: String, _ context: AnyObject? = nil) -> [String: Any] {
        Keychain.query(service: Keychain.service, account: account, group: group, context: context)
    }

    /// What finds one item, or makes it.
    /// - Parameter context: In which the owner was confirmed. Where a query brings none, the system makes one that asks by itself, from
    ///   whatever thread: so each brings one, and asks nobody.
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
