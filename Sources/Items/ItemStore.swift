internal import SecretMemory
public import VaultCore
internal import VaultFormat
public import VaultStorage
internal import SystemCalls

/// The items of a vault: what is there, added, changed, found, and thrown away.
///
/// Make one for each vault and keep it: it holds the index that a search builds, in locked memory, until the vault is
/// locked. Safe to use from any thread. Plain values are items too here, with one field; they stay plain values, which
/// apps read with ``VaultCore/Vault/withValue(for:in:_:)``, until they get a tag, notes, another field or another kind.
/// A plain value has no earlier values.
public final class ItemStore: Sendable {
    package let vault: Vault
    let index: ItemIndex

    /// What the field of a plain value is called.
    package static let plainLabel = "value"

    /// How long the trash keeps what nobody says otherwise of.
    public static let standardLifetime = Duration.seconds(30 * 86_400)

    /// Over an open or locked vault.
    public convenience init(_ vault: Vault) { self.init(vault, indexing: .max) }

    /// - Parameter limit: Bytes of the index, at most. Searches in a vault that has more read every item.
    package init(_ vault: Vault, indexing limit: Int) {
        self.vault = vault
        index = ItemIndex(limit: limit)
    }

    /// Whether a search has built its index and no lock has dropped it.
    package var hasIndex: Bool { index.isBuilt }

    deinit { index.end(vault) }

    /// Reads an item, or a plain value as one.
    /// - Throws: `locked`, `recordNotFound`, `assuranceTooLow`, `damaged`, `newerVersion`, `unconfirmed`, and
    ///   `tooLarge` for a value stored as a file, which is read with ``VaultCore/Vault/read(_:in:_:)``.
    public func item(_ name: String, in collection: String = Vault.defaultCollection) throws(VaultError) -> Item {
        do {
            return try vault.withContent(of: name, in: collection) { fields, content in
                try Item.stored(fields, content)
            }
        } catch let error as VaultError { throw error } catch { throw VaultError(any: error) }
    }

    /// Stores a new item; durable when it returns.
    /// - Throws: `locked`, `recordExists`, `invalidName`, `assuranceTooLow`, `tooLarge`, `diskFull`, `readOnly`.
    public func add(
        _ item: borrowing Item, as name: String, in collection: String = Vault.defaultCollection
    ) throws(VaultError) {
        try ItemStore.check(name)
        try item.withBytes { bytes throws(VaultError) in
            try vault.put(item: bytes, for: name, in: collection, replacing: false)
        }
    }

    /// As ``add(_:as:in:)``, beside no other entry that can be read as it (``EntryPath/twins``).
    /// - Throws: `recordExists` there too.
    package func add(_ item: borrowing Item, asNew path: EntryPath) throws(VaultError) {
        try write { session throws(VaultError) in try session.add(item, asNew: path) }
    }

    /// Stores a changed item in place of the one that it was read from.
    /// - Throws: `busy` when the record was changed or removed since it was read, and then nothing is stored: read it
    ///   again. As ``add(_:as:in:)`` else.
    package func replace(
        _ name: String, in collection: String = Vault.defaultCollection, with item: borrowing Item
    ) throws(VaultError) {
        let sequence = item.sequence
        try write { session throws(VaultError) in
            let stored = try session.item(name, collection)
            guard let stored, let sequence, stored.sequence == sequence else { throw .changedItem }
            try session.store(item, name, collection, isOfValue: stored.isOfValue, after: try? stored.largeSecret())
        }
    }

    /// Reads an item, changes it and stores it, with no other write in between.
    /// - Parameters:
    ///   - name: The item's name.
    ///   - collection: Where it is.
    ///   - change: Runs while other writers wait; it must not wait for the user.
    /// - Throws: As ``item(_:in:)`` and ``add(_:as:in:)``, and what `change` throws; then nothing was changed.
    public func change(
        _ name: String, in collection: String = Vault.defaultCollection, _ change: (inout Item) throws -> Void
    ) throws {
        try vault.write { session in
            guard var item = try session.item(name, collection) else { throw VaultError.noItem }
            let large = try? item.largeSecret()
            try change(&item)
            try session.store(item, name, collection, isOfValue: item.isOfValue, after: large)
        }
    }

