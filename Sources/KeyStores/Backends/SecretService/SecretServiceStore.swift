package import DeviceOwner
package import SecretMemory
package import VaultFormat

/// Shares in the keyring of the user's session (freedesktop.org Secret Service), through libsecret.
///
/// On the disk they are encrypted under the login password. While the keyring is open, every program of the user can
/// have them. It never asks to unlock the keyring: a locked keyring is a valid answer, and its prompt would be another
/// window that the user has to trust.
package struct SecretServiceStore: KeyStore {
    package let kind = KeyStoreKind.secretService
    package let assurance = Assurance.presence

    package init() {}

    package func put(
        _ share: borrowing SecretBytes, as name: String, releasedBy secret: borrowing SecretBytes
    ) throws(KeyStoreError) -> KeyStoreItem {
        try KeyStoreError.checkName(name)
        try keyStoreErrors {
            let keyring = try open()
            try keyring.store(share, as: name, in: "default")
        }
        return KeyStoreItem(.secretService, data: Array(name.utf8))
    }

    package func redeem(
        _ item: KeyStoreItem, _ release: borrowing OwnerRelease
    ) throws(KeyStoreError) -> SecretBytes { try take(item) }

    package func roundTrip() throws(KeyStoreError) {
        try roundTrip { item, _ throws(KeyStoreError) in try take(item) }
    }

    private func take(_ item: KeyStoreItem) throws(KeyStoreError) -> SecretBytes {
        let name = try name(of: item)
        return try keyStoreErrors {
            let keyring = try open()
            let found = try keyring.lookUp(name) { bytes in
                guard bytes.byteCount == 32 else {
                    throw KeyStoreError(.damaged, "the keyring's share is not what was stored")
                }
                return try SecretBytes(copying: bytes)
            }
            // A keyring that was locked meanwhile says the same as one without the item.
            guard let share = found else {
                _ = try open()
                throw KeyStoreError(.notFound, "the keyring has no such share any more")
            }
            return share
        }
    }

    package func delete(_ item: KeyStoreItem) throws(KeyStoreError) {
        let name = try name(of: item)
        try keyStoreErrors {
            try open().clear(name)
        }
    }

    package func probe() throws(KeyStoreError) { try keyStoreErrors { _ = try open() } }

    private func name(of item: KeyStoreItem) throws(KeyStoreError) -> String {
        guard item.kind == .secretService, let name = String(validating: item.data, as: UTF8.self) else {
            throw KeyStoreError(.damaged, "this is no item of a keyring")
        }
        try KeyStoreError.checkName(name)
        return name
    }

    /// Looks first: without a keyring a call would start one, and a locked one answers as if it were empty.
    private func open() throws -> KeyringService {
        let keyring = try KeyringService.current()
        _ = try keyring.openStandard()
        return keyring
    }
}
