internal import BetterAuthMessages
internal import Synchronization

/// Connections that read beside the writer: as many as threads have read at one time.
final class SQLiteReaders: Sendable {
    private final class Reader: Sendable {
        private let statement: Mutex<SQLiteStatement>
        private let connection: SQLiteConnection

        init(_ path: String, cache: Int) throws(StoreError) {
            connection = try SQLiteConnection(path, isWriter: false, cache: cache)
            statement = Mutex(try connection.prepare("SELECT row FROM accounts WHERE identity = ?"))
        }

        func account(_ identity: IdentityID) throws(StoreError) -> Account? {
            try statement.withLock { statement throws(StoreError) in
                try statement.first(.bytes(identity.rawBytes)) { row throws(StoreError) in
                    let bytes = row.bytes(0)
                    return try unsafe AccountCoding.decode(bytes.span.bytes)
                }
            }
        }

        func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
            var found: [StoredAccount] = []
            try connection.prepare("SELECT identity, row FROM accounts WHERE identity > ? ORDER BY identity LIMIT ?")
                .each(.bytes(name), .number(Int64(count))) { row throws(StoreError) in
                    found.append(StoredAccount(name: row.bytes(0), row: row.bytes(1)))
                    return true
                }
            return found
        }
    }

    private let path: String
    private let cache: Int
    private let idle = Mutex<[Reader]>([])

    /// - Parameter cache: KiB for each.
    init(_ path: String, cache: Int) {
        self.path = path
        self.cache = cache
    }

    func account(_ identity: IdentityID) throws(StoreError) -> Account? {
        let reader = try take()
        defer { idle.withLock { $0.append(reader) } }
        return try reader.account(identity)
    }

    func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        let reader = try take()
        defer { idle.withLock { $0.append(reader) } }
        return try reader.accounts(after: name, most: count)
    }

    private func take() throws(StoreError) -> Reader {
        if let reader = idle.withLock({ $0.popLast() }) { return reader }
        return try Reader(path, cache: cache)
    }

    func close() { idle.withLock { $0 = [] } }
}
