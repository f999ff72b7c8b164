internal import CLMDB

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension DatabaseEnvironment {
    /// Sees to it that no page in use lies beyond the end of the file, where reading would end the process.
    ///
    /// The file of a whole database may be shorter than its page count says: LMDB never writes pages at the end that a
    /// transaction took and gave back. Then all that is missing is in the list of free pages.
    ///
    /// Nobody else may change the file meanwhile: called inside a write transaction, or where nothing can be written.
    static func checkExtent(_ handle: OpaquePointer, readOnly: Bool) throws(VaultError) {
        var info = unsafe MDB_envinfo()
        var statistics = MDB_stat()
        var descriptor: Int32 = -1
        unsafe mdb_env_info(handle, &info)
        unsafe mdb_env_stat(handle, &statistics)
        unsafe mdb_env_get_fd(handle, &descriptor)
        var status = stat()
        try system("examining \(fileName)") { unsafe fstat(descriptor, &status) }
        let pageSize = UInt64(max(1, statistics.ms_psize))
        let present = UInt64(status.st_size) / pageSize
        let last = unsafe UInt64(info.me_last_pgno)
        guard last >= present else { return }
        let shorter = VaultError.damaged("\(fileName) is shorter than it says")
        guard last < UInt64(mapSize) / pageSize else { throw shorter }
        // The list itself may lie in what is missing. Zeros there are damage that LMDB finds by itself.
        if !readOnly {
            try system("extending \(fileName)") { ftruncate(descriptor, off_t((last + 1) * pageSize)) }
        }
        do throws(VaultError) {
            guard try unsafe freePages(handle, from: present) == last + 1 - present else { throw shorter }
        } catch {
            if !readOnly { ftruncate(descriptor, status.st_size) }
            throw error.code == .damaged ? shorter : error
        }
    }

    /// How many of the free pages have this number or a higher one.
    private static func freePages(_ handle: OpaquePointer, from first: UInt64) throws(VaultError) -> UInt64 {
        var transaction: OpaquePointer?
        try VaultCore.database("reading \(fileName)") {
            unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        defer { unsafe mdb_txn_abort(transaction) }
        var cursor: OpaquePointer?
        let listOfFreePages: MDB_dbi = 0
        try VaultCore.database("reading \(fileName)") {
            unsafe mdb_cursor_open(transaction, listOfFreePages, &cursor)
        }
        defer { unsafe mdb_cursor_close(cursor) }
        var found: UInt64 = 0
        var key = unsafe MDB_val()
        var value = unsafe MDB_val()
        while true {
            let code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == MDB_NOTFOUND { return found }
            guard code == 0 else { throw .database(code, "reading \(fileName)") }
            // Each entry is the number of pages and then their numbers.
            let numbers = unsafe UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
            for offset in stride(from: 8, through: numbers.count - 8, by: 8) {
                let number = unsafe numbers.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if number >= first { found += 1 }
            }
        }
    }
}
