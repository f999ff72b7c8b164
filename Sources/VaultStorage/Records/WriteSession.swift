package import Cryptography
internal import SecretMemory
internal import SystemCalls
package import VaultFormat

/// What the one writer of a vault keeps between transactions.
package final class WriterState: @unchecked Sendable {  // used by the leader of the write queue only
    let keys: RecordKeys
    let database: DatabaseLease
    var sealer: RecordSealer
    /// What the last commit wrote: still the root record when the next transaction's number is the next one.
    var written: RootRecord?
    /// Its `flock` stands before LMDB's own mutex, which could not be waited for with an end. With our own locks a
    /// transaction takes it, for readers too.
    private let lockedFile: DurableFile
    private var usesLock: Bool { database.environment.exclusion.locks == .ofLMDB }

    /// Milliseconds that another writer is waited for.
    static let patience = DatabaseExclusion.patience
    /// The same for the transaction that comes.
    fileprivate var patience = WriterState.patience

    /// - Throws: `busy` when another writes for long.
    package func lock(patience: Int = WriterState.patience) throws(VaultError) {
        self.patience = patience
        database.environment.exclusion.beginTry()
        guard usesLock else { return }
        try lockedFile.lock(
            exclusive: true, patience: patience,
            orBusy: "another process has been writing for a long time")
    }

    package func unlock() { if usesLock { lockedFile.unlock() } }

    /// Whether a transaction that failed may be run again, because it did not fit into the map, which can grow.
    func makesRoom() -> Bool { database.environment.exclusion.makesMoreRoom() }

    package init(_ keys: RecordKeys, _ database: DatabaseLease, in home: HomeDirectory) throws(VaultError) {
        let name = database.environment.name.file
        guard let file = try home.openFile(name, O_RDONLY) else {
            throw .damaged("\(name) is missing")
        }
        lockedFile = file
        self.keys = keys
        self.database = database
        sealer = try RecordSealer(keys)
    }
}

/// What a record will hold, beside its content.
package struct RecordDraft {
    package let collection: String
    let name: String
    package var kind = RecordFields.Kind.inline
    package var replacing = false
    /// Set when a record is only moved to new keys: times stay, and it must still be the write with this number.
    package var moving: RecordFields?
    package var origin = RecordFields.Origin.protected
    /// What the content is; a moved record keeps what it has.
    package var form = RecordFields.Form.value
    /// Stands before the content of an inbox item; a moved one has it in its content already.
    package var label: RecordLabel?
    /// When it was written first, where that was in another compartment.
    package var created: Int64?
    /// Places of which none may have a record if this one is new.
    package var besides: [RecordName] = []
    /// Milliseconds since 1970.
    let now: Int64

    package init(
        collection: String, name: String, kind: RecordFields.Kind = .inline, replacing: Bool = false,
        moving: RecordFields? = nil, origin: RecordFields.Origin = .protected, form: RecordFields.Form = .value,
        label: RecordLabel? = nil, created: Int64? = nil, now: Int64
    ) {
        self.collection = collection
        self.name = name
        self.kind = kind
        self.replacing = replacing
        self.moving = moving
        self.origin = origin
        self.form = form
        self.label = label
        self.created = created
        self.now = now
    }

    /// Names that begin with a zero byte are those of items in the trash. What comes from the open compartment keeps
    /// the name that its writer chose, and is never an item.
    var mayUseItsName: Bool { form == .item || moving != nil || kind == .inbox || !Admission.isReservedName(name) }
}

/// One transaction: the root record is read first, changed with every write, and written last.
public struct WriteSession: ~Copyable {
    private let state: WriterState
    private let transaction: WriteTransaction
    private var root: RootRecord
    /// A write that failed after it changed something: the rest of the transaction cannot be kept either.
    private var isBroken = false
    /// Whether anything was changed since the session began.
    private var isChanged = false
    /// Whether the write that runs now has changed anything yet.
    private(set) var operationChanged = false
    /// Encrypted files that no record names any more once this commits.
    private(set) var releasedFiles: [String] = []

