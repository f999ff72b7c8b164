internal import BetterAuthServer

/// What the tables look like, by version. Names are prefixed, since the database may have other tables. `migrate` makes
/// them; a server only reads, inserts, updates and deletes rows.
enum PostgresSchema {
    /// Each brings a database one version further. A statement of its own for each change: engines that distribute tables
    /// have no transactions around those.
    private static let migrations = [
        [
            """
            CREATE TABLE IF NOT EXISTS holdfast_accounts (
                identity bytea PRIMARY KEY, version bigint NOT NULL, contents bytea NOT NULL)
            """,
            "CREATE TABLE IF NOT EXISTS holdfast_settings (name text PRIMARY KEY, value bytea NOT NULL)",
        ],
        // Rows may be of version 2 (``AccountCoding``), which programs of before cannot read.
        [],
    ]

    static var version: Int { migrations.count }

    /// The version of the tables; 0 for none.
    static func version(of connection: PostgresConnection) throws(StoreError) -> Int {
        do throws(PostgresConnection.Failure) {
            let rows = try connection.query("SELECT value FROM holdfast_settings WHERE name = 'schema'")
            do throws(StoreError) { return try version(rows) } catch { throw .store(error) }
        } catch {
            if case .code("42P01") = error { return 0 }
            throw error.store
        }
    }

    /// The setting that has it.
    static let name = Array("schema".utf8)

    /// The version that a look at the setting has found.
    static func version(_ rows: PostgresConnection.Rows?) throws(StoreError) -> Int {
        guard let rows, rows.count > 0 else { return 0 }
        guard let found = Int(String(decoding: rows.bytes(0, 0), as: UTF8.self)), found >= 0 else {
            throw .unavailable("the version of its tables cannot be read (schema in holdfast_settings)")
        }
        return found
    }

    /// - Throws: ``StoreError/tooOld(_:_:)``, ``StoreError/tooNew(_:_:)``, ``StoreError/unavailable(_:)``.
    static func check(_ connection: PostgresConnection) throws(StoreError) { try check(version(of: connection)) }

    static func check(_ found: Int) throws(StoreError) {
        guard found >= version else { throw .tooOld(found, version) }
        guard found <= version else { throw .tooNew(found, version) }
    }

    /// - Returns: The version that the tables had.
    static func migrate(_ connection: PostgresConnection) throws(StoreError) -> Int {
        let found = try version(of: connection)
        guard found <= version else { throw .tooNew(found, version) }
        for migration in migrations[found...] { for statement in migration { try connection.run(statement) } }
        try connection.run(
            """
            INSERT INTO holdfast_settings VALUES ('schema', '\(version)') \
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """)
        return found
    }
}
