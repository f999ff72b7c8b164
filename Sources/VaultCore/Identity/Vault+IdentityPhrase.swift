package import Cryptography
internal import SecretMemory
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

// Two phrases of 24 words belong to one owner, and people type the wrong one. What is stored to tell them apart is a
// digest of 256 random bits: it says nothing of the phrase. Someone who can write to the home can change it, but then
// only a hint is missing or wrong.
extension Vault {
    /// Remembers which phrase is the identity's.
    /// - Throws: What writing can throw: `readOnly`, `diskFull`, `inputOutput`.
    package func setIdentityPhrase(_ phrase: borrowing RecoveryPhrase) throws(VaultError) {
        try IdentityMark.write(IdentityMark.of(phrase, vault: id), in: home)
    }

    /// Forgets it: there is no identity any more.
    /// - Throws: As ``setIdentityPhrase(_:)``.
    package func forgetIdentityPhrase() throws(VaultError) {
        for name in [IdentityMark.name, IdentityMark.part] { _ = try home.erase(name, overwriting: false) }
    }

    /// Whether a phrase is that of the identity whose credentials are here. Needs no unlocked vault.
    package func isIdentityPhrase(_ phrase: borrowing RecoveryPhrase) -> Bool {
        guard let vault = try? id, let mark = try? IdentityMark.of(phrase, vault: vault),
            let stored = IdentityMark.read(in: home)
        else { return false }
        return unsafe constantTimeEquals(mark.span.bytes, stored.span.bytes)
    }

    /// Whether a phrase is this vault's. Opens nothing and writes nothing; 256 bits cannot be guessed, so it may be asked
    /// freely.
    package func isVaultPhrase(_ phrase: borrowing RecoveryPhrase) -> Bool {
        guard let header = try? HeaderFile.read(in: home), let slot = header.recoverySlot,
            let factor = try? SlotKey.expand(phrase, vault: header.vault),
            let key = try? SlotKey(factor: factor, slot: slot)
        else { return false }
        return key.matches(slot)
    }
}

/// The file that tells the identity's phrase: 32 bytes.
enum IdentityMark {
    static let name = "identity-mark"
    fileprivate static let part = HomeDirectory.part(of: name)
    /// With the lock that commands of the identity take: nothing is in it.
    static let names = [name, part, Vault.identityLock]
    private static let size = 32

    static func of(_ phrase: borrowing RecoveryPhrase, vault: VaultID) throws(VaultError) -> [UInt8] {
        let entropy = try secretMemory(
            phrase.withEntropy { entropy throws(SecretMemoryError) in try SecretBytes(copying: entropy) })
        let mark = try crypto(
            unsafe HKDFSHA256.derive(
                entropy, salt: vault.bytes.span.bytes, info: "holdfast/1/identity-mark", count: size))
        return mark.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Replaces the file as a whole.
    static func write(_ mark: [UInt8], in home: HomeDirectory) throws(VaultError) {
        try home.publish(name) { file throws(VaultError) in try file.write(mark, at: 0) }
    }

    static func read(in home: HomeDirectory) -> [UInt8]? {
        guard let file = try? home.openFile(name, O_RDONLY), let bytes = try? file.read(size + 1, at: 0),
            bytes.count == size
        else { return nil }
        return bytes
    }
}
