package import BetterAuthMessages
package import BetterAuthServer
internal import BetterAuthVerification

/// Accounts in PostgreSQL and what expires in Redis: any number of processes over one pair.
///
/// A revocation is published in Redis before the account is changed: when either cannot be done nothing is
/// acknowledged, and what is published needlessly keeps a device out for a quarter of an hour, never in.
package final class PostgresStore: ServerStore {
    private let accounts: AccountTable
    private let entries: ExpiringEntries
    private let memory: RedisMemory
    private let revocationSeconds: Int64
    private let refreshSeconds: Int64

    /// Seconds beyond an access token's life: a statement has long ended by then.
    private static let margin: Int64 = 60

    /// Connects when it is first asked.
    /// - Parameters:
    ///   - url: As libpq takes it.
    ///   - lifetimes: Revocations are published for as long as an access token lives.
    ///   - loss: What is done when Redis has forgotten what it was told.
    ///   - schema: This program's; another one for tests.
    ///   - report: Told what an operator should know of Redis, once.
    ///   - betweenReads: Called when one of the two databases was read and the other one was not: for tests.
    package init(
        _ url: SecretText, _ redis: RedisLocation, lifetimes: Lifetimes = Lifetimes(), loss: RedisLoss = .warn,
        schema: PostgresSchema = .current, report: @escaping @Sendable (RedisNotice) -> Void = { _ in },
        betweenReads: @escaping @Sendable () -> Void = {}
    ) {
        accounts = AccountTable(url, schema)
        entries = ExpiringEntries(redis)
        memory = RedisMemory(accounts, entries, loss, report, betweenReads: betweenReads)
        revocationSeconds = lifetimes.access + PostgresStore.margin
        refreshSeconds = lifetimes.refresh + PostgresStore.margin
    }

    /// Makes the tables in a database, or brings them to this program's version; several processes may do so at one
    /// time.
    /// - Parameters:
    ///   - schema: This program's; another one for tests.
    ///   - hasBackup: Whether tables of an earlier version may be changed, which nothing takes back.
    ///   - betweenSteps: Called when the version was read and nothing was done yet: for tests.
    /// - Returns: The version that they had, 0 for none, and the one they have.
    /// - Throws: ``StoreError/unavailable(_:)``, ``StoreError/tooNew(_:_:)``, ``StoreError/needsBackup(_:_:)``.
    @discardableResult
    package static func migrate(
        _ url: SecretText, _ schema: PostgresSchema = .current, hasBackup: Bool, betweenSteps: () -> Void = {}
    ) throws(StoreError) -> (from: Int, to: Int) {
        let found = try schema.migrate(PostgresConnection(url), hasBackup: hasBackup, betweenSteps: betweenSteps)
        return (found, schema.version)
    }

    /// Whether the tables are there, and of this program's version.
    /// - Throws: ``StoreError``.
    package func check() throws(StoreError) { _ = try accounts.keyMark() }

    package var isRemote: Bool { true }

    package func account(_ identity: IdentityID) throws(StoreError) -> Account? { try accounts.read(identity)?.account }

    package func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>) {
        then(
            Result { () throws(StoreError) in
                try accounts.apply(change) { account, revoked throws(StoreError) in
                    let marks = account.devices.filter { $0.voidBefore >= change.moment }
                    try entries.publish(
                        devices: revoked, marks: marks.map { ($0.id, $0.voidBefore) }, seconds: revocationSeconds)
                }
            })
    }

    package func open(_ challenge: Challenge, then: @escaping Completion<Void>) {
        then(Result { () throws(StoreError) in try entries.open(challenge) })
    }

    package func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState {
        try entries.challenge(nonce, answeredBy: operation)
    }

    package func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>) {
        then(Result { () throws(StoreError) in try entries.answer(answer, if: memory.condition()) })
    }

    package func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>) {
        then(
            Result { () throws(StoreError) in
                guard
                    try !isVoid(
                        refresh.reply.device, of: refresh.reply.identity, issuedAt: refresh.issuedAt)
                else { return .revoked }
                return try entries.reserve(refresh, seconds: refreshSeconds, if: memory.condition())
            })
    }

    package func probe(now: Timestamp) throws(StoreError) {
        try entries.probe()
        try accounts.probe(now)
        try memory.check()
    }

    /// Continues with Redis as it is, though it has forgotten what it was told: with this store and all others over the
    /// same databases.
    /// - Throws: ``StoreError``.
    package func acceptRedis() throws(StoreError) { try memory.accept() }

    package var gauges: [StoreGauge] {
        let (postgres, redis) = (accounts.connectionCounts, entries.connectionCounts)
        return [
            StoreGauge(
                "holdfast_pool_idle", "Connections to a database that wait.",
                [("database", "postgres", postgres.idle), ("database", "redis", redis.idle)]),
            StoreGauge(
                "holdfast_pool_used", "Connections to a database that are in use.",
                [("database", "postgres", postgres.used), ("database", "redis", redis.used)]),
            StoreGauge(
                "holdfast_database_up", "Whether a database did what it was last asked.",
                [("database", "postgres", accounts.isUp ? 1 : 0), ("database", "redis", entries.isUp ? 1 : 0)]),
            StoreGauge(
                "holdfast_redis_lost_total",
                "How often this process noticed that Redis has forgotten what it was told.",
                [("database", "redis", memory.lost)], isCounter: true),
        ]
    }

    package func keyMark() throws(StoreError) -> KeyMark? { try accounts.keyMark() }

    package func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        try accounts.setKeyMark(mark, over: known)
    }

    package func leave(word: [UInt8]) throws(StoreError) -> Bool {
        try accounts.leave(word: word)
        return true
    }

    package func word() throws(StoreError) -> [UInt8]? { try accounts.word() }

    package func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        try accounts.accounts(after: name, most: count)
    }

    package func close() {
        accounts.close()
        entries.close()
    }
}

/// Nonces and revocations that application servers share through Redis (protocol.md 12.10 and 12.12).
///
/// Its calls block their thread while Redis answers.
package struct SharedAccess: NonceStore, RevocationList {
    private let entries: ExpiringEntries

    package init(_ redis: RedisLocation) { entries = ExpiringEntries(redis) }

    /// Whether Redis does its work.
    /// - Throws: ``BetterAuthServer/StoreError``.
    package func probe() throws(StoreError) { try entries.probe() }

    package func reserve(_ nonce: NonceText, until: Timestamp, now: Timestamp) async throws -> Bool {
        try entries.reserve(nonce, until: until, now: now)
    }

    package func isRevoked(_ claims: AccessClaims, now: Timestamp) async throws -> Bool {
        try entries.isVoid(claims.device, of: claims.identity, issuedAt: claims.issuedAt)
    }
}