    /// Gives a record another name or collection: an item, a value or a file.
    /// - Throws: `recordNotFound`, `recordExists`, `invalidName`, `assuranceTooLow`, `busy` for a file while the vault
    ///   gets new keys, and what writing can throw.
    package func rename(
        _ name: String, in collection: String = Vault.defaultCollection, to newName: String,
        into newCollection: String? = nil
    ) throws(VaultError) {
        try rename(name, in: collection, to: newName, into: newCollection ?? collection, isChecked: false)
    }

    /// As ``rename(_:in:to:into:)``.
    /// - Parameters:
    ///   - isChecked: Whether the new place is refused, with `recordExists`, beside another entry that can be read as
    ///     it (``EntryPath/twins``).
    ///   - admit: Told the item, or of a value what guards that (``checkAbove(_:_:)``), in the transaction that would
    ///     rename it; what it throws ends that.
    package func rename(
        _ name: String, in collection: String, to newName: String, into newCollection: String, isChecked: Bool,
        admitting admit: (borrowing Item, EntryPath) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) {
        try write { session throws(VaultError) in
            try session.admit(EntryPath(collection: collection, name: name), admit)
            if isChecked {
                let target = EntryPath(collection: newCollection, name: newName)
                try session.requireFree(beside: target, but: EntryPath(collection: collection, name: name))
            }
            try session.rename(name, in: collection, to: newName, in: newCollection, replacing: false)
        }
    }

    /// Stores a copy under another name: of an item with an id of its own, or of a value.
    /// - Throws: As ``rename(_:in:to:into:)``; `tooLarge` for a value stored as a file, also for a program's secret.
    package func copy(
        _ name: String, in collection: String = Vault.defaultCollection, to newName: String,
        into newCollection: String? = nil
    ) throws(VaultError) {
        try copy(name, in: collection, to: newName, into: newCollection ?? collection, isChecked: false)
    }

    /// As ``copy(_:in:to:into:)``.
    /// - Parameters:
    ///   - isChecked: As for ``rename(_:in:to:into:isChecked:admitting:)``.
    ///   - admit: As there.
    package func copy(
        _ name: String, in collection: String, to newName: String, into newCollection: String, isChecked: Bool,
        admitting admit: (borrowing Item, EntryPath) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) {
        try ItemStore.check(newName)
        let target = EntryPath(collection: newCollection, name: newName)
        try write { session throws(VaultError) in
            try session.admit(EntryPath(collection: collection, name: name), admit)
            if isChecked { try session.requireFree(beside: target) }
            try session.copy(EntryPath(collection: collection, name: name), to: target)
        }
    }

    /// - Throws: `invalidName` for a name that only something in the trash has.
    package static func check(_ name: String) throws(VaultError) {
        guard !Admission.isReservedName(name) else {
            throw VaultError(.invalidName, "a name that begins with a zero byte is Holdfast's own")
        }
    }

    /// One transaction whose errors are the vault's own.
    package func write(_ body: (inout WriteSession) throws(VaultError) -> Void) throws(VaultError) {
        do {
            try vault.write { session in try body(&session) }
        } catch { throw VaultError(any: error) }
    }
}

extension WriteSession {
    /// An item, or a plain value as one; nil when there is nothing of this name.
    mutating func item(_ name: String, _ collection: String) throws(VaultError) -> Item? {
        try withContent(of: name, in: collection) { fields, content throws(VaultError) in
            try Item.stored(fields, content)
        }
    }
}

extension WriteSession {
    /// - Throws: `recordExists` where there is an entry that can be read as a new place (``EntryPath/twins``).
    package mutating func requireFree(beside place: EntryPath, but leaving: EntryPath? = nil) throws(VaultError) {
        try requireFree(place.twins.filter { $0 != leaving }.compactMap(\.record))
    }

    /// As ``ItemStore/add(_:asNew:)``, as part of the transaction.
    package mutating func add(_ item: borrowing Item, asNew path: EntryPath) throws(VaultError) {
        try ItemStore.check(path.name)
        try requireFree(beside: path)
        try item.withBytes { bytes throws(VaultError) in
            try put(item: bytes, for: path.name, in: path.collection, replacing: false)
        }
    }

