internal import Cryptography
package import SecretMemory
internal import VaultFormat
package import VaultStorage

// What a chip is authorised with to sign for the device's identity (constructions.md 10.5): derived from the
// keybag while the vault is open, written nowhere.
extension Vault {
    /// Bytes of a key's id.
    package static let identityKeyIDSize = 16

    /// The epoch under which a new key of the identity is authorised: the newest that has a key for it.
    /// - Throws: `locked`; `damaged` for a keybag without one.
    package var identityEpoch: UInt32 {
        get throws(VaultError) {
            let vault = try gate.enter()
            defer { gate.leave() }
            let entries = vault.keys.keybag.layout.entries
            guard let newest = entries.filter({ $0.kind == .identity }).map(\.epoch).max() else {
                throw .damaged("the keybag has no key for the identity")
            }
            return newest
        }
    }

    /// The 32 bytes that authorise a chip to use one key of the identity: HKDF-SHA256 of the epoch's identity key, the
    /// vault's id as salt, `holdfast/1/identity-key` and the key's id as info.
    /// - Parameters:
    ///   - epoch: The one that the key was made under.
    ///   - id: The key's own 16 bytes, which no other key has.
    /// - Throws: `locked`; `keysChanged` for an epoch whose key is gone; `outOfMemory`.
    package func identityAuthorisation(epoch: UInt32, key id: [UInt8]) throws(VaultError) -> SecretBytes {
        let vault = try gate.enter()
        defer { gate.leave() }
        let key = try vault.keys.keybag.key(.identity, epoch: epoch)
        let info = Array("holdfast/1/identity-key".utf8) + id
        let salt = vault.keys.vault.bytes
        return try crypto(
            unsafe HKDFSHA256.derive(
                key, salt: salt.span.bytes, info: info.span.bytes, count: 32))
    }
}
