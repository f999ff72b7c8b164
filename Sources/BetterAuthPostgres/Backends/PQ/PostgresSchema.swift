internal import BetterAuthServer
internal import SystemCalls

/// What the tables look like, by version. Names are prefixed, since the database may have other tables. `migrate` makes
/// them; a server only reads, inserts, updates and deletes rows.
package struct PostgresSchema: Sendable {
    /// Each brings a database one version further. A statement of its own for each change: engines that distribute
    /// tables have no transactions around those. Each may run again, and in several processes at once: after a kill all
    /// of them do. One that changes many rows does so for a range of identities, which are spread evenly, and leaves
    /// rows alone that are changed already, so that what was done before the kill is not done again. A server of the
    /// version before may write meanwhile, and for a few seconds more: each version reads what that one writes, and
    /// what it could not read has a form that it does not know.
    let migrations: [[String]]

    /// This program's.
    package static let current = PostgresSchema(migrations: [
        [
            """
            CREATE TABLE IF NOT EXISTS holdfast_accounts (
                identity bytea PRIMARY KEY, version bigint NOT NULL, contents bytea NOT NULL)
            """,
            "CREATE TABLE IF NOT EXISTS holdfast_settings (name text PRIMARY KEY, value bytea NOT NULL)",
        ],
        // Rows may be of version 2 (``AccountCoding``), which earlier programs cannot read.
        [],
        // So may the mark of the keys be longer than they know (``KeyMark``).
        [],
    ])

    /// The schema of a program with another version more: for tests.
    package func adding(_ migration: [String]) -> PostgresSchema {
        PostgresSchema(migrations: migrations + [migration])
    }

    /// The version of the last migration.
    package var version: Int { migrations.count }

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
    func check(_ connection: PostgresConnection) throws(StoreError) {
        try check(PostgresSchema.version(of: connection))
    }

    func check(_ found: Int) throws(StoreError) {
        guard found >= version else { throw .tooOld(found, version) }
        guard found <= version else { throw .tooNew(found, version) }
    }

    /// How often a migration that met another one begins anew, and the microseconds between.
    private static let (attempts, pause): (Int, UInt32) = (10, 200_000)

    /// What a statement meets when another process does the same at the same time: `IF NOT EXISTS` looks first too.
    private static let meetings: Set = ["23505", "42P07", "42710"]

    /// Brings the tables to this version. Of several that do so at the same time each succeeds.
    /// - Parameters:
    ///   - hasBackup: Whether tables of an earlier version may be changed, which nothing takes back.
    ///   - betweenSteps: Called when the version was read and nothing was done yet: for tests.
    /// - Returns: The version that the tables had.
    func migrate(
        _ connection: PostgresConnection, hasBackup: Bool, betweenSteps: () -> Void = {}
    ) throws(StoreError) -> Int {
        var met = PostgresConnection.Failure.conflict
        for attempt in 0..<PostgresSchema.attempts {
            if attempt > 0 { usleep(PostgresSchema.pause) }
            let found = try PostgresSchema.version(of: connection)
            guard found <= version else { throw .tooNew(found, version) }
            guard hasBackup || found == 0 || found == version else { throw .needsBackup(found, version) }
            betweenSteps()
            do throws(PostgresConnection.Failure) {
                guard try bring(connection, from: found) else { continue }
            } catch {
                switch error {
                case .conflict: break
                case .code(let code) where PostgresSchema.meetings.contains(code): break
                default: throw error.store
                }
                met = error
                continue
            }
            // A later program may have been here.
            try check(connection)
            return found
        }
        throw met.store
    }

    /// - Returns: False when the tables have another version by now than was found, which stays.
    private func bring(
        _ connection: PostgresConnection, from found: Int
    ) throws(PostgresConnection.Failure) -> Bool {
        guard found < version else { return true }
        for migration in migrations[found...] { for statement in migration { _ = try connection.query(statement) } }
        let statement =
            found == 0
            ? "INSERT INTO holdfast_settings VALUES ('schema', '\(version)') ON CONFLICT (name) DO NOTHING"
            : "UPDATE holdfast_settings SET value = '\(version)' WHERE name = 'schema' AND value = '\(found)'"
        return try connection.query(statement).changed == 1
    }
}
