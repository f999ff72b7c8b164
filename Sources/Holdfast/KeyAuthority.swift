internal import BetterAuth
package import SecretMemory
package import VaultCore
internal import VaultStorage

/// What authorises a chip to use the keys of an identity.
package protocol KeyAuthority: Sendable {
    /// Under which new keys are made; a number that grows when the vault gets new keys.
    func epoch() throws -> UInt32

    /// The 32 bytes for one key.
    /// - Parameters:
    ///   - epoch: The one that it was made under.
    ///   - key: Its own 16 bytes.
    func authorisation(epoch: UInt32, key: [UInt8]) throws -> SecretBytes
}

/// Derives it from the vault's keybag: nothing that authorises a key is stored, and a locked vault gives none.
package struct VaultKeyAuthority: KeyAuthority {
    private let vault: Vault

    package init(_ vault: Vault) { self.vault = vault }

    package func epoch() throws -> UInt32 {
        do throws(VaultError) { return try vault.identityEpoch } catch { throw IdentityError(error) }
    }

    package func authorisation(epoch: UInt32, key: [UInt8]) throws -> SecretBytes {
        do throws(VaultError) { return try vault.identityAuthorisation(epoch: epoch, key: key) } catch {
            guard error.code == .keysChanged else { throw IdentityError(error) }
            throw IdentityError(
                .keysLost, "this identity's keys were made under keys that the vault does not have any more")
        }
    }
}

/// What stands before a chip's own bytes in a key's handle: the epoch (4 bytes, big endian) and the key's id (16). A
/// key that is not in a chip has the epoch alone.
struct KeyHandle {
    static let idSize = Vault.identityKeyIDSize

    let epoch: UInt32
    /// Empty for a key that is not in a chip.
    let id: [UInt8]
    /// The chip's.
    let object: [UInt8]

    init(epoch: UInt32, id: [UInt8] = [], object: [UInt8] = []) {
        self.epoch = epoch
        self.id = id
        self.object = object
    }

    /// Nil for what this program did not write.
    init?(_ key: KeyRecord) {
        let bytes = key.handle
        let idSize = key.place == .chip ? KeyHandle.idSize : 0
        guard bytes.count >= 4 + idSize, key.place == .chip || bytes.count == 4 else { return nil }
        epoch = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        id = Array(bytes[4..<4 + idSize])
        object = Array(bytes[(4 + idSize)...])
    }

    var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: epoch >> (24 - 8 * $0)) } + id + object }

    /// Nil where the key does not say under which it was made.
    static func epoch(of key: KeyRecord) -> UInt32? { KeyHandle(key)?.epoch }
}
