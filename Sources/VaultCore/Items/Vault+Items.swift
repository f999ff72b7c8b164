internal import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultStorage
internal import SystemCalls

// Items beside the plain values (items.md 1). What their bytes mean is not this module's: it keeps them apart from
// values, which an app stores, and lends them.
extension Vault {
    /// Lends a record's content from locked memory for the time of the closure, and says whether it is an item.
    /// - Throws: `locked`, `assuranceTooLow`, `reservedCollection`, `recordNotFound`, `damaged`, `tooLarge` for a value
    ///   stored as a file, `unconfirmed` for an item of the inbox, and what `body` throws.
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

extension WriteSession {
    /// Gives a record another name, as part of the transaction. Content, form and time of creation stay.
    /// - Throws: `recordNotFound`, `recordExists` unless `replacing`, `invalidName`, `unconfirmed`, `assuranceTooLow`,
    ///   `busy` for a file whose keys are being changed.
    package mutating func rename(
        _ name: String, in collection: String, to newName: String, in newCollection: String, replacing: Bool
    ) throws(VaultError) {
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(collection)
            try admission.check(newCollection)
            try move(name, collection, newName, newCollection, replacing: replacing)
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }

    private mutating func move(
        _ name: String, _ collection: String, _ newName: String, _ newCollection: String, replacing: Bool
    ) throws(VaultError) {
        guard RecordLimits.allow(collection: newCollection, name: newName), !Admission.isReservedName(newName) else {
            throw .invalidName
        }
        // Written anew under its own name, the record would be removed as the old one.
        if name.utf8.elementsEqual(newName.utf8), collection.utf8.elementsEqual(newCollection.utf8) { return }
        var found: RecordFields?
        let content = try withRecord(collection: collection, name: name) {
            fields, plaintext throws(VaultError) -> SecretBytes in
            guard fields.origin == .protected else { throw .unconfirmed }
            found = fields
            return try secretMemory(
                SecretBytes(copying: plaintext.extracting(fields.contentOffset..<plaintext.byteCount)))
        }
        guard let content, let found else { throw .recordNotFound }
        // A file is encrypted under its record's epoch, so its descriptor cannot move to another one.
        if found.kind == .file, try !isCurrent(collection: collection, name: name) { throw .rekeyUnderWay }
        let draft = RecordDraft(
            collection: newCollection, name: newName, kind: found.kind, replacing: replacing, form: found.form,
            created: found.created, now: found.modified)
        try content.withBytes { content throws(VaultError) in try put(draft, content: content) }
        try delete(collection: collection, name: name)
        if found.kind == .file {
            let descriptor = try content.withBytes { content throws(VaultError) in
                do throws(FormatError) { return try FileDescriptor(parsing: content) } catch { throw .damagedRecord }
            }
            keepFile(descriptor.fileName)
        }
    }
}

extension Vault {
    /// Lends every record that this unlock reaches, in no order, those in the trash included; the device's own and
    /// those of the inbox are left out. The content is empty where it is in a file.
    /// - Parameter holder: Told to drop what it made of them when the vault is locked.
    /// - Returns: The number of the last change of the vault that was seen.
    /// - Throws: `locked`, `damaged` when a record cannot be read, and what `body` throws.
    package func forEachContent(
        for holder: any KeyHolder, _ body: (RecordInfo, RawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> UInt64 {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        gate.register(holder)
        let admission = reader.keys.admission
        return try reader.forEach { visited, plaintext, _ throws(VaultError) in
            try gate.checkOpen()
            guard case .record(let fields, _, _) = visited, let info = Vault.info(fields, plaintext) else {
                throw .damaged("a record cannot be read")
            }
            guard admission.shut[info.collection] == nil, !Admission.isReserved(info.collection),
                fields.origin == .protected
            else { return }
            let start = fields.kind == .file ? plaintext.byteCount : fields.contentOffset
            try body(info, plaintext.extracting(start..<plaintext.byteCount))
        }.root.transaction
    }

    /// The number of the vault's last change, by which what was made of its records is known to be of now.
    /// - Throws: `locked`, `damaged`.
    package func lastChange() throws(VaultError) -> UInt64 {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        return try reader.root().transaction
    }

    /// Ends what ``forEachContent(for:_:)`` began.
    package func letGo(of holder: any KeyHolder) { gate.unregister(holder) }
}

extension VaultError {
    static let rekeyUnderWay = VaultError(
        .busy, "the vault is getting new keys; the file can be renamed once it has them")
}
