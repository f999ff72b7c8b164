internal import SecretMemory
package import VaultFormat
internal import VaultHeader
public import VaultStorage

extension Vault {
    /// An item that was written while the vault was locked, and what is known of it.
    package struct InboxItem: Sendable, Hashable {
        /// What it is called in the inbox.
        package let name: String
        /// The name it was written under.
        package let originalName: String
        /// The collection it was written for.
        package let originalCollection: String
        /// Bytes of content.
        package let size: UInt64
        /// Milliseconds since 1970, as its writer set it.
        package let created: Int64
        /// As ``created``, of the last write.
        package let modified: Int64
        /// It was sealed to the vault: the locked app could not read it. That proves nothing about who wrote it.
        package let wasSealed: Bool

        package init(
            name: String, originalName: String, originalCollection: String, size: UInt64, created: Int64,
            modified: Int64, wasSealed: Bool
        ) {
            self.name = name
            self.originalName = originalName
            self.originalCollection = originalCollection
            self.size = size
            self.created = created
            self.modified = modified
            self.wasSealed = wasSealed
        }
    }

    /// What waits for the owner, sorted by name.
    /// - Throws: `locked`, `damaged`.
    package func inbox() throws(VaultError) -> [InboxItem] {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        try reader.keys.admission.check(Vault.inboxCollection)
        var items: [InboxItem] = []
        _ = try reader.forEach { visited, plaintext, _ throws(VaultError) in
            try gate.checkOpen()
            guard case .record(let fields, _, _) = visited else {
                throw .damaged("a record cannot be read")
            }
            guard fields.origin == .open else { return }
            guard let info = Vault.info(fields, plaintext) else { throw .damagedRecord }
            let label = try Vault.label(fields, plaintext)
            items.append(
                InboxItem(
                    name: info.name, originalName: label?.record.name ?? info.name,
                    originalCollection: label?.record.collection ?? info.collection, size: info.size,
                    created: info.created, modified: info.modified, wasSealed: label?.wasSealed ?? false))
        }
        return items.sorted { $0.name < $1.name }
    }

    private static func label(_ fields: RecordFields, _ plaintext: RawSpan) throws(VaultError) -> RecordLabel? {
        guard fields.kind == .inbox else { return nil }
        do throws(FormatError) {
            return try RecordLabel(parsing: plaintext, at: fields.labelOffset)
        } catch { throw .damagedRecord }
    }

    /// Who wrote a record. What hands values to other programs passes over all that is not
    /// `RecordOrigin.protected`, or reads with ``withConfirmedValue(for:in:_:)``.
    /// - Throws: `locked`, `recordNotFound`, `damaged`.
    package func origin(of name: String, in collection: String = Vault.defaultCollection) throws(VaultError)
        -> RecordOrigin
    {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        do {
            try reader.keys.admission.check(collection)
            return try reader.withRecord(collection: collection, name: name) { fields, _, _ in
                RecordOrigin(fields.origin)
            }
        } catch let error as VaultError { throw error } catch { throw VaultError(.inputOutput, "reading failed") }
    }

