internal import CLMDB
internal import SystemCalls

extension MDB_val {
    /// What LMDB found. In a damaged page it may find nothing at all and say that it did.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}

extension DatabaseTrees {
    fileprivate func statistics(_ tree: Name, _ transaction: OpaquePointer) throws(VaultError) -> MDB_stat {
        var statistics = MDB_stat()
        try database("reading") { unsafe mdb_stat(transaction, self[tree], &statistics) }
        return statistics
    }

    /// Bytes of the pages that entries take.
    fileprivate func usedBytes(_ transaction: OpaquePointer) throws(VaultError) -> Int {
        var sum = 0
        for tree in [Name.main, .records] {
            let found = try unsafe statistics(tree, transaction)
            let pages = found.ms_branch_pages &+ found.ms_leaf_pages &+ found.ms_overflow_pages
            let (bytes, isOverflow) = pages.multipliedReportingOverflow(by: Int(found.ms_psize))
            guard !isOverflow, bytes >= 0, bytes <= Int.max - sum else { return .max }
            sum += bytes
        }
        return sum
    }
}

/// A read transaction that is kept and renewed: a snapshot costs nanoseconds instead of an allocation.
@safe package struct ReadTransaction: ~Copyable, @unchecked Sendable {  // one user at a time; MDB_NOTLS lets it move
    private let handle: OpaquePointer
    private let trees: DatabaseTrees
    private let lease: DatabaseLease

    /// Begins and parks a transaction.
    package init(_ lease: DatabaseLease) throws(VaultError) {
        var transaction: OpaquePointer?
        try VaultStorage.database("reading") {
            unsafe mdb_txn_begin(lease.environment.handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        guard let transaction = unsafe transaction else { throw .damaged("no transaction") }
        unsafe mdb_txn_reset(transaction)
        unsafe handle = transaction
        trees = lease.environment.trees
        self.lease = lease
    }

    deinit { unsafe mdb_txn_abort(handle) }

    /// Takes a snapshot of now; ``park()`` ends it.
    @inline(__always)
    func renew() throws(VaultError) {
        let code = unsafe mdb_txn_renew(handle)
        if code != 0 { throw .database(code, "reading") }
    }

    /// The number of the transaction whose state the snapshot shows.
    var number: UInt64 { unsafe UInt64(truncatingIfNeeded: mdb_txn_id(handle)) }

    @inline(__always)
    func park() { unsafe mdb_txn_reset(handle) }

    /// Lends the value of `key` from the map; nil when there is none. The span must not outlive the snapshot.
    @inline(__always)
    func withValue<R: ~Copyable, E: Error>(
        _ key: RawSpan, in tree: DatabaseTrees.Name = .records, failure: (VaultError) -> E,
        _ body: (RawSpan?) throws(E) -> R
    ) throws(E) -> R {
        let (code, found) = unsafe key.withUnsafeBytes { key in
            var key = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var found = unsafe MDB_val()  // captured from outside, it would be put on the heap
            return unsafe (mdb_get(handle, trees[tree], &key, &found), found)
        }
        switch code {
        case 0: return try unsafe body(RawSpan(_unsafeBytes: found.bytes))
        case MDB_NOTFOUND: return try body(nil)
        default: throw failure(.database(code, "reading"))
        }
    }

    /// Visits every entry in key order.
    func forEach<E: Error>(
        in tree: DatabaseTrees.Name = .records, failure: (VaultError) -> E,
        _ body: (RawSpan, RawSpan) throws(E) -> Void
    ) throws(E) {
        var cursor: OpaquePointer?
        let opened = unsafe mdb_cursor_open(handle, trees[tree], &cursor)
        guard opened == 0 else { throw failure(.database(opened, "reading")) }
        defer { unsafe mdb_cursor_close(cursor) }
        while true {
            var key = unsafe MDB_val()
            var value = unsafe MDB_val()
            let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == MDB_NOTFOUND { return }
            guard code == 0 else { throw failure(.database(code, "reading")) }
            try unsafe body(RawSpan(_unsafeBytes: key.bytes), RawSpan(_unsafeBytes: value.bytes))
        }
    }

    /// Bytes of the pages that the entries take now.
    package consuming func usedBytes() throws(VaultError) -> Int {
        try renew()
        defer { park() }
        return try unsafe trees.usedBytes(handle)
    }

    /// Number of records.
    func count() throws(VaultError) -> Int { try unsafe trees.statistics(.records, handle).ms_entries }
}

/// The one write transaction of a moment. Dropped without ``commit()`` it changes nothing.
@safe package struct WriteTransaction: ~Copyable {
    private let handle: OpaquePointer
    private let trees: DatabaseTrees
    // Unmanaged, because only a value without references can be discarded.
    private let environment: Unmanaged<DatabaseEnvironment>

    /// The number that this transaction has; the state it began with has the one before.
    var number: UInt64 { unsafe UInt64(truncatingIfNeeded: mdb_txn_id(handle)) }

    /// The caller keeps the lease for as long as the transaction lives.
    /// - Throws: `damaged` when LMDB cannot be let write to these pages; `readOnly`, `inputOutput`.
    package init(_ lease: DatabaseLease) throws(VaultError) {
        let environment = lease.environment
        guard !environment.isReadOnly else { throw VaultError(.readOnly, "the vault cannot be written: read-only") }
        var transaction: OpaquePointer?
        try VaultStorage.database("writing") { unsafe mdb_txn_begin(environment.handle, nil, 0, &transaction) }
        guard let transaction = unsafe transaction else { throw .damaged("no transaction") }
        do throws(VaultError) {
            try environment.checkPages(before: unsafe UInt64(truncatingIfNeeded: mdb_txn_id(transaction)))
        } catch {
            unsafe mdb_txn_abort(transaction)
            throw error
        }
        unsafe handle = transaction
        trees = environment.trees
        unsafe self.environment = .passUnretained(environment)
    }

    deinit { unsafe mdb_txn_abort(handle) }

    /// Returns when everything is on the disk.
    package consuming func commit() throws(VaultError) {
        let transaction = unsafe handle
        let owner = unsafe environment.takeUnretainedValue()
        let environment = unsafe owner.handle
        let number = number
        discard self  // a failed commit has freed the transaction too
        let before = unsafe DatabaseFile.metaPage(ofTransaction: number, environment)
        let code = unsafe mdb_txn_commit(transaction)
        guard code == 0 else {
            // LMDB takes back the number of a meta page that it could not write, not all of it.
            unsafe DatabaseFile.putBack(before, ofTransaction: number, environment)
            // LMDB calls a write that a full disk cut short an input/output error.
            if code == EIO, unsafe DatabaseFile.isDiskFull(environment) { throw .system(ENOSPC, "writing") }
            throw .database(code, "writing")
        }
        owner.noteCommit(number)
        owner.extendFileToItsPages()
    }

    /// Lends the value of `key`; nil when there is none. Valid until the next write.
    func withValue<R: ~Copyable>(
        _ key: RawSpan, in tree: DatabaseTrees.Name = .records, _ body: (RawSpan?) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        let (code, found) = unsafe key.withUnsafeBytes { key in
            var key = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var found = unsafe MDB_val()  // captured from outside, it would be put on the heap
            return unsafe (mdb_get(handle, trees[tree], &key, &found), found)
        }
        switch code {
        case 0: return try unsafe body(RawSpan(_unsafeBytes: found.bytes))
        case MDB_NOTFOUND: return try body(nil)
        default: throw .database(code, "reading")
        }
    }

    /// Reserves `size` bytes for `key` in the page and lets `fill` write them.
    /// - Returns: False, with nothing changed, when `key` exists and `replacing` is false.
    func put(
        _ key: RawSpan, in tree: DatabaseTrees.Name = .records, size: Int, replacing: Bool,
        _ fill: (inout MutableRawSpan) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        let flags = UInt32(MDB_RESERVE) | (replacing ? 0 : UInt32(MDB_NOOVERWRITE))
        let (code, value) = unsafe key.withUnsafeBytes { key in
            var key = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var value = unsafe MDB_val(mv_size: size, mv_data: nil)
            return unsafe (mdb_put(handle, trees[tree], &key, &value, flags), value)
        }
        if code == MDB_KEYEXIST { return false }
        if code != 0 { throw .database(code, "writing") }
        var bytes = unsafe MutableRawSpan(_unsafeStart: value.mv_data, byteCount: value.mv_size)
        try fill(&bytes)
        return true
    }

    /// Removes `key`; false when it is not there.
    @discardableResult
    func delete(_ key: RawSpan, in tree: DatabaseTrees.Name = .records) throws(VaultError) -> Bool {
        let code = unsafe key.withUnsafeBytes { key in
            var key = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            return unsafe mdb_del(handle, trees[tree], &key, nil)
        }
        if code == MDB_NOTFOUND { return false }
        if code != 0 { throw .database(code, "writing") }
        return true
    }

    /// Bytes of the pages that the entries take, as they are now.
    func usedBytes() throws(VaultError) -> Int { try unsafe trees.usedBytes(handle) }

    /// Some records' keys in order, from the first one not below `start`, at most `limit`.
    func keys(from start: [UInt8], limit: Int) throws(VaultError) -> [[UInt8]] {
        var cursor: OpaquePointer?
        try VaultStorage.database("reading") { unsafe mdb_cursor_open(handle, trees[.records], &cursor) }
        defer { unsafe mdb_cursor_close(cursor) }
        var keys: [[UInt8]] = []
        var operation = MDB_SET_RANGE
        while keys.count < limit {
            var key = unsafe MDB_val()
            var value = unsafe MDB_val()
            let code = unsafe start.withUnsafeBytes { start in
                if operation == MDB_SET_RANGE {
                    unsafe key = MDB_val(
                        mv_size: start.count, mv_data: UnsafeMutableRawPointer(mutating: start.baseAddress))
                }
                return unsafe mdb_cursor_get(cursor, &key, &value, operation)
            }
            if code == MDB_NOTFOUND { break }
            if code != 0 { throw .database(code, "reading") }
            unsafe keys.append(Array(UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)))
            operation = MDB_NEXT
        }
        return keys
    }
}

extension DatabaseEnvironment {
    /// Writes a consistent, compacted snapshot to an open file while others go on reading and writing. LMDB copies pages
    /// into memory on the way: the caller has seen ``DatabaseLease/checkPages()`` return.
    package func copy(to descriptor: Int32) throws(VaultError) {
        try VaultStorage.database("copying the database") {
            unsafe mdb_env_copyfd2(handle, descriptor, UInt32(MDB_CP_COMPACT))
        }
    }
}
