internal import CLMDB
internal import Synchronization
internal import SystemCalls

extension DatabaseFile {
    /// Sees to it that no page in use lies beyond the end of the file, where reading would end the process.
    ///
    /// The file of a whole database may be shorter than its page count says: LMDB never writes pages at the end that a
    /// transaction took and gave back. Then all that is missing is in the list of free pages. No room is needed on the
    /// disk, so that a vault on a full one opens.
    /// - Parameter isLocked: Whether the caller holds the writers' lock.
    /// - Throws: `damaged` when pages in use are missing.
    static func checkExtent(_ handle: OpaquePointer, readOnly: Bool, isLocked: Bool) throws(VaultError) {
        guard unsafe try missingPages(handle) != nil else { return }
        if readOnly { return try unsafe checkMissing(handle, missingPages(handle)) }
        let descriptor = try unsafe extent(handle).descriptor
        // Writers hold this lock: none makes the file longer meanwhile; one that is at work sees to this when it is
        // done.
        guard isLocked || flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        defer { if !isLocked { flock(descriptor, LOCK_UN) } }
        guard let missing = try unsafe missingPages(handle) else { return }
        let size = try unsafe extent(handle).size
        // The list of free pages may itself lie in what is missing: zeros there are damage that LMDB finds.
        try system("extending the database") {
            unsafe ftruncate(descriptor, numericCast(missing.upperBound * pageSize(handle)))
        }
        do throws(VaultError) {
            try unsafe checkMissing(handle, missing)
        } catch {
            ftruncate(descriptor, numericCast(size))
            throw error
        }
    }

    /// Pages that the file has now.
    fileprivate static func presentPages(_ handle: OpaquePointer) throws(VaultError) -> UInt64 {
        try unsafe UInt64(extent(handle).size) / pageSize(handle)
    }

    private static var shorter: VaultError { .damaged("the database is shorter than it says") }

    private static func pageSize(_ handle: OpaquePointer) -> UInt64 {
        var statistics = MDB_stat()
        unsafe mdb_env_stat(handle, &statistics)
        return UInt64(max(1, statistics.ms_psize))
    }

    private static func extent(_ handle: OpaquePointer) throws(VaultError) -> (descriptor: Int32, size: Int64) {
        var descriptor: Int32 = -1
        var status = stat()
        unsafe mdb_env_get_fd(handle, &descriptor)
        try system("examining the database") { unsafe fstat(descriptor, &status) }
        return (descriptor, Int64(status.st_size))
    }

    /// Numbers of pages that the database has and the file has not; nil when there are none.
    private static func missingPages(_ handle: OpaquePointer) throws(VaultError) -> Range<UInt64>? {
        // In this order: a page is written before it is counted.
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(handle, &info)
        let present = try unsafe presentPages(handle)
        let last = unsafe UInt64(truncatingIfNeeded: info.me_last_pgno)
        guard last >= present else { return nil }
        let most = unsafe UInt64(truncatingIfNeeded: info.me_mapsize) / pageSize(handle)
        guard last < most else { throw shorter }
        return present..<last + 1
    }

    private static func checkMissing(_ handle: OpaquePointer, _ missing: Range<UInt64>?) throws(VaultError) {
        guard let missing else { return }
        do throws(VaultError) {
            guard try unsafe freePages(handle, from: missing.lowerBound) == UInt64(missing.count) else { throw shorter }
        } catch {
            throw error.code == .damaged ? shorter : error
        }
    }

    /// How many of the free pages have this number or a higher one.
    private static func freePages(_ handle: OpaquePointer, from first: UInt64) throws(VaultError) -> UInt64 {
        var transaction: OpaquePointer?
        try VaultStorage.database("reading the database") {
            unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        defer { unsafe mdb_txn_abort(transaction) }
        var cursor: OpaquePointer?
        let listOfFreePages: MDB_dbi = 0
        try VaultStorage.database("reading the database") {
            unsafe mdb_cursor_open(transaction, listOfFreePages, &cursor)
        }
        defer { unsafe mdb_cursor_close(cursor) }
        var found: UInt64 = 0
        var key = unsafe MDB_val()
        var value = unsafe MDB_val()
        while true {
            let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == MDB_NOTFOUND { return found }
            guard code == 0 else { throw .database(code, "reading the database") }
            // Each entry is the number of pages and then their numbers.
            let numbers = unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
            for offset in stride(from: 8, through: numbers.count - 8, by: 8) {
                let number = unsafe numbers.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if number >= first { found += 1 }
            }
        }
    }
}

extension DatabaseEnvironment {
    /// As ``DatabaseFile/checkExtent(_:readOnly:isLocked:)`` after a commit, for a caller that still has the writers'
    /// lock.
    ///
    /// Looks at the file only when the database has grown: a look makes the system note a time at the next write.
    func extendFileToItsPages() {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(handle, &info)
        guard unsafe UInt64(truncatingIfNeeded: info.me_last_pgno) >= seenPages.load(ordering: .relaxed) else { return }
        // What is stored is stored; a file that stays short is made longer when it is opened next.
        try? unsafe DatabaseFile.checkExtent(handle, readOnly: false, isLocked: true)
        if let present = try? unsafe DatabaseFile.presentPages(handle) { seenPages.store(present, ordering: .relaxed) }
    }
}
