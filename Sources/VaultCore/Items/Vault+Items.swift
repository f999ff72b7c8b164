internal import SecretMemory
package import VaultFormat
internal import SystemCalls

// Items beside the plain values (items.md 1). What their bytes mean is not this module's: it keeps them apart from values, which
// an app stores, and lends them.
extension Vault {
    /// Lends a record's content from locked memory for the time of the closure, and says whether it is an item.
    /// - Throws: `locked`, `assuranceTooLow`, `reservedCollection`, `recordNotFound`, `damaged`, `tooLarge` for a value stored
    ///   as a file, `unconfirmed` for an item of the inbox, and what `body` throws.
    package func withContent<R: ~Copyable>(
        of name: String, in collection: String, _ body: (RecordFields, RawSpan) throws -> R
    ) throws -> R {
        let record = try gate.lendRecord(collection: collection, name: name)
        guard record.fields.origin == .protected else { throw VaultError.unconfirmed }
        guard record.fields.kind != .file else { throw VaultError.storedAsFile }
        return try record.withContent { try body(record.fields, $0) }
    }

    /// Stores an item; durable when it returns.
    /// - Parameter item: Bytes as `ItemLayout` reads them; that they are is the caller's to see to.
    /// - Throws: As ``put(_:for:in:replacing:)``.
    package func put(item: RawSpan, for name: String, in collection: String, replacing: Bool) throws(VaultError) {
        try store(RecordDraft(item: name, in: collection, replacing: replacing, item), item)
    }
}

extension WriteSession {
    /// Stores an item as part of the transaction, in place of an item or value of this name if that is asked for.
    /// - Throws: As ``put(_:for:in:replacing:)``.
    package mutating func put(
        item: RawSpan, for name: String, in collection: String, replacing: Bool
    ) throws(VaultError) {
        let draft = try RecordDraft(item: name, in: collection, replacing: replacing, item)
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(collection)
            try put(draft, content: item)
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }

    /// Lends a record's content as it is before this transaction's next change; nil when there is none.
    /// - Throws: As ``Vault/withContent(of:in:_:)``.
    package mutating func withContent<R: ~Copyable>(
        of name: String, in collection: String, _ body: (RecordFields, RawSpan) throws(VaultError) -> R
    ) throws(VaultError) -> R? {
        try admission.check(collection)
        return try withRecord(collection: collection, name: name) { fields, plaintext throws(VaultError) in
            guard fields.origin == .protected else { throw .unconfirmed }
            guard fields.kind != .file else { throw .storedAsFile }
            return try body(fields, plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
        }
    }
}

extension RecordDraft {
    fileprivate init(
        item name: String, in collection: String, replacing: Bool, _ item: RawSpan
    ) throws(VaultError) {
        guard item.byteCount <= Vault.largestInlineValue else { throw .tooLarge }
        guard RecordLimits.allow(collection: collection, name: name) else { throw .invalidName }
        self.init(
            collection: collection, name: name, replacing: replacing, form: .item, now: WallClock.milliseconds)
    }
}
