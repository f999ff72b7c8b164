internal import BetterAuthMessages
internal import BetterAuthServer
internal import Synchronization
internal import SystemCalls

/// Accounts in PostgreSQL, or in an engine that speaks its protocol: one table, one row each, keyed by the identity.
/// Every statement touches one row, so no statement ever needs a transaction of more than itself.
final class AccountTable: Sendable {
    private let connections: ConnectionPool<PostgresConnection, StoreError>
    private let schema: PostgresSchema

    /// How often a change that lost against another one is decided anew.
    private static let attempts = 200

    init(_ url: SecretText, _ schema: PostgresSchema) {
        self.schema = schema
        connections = ConnectionPool { () throws(StoreError) in
            let connection = try PostgresConnection(url)
            // Each connection looks, and each probe: the tables may have been changed while a server runs.
            try schema.check(connection)
            try connection.prepare("read", "SELECT version, contents FROM holdfast_accounts WHERE identity = $1")
            try connection.prepare(
                "add", "INSERT INTO holdfast_accounts VALUES ($1, 1, $2) ON CONFLICT (identity) DO NOTHING")
            try connection.prepare(
                "swap",
                "UPDATE holdfast_accounts SET version = version + 1, contents = $3 WHERE identity = $1 AND version = $2"
            )
            try connection.prepare(
                "page",
                "SELECT identity, contents FROM holdfast_accounts WHERE identity > $1 ORDER BY identity LIMIT $2")
            // Texts are sent as their bytes, which is their binary form: no statement needs a function.
            try connection.prepare("setting", "SELECT value FROM holdfast_settings WHERE name = $1")
            try connection.prepare(
                "keep",
                """
                INSERT INTO holdfast_settings VALUES ($1, $2) \
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """)
            try connection.prepare(
                "first",
                "INSERT INTO holdfast_settings VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
            try connection.prepare(
                "replace",
                "UPDATE holdfast_settings SET value = $3 WHERE name = $1 AND value = $2")
            return connection
        }
    }

    private static let probeName = Array("probe".utf8)
    private static let keysName = Array("keys".utf8)

    /// Writes a row, which every process of the service has in common, to tables that are still of this program's
    /// version. Where they are not, connections are closed: each new one looks before it does anything.
    func probe(_ now: Timestamp) throws(StoreError) {
        let rows = try run("setting", [PostgresSchema.name])
        do throws(StoreError) { try schema.check(PostgresSchema.version(rows)) } catch {
            connections.clear()
            throw error
        }
        _ = try run("keep", [AccountTable.probeName, Array(String(now.milliseconds).utf8)])
        try proveAccounts()
    }

    /// Seconds for which it is proven that accounts can be written.
    private static let proofLasts = 5.0
    private let proven = Mutex(-Double.infinity)

    /// Writes an account as operations do, and takes it back: the table of settings may be sound while that of accounts
    /// is away, full, or shut to this user. Nobody sees the row, whose identity is another one each time.
    private func proveAccounts() throws(StoreError) {
        let now = MonotonicClock.seconds
        guard proven.withLock({ now - $0 >= AccountTable.proofLasts }) else { return }
        let identity = (0..<IdentityID.rawSize).map { _ in UInt8.random(in: 0 ... .max) }
        try used { connection throws(StoreError) in
            try connection.run("BEGIN")
            do throws(PostgresConnection.Failure) {
                _ = try connection.execute("read", [identity])
                _ = try connection.execute("add", [identity, [0]])
                _ = try connection.execute("swap", [identity, bigEndian(1), [1]])
            } catch {
                try? connection.run("ROLLBACK")
                throw error.store
            }
            try connection.run("ROLLBACK")
        }
        proven.withLock { $0 = now }
    }

    func keyMark() throws(StoreError) -> KeyMark? {
        guard let rows = try run("setting", [AccountTable.keysName]), rows.count > 0 else { return nil }
        guard let mark = KeyMark(rows.bytes(0, 0)) else { throw .damaged }
        return mark
    }

    func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        let rows =
            if let known {
                try run("replace", [AccountTable.keysName, known.bytes, mark.bytes])
            } else {
                try run("first", [AccountTable.keysName, mark.bytes])
            }
        return rows?.changed == 1
    }

    private static let wordName = Array("word".utf8)

    /// What a process left for others; nil for nothing.
    func word() throws(StoreError) -> [UInt8]? {
        guard let rows = try run("setting", [AccountTable.wordName]), rows.count > 0 else { return nil }
        return rows.bytes(0, 0)
    }

    func leave(word: [UInt8]) throws(StoreError) { _ = try run("keep", [AccountTable.wordName, word]) }

    private static let redisName = Array("redis".utf8)

    /// The mark that Redis has too; nil for none.
    func redisMark() throws(StoreError) -> [UInt8]? {
        guard let rows = try run("setting", [AccountTable.redisName]), rows.count > 0 else { return nil }
        return rows.bytes(0, 0)
    }

    /// - Returns: False when it was another one than `known`, and is as it was.
    func setRedisMark(_ mark: [UInt8], over known: [UInt8]?) throws(StoreError) -> Bool {
        let rows =
            if let known {
                try run("replace", [AccountTable.redisName, known, mark])
            } else {
                try run("first", [AccountTable.redisName, mark])
            }
        return rows?.changed == 1
    }

    func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        guard let rows = try run("page", [name, bigEndian(Int64(count))]) else { return [] }
        return (0..<rows.count).map { StoredAccount(name: rows.bytes($0, 0), row: rows.bytes($0, 1)) }
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

    var connectionCounts: (idle: Int, used: Int) { connections.counts }

    private let works = Atomic(true)

    /// Whether the last statement was done.
    var isUp: Bool { works.load(ordering: .relaxed) }

    /// Statements that change nothing: one that met a conflict has found nothing out.
    private static let reads: Set = ["read", "page", "setting"]

    /// Nil after a conflict.
    private func run(_ name: String, _ values: [[UInt8]]) throws(StoreError) -> PostgresConnection.Rows? {
        try used { connection throws(StoreError) in
            do throws(PostgresConnection.Failure) {
                return try connection.execute(name, values)
            } catch {
                if case .conflict = error, !AccountTable.reads.contains(name) { return nil }
                throw error.store
            }
        }
    }

    /// Does something with a connection, and remembers whether that worked.
    private func used<R>(_ body: (PostgresConnection) throws(StoreError) -> R) throws(StoreError) -> R {
        do throws(StoreError) {
            let result = try connections.use(body, isGood: \.isGood)
            works.store(true, ordering: .relaxed)
            return result
        } catch {
            works.store(false, ordering: .relaxed)
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
