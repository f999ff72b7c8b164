internal import BetterAuth
internal import SecretMemory
internal import VaultCore
internal import VaultStorage

/// The credentials of this device's identity inside the vault: one record in the protected compartment, in a collection
/// that is not listed and cannot be accessed by name. They come and go with the vault: locked with it, wiped with it.
///
/// Internal to this module: operations that could take the identity away go through ``VaultIdentity``, which demands a
/// proof.
struct VaultCredentials: CredentialStore {
    private let record: ReservedRecord

    init(in vault: Vault) { record = vault.identityRecord }

    func load() throws -> SecretBytes? {
        do {
            return try record.withValue { try SecretBytes(copying: $0) }
        } catch let error as VaultError {
            if error.code == .recordNotFound { return nil }
            throw IdentityError(error)
        }
    }

    func save(_ credentials: borrowing SecretBytes) throws {
        do throws(VaultError) { try record.replace(with: credentials) } catch { throw IdentityError(error) }
    }

    func erase() throws {
        do throws(VaultError) { try record.delete() } catch {
            if error.code != .recordNotFound { throw IdentityError(error) }
        }
    }
}
