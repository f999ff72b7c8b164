internal import Cryptography
public import SecretMemory
internal import VaultFormat
internal import VaultHeader
public import VaultStorage
internal import SystemCalls

extension Vault {
    /// Lends a value from locked memory for the time of the closure; nothing is copied.
    /// - Throws: `locked`, `assuranceTooLow`, `reservedCollection`, `recordNotFound`, `damaged`, `tooLarge` for a value
    ///   stored as a file (use ``read(_:in:_:)``), and what `body` throws.
    public func withValue<R: ~Copyable>(
        for name: String, in collection: String = Vault.defaultCollection, _ body: (RawSpan) throws -> R
    ) throws -> R {
        let record = try inlineRecord(name, collection)
        return try record.withContent(body)
    }

    private func inlineRecord(_ name: String, _ collection: String) throws(VaultError) -> LentRecord {
        let record = try gate.lendRecord(collection: collection, name: name)
        guard record.fields.kind != .file else { throw VaultError.storedAsFile }
        guard record.fields.form == .value else { throw VaultError.isItem }
        return record
    }

    /// A copy of a value in locked memory.
    /// - Throws: As ``withValue(for:in:_:)``, and `outOfMemory`.
    public func value(for name: String, in collection: String = Vault.defaultCollection) throws -> SecretBytes {
        let record = try inlineRecord(name, collection)
        return try record.withContent { try SecretBytes(copying: $0) }
    }

    /// Stores a value of at most 1 MiB; durable when it returns.
    /// - Throws: `locked`, `assuranceTooLow`, `reservedCollection`, `recordExists` unless `replacing`, `invalidName`,
    ///   `tooLarge`, `diskFull`, `readOnly`, `keysChanged`. After an error the vault is as it was before.
    public func put(
        _ value: borrowing SecretBytes, for name: String, in collection: String = Vault.defaultCollection,
        replacing: Bool = false
    ) throws(VaultError) {
        try value.withBytes { value throws(VaultError) in
            try put(bytes: value, for: name, in: collection, replacing: replacing)
        }
    }

    /// As ``put(_:for:in:replacing:)``, for bytes that the caller keeps.
    public func put(
        bytes: RawSpan, for name: String, in collection: String = Vault.defaultCollection, replacing: Bool = false
    ) throws(VaultError) {
        guard bytes.byteCount <= Vault.largestInlineValue else { throw .tooLarge }
        guard RecordLimits.allow(collection: collection, name: name) else { throw .invalidName }
        let draft = RecordDraft(
            collection: collection, name: name, replacing: replacing, now: WallClock.milliseconds)
        try store(draft, bytes)
    }

    /// Writes one record, joined with whatever other threads write at the same time.
    /// - Parameter reserved: Whether it is of our own parts.
    func store(_ draft: RecordDraft, _ bytes: RawSpan, reserved: Bool = false) throws(VaultError) {
        let vault = try gate.enter()
        defer { gate.leave() }
        if draft.moving == nil { try vault.keys.admission.check(draft.collection, reserved: reserved) }
        // A span cannot be captured; the buffer is valid until the call returns, and the call waits for the write.
        let released = try unsafe bytes.withUnsafeBytes { buffer throws(VaultError) in
            try vault.queue.join { session throws(VaultError) in
                try unsafe session.put(draft, content: RawSpan(_unsafeBytes: buffer))
            }
        }
        FileStore.remove(released, in: home)
    }

    /// Removes a record, and its file where it has one.
    /// - Throws: `locked`, `assuranceTooLow`, `reservedCollection`, `recordNotFound`, `damaged`, `readOnly`,
    ///   `keysChanged`.
    public func delete(_ name: String, in collection: String = Vault.defaultCollection) throws(VaultError) {
        try delete(name, collection, reserved: false)
    }

    func delete(_ name: String, _ collection: String, reserved: Bool) throws(VaultError) {
        let vault = try gate.enter()
        defer { gate.leave() }
        try vault.keys.admission.check(collection, reserved: reserved)
        let released = try vault.queue.join { session throws(VaultError) in
            try session.delete(collection: collection, name: name)
        }
        FileStore.remove(released, in: home)
    }

    /// Runs many changes as one transaction: all of them are stored, or none.
    ///
    /// `body` runs on the calling thread; one flush of the disk serves all its changes.
    /// - Throws: `locked`, what the changes throw, and what `body` throws; then nothing was changed.
    public func write(_ body: (inout WriteSession) throws -> Void) throws {
        try write(isRepeatable: false, body)
    }

    /// As ``write(_:)``.
    /// - Parameter isRepeatable: Whether `body` may run again, where what it writes did not fit into the database and
    ///   room was made.
    package func write(isRepeatable: Bool, _ body: (inout WriteSession) throws -> Void) throws {
        let vault = try gate.enter()
        defer { gate.leave() }
        var failure: (any Error)?
        let released: [String]
        do throws(VaultError) {
            released = try vault.queue.perform(isRepeatable: isRepeatable) { session throws(VaultError) in
                do {
                    try body(&session)
                } catch let error as VaultError {
                    throw error
                } catch {
                    failure = error
                    throw VaultError(.inputOutput, "the batch was given up by its own closure")
                }
            }
        } catch { throw failure ?? error }
        FileStore.remove(released, in: home)
    }