    /// - Throws: `keysChanged` when another process moved the vault to keys that we do not have.
    package init(_ state: WriterState) throws(VaultError) {
        let transaction = try WriteTransaction(state.database, patience: state.patience)
        if let root = state.written, root.transaction == transaction.number &- 1 {
            self.root = root
        } else {
            root = try WriteSession.readRoot(state, transaction)
        }
        self.state = state
        self.transaction = transaction
    }

    private static func readRoot(
        _ state: WriterState, _ transaction: borrowing WriteTransaction
    ) throws(VaultError) -> RootRecord {
        let rootKey = RootRecord.databaseKey
        var isOlderEpoch = false
        let size = try unsafe transaction.withValue(rootKey.span.bytes, in: .main) {
            value throws(VaultError) -> Int in
            guard let value else { throw .missingRoot }
            isOlderEpoch = try RecordCipher.epoch(of: value) != state.keys.current.epoch
            return try state.sealer.cipher.openRoot(value)
        }
        defer { state.sealer.cipher.wipe(size) }
        var root = try state.sealer.cipher.withPlaintext(size) { plaintext throws(VaultError) in
            do throws(FormatError) { return try RootRecord(parsing: plaintext) } catch { throw .damagedRecord }
        }
        guard root.isOf(snapshot: transaction.number &- 1) else { throw .foreignState }
        if isOlderEpoch { root.seals = 0 }
        return root
    }

    /// The number of this transaction: one more than that of the last one that was committed.
    package var number: UInt64 { transaction.number }

    /// What a caller's closure may touch.
    package var admission: Admission { state.keys.admission }

    /// Brackets one change of a caller's closure: when it fails halfway nothing of the transaction may be kept, even if
    /// the closure swallows the error and continues.
    package mutating func beginChange() -> Bool {
        defer { operationChanged = false }
        return operationChanged
    }

    package mutating func endChange(_ outer: Bool, _ error: VaultError?) {
        if let error, operationChanged || !error.leavesTransactionWhole { isBroken = true }
        operationChanged = operationChanged || outer
    }

    /// Marks where one of several joined writes begins.
    package mutating func beginOperation() { operationChanged = false }

    private mutating func markChanged() {
        isChanged = true
        operationChanged = true
    }

    /// Makes everything durable.
    package consuming func commit() throws(VaultError) {
        guard !isBroken else { throw .brokenBatch }
        guard isChanged else { return }
        let written = try WriteSession.writeRoot(root, state, transaction)
        state.written = nil
        try transaction.commit()
        state.written = written
    }

    /// - Returns: The record as it is stored.
    @discardableResult
    package static func writeRoot(
        _ root: RootRecord, _ state: WriterState, _ transaction: borrowing WriteTransaction
    ) throws(VaultError) -> RootRecord {
        var root = root
        root.transaction = transaction.number
        root.seals += 1
        guard root.seals < WriteSession.mostSeals else { throw .keysUsedUp }
        let zeros = Digest()
        let empty: [UInt8] = []
        let rootKey = RootRecord.databaseKey
        let (number, plainSize) = (root.transaction, root.size)
        let size = SealedRoot.size(of: plainSize)
        _ = try unsafe transaction.put(rootKey.span.bytes, in: .main, size: size, replacing: true) {
            value throws(VaultError) in
            let sealedSize = size - SealedRoot.numberSize
            value.store(number, at: sealedSize)
            try value.withPart(0..<sealedSize) { value throws(VaultError) in
                try zeros.withBytes { key throws(VaultError) in
                    try unsafe state.sealer.seal(plainSize, empty.span.bytes, lookupKey: key, into: &value) { front in
                        root.write(into: &front)
                    }
                }
            }
        }
        return root
    }

    /// Random 96-bit nonces repeat with a chance of 2^-33 by then (NIST SP 800-38D allows 2^32 values at 2^-32).
    private static let mostSeals: UInt64 = 1 << 31

