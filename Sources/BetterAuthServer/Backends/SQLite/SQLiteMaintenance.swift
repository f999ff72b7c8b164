package import BetterAuthMessages
internal import SystemCalls

/// What an operator does with a database while no server has it.
package struct SQLiteMaintenance: Sendable {
    private let file: SQLiteFile
    private let connection: SQLiteConnection
    private let schema: SQLiteSchema
    private let onUpdate: @Sendable (SQLiteUpdate) -> Void

    /// - Parameters:
    ///   - schema: This program's; another one for tests.
    ///   - onUpdate: Told when the file is brought to this program's version.
    /// - Throws: ``StoreError/missing(_:)``, ``StoreError/unavailable(_:)``, also when a server has the file.
    package init(
        _ path: String, schema: SQLiteSchema = .current, onUpdate: @escaping @Sendable (SQLiteUpdate) -> Void = { _ in }
    ) throws(StoreError) {
        file = try SQLiteFile(path, creates: false)
        try schema.admit(path)
        connection = try SQLiteConnection(path, isWriter: true, cache: 16_384)
        self.schema = schema
        self.onUpdate = onUpdate
    }

    /// Brings the file to this program's version, and keeps the earlier one beside it.
    /// - Returns: The version that it had, and the one it has.
    /// - Throws: ``StoreError``, as a start does.
    package func migrate() throws(StoreError) -> (from: Int, to: Int) {
        (try schema.migrate(connection, at: file.path, onUpdate: onUpdate), schema.version)
    }

    /// What a check found.
    package struct Report: Sendable, Hashable {
        package var accounts = 0
        package var deleted = 0
        package var devices = 0
        /// Bytes of all rows of accounts.
        package var bytes = 0
        package var refreshed = 0
        /// The first accounts that cannot be read.
        package var unreadable: [String] = []
        /// What SQLite found wrong, and rows that cannot be read.
        package var faults: [String] = []
    }

    /// Accounts that a check names.
    private static let named = 20

    /// Reads everything.
    package func check() throws(StoreError) -> Report {
        var report = Report()
        try connection.prepare("PRAGMA integrity_check(100)").each { row throws(StoreError) in
            let line = String(decoding: row.bytes(0), as: UTF8.self)
            if line != "ok" { report.faults.append(line) }
            return true
        }
        guard try schema.isOurs(connection) else {
            report.faults.append("the database has other tables than this program makes, or triggers or views")
            return report
        }
        guard try SQLiteSchema.version(of: connection) == schema.version else {
            report.faults.append("the database has another version than this program")
            return report
        }
        var unreadable = 0
        try connection.prepare("SELECT identity, row FROM accounts").each { row throws(StoreError) in
            let (identity, bytes) = (row.bytes(0), row.bytes(1))
            report.accounts += 1
            report.bytes += bytes.count
            do throws(StoreError) {
                guard unsafe IdentityID(raw: identity.span.bytes) != nil else { throw .damaged }
                let account = try unsafe AccountCoding.decode(bytes.span.bytes)
                report.devices += account.devices.count
                if account.isDeleted { report.deleted += 1 }
            } catch {
                unreadable += 1
                if unreadable <= SQLiteMaintenance.named {
                    let named = unsafe IdentityID(raw: identity.span.bytes)?.description
                    report.unreadable.append(named ?? AccountAdministration.shown(identity))
                }
            }
            return true
        }
        if unreadable > 0 {
            report.faults.append("rows of accounts that cannot be read: \(unreadable) of \(report.accounts)")
        }
        report.refreshed = Int(try SQLiteSchema.number("SELECT count(*) FROM refreshed", connection))
        return report
    }

    /// Takes away what has expired and gives the room back to the file system.
    package func vacuum(now: Timestamp) throws(StoreError) {
        try schema.migrate(connection, at: file.path, onUpdate: onUpdate)
        // Whatever lifetime the server has: all that it has kept of the clock counts.
        var clock = try SQLiteSetting.clock(connection, lifetime: 1 << 40)
        _ = clock.advance(to: now, ran: 0)
        for (table, limit) in [("refreshed", clock.limit), ("replies", now)] {
            try connection.prepare("DELETE FROM \(table) WHERE until < ?").run(.number(limit.milliseconds))
        }
        try connection.execute("VACUUM")
        _ = try connection.checkpoint()
    }
}

/// The claim of a process on a database file: one server at a time, since challenges are in its memory.
@safe final class SQLiteFile: Sendable {
    let path: String
    private let descriptor: OwnedDescriptor

    /// Claims the file.
    /// - Parameter creates: Whether it is made where it is not there, for its owner alone.
    /// - Throws: ``StoreError/missing(_:)``, and ``StoreError/unavailable(_:)`` when another process has it.
    init(_ path: String, creates: Bool) throws(StoreError) {
        // SQLite locks with fcntl, which knows nothing of flock. This descriptor must nevertheless outlive SQLite's
        // own: closing any descriptor of a file drops fcntl's locks on it.
        do throws(SystemError) { descriptor = try SQLiteFile.open(path, creates) } catch {
            throw error.number == ENOENT && !creates ? .missing(path) : .unavailable("\(path): \(error)")
        }
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else {
            throw .unavailable("\(path) is in use by another process")
        }
        self.path = path
    }

    private static func open(_ path: String, _ creates: Bool) throws(SystemError) -> OwnedDescriptor {
        do throws(SystemError) { return try OwnedDescriptor(path, O_RDWR | O_NOFOLLOW) } catch {
            guard creates, error.number == ENOENT else { throw error }
        }
        do throws(SystemError) { return try NewFile.make(path, O_RDWR) } catch {
            // Another process was faster.
            guard error.number == EEXIST else { throw error }
        }
        return try OwnedDescriptor(path, O_RDWR | O_NOFOLLOW)
    }

    deinit {
        // A process that is being started has a copy of every descriptor for a moment: closing alone would not let go.
        flock(descriptor.number, LOCK_UN)
    }
}
