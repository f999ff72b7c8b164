internal import CLMDB
internal import Cryptography
internal import VaultFormat

/// The two trees of a database.
///
/// The root record changes with every commit. Among the records it would have a branch and a leaf of its own written
/// each time; the main tree is one page, which every commit writes in any case, because LMDB keeps in it where the
/// records are.
struct DatabaseTrees: Sendable {
    enum Name {
        /// LMDB's unnamed tree: the root record, and where the other tree is.
        case main
        case records
    }

    /// What LMDB calls the tree of the records, and its key in the main tree.
    static let nameOfRecords = "records"

    static func isNameOfRecords(_ key: RawSpan) -> Bool {
        let name = nameOfRecords.utf8
        return key.byteCount == name.count
            && zip(0..<key.byteCount, name).allSatisfy { key.integer(at: $0, as: UInt8.self) == $1 }
    }

    private let main: MDB_dbi
    private let records: MDB_dbi

    @inline(__always)
    subscript(name: Name) -> MDB_dbi { name == .main ? main : records }

    /// Opens both in a read transaction, which does not wait for writers.
    /// - Parameter creating: Whether the tree of the records is made, in a transaction that writes.
    /// - Throws: `damaged` when they are not as Holdfast makes them; `newerVersion` for an unreleased build's database,
    ///   which has the main tree only.
    init(_ handle: OpaquePointer, creating: Bool) throws(VaultError) {
        var transaction: OpaquePointer?
        try database("reading the database") {
            unsafe mdb_txn_begin(handle, nil, creating ? 0 : UInt32(MDB_RDONLY), &transaction)
        }
        do throws(VaultError) {
            main = try unsafe DatabaseTrees.open(nil, 0, transaction)
            records = try unsafe DatabaseTrees.open(
                DatabaseTrees.nameOfRecords, creating ? UInt32(MDB_CREATE) : 0, transaction)
        } catch {
            unsafe mdb_txn_abort(transaction)
            throw error
        }
        let committed = unsafe mdb_txn_commit(transaction)
        guard committed == 0 else { throw .database(committed, "reading the database") }
    }

    private static func open(
        _ name: String?, _ options: UInt32, _ transaction: OpaquePointer?
    ) throws(VaultError) -> MDB_dbi {
        var tree: MDB_dbi = 0
        var flags: UInt32 = 0
        let code = unsafe mdb_dbi_open(transaction, name, options, &tree)
        if code == MDB_NOTFOUND { throw unsafe missingRecords(transaction) }
        guard code == 0 else { throw .database(code, "reading the database") }
        try database("reading the database") { unsafe mdb_dbi_flags(transaction, tree, &flags) }
        // They say how keys are ordered; records would be looked for, and stored, in wrong places.
        guard flags == 0 else { throw .damaged("the database has flags that were never set") }
        return tree
    }

    /// Tells an unreleased build's database from one whose tree of records was taken away: its main tree is as a writer
    /// of ours left it, and has the root record first and a record next, if any.
    private static func missingRecords(_ transaction: OpaquePointer?) -> VaultError {
        let missing = VaultError.damaged("the database: the tree of its records is missing")
        var main: MDB_dbi = 0
        var cursor: OpaquePointer?
        guard unsafe mdb_dbi_open(transaction, nil, 0, &main) == 0,
            unsafe mdb_cursor_open(transaction, main, &cursor) == 0
        else { return missing }
        defer { unsafe mdb_cursor_close(cursor) }
        var key = unsafe MDB_val()
        var value = unsafe MDB_val()
        guard unsafe mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == 0,
            unsafe RootRecord.isDatabaseKey(RawSpan(_unsafeBytes: key.bytes)),
            let number = unsafe SealedRoot.transaction(
                ofValueAt: 0, size: value.mv_size, in: RawSpan(_unsafeBytes: value.bytes))
        else { return missing }
        let snapshot = unsafe UInt64(truncatingIfNeeded: mdb_txn_id(transaction))
        guard number == snapshot || snapshot == 1 else { return missing }
        switch unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT) {
        case MDB_NOTFOUND: return .unreleasedLayout
        case 0 where unsafe Digest(copying: RawSpan(_unsafeBytes: key.bytes)) != nil: return .unreleasedLayout
        default: return missing
        }
    }
}

extension VaultError {
    /// Builds from before the first release kept records and root record in one tree.
    static let unreleasedLayout = VaultError(
        .newerVersion,
        "the database was made by a build from before the first release, with the records in another place")
}
