package import BetterAuth
package import SecretMemory
package import VaultCore

/// The credentials of this device's identity inside the vault: one record in the protected compartment, in a collection
/// that no list shows and that no command line can name. They come and go with the vault: locked with it, wiped with it.
package struct VaultCredentials: CredentialStore {
    private let vault: Vault

    /// The record's name in ``VaultCore/Vault/identityCollection``.
    package static let record = "credentials"

    package init(in vault: Vault) { self.vault = vault }

    package func load() throws -> SecretBytes? {
        do {
            // Never one that was written while the vault was locked.
            return try vault.withConfirmedValue(for: VaultCredentials.record, in: Vault.identityCollection) {
                try SecretBytes(copying: $0)
            }
        } catch let error as VaultError {
            if error.code == .recordNotFound { return nil }
            throw IdentityError(error)
        }
    }

    package func save(_ record: borrowing SecretBytes) throws {
        do throws(VaultError) {
            try vault.put(record, for: VaultCredentials.record, in: Vault.identityCollection, replacing: true)
        } catch { throw IdentityError(error) }
    }

    package func erase() throws {
        do throws(VaultError) {
            try vault.delete(VaultCredentials.record, in: Vault.identityCollection)
        } catch {
            if error.code != .recordNotFound { throw IdentityError(error) }
        }
    }
}

extension IdentityError {
    /// What a vault threw.
    package init(_ error: VaultError) {
        switch error.code {
        case .locked, .keysChanged, .assuranceTooLow: self.init(.locked, error.reason)
        case .damaged: self.init(.damaged, error.reason)
        default: self.init(.storage, error.reason)
        }
    }
}
