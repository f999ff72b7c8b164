package import Cryptography
internal import SecretMemory
package import VaultFormat

/// One reader: a parked snapshot and a cipher with its buffer. A pool of them serves as many threads.
package final class RecordReader: @unchecked Sendable {  // taken from the pool by one thread at a time
    package let keys: RecordKeys
    /// The unlocking that the keys are of.
    package let generation: UInt64
    // Unchecked, because one thread uses it at a time: the checks would cost a read 2 % of its time.
    @exclusivity(unchecked) private var state: State

    package init(_ keys: RecordKeys, _ database: DatabaseLease, generation: UInt64 = 0) throws(VaultError) {
        self.keys = keys
        self.generation = generation
        unsafe state = State(transaction: try ReadTransaction(database), cipher: try RecordCipher(keys))
    }

    /// Finds a record, decrypts it into locked memory and lends its fields and its plaintext.
    @inline(__always)
    package func withRecord<R: ~Copyable>(
        collection: String, name: String, _ body: (RecordFields, RawSpan, EpochKeys) throws -> R
    ) throws -> R {
        try unsafe state.withRecord(collection: collection, name: name, keys, body)
    }

    /// A record in the buffer.
    @safe package struct Opened {
        package let size: Int
        package let fields: RecordFields
        /// In the buffer, and so good until that is wiped.
        package let content: UnsafeRawBufferPointer
    }

    /// Finds a record and decrypts it into the buffer; the caller wipes it in the end. After a failure nothing is
    /// there.
    package func open(collection: String, name: String) -> Result<Opened, VaultError> {
        do throws(VaultError) {
            try keys.admission.check(collection)
            let size = try unsafe state.open(collection: collection, name: name, keys).size
            do throws(VaultError) {
                return .success(try unsafe state.cipher.withPlaintext(size, RecordReader.opened))
            } catch {
                wipe(size)
                throw error
            }
        } catch { return .failure(error) }
    }

    private static func opened(_ plaintext: RawSpan) throws(VaultError) -> Opened {
        let fields = try fields(plaintext)
        let content = plaintext.extracting(fields.contentOffset..<plaintext.byteCount)
        return unsafe Opened(size: plaintext.byteCount, fields: fields, content: content.withUnsafeBytes { unsafe $0 })
    }

    package func wipe(_ size: Int) { unsafe state.cipher.wipe(size) }

    /// The root record of now.
    /// - Throws: `damaged` when the database is not in the state that its last writer left.
    package func root(evenIfDamaged: Bool = false) throws(VaultError) -> RootRecord {
        try unsafe state.root(evenIfDamaged: evenIfDamaged)
    }

    /// Decrypts every record of one snapshot in database order. `plaintext` is empty for a damaged one.
    /// - Parameter searching: Whether each must also be found by its key: a damaged inner page may hide it.
    /// - Returns: The root record of the same snapshot, and whether the snapshot is the one that it was written in.
    package func forEach(
        searching: Bool = false, _ body: (Visited, RawSpan, Int) throws(VaultError) -> Void
    ) throws(VaultError) -> (root: RootRecord, isOfSnapshot: Bool) {
        try unsafe state.forEach(keys, searching: searching, body)
    }

    /// One entry of the database while all are visited.
    package enum Visited {
        case record(RecordFields, Digest, EpochKeys)
        case damaged(Digest?)
    }

    package static func fields(_ plaintext: RawSpan) throws(VaultError) -> RecordFields {
        do throws(FormatError) { return try RecordFields(parsing: plaintext) } catch { throw .damagedRecord }
    }
}

extension RecordReader {
    /// All of a reader in one value: an operation is checked for exclusive access once, not at each of its steps.
    struct State: ~Copyable {
        let transaction: ReadTransaction
        var cipher: RecordCipher
    }
}

extension RecordReader.State {
    @inline(__always)
    mutating func withRecord<R: ~Copyable>(
        collection: String, name: String, _ keys: RecordKeys, _ body: (RecordFields, RawSpan, EpochKeys) throws -> R
    ) throws -> R {
        let (size, epoch) = try open(collection: collection, name: name, keys)
        defer { cipher.wipe(size) }
        return try cipher.withPlaintext(size) { plaintext in
            try body(RecordReader.fields(plaintext), plaintext, keys.epochs[epoch])
        }
    }

    /// Decrypts a record into the cipher's buffer; the snapshot is over when this returns. Not generic, unlike its
    /// caller, so that the whole of the work is compiled as one.
    /// - Returns: The size of the plaintext, and the epoch's place among those that there are keys of.
    mutating func open(
        collection: String, name: String, _ keys: RecordKeys
    ) throws(VaultError) -> (size: Int, epoch: Int) {
        try transaction.renew()
        defer { transaction.park() }
        if let size = try open(collection: collection, name: name, keys.current) { return (size, 0) }
        for index in keys.epochs.indices.dropFirst() {
            if let size = try open(collection: collection, name: name, keys.epochs[index]) { return (size, index) }
        }
        try checkKeysAreCurrent(keys)
        throw .recordNotFound
    }

    private mutating func open(collection: String, name: String, _ epoch: EpochKeys) throws(VaultError) -> Int? {
        let key = try epoch.lookupKey(collection: collection, name: name)
        return try key.withBytes { key throws(VaultError) in
            try transaction.withValue(key, failure: { $0 }) { value throws(VaultError) -> Int? in
                guard let value else { return nil }
                return try cipher.open(value, lookupKey: key)
            }
        }
    }

