#if canImport(Security)
internal import Foundation
internal import Security

/// One item of the data-protection keychain, by what finds it: each call with what it answers turned into our errors.
struct KeychainPlace {
    /// From when on, and for whom, the system gives it out. It never leaves this device, in no backup and no
    /// synchronisation.
    enum Protection {
        case whileUnlocked
        case afterFirstUnlock
        /// Gone with the device's passcode.
        case owner(Keychain.Guard)
    }

    let service: String
    let account: String
    /// The access group of app and extensions; nil for the app's own.
    let group: String?

    private func query(_ context: AnyObject? = nil) -> [String: Any] {
        Keychain.query(service: service, account: account, group: group, context: context)
    }

    /// - Returns: False when the name is taken.
    /// - Throws: ``KeyStoreError``.
    func add(_ value: Data, _ protection: Protection) throws(KeyStoreError) -> Bool {
        var attributes = query()
        switch protection {
        case .whileUnlocked:
            attributes[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlock:
            attributes[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .owner(let rule):
            attributes[kSecAttrAccessControl as String] = try Keychain.accessControl(
                kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, rule.flags)
        }
        attributes[kSecValueData as String] = value
        var nothing: CFTypeRef?
        let status = unsafe SecItemAdd(attributes as CFDictionary, &nothing)
        if status == errSecDuplicateItem { return false }
        try Keychain.check(status)
        return true
    }

    /// Whether there is such an item, without reading it. One that its owner would have to be asked for is there.
    /// - Throws: ``KeyStoreError``.
    func isThere() throws(KeyStoreError) -> Bool {
        var query = query()
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var nothing: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &nothing)
        if status == errSecItemNotFound { return false }
        if status == errSecInteractionNotAllowed || status == errSecInteractionRequired { return true }
        try Keychain.check(status)
        return true
    }

    /// Reads it with the context that the owner was confirmed in. It shows no prompt.
    /// - Throws: ``KeyStoreError``.
    func read(context: AnyObject?) throws(KeyStoreError) -> Data {
        var query = query(context)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        try Keychain.check(unsafe SecItemCopyMatching(query as CFDictionary, &result))
        guard let value = result as? Data else {
            throw KeyStoreError(.damaged, "the keychain's share is not what was stored")
        }
        return value
    }

    /// - Returns: False when there is none.
    /// - Throws: ``KeyStoreError``.
    func replace(with value: Data) throws(KeyStoreError) -> Bool {
        let status = SecItemUpdate(query() as CFDictionary, [kSecValueData as String: value] as CFDictionary)
        if status == errSecItemNotFound { return false }
        try Keychain.check(status)
        return true
    }

    /// Forgets it; succeeds if it does not exist.
    /// - Throws: ``KeyStoreError``.
    func delete() throws(KeyStoreError) {
        let status = SecItemDelete(query() as CFDictionary)
        if status != errSecItemNotFound { try Keychain.check(status) }
    }

    /// Whether what is protected while the device is locked is there now. The keychain says "not found" of an item
    /// before it can know, in a launch before the first unlock; an item of our own that goes in and out again tells.
    /// - Throws: ``KeyStoreError`` where the keychain fails in another way.
    static func isProtectedDataThere(group: String?) throws(KeyStoreError) -> Bool {
        let scratch = KeychainPlace(service: "org.holdfast.probe", account: UUID().uuidString, group: group)
        do throws(KeyStoreError) {
            guard try scratch.add(Data([1]), .whileUnlocked) else { return true }
            let isSame = try scratch.read(context: nil) == Data([1])
            try scratch.delete()
            return isSame
        } catch {
            try? scratch.delete()
            if error.code == .lockedOut || error.code == .notFound { return false }
            throw error
        }
    }
}
#endif
