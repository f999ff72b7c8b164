internal import BetterAuthMessages

/// What changes the database. It lives on one thread, and everything it does is inside that thread's transaction.
final class SQLiteWriter: @unchecked Sendable {  // belongs to the writing thread
    private let connection: SQLiteConnection
    private let selectAccount: SQLiteStatement
    private let upsertAccount: SQLiteStatement
    private let insertRefreshed: SQLiteStatement
    private let selectRefreshed: SQLiteStatement
    private let insertReply: SQLiteStatement
    private let selectReply: SQLiteStatement
    private let trimReplies: SQLiteStatement
    private let selectSweep: SQLiteStatement
    private let deleteRefreshed: SQLiteStatement
    private let beginning: SQLiteStatement
    private let committing: SQLiteStatement
    /// Keys that were reserved since the last sweep.
    private var reserved: Int64 = 0
    /// Accounts as the transaction leaves them, in the order of their changes.
    private(set) var changed: [(identity: IdentityID, account: Account)] = []

    init(_ connection: SQLiteConnection) throws(StoreError) {
        self.connection = connection
        selectAccount = try connection.prepare("SELECT row FROM accounts WHERE identity = ?")
        upsertAccount = try connection.prepare(
            "INSERT INTO accounts VALUES (?, ?) ON CONFLICT (identity) DO UPDATE SET row = excluded.row")
        insertRefreshed = try connection.prepare("INSERT INTO refreshed VALUES (?, ?, ?)")
        selectRefreshed = try connection.prepare("SELECT until, reply FROM refreshed WHERE hash = ?")
        insertReply = try connection.prepare("INSERT INTO replies VALUES (NULL, ?, ?, ?, ?, ?)")
        selectReply = try connection.prepare(
            "SELECT until, operation, identity, device, bytes FROM replies WHERE number = ?")
        // Up to the first row that counts still, so that no more is looked at than goes. One that ends later than any
        // can was written while the clock was wrong, and would keep all behind it.
        trimReplies = try connection.prepare(
            """
            WITH first AS NOT MATERIALIZED (SELECT number, until FROM replies ORDER BY number LIMIT ?2)
            DELETE FROM replies WHERE number < coalesce(
                (SELECT number FROM first WHERE until BETWEEN ?1 AND ?3 LIMIT 1), (SELECT max(number) + 1 FROM first))
            """)
        selectSweep = try connection.prepare("SELECT hash, until FROM refreshed WHERE hash > ? ORDER BY hash LIMIT ?")
        deleteRefreshed = try connection.prepare("DELETE FROM refreshed WHERE hash = ?")
        beginning = try connection.prepare("BEGIN IMMEDIATE")
        committing = try connection.prepare("COMMIT")
    }

    func begin() throws(StoreError) {
        changed.removeAll(keepingCapacity: true)
        try beginning.run()
    }

    func commit() throws(StoreError) { try committing.run() }

    func rollBack() { try? connection.execute("ROLLBACK") }

    func account(_ identity: IdentityID) throws(StoreError) -> Account? {
        try selectAccount.first(.bytes(identity.rawBytes)) { row throws(StoreError) in
            let bytes = row.bytes(0)
            return try unsafe AccountCoding.decode(bytes.span.bytes)
        }
    }

    func apply(_ change: AccountChange) throws(StoreError) -> AccountOutcome {
        switch change.decision(on: try account(change.identity)) {
        case .commit(let account, _):
            try upsertAccount.run(.bytes(change.identity.rawBytes), .bytes(AccountCoding.encode(account)))
            changed.append((change.identity, account))
            return .committed
        case .repeated(let reply): return .repeated(reply)
        case .refused(let error): return .refused(error)
        }
    }

    func reserve(_ refresh: RefreshReservation) throws(StoreError) -> SessionOutcome {
        guard let account = try account(refresh.reply.identity),
            account.honours(refresh.reply.device, issuedAt: refresh.issuedAt)
        else { return .revoked }
        let hash = refresh.revealed.rawBytes
        let taken = try selectRefreshed.first(.bytes(hash)) { (until: $0.number(0), reply: $0.number(1)) }
        // Taken for ever, as far as this asks: a token whose time has passed was refused before.
        if let taken { return try repeated(taken.reply, of: refresh.operation, now: refresh.moment) ?? .used }
        try keep(refresh.reply, of: refresh.operation, until: refresh.until)
        try insertRefreshed.run(
            .bytes(hash), .number(refresh.reservedUntil.milliseconds), .number(connection.lastNumber))
        reserved += 1
        return .committed
    }

