internal import BetterAuthMessages
internal import BetterAuthServer

/// Accounts in PostgreSQL, or in an engine that speaks its protocol: one table, one row each, keyed by the identity.
/// Every statement touches one row, so no statement ever needs a transaction of more than itself.
final class AccountTable: Sendable {
    private let connections: ConnectionPool<PostgresConnection, StoreError>

    /// How often a change that lost against another one is decided anew.
    private static let attempts = 200

    /// What the tables look like, by version. Names are prefixed, since the database may have other tables.
    private static let migrations = [
        """
        CREATE TABLE IF NOT EXISTS holdfast_accounts (
            identity bytea PRIMARY KEY, version bigint NOT NULL, contents bytea NOT NULL)
        """
    ]

    init(_ url: String) {
        connections = ConnectionPool { () throws(StoreError) in
            let connection = try PostgresConnection(url)
            try connection.prepare("read", "SELECT version, contents FROM holdfast_accounts WHERE identity = $1")
            try connection.prepare(
                "add", "INSERT INTO holdfast_accounts VALUES ($1, 1, $2) ON CONFLICT (identity) DO NOTHING")
            try connection.prepare(
                "swap",
                "UPDATE holdfast_accounts SET version = version + 1, contents = $3 WHERE identity = $1 AND version = $2"
            )
            return connection
        }
    }

    /// Makes the tables.
    static func migrate(_ url: String) throws(StoreError) {
        let connection = try PostgresConnection(url)
        for migration in migrations { try connection.run(migration) }
    }

    /// - Parameter prepare: Called with a decision before it is committed; a throw stops it.
    func apply(
        _ change: AccountChange, before prepare: (Account, [DeviceID]) throws(StoreError) -> Void
    ) throws(StoreError) -> AccountOutcome {
        for _ in 0..<AccountTable.attempts {
            let known = try read(change.identity)
            switch change.decision(on: known?.account) {
            case .repeated(let reply):
                return .repeated(reply)
            case .refused(let error): return .refused(error)
            case .commit(let account, let revoked):
                try prepare(account, revoked)
                if try write(account, change.identity, over: known?.version) { return .committed }
            }
        }
        throw PostgresConnection.Failure.conflict.store
    }

    func read(_ identity: IdentityID) throws(StoreError) -> (version: Int64, account: Account)? {
        let rows = try run("read", [identity.rawBytes])
        guard let rows, rows.count > 0 else { return nil }
        let contents = rows.bytes(0, 1)
        return (rows.number(0, 0), try unsafe AccountCoding.decode(contents.span.bytes))
    }

    /// False when the row is another one by now.
    private func write(
        _ account: Account, _ identity: IdentityID, over version: Int64?
    ) throws(StoreError) -> Bool {
        let contents = AccountCoding.encode(account)
        let rows =
            if let version {
                try run("swap", [identity.rawBytes, bigEndian(version), contents])
            } else {
                try run("add", [identity.rawBytes, contents])
            }
        return rows?.changed == 1
    }

    /// Nil after a conflict.
    private func run(_ name: String, _ values: [[UInt8]]) throws(StoreError) -> PostgresConnection.Rows? {
        do throws(StoreError) {
            return try connections.use(
                { connection throws(StoreError) in
                    do throws(PostgresConnection.Failure) {
                        return try connection.execute(name, values)
                    } catch {
                        if case .conflict = error, name != "read" { return nil }
                        throw error.store
                    }
                }, isGood: \.isGood)
        } catch {
            // A server that was restarted has ended the idle ones too.
            connections.clear()
            throw error
        }
    }

    private func bigEndian(_ number: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    func close() { connections.clear() }
}
