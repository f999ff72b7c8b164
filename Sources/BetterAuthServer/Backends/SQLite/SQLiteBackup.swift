internal import SystemCalls

/// A copy of a database that may be in use: one moment of it, in a file of its own.
package enum SQLiteBackup {
    /// Writes the copy, with mode 0600 whatever the umask, and returns when it is on the disk.
    /// - Parameter path: The database; a server may have it.
    /// - Parameter target: A file that does not exist yet.
    /// - Throws: ``StoreError/missing(_:)``, ``StoreError/unavailable(_:)``.
    package static func write(_ path: String, to target: String) throws(StoreError) {
        guard unsafe access(path, F_OK) == 0 else { throw .missing(path) }
        // It reads, and takes no claim on the file: that is the server's.
        let connection = try SQLiteConnection(path, isWriter: true, cache: 2048)
        guard let version = try SQLiteSchema.version(of: connection), version > 0 else {
            throw .unavailable("the file is the database of another program")
        }
        do throws(SystemError) {
            let file = try OwnedDescriptor(target, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
            try uninterrupted { fchmod(file.number, 0o600) }
            // SQLite takes an empty file for a new database.
            try vacuum(connection, into: target)
            try file.synchronize()
            try OwnedDescriptor(Paths.parent(of: target), O_RDONLY | O_DIRECTORY).synchronize()
        } catch { throw .unavailable("\(target): \(error)") }
    }

    /// Copies a backup to where no database is. The backup's bytes are a stranger's until they were looked at: nothing of it
    /// is opened by SQLite but a copy of its one file, and nothing is left of one that is refused.
    /// - Throws: ``StoreError``.
    package static func restore(_ source: String, to target: String) throws(StoreError) {
        // A backup has none. SQLite would do what a journal says, deleting other files among it.
        for ending in ["-journal", "-wal", "-shm"] where unsafe access(source + ending, F_OK) == 0 {
            throw .unavailable("\(source)\(ending) is no part of a backup")
        }
        let folder = target + ".restoring.\(UInt64.random(in: 0 ... .max))"
        let copy = folder + "/accounts.db"
        defer {
            for ending in ["", "-wal", "-shm"] { unsafe unlink(copy + ending) }
            unsafe rmdir(folder)
        }
        do throws(SystemError) {
            try uninterrupted { unsafe mkdir(folder, 0o700) }
            try copyFile(source, to: copy)
        } catch {
            throw error.number == ENOENT ? .missing(source) : .unavailable("\(source): \(error)")
        }
        try examine(copy, named: source)
        do throws(SystemError) {
            // Fails where something is by now.
            try uninterrupted { unsafe link(copy, target) }
            try OwnedDescriptor(Paths.parent(of: target), O_RDONLY | O_DIRECTORY).synchronize()
        } catch { throw .unavailable("\(target): \(error)") }
    }

    private static func copyFile(_ source: String, to target: String) throws(SystemError) {
        let file = try OwnedDescriptor(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        guard try file.status().st_mode & S_IFMT == S_IFREG else { throw SystemError(EINVAL) }
        let copy = try OwnedDescriptor(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        try uninterrupted { fchmod(copy.number, 0o600) }
        while true {
            let bytes = try file.readPrefix(1 << 20)
            if bytes.isEmpty { break }
            try unsafe copy.write(bytes.span.bytes)
        }
        try copy.synchronize()
    }

    private static let magic = Array("SQLite format 3\0".utf8)

    /// Looks at the head of a file before SQLite does, then at what is in it.
    private static func examine(_ path: String, named name: String) throws(StoreError) {
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
        guard try SQLiteSchema.isOurs(connection) else { throw foreign }
    }

    private static func vacuum(_ connection: SQLiteConnection, into target: String) throws(SystemError) {
        do throws(StoreError) {
            try connection.prepare("VACUUM INTO CAST(? AS TEXT)").run(.bytes(Array(target.utf8)))
        } catch {
            throw SystemError(EIO)
        }
    }
}
