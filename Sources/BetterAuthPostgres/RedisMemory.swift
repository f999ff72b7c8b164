internal import BetterAuthServer
internal import Synchronization

/// Notices that Redis has forgotten what it was told: it was flushed, restarted without an append-only file, or is
/// another one. A mark is in both databases; when Redis does not have it any more, keys that have refreshed and
/// challenges that were used may be gone too.
final class RedisMemory: Sendable {
    /// The mark: a name that nobody guesses, and the run of Redis that it was last seen in.
    private struct Mark: Equatable {
        let name: String
        let run: String

        init(_ name: String, _ run: String) { (self.name, self.run) = (name, run) }

        init?(_ bytes: [UInt8]) {
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, !words[0].isEmpty else { return nil }
            self.init(String(words[0]), String(words[1]))
        }

        var bytes: [UInt8] { Array("\(name) \(run)".utf8) }

        static var freshName: String {
            (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        }
    }

    private struct State {
        /// Under which scripts run; nil before it was looked for.
        var name: String?
        var lost = 0
        var told: Set<RedisNotice> = []
    }

    private let accounts: AccountTable
    private let entries: ExpiringEntries
    private let policy: RedisLoss
    private let report: @Sendable (RedisNotice) -> Void
    /// Between the reads of the two databases: for tests, in which another process does something there.
    private let betweenReads: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        _ accounts: AccountTable, _ entries: ExpiringEntries, _ policy: RedisLoss,
        _ report: @escaping @Sendable (RedisNotice) -> Void, betweenReads: @escaping @Sendable () -> Void
    ) {
        self.betweenReads = betweenReads
        self.accounts = accounts
        self.entries = entries
        self.policy = policy
        self.report = report
    }

    /// How often it was noticed here.
    var lost: Int { state.withLock { $0.lost } }

    /// What scripts compare, so that none is fooled between two looks; nil where a loss only warns.
    func condition() throws(StoreError) -> String? {
        guard policy == .refuse else { return nil }
        if let known = state.withLock({ $0.name }) { return known }
        try check()
        return state.withLock { $0.name }
    }

    /// Compares the marks.
    /// - Throws: ``StoreError/unavailable(_:)`` when Redis has forgotten, and that is to be refused; what a database
    ///   throws.
    func check() throws(StoreError) {
        var kept = try accounts.redisMark()
        // Redis is asked after the accounts, which remember a mark only when Redis has it: what is missing then is
        // lost. The other way round, a mark that another process makes at this moment would look forgotten.
        while true {
            betweenReads()
            if try isAsKnown(entries.state(), kept) { return }
            let newer = try accounts.redisMark()
            if newer == kept { return try lose(kept) }
            kept = newer
        }
    }

    /// Whether Redis has the mark that the accounts have. The first time it gets one.
    private func isAsKnown(_ redis: ExpiringEntries.State, _ kept: [UInt8]?) throws(StoreError) -> Bool {
        if !redis.writesDown { tell(.notWrittenDown) }
        if redis.evicts { tell(.evicts) }
        guard let kept, let known = Mark(kept) else {
            // The mark that Redis has may be that of a database that was restored.
            return try take(redis, over: kept)
        }
        // Of a run that wrote nothing down only a part may be there: the mark, and not what came after it.
        let isSameRun = known.run == redis.run || redis.run.isEmpty || redis.writesDown
        guard redis.mark == known.name, isSameRun else { return false }
        if known.run != redis.run, !redis.run.isEmpty {
            _ = try accounts.setRedisMark(Mark(known.name, redis.run).bytes, over: kept)
        }
        state.withLock { state in
            state.name = known.name
            state.told.remove(.lost)
        }
        return true
    }

    private func lose(_ kept: [UInt8]?) throws(StoreError) {
        guard policy == .warn else {
            let known = kept.flatMap { Mark($0) }
            // Told once, until it is accepted.
            let isNew = state.withLock { state in
                state.name = known?.name
                if !state.told.contains(.lost) { state.lost += 1 }
                return state.told.insert(.lost).inserted
            }
            if isNew { report(.lost) }
            throw .unavailable("Redis has forgotten what it was told")
        }
        // Of several processes one tells.
        guard try take(entries.state(), over: kept) else { return }
        state.withLock { $0.lost += 1 }
        report(.lost)
    }

    /// Has the accounts' database remember the mark of Redis, which gets one if it has none: first there, so that
    /// processes that do this at once remember the same.
    /// - Returns: Whether it was done here.
    private func take(_ redis: ExpiringEntries.State, over known: [UInt8]?) throws(StoreError) -> Bool {
        let name = if let mark = redis.mark { mark } else { try entries.mark(orElse: Mark.freshName) }
        let isTaken = try accounts.setRedisMark(Mark(name, redis.run).bytes, over: known)
        if isTaken { state.withLock { $0.name = name } }
        return isTaken
    }

    /// Continues with Redis as it is.
    func accept() throws(StoreError) {
        while try !take(entries.state(), over: accounts.redisMark()) {}
    }

    private func tell(_ notice: RedisNotice) {
        if state.withLock({ $0.told.insert(notice).inserted }) { report(notice) }
    }
}

/// What is done when Redis has forgotten what it was told.
package enum RedisLoss: String, Sendable, CaseIterable {
    /// It is logged, and sessions continue.
    case warn = "warn"
    /// Sessions are refused, and the server is not ready, until an operator accepts it.
    case refuse = "refuse"
}

/// What an operator should know of Redis.
package enum RedisNotice: Sendable, Hashable {
    /// It has forgotten what it was told.
    case lost
    /// It has no append-only file.
    case notWrittenDown
    /// It removes keys when its memory is full.
    case evicts

    package var description: String {
        switch self {
        case .lost:
            "Redis has forgotten what it was told: keys that have refreshed, challenges, nonces and revocations"
        case .notWrittenDown: "Redis has no append-only file: a restart forgets which keys have refreshed"
        case .evicts: "Redis removes keys when its memory is full: set maxmemory-policy to noeviction"
        }
    }
}
