#if canImport(Security)
internal import CryptoKit
internal import Cryptography
package import DeviceOwner
package import SecretMemory
package import VaultFormat

/// Shares in the keychain of an Apple device. The system keeps each behind a rule of its own and releases it to a context
/// in which the owner was confirmed: a program that leaves out our checks gets nothing by it.
package struct KeychainStore: KeyStore {
    package let kind = KeyStoreKind.keychain
    private let keychain: Keychain

    /// - Parameter group: The access group that app and extensions share; nil for the app's own.
    package init(group: String? = nil) { keychain = Keychain(group: group) }

    /// The keys over the keychain are in the Enclave, where there is one.
    package var assurance: Assurance { SecureEnclave.isAvailable ? .hardwareBound : .presence }

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        try put(share, as: name, releasedBy: secret, after: Set(OwnerStep.allCases))
    }

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes,
        after steps: Set<OwnerStep>
    ) throws(KeyStoreError) -> KeyStoreItem {
        try put(share, as: name, guardedBy: KeychainStore.rule(for: steps))
    }

    /// The rule that the steps of a policy come to. A confirmation by passcode may be given by finger too where the
    /// device asks for "its owner"; the rule takes what the prompt takes.
    private static func rule(for steps: Set<OwnerStep>) -> Keychain.Guard {
        switch (steps.contains(.biometrics), steps.contains(.devicePasscode)) {
        case (true, false): .currentBiometry
        case (false, true): .ownerPresence
        case (true, true), (false, false): .currentBiometryOrPasscode
        }
    }

    private func put(
        _ share: borrowing SecretBytes, as name: String, guardedBy rule: Keychain.Guard
    ) throws(KeyStoreError) -> KeyStoreItem {
        try KeyStoreError.checkName(name)
        guard share.count == 32 else { throw KeyStoreError(.failure, "a share has 32 bytes") }
        if try !keychain.add(share, as: name, guardedBy: rule) {
            // An item's rule cannot be changed: the old one goes.
            try keychain.delete(name)
            guard try keychain.add(share, as: name, guardedBy: rule) else {
                throw KeyStoreError(.busy, "another program of this app writes the same share")
            }
        }
        return KeyStoreItem(.keychain, data: Array(name.utf8))
    }

    package func redeem(
        _ item: KeyStoreItem, _ release: borrowing OwnerRelease
    ) throws(KeyStoreError) -> SecretBytes {
        let account = try account(of: item)
        guard let attempt = release.proof as? SystemAttempt else {
            throw KeyStoreError(.unavailable, "the owner was not confirmed by this system")
        }
        return try attempt.withContext { context throws(KeyStoreError) in
            try keychain.share(of: account, context: context)
        }
    }

    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) { try keychain.delete(account(of: item)) }

    package func probe() throws(KeyStoreError) { try keychain.probe() }

    /// With an item that needs no prompt.
    package func roundTrip() throws(KeyStoreError) {
        try keyStoreErrors {
            let share = try SecureRandom.secret(32)
            let item = try put(share, as: "doctor", guardedBy: .none)
            defer { try? delete(item) }
            guard try keychain.share(of: account(of: item), context: nil).isEqual(to: share) else {
                throw KeyStoreError(.damaged, "what was stored did not come back")
            }
        }
    }

    private func account(of item: KeyStoreItem) throws(KeyStoreError) -> String {
        guard item.kind == .keychain, let name = String(validating: item.data, as: UTF8.self) else {
            throw KeyStoreError(.damaged, "this is no item of a keychain")
        }
        try KeyStoreError.checkName(name)
        return name
    }
}
#endif
