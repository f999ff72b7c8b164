package import SecretMemory
internal import VaultCore
package import VaultFormat
package import VaultStorage

extension ItemStore {
    /// Bytes of a value that is read by a reference, at most: what fits into a variable, a template or one message.
    package static let longestReferenced = 65_536

    /// The value that a reference names: of a field, of a plain value, the content of a file's field, the notes; of a
    /// one-time code its text, whether or not its present code is wanted. Where there is no such record, the one is
    /// taken whose path is written the same: `logins/mail` in the default collection, or `mail` in `logins`.
    /// - Parameter check: Looks at the item, and where it was found, before anything of it is given away.
    /// - Throws: `recordNotFound` where there is no such record or field; `invalidItem` for one that a program stored
    ///   over the session bus, which may have taken a name that a reference waits for; `tooLarge`; what ``item(_:in:)``
    ///   and `check` throw.
    package func value(
        of reference: SecretReference, _ check: (borrowing Item, EntryPath) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) -> SecretBytes {
        let named = EntryPath(collection: reference.collection, name: reference.item)
        do throws(VaultError) { return try value(at: named, reference, check) } catch {
            guard error.code == .recordNotFound, let other = named.other, try !contains(named), try contains(other)
            else {
                throw error
            }
            return try value(at: other, reference, check)
        }
    }

    private func contains(_ entry: EntryPath) throws(VaultError) -> Bool {
        try vault.contains(entry.name, in: entry.collection)
    }

    private func value(
        at entry: EntryPath, _ reference: SecretReference,
        _ check: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) -> SecretBytes {
        try entry.requireOwn()
        let item = try item(entry)
        try item.requireOwn()
        // Nobody is asked for what will not fit, or is elsewhere; whoever reads it in pieces is asked then.
        if let part = try? item.part(reference) {
            try item.requireHere(part)
            try item.withPart(part) { value throws(VaultError) in
                guard value.byteCount <= ItemStore.longestReferenced else {
                    throw VaultError(
                        .tooLarge,
                        "a value that is read by a reference has at most \(ItemStore.longestReferenced) bytes")
                }
            }
        }
        try check(item, entry)
        if item.isOfValue { try checkAbove(entry, check) }
        return try item.withPart(item.part(reference)) { value throws(VaultError) in
            try secretMemory(SecretBytes(copying: value))
        }
    }
}

extension EntryPath {
    /// - Throws: `invalidItem` for what a program stored over the session bus that its entry could not hold.
    package func requireOwn() throws(VaultError) {
        guard !collection.utf8.elementsEqual(LargeSecret.folder.utf8) else {
            throw VaultError(.invalidItem, "what a program stored over the session bus is not read by references")
        }
    }
}

extension Item {
    /// - Throws: `invalidItem` for what a program stored over the session bus.
    package func requireOwn() throws(VaultError) {
        guard isOfSecretService else { return }
        throw VaultError(
            .invalidItem,
            "a program stored this entry over the session bus; take its tag \(Item.secretServiceTag) away to have it read by "
                + "references")
    }

    /// What a reference names in it.
    /// - Throws: `recordNotFound`, which says what is missing.
    package borrowing func part(_ reference: SecretReference) throws(VaultError) -> Part {
        let found: Part? =
            if let label = reference.field { part(label) } else {
                (reference.isCode ? field(.oneTimeCode) : mainField).map { .field($0) }
            }
        if reference.isCode {
            guard case .field(let field) = found, field.kind == .oneTimeCode else {
                throw VaultError(.recordNotFound, "the entry has no one-time code there")
            }
        }
        guard let found else {
            throw reference.field == nil
                ? VaultError(.recordNotFound, "the entry has no password or other main value; name the field")
                : VaultError(.recordNotFound, "the entry has no field with this label")
        }
        return found
    }
}