    /// As ``withValue(for:in:_:)``, for what the user wrote or confirmed only.
    /// - Throws: As there, and `unconfirmed` for an item of the inbox.
    package func withConfirmedValue<R: ~Copyable>(
        for name: String, in collection: String = Vault.defaultCollection, _ body: (RawSpan) throws -> R
    ) throws -> R {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        try reader.keys.admission.check(collection)
        return try reader.withRecord(collection: collection, name: name) { fields, plaintext, _ in
            guard fields.origin == .protected else { throw VaultError.unconfirmed }
            guard fields.kind != .file else { throw VaultError.storedAsFile }
            guard fields.form == .value else { throw VaultError.isItem }
            return try body(plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
        }
    }

    /// Makes an item of the inbox a record of the vault, in one transaction.
    ///
    /// - Parameters:
    ///   - item: Its name in the inbox.
    ///   - name: What it is called from now on; as it was written when nil.
    ///   - collection: Where it goes; where it was written for when nil.
    ///   - replacing: Whether a record of this name may be replaced.
    /// - Throws: `locked`, `recordNotFound` when the inbox has no such item, `recordExists` unless `replacing`,
    ///   `invalidName`, and what writing can throw.
    /// - Returns: Where it is now.
    @discardableResult
    public func confirm(
        _ item: String, as name: String? = nil, in collection: String? = nil, replacing: Bool = false
    ) throws(VaultError) -> (name: String, collection: String) {
        try confirm(item, as: name, in: collection, replacing: replacing, besides: [])
    }

    /// As ``confirm(_:as:in:replacing:)``.
    /// - Parameter besides: Places of which none may have a record if this one is new.
    package func confirm(
        _ item: String, as name: String?, in collection: String?, replacing: Bool, besides: [RecordName]
    ) throws(VaultError) -> (name: String, collection: String) {
        let vault = try gate.enter()
        defer { gate.leave() }
        try vault.keys.admission.check(Vault.inboxCollection)
        var place = (name: "", collection: "")
        let released = try vault.queue.join { session throws(VaultError) in
            place = try session.confirm(item, as: name, in: collection, replacing: replacing, besides)
        }
        FileStore.remove(released, in: home)
        return place
    }

    /// Throws an item of the inbox away.
    /// - Throws: `locked`, `recordNotFound`; what the user wrote or confirmed is not touched.
    package func reject(_ item: String) throws(VaultError) {
        let vault = try gate.enter()
        defer { gate.leave() }
        _ = try vault.queue.join { session throws(VaultError) in
            try session.admission.check(Vault.inboxCollection)
            guard try session.origin(Vault.inboxCollection, item) == .open else { throw .recordNotFound }
            try session.delete(collection: Vault.inboxCollection, name: item)
        }
    }
}

extension WriteSession {
    fileprivate mutating func origin(_ collection: String, _ name: String) throws(VaultError) -> RecordFields.Origin? {
        try withRecord(collection: collection, name: name) { fields, _ throws(VaultError) in fields.origin }
    }

    fileprivate mutating func confirm(
        _ item: String, as name: String?, in collection: String?, replacing: Bool, _ besides: [RecordName]
    ) throws(VaultError) -> (name: String, collection: String) {
        var found: (fields: RecordFields, label: RecordLabel)?
        let content = try withRecord(collection: Vault.inboxCollection, name: item) {
            fields, plaintext throws(VaultError) -> SecretBytes in
            guard fields.kind == .inbox, fields.origin == .open else { throw .recordNotFound }
            do throws(FormatError) {
                found = (fields, try RecordLabel(parsing: plaintext, at: fields.labelOffset))
            } catch { throw .damagedRecord }
            return try secretMemory(
                SecretBytes(copying: plaintext.extracting(fields.contentOffset..<plaintext.byteCount)))
        }
        guard let content, let found else { throw .recordNotFound }
        let place = (name: name ?? found.label.record.name, collection: collection ?? found.label.record.collection)
        guard RecordLimits.allow(collection: place.collection, name: place.name) else { throw .invalidName }
        // What a stranger wrote must not become this device's identity.
        guard !Admission.isReserved(place.collection) else { throw .reservedName }
        try admission.check(place.collection)
        var draft = RecordDraft(
            collection: place.collection, name: place.name, replacing: replacing, created: found.fields.created,
            now: found.fields.modified)
        draft.besides = besides
        // To its own place in the inbox: the item is replaced by its confirmed self.
        let isSamePlace =
            place.name.utf8.elementsEqual(item.utf8)
            && place.collection.utf8.elementsEqual(Vault.inboxCollection.utf8)
        if isSamePlace { try delete(collection: Vault.inboxCollection, name: item) }
        try content.withBytes { content throws(VaultError) in try put(draft, content: content) }
        if !isSamePlace { try delete(collection: Vault.inboxCollection, name: item) }
        return place
    }
}

extension VaultError {
    static let reservedName = VaultError(
        .invalidName, "this was written for a place that is not the user's")
    static let unconfirmed = VaultError(
        .unconfirmed, "this was written while the vault was locked, and nobody has confirmed it")
}
