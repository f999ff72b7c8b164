package import SecretMemory
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

/// Collections for our own parts. No command line can name one, because an argument cannot contain a zero byte, and
/// naming one to the vault, in its process or through its agent, is refused (``Admission/check(_:)``). Use a
/// ``ReservedRecord``.
extension Vault {
    /// The file whose `flock` is held while the identity is changed; the home's own is the agent's.
    package static let identityLock = ".identity-lock"

    /// What is known of this device's identity, as one record.
    package var identityRecord: ReservedRecord {
        ReservedRecord(vault: self, collection: "\u{0}identity", name: "credentials")
    }
}

/// A record of ours in the protected compartment: locked with the vault, moved to new keys, backed up and wiped with it.
package struct ReservedRecord: Sendable {
    fileprivate let vault: Vault
    fileprivate let collection: String
    fileprivate let name: String

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