    /// Writes one record.
    /// - Throws: `recordExists`, with nothing changed; `recordNotFound` when a moved record is gone; `damaged` when
    ///   the record to be replaced cannot be read.
    package mutating func put(_ draft: RecordDraft, content: RawSpan) throws(VaultError) {
        guard draft.mayUseItsName else { throw .invalidName }
        let lookup = try state.keys.current.lookupKey(collection: draft.collection, name: draft.name)
        var fields = RecordFields(
            kind: draft.kind, origin: draft.origin, form: draft.form, sequence: root.nextSequence,
            created: draft.created ?? draft.now,
            modified: draft.now, collectionSize: draft.collection.utf8.count, nameSize: draft.name.utf8.count)
        let label = draft.label?.encoded ?? []
        fields.labelSize = label.count
        // Under older keys there may be a record of this name, which this one then takes the place of.
        var isNew = true
        for epoch in state.keys.epochs.dropFirst() {
            let old = try epoch.lookupKey(collection: draft.collection, name: draft.name)
            guard let existing = try existing(old, epoch) else { continue }
            try replace(existing, over: draft, &fields)
            try remove(old, epoch, existing)
            isNew = false
        }
        var replacing = false
        if draft.replacing || draft.moving != nil,
            let existing = try existing(lookup, state.keys.current)
        {
            try replace(existing, over: draft, &fields)
            try forget(lookup, state.keys.current, existing)
            replacing = true
        }
        if draft.moving != nil && isNew && !replacing { throw .recordNotFound }
        if isNew, !replacing { try requireFree(draft.besides) }
        guard try write(fields, draft, label, content, lookup, replacing: replacing) else { throw .recordExists }
        let term = try state.keys.current.term(lookupKey: lookup, sequence: fields.sequence)
        root.sum.add(term)
        root.count += 1
        root.nextSequence += 1
        root.seals += 1
        markChanged()
    }

    /// Removes one record.
    /// - Throws: `recordNotFound`; `damaged` when it cannot be read.
    package mutating func delete(collection: String, name: String) throws(VaultError) {
        for epoch in state.keys.epochs {
            let lookup = try epoch.lookupKey(collection: collection, name: name)
            guard let existing = try existing(lookup, epoch) else { continue }
            try remove(lookup, epoch, existing)
            return
        }
        throw .recordNotFound
    }

    /// A record as it is before a change.
    struct Existing {
        let fields: RecordFields
        let fileName: String?
    }

    private mutating func existing(_ lookup: Digest, _ epoch: EpochKeys) throws(VaultError) -> Existing? {
        let size = try lookup.withBytes { key throws(VaultError) in
            try transaction.withValue(key) { value throws(VaultError) -> Int? in
                guard let value else { return nil }
                return try state.sealer.cipher.open(value, lookupKey: key)
            }
        }
        guard let size else { return nil }
        defer { state.sealer.cipher.wipe(size) }
        return try state.sealer.cipher.withPlaintext(size) { plaintext throws(VaultError) in
            let fields = try RecordReader.fields(plaintext)
            guard fields.kind == .file else { return Existing(fields: fields, fileName: nil) }
            let descriptor = try RecordReader.descriptor(fields, plaintext)
            return Existing(fields: fields, fileName: descriptor.fileName)
        }
    }

    /// Lends a record as it is before this transaction's next change; nil when there is none.
    package mutating func withRecord<R: ~Copyable>(
        collection: String, name: String, _ body: (RecordFields, RawSpan) throws(VaultError) -> R
    ) throws(VaultError) -> R? {
        for epoch in state.keys.epochs {
            let lookup = try epoch.lookupKey(collection: collection, name: name)
            let size = try lookup.withBytes { key throws(VaultError) in
                try transaction.withValue(key) { value throws(VaultError) -> Int? in
                    guard let value else { return nil }
                    return try state.sealer.cipher.open(value, lookupKey: key)
                }
            }
            guard let size else { continue }
            defer { state.sealer.cipher.wipe(size) }
            return try state.sealer.cipher.withPlaintext(size) { plaintext throws(VaultError) in
                try body(RecordReader.fields(plaintext), plaintext)
            }
        }
        return nil
    }