    /// What is known of a record without its content.
    public struct RecordInfo: Sendable, Hashable {
        /// The collection it is in.
        public let collection: String
        /// Its name there.
        public let name: String
        /// Bytes of content.
        package let size: UInt64
        /// Milliseconds since 1970, by the clock of the machine that wrote it.
        public let created: Int64
        /// As ``created``, of the last write.
        package let modified: Int64
        /// Whether the content lies in an encrypted file of its own.
        package let isFile: Bool
        /// Whether it is an item with fields, and no plain value.
        package let isItem: Bool
        /// Who wrote it: the user, or anyone while the vault was locked.
        package let origin: RecordOrigin
        /// It is sealed to the vault and waits in the open compartment: its own name and size are not known yet.
        package let isSealed: Bool

        package init(
            collection: String, name: String, size: UInt64, created: Int64, modified: Int64, isFile: Bool,
            isItem: Bool = false, origin: RecordOrigin, isSealed: Bool
        ) {
            self.collection = collection
            self.name = name
            self.size = size
            self.created = created
            self.modified = modified
            self.isFile = isFile
            self.isItem = isItem
            self.origin = origin
            self.isSealed = isSealed
        }
    }

    /// The records of one collection, or of all, sorted by collection and name, and those whose names differ in nothing
    /// but how they are composed by their bytes.
    ///
    /// Names are encrypted, so every record is decrypted on the way. Among all, those that this unlock does not reach
    /// are left out, and so are the reserved ones that hold the device's own things, and items in the
    /// trash.
    /// - Throws: `locked`, `assuranceTooLow`, `reservedCollection`, `damaged` when a record cannot be read
    ///   (``verify(progress:)`` tells which).
    public func records(in collection: String? = nil) throws(VaultError) -> [RecordInfo] {
        let reader = try gate.enterWithReader()
        defer { gate.leave(returning: reader) }
        let admission = reader.keys.admission
        if let collection { try admission.check(collection) }
        var listing = RecordListing(of: collection, reachedBy: admission)
        // Not asked each time, as that takes a lock, but after 64 records or 64 KiB: a lock waits for no more.
        var unasked = 0
        _ = try reader.forEach { visited, plaintext, _ throws(VaultError) in
            unasked += 1024 + plaintext.byteCount
            if unasked >= 65_536 {
                try gate.checkOpen()
                unasked = 0
            }
            guard case .record(let fields, _, _) = visited else { throw .unreadableRecord }
            try listing.add(fields, plaintext)
        }
        try gate.checkOpen()
        return try listing.sorted()
    }

    static func info(_ fields: RecordFields, _ plaintext: RawSpan) -> RecordInfo? {
        guard let name = RecordReader.name(fields, plaintext), let size = contentSize(fields, plaintext) else {
            return nil
        }
        return RecordInfo(name.collection, name.name, size, fields)
    }

    /// Bytes of content, wherever it is; nil for a file's record that does not say it.
    static func contentSize(_ fields: RecordFields, _ plaintext: RawSpan) -> UInt64? {
        guard fields.kind == .file else { return UInt64(plaintext.byteCount - fields.contentOffset) }
        return try? RecordReader.descriptor(fields, plaintext).length
    }
}

extension Vault.RecordInfo {
    init(_ collection: String, _ name: String, _ size: UInt64, _ fields: RecordFields) {
        self.init(
            collection: collection, name: name, size: size, created: fields.created, modified: fields.modified,
            isFile: fields.kind == .file, isItem: fields.form == .item, origin: RecordOrigin(fields.origin),
            isSealed: fields.kind == .sealed)
    }
}

extension WriteSession {
    /// Stores a value of at most 1 MiB as part of the transaction.
    /// - Throws: `recordExists` unless `replacing`, `invalidName`, `tooLarge`, `damaged` when the record to be replaced
    ///   cannot be read.
    public mutating func put(
        _ bytes: RawSpan, for name: String, in collection: String = Vault.defaultCollection, replacing: Bool = false
    ) throws(VaultError) {
        guard bytes.byteCount <= Vault.largestInlineValue else { throw .tooLarge }
        let draft = RecordDraft(
            collection: collection, name: name, replacing: replacing, now: WallClock.milliseconds)
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(collection)
            try put(draft, content: bytes)
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }

    /// Removes a record as part of the transaction.
    /// - Throws: `recordNotFound`, `damaged`.
    public mutating func delete(_ name: String, in collection: String = Vault.defaultCollection) throws(VaultError) {
        let outer = beginChange()
        do throws(VaultError) {
            try admission.check(collection)
            try delete(collection: collection, name: name)
            endChange(outer, nil)
        } catch {
            endChange(outer, error)
            throw error
        }
    }
}

extension VaultError {
    static let tooLarge = VaultError(.tooLarge, "a value of more than 1 MiB must be streamed into a file")
    static let storedAsFile = VaultError(.tooLarge, "this value is stored as a file and must be streamed")
}
