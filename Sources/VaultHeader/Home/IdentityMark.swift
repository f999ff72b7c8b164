package import Cryptography
internal import SecretMemory
internal import SystemCalls
package import VaultFormat
package import VaultStorage

/// The file that tells the identity's phrase: 32 bytes.
package enum IdentityMark {
    package static let name = "identity-mark"
    package static let part = HomeDirectory.part(of: name)
    /// The file whose `flock` is held while the identity is changed; the home's own is the agent's.
    package static let lock = ".identity-lock"
    /// With the lock that commands of the identity take: nothing is in it.
    package static let names = [name, part, lock]
    private static let size = 32

    package static func of(_ phrase: borrowing RecoveryPhrase, vault: VaultID) throws(VaultError) -> [UInt8] {
        let entropy = try secretMemory(
            phrase.withEntropy { entropy throws(SecretMemoryError) in try SecretBytes(copying: entropy) })
        let mark = try crypto(
            unsafe HKDFSHA256.derive(
                entropy, salt: vault.bytes.span.bytes, info: "holdfast/1/identity-mark", count: size))
        return mark.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Replaces the file as a whole.
    package static func write(_ mark: [UInt8], in home: HomeDirectory) throws(VaultError) {
        try home.publish(name) { file throws(VaultError) in try file.write(mark, at: 0) }
    }

    package static func read(in home: HomeDirectory) -> [UInt8]? {
        guard let file = try? home.openFile(name, O_RDONLY), let bytes = try? file.read(size + 1, at: 0),
            bytes.count == size
        else { return nil }
        return bytes
    }
}
