package import Cryptography
package import SecretMemory
internal import SystemCalls
internal import VaultFormat
internal import VaultHeader
package import VaultStorage

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

    /// Whether a phrase is this vault's. Opens nothing and writes nothing; 256 bits cannot be guessed, so it may be
    /// asked freely.
    package func isVaultPhrase(_ phrase: borrowing RecoveryPhrase) -> Bool {
        guard let header = try? HeaderFile.read(in: home), let slot = header.recoverySlot,
            let factor = try? SlotKey.expand(phrase, vault: header.vault),
            let key = try? SlotKey(factor: factor, slot: slot)
        else { return false }
        return key.matches(slot)
    }
}

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

/// Collections for our own parts. No command line can name one, because an argument cannot contain a zero byte, and
/// naming one to the vault, in its process or through its agent, is refused (``Admission/check(_:)``). Use a
/// ``ReservedRecord``.
extension Vault {
    /// What is known of this device's identity, as one record.
    package var identityRecord: ReservedRecord {
        ReservedRecord(vault: self, collection: "\u{0}identity", name: "credentials")
    }
}

/// A record of ours in the protected compartment: locked with the vault, moved to new keys, backed up and wiped with
/// it.
package struct ReservedRecord: Sendable {
    let vault: Vault
    let collection: String
    let name: String

    /// Lends what is stored, never what was written while the vault was locked.
    /// - Throws: `locked`, `assuranceTooLow`, `recordNotFound`, `damaged`, and what `body` throws.
    package func withValue<R: ~Copyable>(_ body: (RawSpan) throws -> R) throws -> R {
        let reader = try vault.gate.enterWithReader()
        defer { vault.gate.leave(returning: reader) }
        try reader.keys.admission.check(reserved: collection)
        return try reader.withRecord(collection: collection, name: name) { fields, plaintext, _ in
            guard fields.origin == .protected else { throw VaultError.unconfirmed }
            guard fields.kind != .file else { throw VaultError.storedAsFile }
            return try body(plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
        }
    }

    /// Stores it in place of what is there; durable when it returns.
    /// - Throws: As ``Vault/put(_:for:in:replacing:)``.
    package func replace(with value: borrowing SecretBytes) throws(VaultError) {
        guard value.count <= Vault.largestInlineValue else { throw .tooLarge }
        let draft = RecordDraft(
            collection: collection, name: name, replacing: true, now: WallClock.milliseconds)
        try value.withBytes { value throws(VaultError) in try vault.store(draft, value, reserved: true) }
    }

    /// Removes it.
    /// - Throws: As ``Vault/delete(_:in:)``.
    package func delete() throws(VaultError) { try vault.delete(name, collection, reserved: true) }
}