    private func repeated(
        _ number: Int64, of operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> SessionOutcome? {
        try selectReply.first(.number(number)) { row throws(StoreError) -> SessionOutcome? in
            guard now.milliseconds <= row.number(0), row.bytes(1) == operation.rawBytes else { return nil }
            return .repeated(try SQLiteWriter.reply(row, 2))
        } ?? nil
    }

    /// The reply whose identity stands in a column, with device and bytes behind it.
    static func reply(_ row: SQLiteStatement, _ column: Int32) throws(StoreError) -> SessionReply {
        let (identity, device) = (row.bytes(column), row.bytes(column + 1))
        guard let identity = unsafe IdentityID(raw: identity.span.bytes),
            let device = unsafe DeviceID(raw: device.span.bytes)
        else { throw .damaged }
        return SessionReply(identity: identity, device: device, bytes: row.bytes(column + 2))
    }

    func keep(_ reply: SessionReply, of operation: OperationKey, until: Timestamp) throws(StoreError) {
        try insertReply.run(
            .number(until.milliseconds), .bytes(operation.rawBytes), .bytes(reply.identity.rawBytes),
            .bytes(reply.device.rawBytes), .bytes(reply.bytes))
    }

    /// Writes the moment down: whether that works is what is asked.
    func probe(_ moment: Timestamp) throws(StoreError) {
        try SQLiteSetting.probe.write(Array(String(moment.milliseconds).utf8), connection)
    }

    /// Keeps what the next process takes.
    func leaveSessions(_ bytes: [UInt8]) throws(StoreError) { try SQLiteSetting.sessions.write(bytes, connection) }

    /// Keeps what the wall clock said.
    func keep(_ clock: ExpiryClock) throws(StoreError) { try SQLiteSetting.clock.write(clock.bytes, connection) }

    /// Replaces the mark of the keys.
    /// - Returns: False when it was another one than `known`.
    func mark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        guard try SQLiteSetting.mark(connection) == known else { return false }
        try SQLiteSetting.keys.write(mark.bytes, connection)
        return true
    }

    /// Seconds for which no reply is kept, whatever its server's settings.
    private static let tooLong: Int64 = 86_400

    /// Takes away replies that have expired, up to the first one that has not.
    func trim(now: Timestamp, most rows: Int64) throws(StoreError) {
        try trimReplies.run(
            .number(now.milliseconds), .number(rows),
            .number(now.adding(seconds: SQLiteWriter.tooLong).milliseconds))
    }

    /// Rows that a sweep looks at for each one that was added since the last: with four, the table has at most a third
    /// more than what counts still, however fast it fills.
    private static let pace: Int64 = 4

    /// Takes away keys that nothing can be refreshed with any more, some rows at a time.
    /// - Parameters:
    ///   - start: Where the last sweep stopped.
    ///   - limit: What ended before it is taken away (``ExpiryClock/limit``).
    ///   - rows: To be looked at, or more where many were added since.
    /// - Returns: Where to continue; empty at the end of the table.
    func sweep(from start: [UInt8], before limit: Timestamp, least rows: Int64) throws(StoreError) -> [UInt8] {
        let rows = max(rows, SQLiteWriter.pace * reserved)
        reserved = 0
        var (last, seen, expired): ([UInt8], Int64, [[UInt8]]) = ([], 0, [])
        try selectSweep.each(.bytes(start), .number(rows)) { row throws(StoreError) in
            last = row.bytes(0)
            seen += 1
            if row.number(1) < limit.milliseconds { expired.append(last) }
            return true
        }
        for hash in expired { try deleteRefreshed.run(.bytes(hash)) }
        return seen < rows ? [] : last
    }

    /// Pages in the log after the last commit.
    var logPages: Int { connection.logPages }

    func checkpoint() throws(StoreError) -> (pages: Int, done: Int) { try connection.checkpoint() }
}
