package import SecretMemory
internal import VaultCore
package import VaultFormat
package import VaultStorage

extension ItemStore {
    /// Bytes of a value that is read by a reference, at most: what fits into a variable, a template or one message.
    package static let longestReferenced = 65_536

    /// The value that a reference names: of a field, of a plain value, the content of a file's field. Where there is no
    /// such record, the one is taken whose path is written the same: `logins/mail` in the default collection, or `mail`
    /// in `logins`.
    /// - Parameter check: Looks at the item, and where it was found, before anything of it is given away.
    /// - Throws: `recordNotFound` where there is no such record or field; `invalidItem` for one that a program stored
    ///   over the session bus, which may have taken a name that a reference waits for; `tooLarge`; what ``item(_:in:)``
    ///   and `check` throw.
    package func value(
        of reference: SecretReference, _ check: (borrowing Item, EntryPath) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) -> SecretBytes {
        let named = EntryPath(collection: reference.collection, name: reference.item)
        do throws(VaultError) { return try value(at: named, reference.field, check) } catch {
            guard error.code == .recordNotFound, let other = named.other, try !contains(named), try contains(other)
            else {
                throw error
            }
            return try value(at: other, reference.field, check)
        }
    }

    private func contains(_ entry: EntryPath) throws(VaultError) -> Bool {
        try vault.contains(entry.name, in: entry.collection)
    }

    private func value(
        at entry: EntryPath, _ label: String?, _ check: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) -> SecretBytes {
        let item = try item(entry)
        guard !item.isOfSecretService else {
            throw VaultError(
                .invalidItem,
                "a program stored this entry over the session bus; take its tag \(Item.secretServiceTag) away to have it read by "
                    + "references")
        }
        try check(item, entry)
        let found = if let label { item.field(label) } else { item.mainField }
        guard let found else {
            throw label == nil
                ? VaultError(.recordNotFound, "the entry has no password or other main value; name the field")
                : VaultError(.recordNotFound, "the entry has no field with this label")
        }
        return try item.withValue(of: found) { value throws(VaultError) in
            // A file's name comes before its content.
            let start = found.kind == .file ? ItemValue.fileContent(value)?.content.lowerBound ?? 0 : 0
            guard value.byteCount - start <= ItemStore.longestReferenced else {
                throw VaultError(
                    .tooLarge, "a value that is read by a reference has at most \(ItemStore.longestReferenced) bytes")
            }
            return try secretMemory(SecretBytes(copying: value.extracting(start..<value.byteCount)))
        }
    }
}
