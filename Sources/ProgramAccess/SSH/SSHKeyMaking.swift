internal import Cryptography
internal import ProgramProtocols
package import Items
package import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// New keys of SSH.
extension SSHIdentities {
    /// An Ed25519 key, as OpenSSH writes private keys without a passphrase (OpenSSH, PROTOCOL.key).
    /// - Throws: `cryptography`, `outOfMemory`.
    package static func generate() throws(VaultError) -> SecretBytes {
        let seed: SecretBytes
        do throws(CryptographyError) { seed = try SecureRandom.secret(SSHKeyKind.ed25519.secretSize) } catch {
            throw VaultError(any: error)
        }
        let bytes = try SSHPrivateText.bytes(.ed25519, seed: seed)
        return try bytes.withBytes { bytes throws(VaultError) in try SSHPrivateText.armour(bytes) }
    }

    /// An item with a key that this machine's TPM has made.
    /// - Throws: `hardwareUnavailable` where there is no TPM, and what it answers; `outOfMemory`.
    package static func generateInChip(comment: String) throws(VaultError) -> MadeKey {
        let key = try SSHChipKey()
        var item = try Item(.sshKey)
        let bytes = try key.bytes()
        try bytes.withBytes { bytes throws(VaultError) in try item.add(.secret, SSHChipKey.label, bytes: bytes) }
        let line = try SSHKey(key, comment: comment).line
        try unsafe item.add(.text, publicLabel, bytes: Array(line.utf8).span.bytes)
        return MadeKey(item: item, line: line)
    }

    /// An item with a new key.
    package struct MadeKey: ~Copyable {
        package let item: Item
        /// The public key in one line.
        package let line: String
    }
}
