internal import SystemCalls

/// A copy of a database that may be in use: one moment of it, in a file of its own.
package enum SQLiteBackup {
    /// What a database that may be in use says of its keys; nil when no server has had it.
    /// - Throws: ``StoreError/missing(_:)``, ``StoreError/unavailable(_:)``, also for the database of another program.
    package static func keyMark(_ path: String) throws(StoreError) -> KeyMark? { try mark(open(path)) }

    private static func open(_ path: String) throws(StoreError) -> SQLiteConnection {
        guard unsafe access(path, F_OK) == 0 else { throw .missing(path) }
        // It reads, and takes no claim on the file: that is the server's. Whosever it is, it stays as it is.
        let connection = try SQLiteConnection(path, isWriter: false, cache: 2048)
        guard let version = try SQLiteSchema.version(of: connection), version > 0 else { throw SQLiteSchema.isForeign }
        return connection
    }

    /// The first version had no settings.
    private static func mark(_ connection: SQLiteConnection) throws(StoreError) -> KeyMark? {
        try SQLiteSchema.version(of: connection) == 1 ? nil : SQLiteSetting.mark(connection)
    }

    /// Writes the copy, with mode 0600 whatever the umask, and returns when it is on the disk.
    /// - Parameters:
    ///   - path: The database; a server may have it.
    ///   - target: A file that does not exist yet.
    ///   - place: Whose owner the copy gets; nil for the path that it has.
    /// - Throws: ``StoreError/missing(_:)``, ``StoreError/unavailable(_:)``.
    package static func write(_ path: String, to target: String, for place: String? = nil) throws(StoreError) {
        let connection = try open(path)
        do throws(SystemError) { _ = try NewFile.make(target, O_RDWR, for: place) } catch {
            throw .unavailable("\(target): \(error)")
        }
        // SQLite takes an empty file for a new database, and writes to that one only.
        try connection.execute("PRAGMA query_only = OFF")
        try connection.prepare("VACUUM INTO CAST(? AS TEXT)").run(.bytes(Array(SQLiteConnection.name(target).utf8)))
        try forgetSessions(SQLiteConnection(target, isWriter: false, cache: 64))
        do throws(SystemError) {
            try OwnedDescriptor(target, O_RDWR | O_NOFOLLOW).synchronize()
            try OwnedDescriptor(Paths.parent(of: target), O_RDONLY | O_DIRECTORY).synchronize()
        } catch { throw .unavailable("\(target): \(error)") }
    }

    /// Copies a backup. Its bytes are a stranger's until they were looked at: nothing of it is opened by SQLite but a
    /// copy of its one file, which has no name yet under which anybody would take it for a database.
    /// - Parameters:
    ///   - copy: In a folder of its own.
    ///   - place: The path that the copy will have; nil for the one it has.
    ///   - accept: Called with what the database says of its keys; a throw refuses it.
    /// - Throws: ``StoreError``, and what `accept` throws.
    package static func copy(
        _ source: String, to copy: String, for place: String? = nil, _ accept: (KeyMark?) throws -> Void
    ) throws {
        // A backup has none. SQLite would do what a journal says, deleting other files among it.
        for ending in ["-journal", "-wal", "-shm"] where unsafe access(source + ending, F_OK) == 0 {
            throw StoreError.unavailable("\(source)\(ending) is no part of a backup")
        }
        do throws(SystemError) { try copyFile(source, to: copy, for: place) } catch {
            throw error.number == ENOENT ? StoreError.missing(source) : .unavailable("\(source): \(error)")
        }
        try accept(examine(copy, named: source))
    }

    private static func copyFile(_ source: String, to target: String, for place: String?) throws(SystemError) {
        let file = try OwnedDescriptor(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        guard try file.status().st_mode & S_IFMT == S_IFREG else { throw SystemError(EINVAL) }
        let copy = try NewFile.make(target, O_WRONLY, for: place)
        while true {
            let bytes = try file.readPrefix(1 << 20)
            if bytes.isEmpty { break }
            try unsafe copy.write(bytes.span.bytes)
        }
        try copy.synchronize()
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    /// Looks at the head of a file before SQLite does, then at what is in it.
    /// - Returns: What it says of its keys.
    private static func examine(_ path: String, named name: String) throws(StoreError) -> KeyMark? {
        let (head, size): ([UInt8], Int)
        do throws(SystemError) {
            let file = try OwnedDescriptor(path, O_RDONLY | O_NOFOLLOW)
            (head, size) = (try file.readPrefix(100), Int(try file.status().st_size))
        } catch { throw .unavailable("\(name): \(error)") }
        let foreign = StoreError.unavailable("\(name) is no backup of this program's")
        func number(_ range: Range<Int>) -> Int { head[range].reduce(0) { $0 << 8 | Int($1) } }
        guard head.count == 100, head.starts(with: magic), number(68..<72) == Int(SQLiteSchema.applicationID) else {
            throw foreign
        }
        let page = number(16..<18) == 1 ? 65_536 : number(16..<18)
        guard page >= 512, page & (page - 1) == 0, size % page == 0, number(28..<32) == size / page else {
            throw .unavailable("\(name) is damaged, or a part of a backup")
        }
        let connection = try SQLiteConnection(path, isWriter: false, cache: 2048)
        guard try SQLiteSchema.current.isOurs(connection) else { throw foreign }
        let mark = try mark(connection)
        try forgetSessions(connection)
        return mark
    }

    /// A challenge that was open then may have been used since.
    private static func forgetSessions(_ copy: SQLiteConnection) throws(StoreError) {
        // The first version had no settings.
        guard try SQLiteSchema.version(of: copy) != 1 else { return }
        try copy.execute("PRAGMA query_only = OFF")
        // Not only the row: what it had is not to lie in a free page.
        try copy.execute("PRAGMA secure_delete = ON")
        try SQLiteSetting.sessions.delete(copy)
    }
}
