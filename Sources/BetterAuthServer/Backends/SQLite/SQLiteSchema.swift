internal import BetterAuthMessages
internal import SystemCalls

/// What the tables look like, by the version of the file.
///
/// Accounts and refreshed keys are looked up by digests, which lie anywhere; what only has to be kept for a while is
/// appended, which dirties one page for many rows.
package struct SQLiteSchema: Sendable {
    /// Each brings a file one version further.
    let migrations: [String]

    /// This program's.
    package static let current = SQLiteSchema(migrations: [
        """
        CREATE TABLE accounts (identity BLOB PRIMARY KEY, row BLOB NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE refreshed (hash BLOB PRIMARY KEY, until INTEGER NOT NULL, reply INTEGER NOT NULL)
            STRICT, WITHOUT ROWID;
        CREATE TABLE replies (
            number INTEGER PRIMARY KEY, until INTEGER NOT NULL, operation BLOB NOT NULL, identity BLOB NOT NULL,
            device BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
        """,
        "CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
        // Rows of accounts may be of version 2 (``AccountCoding``), which earlier programs cannot read.
        "",
        // So may the mark of the keys be longer than they know (``KeyMark``).
        "",
    ])

    /// The schema of a program with another version more: for tests.
    package func adding(_ migration: String) -> SQLiteSchema { SQLiteSchema(migrations: migrations + [migration]) }

    /// The version of the last migration.
    package var version: Int { migrations.count }

    /// Marks the file as ours: "HFBA".
    static let applicationID: Int64 = 0x4846_4241

    static let isForeign = StoreError.unavailable("the file is the database of another program")

    /// The version of a file; nil when it is another program's.
    static func version(of connection: SQLiteConnection) throws(StoreError) -> Int? {
        let application = try number("PRAGMA application_id", connection)
        let version = try number("PRAGMA user_version", connection)
        let tables = try number("SELECT count(*) FROM sqlite_schema", connection)
        if application == 0 && version == 0 && tables == 0 { return 0 }
        return application == applicationID && version >= 0 ? Int(version) : nil
    }

    private func known(_ connection: SQLiteConnection) throws(StoreError) -> Int {
        guard let found = try SQLiteSchema.version(of: connection) else { throw SQLiteSchema.isForeign }
        guard found <= version else { throw .tooNew(found, version) }
        return found
    }

    /// Refuses the file of a later program that was killed, before a connection is open that would bring the log beside
    /// it into it at its end. What this cannot tell, ``migrate(_:at:onUpdate:)`` does.
    /// - Throws: ``StoreError/tooNew(_:_:)``.
    func admit(_ path: String) throws(StoreError) {
        guard unsafe access(path + "-wal", F_OK) == 0,
            let connection = try? SQLiteConnection(path, isWriter: false, cache: 64, looksOnly: true),
            let found = try? SQLiteSchema.version(of: connection), found > version
        else { return }
        throw .tooNew(found, version)
    }

    /// Brings a file to this version, in one transaction, once a copy of the earlier one is kept beside it.
    /// - Parameters:
    ///   - path: The file of the connection.
    ///   - onUpdate: Told of a file of an earlier version, before and after.
    /// - Returns: The version that it had.
    /// - Throws: ``StoreError/unavailable(_:)`` for a file of another program, ``StoreError/tooNew(_:_:)``, and
    ///   ``StoreError/notCopied(_:_:)`` and ``StoreError/copyInTheWay(_:)``, after which it is as it was.
    @discardableResult
    func migrate(
        _ connection: SQLiteConnection, at path: String, onUpdate: (SQLiteUpdate) -> Void = { _ in }
    ) throws(StoreError) -> Int {
        // Before anything else: a file of a later version stays as it is.
        let first = try known(connection)
        try connection.execute("PRAGMA journal_mode = WAL")
        guard first < version else { return first }
        try connection.execute("BEGIN IMMEDIATE")
        let found: Int
        var copy: EarlierCopy?
        do throws(StoreError) {
            // Again: from here on nobody else changes it.
            found = try known(connection)
            if (1..<version).contains(found) {
                onUpdate(.begins(bytes: try SQLiteSchema.bytes(of: connection)))
                copy = try EarlierCopy(of: path, version: found)
            }
            for migration in migrations[found...] { try connection.execute(migration) }
            try connection.execute("PRAGMA application_id = \(SQLiteSchema.applicationID)")
            try connection.execute("PRAGMA user_version = \(version)")
        } catch {
            try? connection.execute("ROLLBACK")
            // The file is as it was: its copy would only take room from the earlier program.
            copy?.remove()
            throw error
        }
        do throws(StoreError) { try connection.execute("COMMIT") } catch {
            // It may be on the disk nevertheless, so the copy stays.
            try? connection.execute("ROLLBACK")
            throw error
        }
        if let copy { onUpdate(.done(from: found, to: version, copy: copy.path)) }
        return found
    }

    private static func bytes(of connection: SQLiteConnection) throws(StoreError) -> Int {
        Int(try number("PRAGMA page_count", connection) * number("PRAGMA page_size", connection))
    }

    /// Whether a file has the tables of its version, and nothing else: a trigger or a view in it would be code of a
    /// stranger's.
    /// - Throws: ``StoreError``, also for a version that does not exist.
    func isOurs(_ connection: SQLiteConnection) throws(StoreError) -> Bool {
        guard let found = try SQLiteSchema.version(of: connection), found > 0 else { return false }
        guard found <= version else { throw .tooNew(found, version) }
        let own = try SQLiteConnection(SQLiteConnection.memory, isWriter: false, cache: 64)
        try own.execute("PRAGMA query_only = OFF")
        for migration in migrations[..<found] { try own.execute(migration) }
        return try SQLiteSchema.objects(own) == SQLiteSchema.objects(connection)
    }

    private static func objects(_ connection: SQLiteConnection) throws(StoreError) -> [[String]] {
        var found: [[String]] = []
        let text = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema ORDER BY type, name"
        try connection.prepare(text).each { row throws(StoreError) in
            let texts = (0..<4).map { String(decoding: row.bytes(Int32($0)), as: UTF8.self) }
            // White space in a statement is no difference.
            found.append(texts.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") })
            return found.count < 100
        }
        return found
    }

    static func number(_ text: String, _ connection: SQLiteConnection) throws(StoreError) -> Int64 {
        try connection.prepare(text).first { $0.number(0) } ?? 0
    }
}

/// A file of an earlier version that is brought to the program's own.
package enum SQLiteUpdate: Sendable, Hashable {
    /// It is copied and then changed, which takes a while for so many bytes.
    case begins(bytes: Int)
    /// It has this version now, and lies beside it as it was.
    case done(from: Int, to: Int, copy: String)
}

/// What the table of settings has under a name.
enum SQLiteSetting: String {
    /// The mark of the keys that the accounts belong to.
    case keys = "keys"
    /// When it was last proven that the file can be written.
    case probe = "probe"
    /// What the process that stopped last has left (``ChallengeHandover``). Programs that do not know it leave it
    /// alone, and use no challenge in it.
    case sessions = "sessions"
    /// What the wall clock said while processes ran (``ExpiryClock``).
    case clock = "clock"

    var name: SQLiteStatement.Value { .bytes(Array(rawValue.utf8)) }

    func read(_ connection: SQLiteConnection) throws(StoreError) -> [UInt8]? {
        try connection.prepare("SELECT value FROM settings WHERE name = CAST(? AS TEXT)").first(name) { $0.bytes(0) }
    }

    func delete(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.prepare("DELETE FROM settings WHERE name = CAST(? AS TEXT)").run(name)
    }

    /// Takes what was left, for good: no later process finds a challenge that this one has used. Where it cannot be
    /// taken away, this process does not use it.
    static func takeSessions(_ connection: SQLiteConnection) -> [UInt8]? {
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE")
            let bytes = try connection.prepare(
                "SELECT value FROM settings WHERE name = CAST(? AS TEXT) AND length(value) <= ?"
            ).first(sessions.name, .number(Int64(ChallengeHandover.largest))) { $0.bytes(0) }
            try sessions.delete(connection)
            try connection.execute("COMMIT")
            return bytes
        } catch {
            try? connection.execute("ROLLBACK")
            return nil
        }
    }

    func write(_ value: [UInt8], _ connection: SQLiteConnection) throws(StoreError) {
        try connection.prepare(
            "INSERT INTO settings VALUES (CAST(? AS TEXT), ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        ).run(name, .bytes(value))
    }

    /// Where nothing that can be read stands there, nothing is known.
    /// - Parameter lifetime: Seconds that a key which has refreshed is kept.
    static func clock(_ connection: SQLiteConnection, lifetime: Int64) throws(StoreError) -> ExpiryClock {
        try SQLiteSetting.clock.read(connection).flatMap { ExpiryClock($0, lifetime: lifetime) }
            ?? ExpiryClock(lifetime: lifetime)
    }

    /// The mark of the keys.
    static func mark(_ connection: SQLiteConnection) throws(StoreError) -> KeyMark? {
        guard let bytes = try SQLiteSetting.keys.read(connection) else { return nil }
        guard let mark = KeyMark(bytes) else { throw .damaged }
        return mark
    }
}