    /// A record that is not there may be one that another process moved to new keys.
    private func checkKeysAreCurrent(_ keys: RecordKeys) throws(VaultError) {
        let epoch = try rootEpoch()
        if !keys.epochs.contains(where: { $0.epoch == epoch }) { throw .keysChanged }
    }

    private func rootEpoch() throws(VaultError) -> UInt32 {
        let rootKey = RootRecord.databaseKey
        return try unsafe transaction.withValue(rootKey.span.bytes, in: .main, failure: { $0 }) {
            value throws(VaultError) -> UInt32 in
            guard let value else { throw .missingRoot }
            return try RecordCipher.epoch(of: value)
        }
    }

    mutating func root(evenIfDamaged: Bool) throws(VaultError) -> RootRecord {
        try transaction.renewForMain()
        defer { transaction.park() }
        let root = try openRoot()
        guard evenIfDamaged || root.isOf(snapshot: transaction.number) else { throw .foreignState }
        return root
    }

    private mutating func openRoot() throws(VaultError) -> RootRecord {
        let rootKey = RootRecord.databaseKey
        let size = try unsafe transaction.withValue(rootKey.span.bytes, in: .main, failure: { $0 }) {
            value throws(VaultError) -> Int in
            guard let value else { throw .missingRoot }
            return try cipher.openRoot(value)
        }
        defer { cipher.wipe(size) }
        return try cipher.withPlaintext(size) { plaintext throws(VaultError) in
            do throws(FormatError) { return try RootRecord(parsing: plaintext) } catch { throw .damagedRecord }
        }
    }

    /// Whether a search finds a key that ``forEach(_:searching:_:)`` visits: a damaged inner page hides it from one and
    /// not the other.
    func isFound(_ lookup: Digest) throws(VaultError) -> Bool {
        try lookup.withBytes { key throws(VaultError) in
            try transaction.withValue(key, failure: { $0 }) { value throws(VaultError) -> Bool in
                guard value != nil else { return false }
                return true
            }
        }
    }

    mutating func forEach(
        _ keys: RecordKeys, searching: Bool,
        _ body: (RecordReader.Visited, RawSpan, Int) throws(VaultError) -> Void
    ) throws(VaultError) -> (root: RootRecord, isOfSnapshot: Bool) {
        try transaction.renew()
        defer { transaction.park() }
        let root = try openRoot()
        let isOfSnapshot = root.isOf(snapshot: transaction.number)
        let total = try transaction.count()
        let empty: [UInt8] = []
        try transaction.forEach(in: .main, failure: { $0 }) { key, _ throws(VaultError) in
            if RootRecord.isDatabaseKey(key) || DatabaseTrees.isNameOfRecords(key) { return }
            try unsafe body(.damaged(nil), empty.span.bytes, total)
        }
        try transaction.forEach(failure: { $0 }) { key, value throws(VaultError) in
            guard let lookup = Digest(copying: key) else {
                return try unsafe body(.damaged(nil), empty.span.bytes, total)
            }
            let size: Int
            let epoch: EpochKeys
            do throws(VaultError) {
                epoch = try keys.epoch(RecordCipher.epoch(of: value))
                if searching, try !isFound(lookup) { throw .damagedRecord }
                size = try cipher.open(value, lookupKey: key)
            } catch let error where error.code == .damaged || error.code == .keysChanged {
                return try unsafe body(.damaged(lookup), empty.span.bytes, total)
            }
            defer { cipher.wipe(size) }
            try cipher.withPlaintext(size) { plaintext throws(VaultError) in
                try body(.record(RecordReader.fields(plaintext), lookup, epoch), plaintext, total)
            }
        }
        return (root, isOfSnapshot)
    }
}

extension RootRecord {
    /// Whether this record was written by the transaction that the snapshot shows. A compacted copy begins at 1 again.
    package func isOf(snapshot number: UInt64) -> Bool { transaction == number || number == 1 }
}

extension VaultError {
    static let foreignState = VaultError.damaged(
        "the database is not as Holdfast left it: older than it says, or changed by something else")
    package static let recordNotFound = VaultError(.recordNotFound, "there is no entry of this name")
    package static let recordExists = VaultError(.recordExists, "an entry of this name exists")
    static let missingRoot = VaultError.damaged("the root record is missing: records were lost")
}

extension RecordReader {
    /// Collection and name in an authenticated plaintext; nil when they are not text of an allowed size.
    package static func name(_ fields: RecordFields, _ plaintext: RawSpan) -> RecordName? {
        let collectionEnd = RecordFields.size + fields.collectionSize
        let texts = [RecordFields.size..<collectionEnd, collectionEnd..<collectionEnd + fields.nameSize].map { range in
            unsafe plaintext.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
        }
        guard let collection = texts[0], let name = texts[1] else { return nil }
        return RecordName(collection: collection, name: name)
    }

    /// Where a file record's content lies.
    package static func descriptor(_ fields: RecordFields, _ plaintext: RawSpan) throws(VaultError) -> FileDescriptor {
        do throws(FormatError) {
            return try FileDescriptor(parsing: plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
        } catch { throw .damagedRecord }
    }
}
