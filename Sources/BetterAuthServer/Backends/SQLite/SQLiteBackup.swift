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

    private static func vacuum(_ connection: SQLiteConnection, into target: String) throws(SystemError) {
        do throws(StoreError) {
            try connection.prepare("VACUUM INTO CAST(? AS TEXT)").run(.bytes(Array(target.utf8)))
        } catch {
            throw SystemError(EIO)
        }
    }
}