    /// - Throws: `recordExists` where there is a record at one of these places.
    package mutating func requireFree(_ places: [RecordName]) throws(VaultError) {
        for place in places {
            for epoch in state.keys.epochs {
                let lookup = try epoch.lookupKey(collection: place.collection, name: place.name)
                let isThere = try lookup.withBytes { key throws(VaultError) in
                    try transaction.withValue(key) { value throws(VaultError) in value != nil }
                }
                if isThere { throw .recordExists }
            }
        }
    }

    /// Whether a record lies under the newest keys.
    package mutating func isCurrent(collection: String, name: String) throws(VaultError) -> Bool {
        try existing(state.keys.current.lookupKey(collection: collection, name: name), state.keys.current) != nil
    }

    /// Keeps a file that the last change let go of, because another record of this transaction names it now.
    package mutating func keepFile(_ name: String) {
        if let index = releasedFiles.lastIndex(of: name) { releasedFiles.remove(at: index) }
    }

    /// The new record keeps the old one's creation time; a moved one must still be the write it was.
    private func replace(_ old: Existing, over draft: RecordDraft, _ fields: inout RecordFields) throws(VaultError) {
        if let moving = draft.moving {
            guard moving.sequence == old.fields.sequence else { throw .recordNotFound }
            fields.modified = old.fields.modified
            fields.origin = old.fields.origin
            fields.form = old.fields.form
        } else if !draft.replacing {
            throw .recordExists
        } else if draft.form == .value, old.fields.form == .item {
            throw .isItem
        }
        fields.created = old.fields.created
    }

    private mutating func remove(_ lookup: Digest, _ epoch: EpochKeys, _ existing: Existing) throws(VaultError) {
        try forget(lookup, epoch, existing)
        try lookup.withBytes { key throws(VaultError) in _ = try transaction.delete(key) }
    }

    /// Takes a record out of the root's count and sum.
    private mutating func forget(_ lookup: Digest, _ epoch: EpochKeys, _ existing: Existing) throws(VaultError) {
        root.sum.subtract(try epoch.term(lookupKey: lookup, sequence: existing.fields.sequence))
        root.count &-= 1
        markChanged()
        if let file = existing.fileName { releasedFiles.append(file) }
    }

    private mutating func write(
        _ fields: RecordFields, _ draft: RecordDraft, _ label: [UInt8], _ content: RawSpan, _ lookup: Digest,
        replacing: Bool
    ) throws(VaultError) -> Bool {
        let state = state
        let frontSize = fields.contentOffset
        let size = frontSize + content.byteCount + SealedRecord.overhead
        return try lookup.withBytes { key throws(VaultError) in
            try transaction.put(key, size: size, replacing: replacing) { value throws(VaultError) in
                try state.sealer.seal(frontSize, content, lookupKey: key, into: &value) { front in
                    fields.write(into: &front)
                    var position = front.store(draft.collection, at: RecordFields.size)
                    position = front.store(draft.name, at: position)
                    for byte in label {
                        front.store(byte, at: position)
                        position += 1
                    }
                }
            }
        }
    }
}

extension WriteSession {
    /// Records under older keys among the next `limit` entries from `start`, and where to continue; nil at the end.
    package func outdated(from start: [UInt8], limit: Int) throws(VaultError) -> (records: [Digest], next: [UInt8]?) {
        let keys = try transaction.keys(from: start, limit: limit + 1)
        var found: [Digest] = []
        for key in keys.prefix(limit) {
            guard let lookup = unsafe Digest(copying: key.span.bytes) else { continue }
            let epoch = try lookup.withBytes { key throws(VaultError) in
                try transaction.withValue(key) { value throws(VaultError) in
                    guard let value else { return UInt32?.none }
                    return try RecordCipher.epoch(of: value)
                }
            }
            if let epoch, epoch != state.keys.current.epoch { found.append(lookup) }
        }
        return (found, keys.count > limit ? keys[limit] : nil)
    }

