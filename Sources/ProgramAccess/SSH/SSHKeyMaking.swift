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
        do throws(CryptographyError) {
            let seed = try SecureRandom.secret(SSHKeyKind.secretSize)
            let point = try seed.withBytes { seed throws(CryptographyError) in
                try Ed25519PrivateKey(seed: seed).publicKey()
            }
            return try text(seed, point)
        } catch { throw VaultError(any: error) }
    }

    private static func text(_ seed: borrowing SecretBytes, _ point: [UInt8]) throws(CryptographyError) -> SecretBytes {
        var front = SSHWriter()
        for word in ["none", "none", ""] { front.string(word) }
        front.number(1)
        front.string(SSHKeyKind.ed25519.blob(point))
        var section = SSHWriter()
        // Two equal numbers that show whether a passphrase was right: here there is none.
        for _ in 0..<2 { section.number(0) }
        section.string(SSHKeyKind.ed25519.rawValue)
        section.string(point)
        section.number(UInt32(2 * SSHKeyKind.secretSize))
        var rest = SSHWriter()
        rest.string("")
        let size = section.bytes.count + 2 * SSHKeyKind.secretSize + rest.bytes.count
        for number in 0..<(8 - size % 8) % 8 { rest.byte(UInt8(number + 1)) }
        front.number(UInt32(section.bytes.count + 2 * SSHKeyKind.secretSize + rest.bytes.count))
        do throws(SecretMemoryError) {
            var file = SecretBuffer()
            try unsafe file.append((Array("openssh-key-v1\0".utf8) + front.bytes + section.bytes).span.bytes)
            try seed.withBytes { seed throws(SecretMemoryError) in try file.append(seed) }
            try unsafe file.append((point + rest.bytes).span.bytes)
            var text = SecretBuffer()
            try text.append("\(begin)\n")
            try file.withBytes { file throws(SecretMemoryError) in
                for start in stride(from: 0, to: file.byteCount, by: lineBytes) {
                    let end = min(start + lineBytes, file.byteCount)
                    try Base64.append(file.extracting(start..<end), to: &text)
                    try text.append("\n")
                }
            }
            try text.append("\(end)\n")
            return try text.bytes()
        } catch { throw CryptographyError.memory(error) }
    }

    /// Bytes in a line of the text.
    private static let lineBytes = 48

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