    /// Changes an item as part of the transaction. A plain value becomes an item, which has earlier values.
    /// - Throws: `recordNotFound`, `tooLarge`, what `change` throws.
    package mutating func change(
        _ entry: EntryPath, _ change: (inout Item) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard var item = try item(entry.name, entry.collection) else { throw .noItem }
        let large = try? item.largeSecret()
        try change(&item)
        try store(item, entry.name, entry.collection, isOfValue: false, after: large)
    }

    mutating func copy(_ entry: EntryPath, to target: EntryPath) throws(VaultError) {
        var isItem = true
        let content = try withContent(of: entry.name, in: entry.collection) { fields, content throws(VaultError) in
            isItem = fields.form == .item
            return try locked { () throws(SecretMemoryError) in try SecretBytes(copying: content) }
        }
        guard let content else { throw .noItem }
        try content.withBytes { content throws(VaultError) in
            guard isItem else { return try put(content, for: target.name, in: target.collection) }
            let original = try Item(parsing: content)
            // The copy would lead to the original's secret, which goes with the original.
            guard !original.isOfSecretService || original.field(LargeSecret.label) == nil else {
                throw VaultError(
                    .tooLarge, "a program's secret of more than 768 KiB is not copied with its entry; it can be moved")
            }
            let copy = try original.copy()
            try copy.withBytes { copy throws(VaultError) in
                try put(item: copy, for: target.name, in: target.collection, replacing: false)
            }
        }
    }

    /// Has a caller say whether what is about to be done with an item or a value may be.
    mutating func admit(
        _ entry: EntryPath, _ admit: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) {
        var (isThere, isItem) = (false, false)
        do throws(VaultError) {
            _ = try withContent(of: entry.name, in: entry.collection) { fields, content throws(VaultError) in
                (isThere, isItem) = (true, fields.form == .item)
                if isItem { try admit(Item.stored(fields, content), entry) }
            }
        } catch {
            // A value that is stored as a file.
            if isItem || error.code != .tooLarge { throw error }
            isThere = true
        }
        guard isThere, !isItem else { return }
        // Its item leads to it by this name alone.
        guard !LargeSecret.isPlace(entry) else {
            throw VaultError(
                .reservedCollection, "this is a program's secret, which is moved and removed with its entry")
        }
        try checkAbove(entry, admit)
    }

    /// Stores a changed item in place of what it was read from. A value that is still nothing else stays one.
    /// - Parameter large: The large secret that the item had. It goes with the change that ends it: one of the main
    ///   value, or of what leads to it.
    fileprivate mutating func store(
        _ item: borrowing Item, _ name: String, _ collection: String, isOfValue: Bool, after large: LargeSecret?
    ) throws(VaultError) {
        if item.hasEndedLargeSecret() {
            var item = try item.duplicate()
            try item.lead(to: nil)
            return try store(item, name, collection, isOfValue: isOfValue, after: large)
        }
        if let large {
            let new: LargeSecret?
            // Nothing goes for a slip in the text that leads to it.
            do throws(VaultError) { new = try item.largeSecret() } catch { new = large }
            if new != large { try forget(large) }
        }
        guard isOfValue, item.isPlain(withHistory: true), let field = item.fields.first else {
            return try item.withBytes { bytes throws(VaultError) in
                try put(item: bytes, for: name, in: collection, replacing: true)
            }
        }
        try item.withValue(of: field) { value throws(VaultError) in
            try put(value, for: name, in: collection, replacing: true)
        }
    }
}

extension Item {
    /// A record's content as an item.
    static func stored(_ fields: RecordFields, _ content: RawSpan) throws(VaultError) -> Item {
        guard fields.form == .value else { return try Item(parsing: content, sequence: fields.sequence) }
        var item = try Item(.value, now: fields.created)
        try item.add(.secret, ItemStore.plainLabel, bytes: content)
        item.touch(fields.modified)
        item.sequence = fields.sequence
        item.isOfValue = true
        return item
    }
}

extension VaultError {
    static let noItem = VaultError(.recordNotFound, "there is no entry of this name")
    static let changedItem = VaultError(.busy, "the entry was changed by another program since it was read")
}
