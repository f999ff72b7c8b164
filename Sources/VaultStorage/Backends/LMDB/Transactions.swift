internal import CLMDB
internal import Synchronization
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
    private let exclusion: DatabaseExclusion
    private let slot: ReaderSlot
    private let lease: DatabaseLease

    /// Begins and parks a transaction.
    package init(_ lease: DatabaseLease) throws(VaultError) {
        let exclusion = lease.environment.exclusion
        let slot = exclusion.register()
        var transaction: OpaquePointer?
        do throws(VaultError) {
            try unsafe exclusion.begin(&transaction, slot)
            guard let transaction = unsafe transaction else { throw .damaged("no transaction") }
            unsafe exclusion.park(transaction, slot)
            unsafe handle = transaction
        } catch {
            unsafe mdb_txn_abort(transaction)
            exclusion.unregister(slot)
            throw error
        }
        trees = lease.environment.trees
        self.exclusion = exclusion
        self.slot = slot
        self.lease = lease
    }

    deinit {
        unsafe mdb_txn_abort(handle)
        exclusion.unregister(slot)
    }

    var environment: DatabaseEnvironment { lease.environment }

    /// Takes a snapshot of now; ``park()`` ends it.
    @inline(__always)
    func renew() throws(VaultError) {
        try begin()
        // What this process wrote, or has looked at, LMDB may read.
        if !lease.environment.isKnown(number) { try look(isFront: false) }
    }

    /// As ``renew()``, for a caller that reads the main tree alone.
    func renewForMain() throws(VaultError) {
        try begin()
        let state = number
        if !environment.isKnown(state) && environment.frontState.load(ordering: .relaxed) != state {
            try look(isFront: true)
        }
    }

    /// As ``renew()``, for a caller that lets nobody read the pages.
    @inline(__always)
    func begin() throws(VaultError) { try unsafe exclusion.renew(handle, slot) }

    @inline(never)
    private func look(isFront: Bool) throws(VaultError) {
        for _ in 0..<100 {
            do throws(VaultError) {
                if try environment.look(at: number, isFront: isFront) { return }
            } catch {
                park()
                throw error
            }
            park()
            try begin()
        }
        park()
        throw VaultError(.busy, "the vault is being written without a pause")
    }

    /// The number of the transaction whose state the snapshot shows.
    var number: UInt64 { unsafe UInt64(truncatingIfNeeded: mdb_txn_id(handle)) }

    @inline(__always)
    func park() { unsafe exclusion.park(handle, slot) }

    /// Lends the value of `key` from the map; nil when there is none. The span must not outlive the snapshot.
    @inline(__always)
    func withValue<R: ~Copyable, E: Error>(
        _ key: RawSpan, in tree: DatabaseTrees.Name = .records, failure: (VaultError) -> E,
        _ body: (RawSpan?) throws(E) -> R
    ) throws(E) -> R {
        guard lease.environment.mayRead(number) else {
            let value: [UInt8]?
            do throws(VaultError) { value = try damagedValue(key, in: tree) } catch { throw failure(error) }
            guard let value else { return try body(nil) }
            return try unsafe body(value.span.bytes)
        }
        let (code, found) = unsafe key.withUnsafeBytes { key in
            var key = unsafe MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var found = unsafe MDB_val()  // captured from outside, it would be put on the heap
            return unsafe (mdb_get(handle, trees[tree], &key, &found), found)
        }
        switch code {
        case 0:
            unsafe clmdb_fetch(found.mv_data, found.mv_size)
            return try unsafe body(RawSpan(_unsafeBytes: found.bytes))
        case MDB_NOTFOUND: return try body(nil)
        default: throw failure(.database(code, "reading"))
        }
    }

    /// Visits every entry in key order.
    func forEach<E: Error>(
        in tree: DatabaseTrees.Name = .records, failure: (VaultError) -> E,
        _ body: (RawSpan, RawSpan) throws(E) -> Void
    ) throws(E) {
        guard lease.environment.mayRead(number) else {
            return try forEachDamaged(in: tree, failure: failure, body)
        }
        var cursor: OpaquePointer?
        let opened = unsafe mdb_cursor_open(handle, trees[tree], &cursor)
        guard opened == 0 else { throw failure(.database(opened, "reading")) }
        defer { unsafe mdb_cursor_close(cursor) }
        var key = unsafe MDB_val()
        var value = unsafe MDB_val()
        var code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        while code == 0 {
            let (thisKey, thisValue) = unsafe (key, value)
            // The next one is fetched while the caller is busy with this one.
            code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == 0 { unsafe clmdb_fetch(value.mv_data, value.mv_size) }
            try unsafe body(RawSpan(_unsafeBytes: thisKey.bytes), RawSpan(_unsafeBytes: thisValue.bytes))
        }
        guard code == MDB_NOTFOUND else { throw failure(.database(code, "reading")) }
    }

    /// Bytes of the pages that the entries take now.
    package consuming func usedBytes() throws(VaultError) -> Int {
        try renew()
        defer { park() }
        guard environment.mayRead(number) else {
            let trees = try damagedTrees()
            return trees.main.usedBytes(pageSize: Int(exclusion.pageSize))
                &+ (trees.records?.usedBytes(pageSize: Int(exclusion.pageSize)) ?? 0)
        }
        return try unsafe trees.usedBytes(handle)
    }

    /// Number of records.
    func count() throws(VaultError) -> Int {
        guard environment.mayRead(number) else { return Int(clamping: try damagedTrees().records?.entries ?? 0) }
        return try unsafe trees.statistics(.records, handle).ms_entries
    }
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
    /// - Parameter patience: Milliseconds for which others are waited for.
    /// - Throws: `damaged` when LMDB cannot be let write to these pages; `busy`, `readOnly`, `outOfMemory`,
    ///   `inputOutput`.
    package init(_ lease: DatabaseLease, patience: Int = DatabaseExclusion.patience) throws(VaultError) {
        let environment = lease.environment
        guard !environment.isReadOnly else { throw VaultError(.readOnly, "the vault cannot be written: read-only") }
        try environment.exclusion.beginWriting(patience: patience)
        var transaction: OpaquePointer?
        do throws(VaultError) {
            try VaultStorage.database("writing") { unsafe mdb_txn_begin(environment.handle, nil, 0, &transaction) }
            guard let transaction = unsafe transaction else { throw .damaged("no transaction") }
            try environment.checkPages(before: unsafe UInt64(truncatingIfNeeded: mdb_txn_id(transaction)))
            unsafe handle = transaction
        } catch {
            unsafe mdb_txn_abort(transaction)
            environment.exclusion.endWriting()
            throw error
        }
        trees = environment.trees
        unsafe self.environment = .passUnretained(environment)
    }

    deinit {
        unsafe mdb_txn_abort(handle)
        exclusion.endWriting()
    }

    private var exclusion: DatabaseExclusion { unsafe environment._withUnsafeGuaranteedRef { $0.exclusion } }

    /// What failed, in a transaction that cannot be kept any more.
    private func failure(_ code: Int32) -> VaultError {
        code == MDB_MAP_FULL ? exclusion.noteFull() : .database(code, "writing")
    }

    /// Returns when everything is on the disk.
    package consuming func commit() throws(VaultError) {
        let transaction = unsafe handle
        let owner = unsafe environment.takeUnretainedValue()
        let environment = unsafe owner.handle
        let number = number
        discard self  // a failed commit has freed the transaction too
        defer { owner.exclusion.endWriting() }
        let before = unsafe DatabaseFile.metaPage(ofTransaction: number, environment)
        owner.comingState.store(number, ordering: .relaxed)
        let code = unsafe mdb_txn_commit(transaction)
        guard code == 0 else {
            owner.comingState.store(.max, ordering: .relaxed)
            // LMDB takes back the number of a meta page that it could not write, not all of it.
            unsafe DatabaseFile.putBack(before, ofTransaction: number, environment)
            // LMDB calls a write that a full disk cut short an input/output error.
            if code == EIO, unsafe DatabaseFile.isDiskFull(environment) { throw .system(ENOSPC, "writing") }
            throw code == MDB_MAP_FULL ? owner.exclusion.noteFull() : .database(code, "writing")
        }
        owner.noteCommit(number)
        owner.extendFileToItsPages()
        try owner.exclusion.flush()
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
        if code != 0 { throw failure(code) }
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
        if code != 0 { throw failure(code) }
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

extension DatabaseLease {
    /// Writes a consistent, compacted snapshot to an open file while others keep reading, and writing where LMDB has
    /// its own locks. LMDB copies pages into memory on the way: the caller has seen ``checkPages()`` return.
    package func copy(to descriptor: Int32) throws(VaultError) {
        let exclusion = environment.exclusion
        var code = MDB_MAP_RESIZED
        if exclusion.locks == .own {
            code = try exclusion.withoutWriters { copied(to: descriptor) }
        } else {
            // LMDB's snapshot is another one than this, which keeps the map as it is.
            let snapshot = try ReadTransaction(self)
            for _ in 0..<100 where code == MDB_MAP_RESIZED {
                try snapshot.renew()
                defer { snapshot.park() }
                code = copied(to: descriptor)
            }
        }
        guard code == 0 else { throw .database(code, "copying the database") }
    }

    private func copied(to descriptor: Int32) -> Int32 {
        unsafe mdb_env_copyfd2(environment.handle, descriptor, UInt32(MDB_CP_COMPACT))
    }
}

extension RawSpan {
    /// Has the processor fetch what begins at an offset, which is read soon: up to `count` bytes.
    package func fetch(at offset: Int, _ count: Int) {
        let part = extracting(min(offset, byteCount)..<min(offset + count, byteCount))
        unsafe part.withUnsafeBytes { unsafe clmdb_fetch($0.baseAddress, $0.count) }
    }
}