    /// Moves one record to the newest keys. A record with its content in a file is left to the caller, which writes the
    /// file again.
    package mutating func move(_ lookup: Digest, now: Int64) throws(VaultError) -> Moved {
        let state = state
        let size: Int?
        do throws(VaultError) {
            size = try lookup.withBytes { key throws(VaultError) in
                try transaction.withValue(key) { value throws(VaultError) -> Int? in
                    guard let value else { return nil }
                    return try state.sealer.cipher.open(value, lookupKey: key)
                }
            }
        } catch {
            // Nobody reads it with any key: it stays as it is, and keeps nothing else from moving.
            guard error.code == .damaged else { throw error }
            return .misfit
        }
        guard let size else { return .done }
        let fields = try state.sealer.cipher.withPlaintext(size) { plaintext throws(VaultError) in
            try RecordReader.fields(plaintext)
        }
        let record = state.sealer.cipher.withPlaintext(size) { RecordReader.name(fields, $0) }
        let content = try state.sealer.cipher.withPlaintext(size) { plaintext throws(VaultError) in
            try secretMemory(SecretBytes(copying: plaintext.extracting(fields.labelOffset..<size)))
        }
        state.sealer.cipher.wipe(size)
        guard let record else { throw .damagedRecord }
        if fields.kind == .file { return .file(record) }
        let draft = RecordDraft(
            collection: record.collection, name: record.name, kind: fields.kind, moving: fields, now: now)
        try content.withBytes { content throws(VaultError) in try put(draft, content: content) }
        return .done
    }

    /// The outcome of a record that was to move to the newest keys.
    package enum Moved: Sendable {
        /// It is under them, or there no more.
        case done
        /// It has a file, which its caller writes again.
        case file(RecordName)
        /// Its keys do not open it: it is left as it is.
        case misfit
    }

    /// Number of records.
    package var count: UInt64 { root.count }

    /// The number of the vault's last change before this transaction.
    package var lastChange: UInt64 { root.transaction }

    /// Bytes of the database's pages in use, those that this transaction has written included.
    package func usedBytes() throws(VaultError) -> Int { try transaction.usedBytes() }

    /// How far the open compartment was taken in.
    var openMark: OpenMark? { root.mark }

    /// Stored with everything else in this transaction, or not at all.
    package mutating func set(openMark: OpenMark) {
        root.mark = openMark
        markChanged()
    }

    /// Forces the root record to be written under the newest keys, which shuts out writers that lack them.
    package mutating func touch() { markChanged() }
}

extension VaultError {
    /// Whether the database transaction can continue after this error.
    var leavesTransactionWhole: Bool {
        code == .recordExists || code == .recordNotFound || code == .invalidName || code == .tooLarge
            || code == .assuranceTooLow || code == .isItem
    }

    package static let isItem = VaultError(.isItem, "this is an entry with fields, not a plain value")
    static let brokenBatch = VaultError(
        .inputOutput, "a change in the batch failed halfway, so nothing of the batch was stored")
    static let keysUsedUp = VaultError(
        .keysWornOut, "the vault's keys have encrypted 2^31 values, and may not encrypt more")
}

/// Who wrote a record.
package enum RecordOrigin: String, Sendable, Hashable, CaseIterable {
    /// The user, with the vault unlocked, or by accepting it.
    case protected = "protected"
    /// Anyone, while the vault was locked; the user has not accepted it yet.
    case open = "open"

    package init(_ origin: RecordFields.Origin) {
        switch origin {
        case .protected: self = .protected
        case .open: self = .open
        }
    }
}
