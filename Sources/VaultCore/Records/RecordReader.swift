internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// One reader: a parked snapshot and a cipher with its buffer. A pool of them serves as many threads.
final class RecordReader: @unchecked Sendable {  // taken from the pool by one thread at a time
    private let keys: UnlockedKeys
    private let transaction: ReadTransaction
    private let cipher: RecordCipher

    init(_ keys: UnlockedKeys, _ database: DatabaseLease) throws(VaultError) {
        self.keys = keys
        transaction = try ReadTransaction(database)
        cipher = try RecordCipher(keys)
    }

    /// Finds a record, decrypts it into locked memory and lends its fields and its plaintext.
    func withRecord<R: ~Copyable>(
        collection: String, name: String, _ body: (RecordFields, RawSpan, EpochKeys) throws -> R
    ) throws -> R {
        try transaction.renew()
        defer { transaction.park() }
        for epoch in keys.epochs {
            let key = try epoch.lookupKey(collection: collection, name: name)
            let size = try key.withBytes { key in
                try transaction.withValue(key, failure: { $0 as any Error }) { value -> Int? in
                    guard let value else { return nil }
                    return try cipher.open(value, lookupKey: key)
                }
            }
            guard let size else { continue }
            defer { cipher.wipe(size) }
            return try cipher.withPlaintext(size) { plaintext in
                try body(RecordReader.fields(plaintext), plaintext, epoch)
            }
        }
        try checkKeysAreCurrent()
        throw VaultError.recordNotFound
    }

    static func fields(_ plaintext: RawSpan) throws(VaultError) -> RecordFields {
        do throws(FormatError) { return try RecordFields(parsing: plaintext) } catch { throw .damagedRecord }
    }

    /// A record that is not there may be one that another process moved to new keys.
    private func checkKeysAreCurrent() throws(VaultError) {
        let epoch = try rootEpoch()
        if !keys.epochs.contains(where: { $0.epoch == epoch }) { throw .keysChanged }
    }

    private func rootEpoch() throws(VaultError) -> UInt32 {
        let rootKey = RootRecord.databaseKey
        return try unsafe transaction.withValue(rootKey.span.bytes, failure: { $0 }) {
            value throws(VaultError) -> UInt32 in
            guard let value else { throw .missingRoot }
            return try RecordCipher.epoch(of: value)
        }
    }

    /// The root record of now.
    /// - Throws: `damaged` when the database is not in the state that its last writer left.
    func root() throws(VaultError) -> RootRecord {
        try transaction.renew()
        defer { transaction.park() }
        let root = try openRoot()
        guard root.isOf(snapshot: transaction.number) else { throw .foreignState }
        return root
    }

    private func openRoot() throws(VaultError) -> RootRecord {
        let rootKey = RootRecord.databaseKey
        let size = try unsafe transaction.withValue(rootKey.span.bytes, failure: { $0 }) {
            value throws(VaultError) -> Int in
            guard let value else { throw .missingRoot }
            return try cipher.openRoot(value)
        }
        defer { cipher.wipe(size) }
        return try cipher.withPlaintext(size) { plaintext throws(VaultError) in
            do throws(FormatError) { return try RootRecord(parsing: plaintext) } catch { throw .damagedRecord }
        }
    }

    /// One entry of the database while all are visited.
    enum Visited {
        case record(RecordFields, Digest, EpochKeys)
        case damaged(Digest?)
    }

    /// Whether a search finds a key that ``forEach(_:)`` visits: a damaged inner page hides it from one and not the other.
    func isFound(_ lookup: Digest) throws(VaultError) -> Bool {
        try lookup.withBytes { key throws(VaultError) in
            try transaction.withValue(key, failure: { $0 }) { value throws(VaultError) -> Bool in
                guard value != nil else { return false }
                return true
            }
        }
    }

    /// Decrypts every record of one snapshot in database order. `plaintext` is empty for a damaged one.
    /// - Returns: The root record of the same snapshot, and whether the snapshot is the one that it was written in.
    func forEach(
        _ body: (Visited, RawSpan, Int) throws(VaultError) -> Void
    ) throws(VaultError) -> (root: RootRecord, isOfSnapshot: Bool) {
        try transaction.renew()
        defer { transaction.park() }
        let root = try openRoot()
        let isOfSnapshot = root.isOf(snapshot: transaction.number)
        let total = try transaction.count()
        let empty: [UInt8] = []
        try transaction.forEach(failure: { $0 }) { key, value throws(VaultError) in
            if key.byteCount == 1, key.integer(at: 0, as: UInt8.self) == RootRecord.databaseKey[0] { return }
            guard let lookup = Digest(copying: key) else {
                return try unsafe body(.damaged(nil), empty.span.bytes, total)
            }
            let size: Int
            let epoch: EpochKeys
            do throws(VaultError) {
                epoch = try keys.epoch(RecordCipher.epoch(of: value))
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
    func isOf(snapshot number: UInt64) -> Bool { transaction == number || number == 1 }
}

extension VaultError {
    static let foreignState = VaultError.damaged(
        "the database is not as Holdfast left it: older than it says, or changed by something else")
    static let recordNotFound = VaultError(.recordNotFound, "there is no record of this name")
    static let recordExists = VaultError(.recordExists, "a record of this name exists; ask to replace it")
    static let missingRoot = VaultError.damaged("the root record is missing: records were lost")
}

extension RecordReader {
    /// Collection and name in an authenticated plaintext; nil when they are not text of an allowed size.
    static func name(_ fields: RecordFields, _ plaintext: RawSpan) -> RecordName? {
        let collectionEnd = RecordFields.size + fields.collectionSize
        let texts = [RecordFields.size..<collectionEnd, collectionEnd..<collectionEnd + fields.nameSize].map { range in
            unsafe plaintext.extracting(range).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
        }
        guard let collection = texts[0], let name = texts[1] else { return nil }
        return RecordName(collection: collection, name: name)
    }

    /// Where a file record's content lies.
    static func descriptor(_ fields: RecordFields, _ plaintext: RawSpan) throws(VaultError) -> FileDescriptor {
        do throws(FormatError) {
            return try FileDescriptor(parsing: plaintext.extracting(fields.contentOffset..<plaintext.byteCount))
        } catch { throw .damagedRecord }
    }
}
