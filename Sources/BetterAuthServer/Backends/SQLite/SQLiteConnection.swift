internal import CSQLite

/// One connection to a database file. It is used by one thread at a time.
@safe final class SQLiteConnection: @unchecked Sendable {  // handed from thread to thread, never shared
    private let handle: OpaquePointer
    /// SQLite writes it after each commit, on the thread that commits.
    private let pages: UnsafeMutablePointer<Int32>

    /// A file's name as SQLite takes it for nothing else: `file:x` would be a URI.
    static func name(_ path: String) -> String { path == memory || path.hasPrefix("/") ? path : "./" + path }

    /// The name of a database without a file.
    static let memory = ":memory:"

    /// Opens a file that exists. One of another program is refused before anything of it is changed.
    /// - Parameters:
    ///   - cache: KiB of pages kept in memory.
    ///   - looksOnly: Whether it is no reader among others, and leaves a log beside the file when it ends.
    /// - Throws: ``StoreError/unavailable(_:)``.
    init(_ path: String, isWriter: Bool, cache: Int, looksOnly: Bool = false) throws(StoreError) {
        var opened: OpaquePointer?
        // Readers of a WAL need to write its index, so they too open for writing and are kept from it by a pragma.
        let access = looksOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let status = unsafe sqlite3_open_v2(SQLiteConnection.name(path), &opened, flags, nil)
        guard status == SQLITE_OK, let opened = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw .unavailable("the database cannot be opened: \(SQLiteConnection.reason(status))")
        }
        unsafe handle = opened
        unsafe pages = .allocate(capacity: 1)
        unsafe pages.initialize(to: 0)
        unsafe sqlite3_extended_result_codes(handle, 1)
        unsafe sqlite3_busy_timeout(handle, 5000)
        try execute("PRAGMA cache_size = -\(cache)")
        try execute("PRAGMA trusted_schema = OFF")
        try execute("PRAGMA cell_size_check = ON")
        if isWriter {
            guard try SQLiteSchema.version(of: self) != nil else { throw SQLiteSchema.isForeign }
            try execute("PRAGMA synchronous = FULL")
            // A thread of its own does that, off the way of commits.
            try execute("PRAGMA wal_autocheckpoint = 0")
            unsafe sqlite3_wal_hook(
                handle,
                { context, _, _, pages in
                    unsafe context?.storeBytes(of: pages, as: Int32.self)
                    return SQLITE_OK
                }, pages)
        } else {
            try execute("PRAGMA query_only = ON")
        }
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
        unsafe pages.deallocate()
    }

    private static func reason(_ status: Int32) -> String {
        // SQLITE_IOERR_SHMSIZE, a macro that Swift does not read: its words are those of a disk that is broken.
        let words = status == SQLITE_IOERR | 19 << 8 ? "no room for its file -shm" : nil
        return unsafe (words ?? String(cString: sqlite3_errstr(status))) + " (\(status))"
    }

    /// What the last call failed with; never a value of a row.
    var failure: StoreError {
        .unavailable("SQLite: " + SQLiteConnection.reason(unsafe sqlite3_extended_errcode(handle)))
    }

    /// Runs statements that have no parameters.
    func execute(_ text: String) throws(StoreError) {
        guard unsafe sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    func prepare(_ text: String) throws(StoreError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let status = unsafe sqlite3_prepare_v3(
            handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement = unsafe statement else { throw failure }
        return unsafe SQLiteStatement(owning: statement, self)
    }

    /// Rows that the last statement changed.
    var changes: Int { unsafe Int(sqlite3_changes64(handle)) }

    /// The number of the row that was added last.
    var lastNumber: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Pages in the log after the last commit of this connection.
    var logPages: Int { unsafe Int(pages.pointee) }

    /// Moves pages from the log into the file, as far as no reader and no writer is in the way.
    /// - Returns: Pages in the log, and how many of them the file has.
    func checkpoint() throws(StoreError) -> (pages: Int, done: Int) {
        var (pages, done): (Int32, Int32) = (0, 0)
        let status = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &done)
        guard status == SQLITE_OK || status == SQLITE_BUSY || status == SQLITE_LOCKED else { throw failure }
        return (Int(pages), Int(done))
    }
}

/// A prepared statement.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    init(owning handle: OpaquePointer, _ connection: SQLiteConnection) {
        unsafe self.handle = handle
        self.connection = connection
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// A value of a row, or for one.
    enum Value {
        case bytes([UInt8])
        case number(Int64)
        case null
    }

    /// Runs to the end, for statements without rows.
    func run(_ values: Value...) throws(StoreError) {
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        while try step() {}
    }

    /// The first row, read by `body`; nil when there is none.
    func first<R>(_ values: Value..., read body: (SQLiteStatement) throws(StoreError) -> R) throws(StoreError) -> R? {
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        return try step() ? body(self) : nil
    }

    /// Every row, read by `body` until it returns false.
    func each(_ values: Value..., read body: (SQLiteStatement) throws(StoreError) -> Bool) throws(StoreError) {
        defer { unsafe sqlite3_reset(handle) }
        try bind(values)
        while try step() { guard try body(self) else { return } }
    }

    private func bind(_ values: [Value]) throws(StoreError) {
        for (index, value) in values.enumerated() {
            let column = Int32(index + 1)
            let status =
                switch value {
                case .bytes(let bytes):
                    unsafe bytes.withUnsafeBytes {
                        unsafe csqlite_bind_copy(handle, column, $0.baseAddress, Int32(clamping: $0.count))
                    }
                case .number(let number): unsafe sqlite3_bind_int64(handle, column, number)
                case .null: unsafe sqlite3_bind_null(handle, column)
                }
            guard status == SQLITE_OK else { throw connection.failure }
        }
    }

    private func step() throws(StoreError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.failure
        }
    }

    // Of the row that was stepped to.

    func number(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
