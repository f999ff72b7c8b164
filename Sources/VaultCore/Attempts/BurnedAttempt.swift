internal import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// One attempt, already paid for. Only the ledger issues it, and an unlock with a passcode consumes it; dropping it
/// unused leaves it spent. It holds the header's lock, so no other process checks a passcode meanwhile.
package struct BurnedAttempt: ~Copyable, Sendable {
    var header: LockedHeader
    private var ledger: AttemptLedger
    private let before: AttemptBudget
    private let clock: any BootClock
    /// The folder that it was burned in.
    let home: HomeDirectory

    /// Burns one attempt: durable before this returns.
    fileprivate init(
        in home: HomeDirectory, header: consuming LockedHeader, ledger: consuming AttemptLedger,
        clock: any BootClock
    ) throws(VaultError) {
        let before = ledger.budget
        let now = clock.now()
        do throws(VaultError) {
            try ledger.update { $0.burn(at: now) }
        } catch {
            // No attempt is issued, so none was made; what a failed flush left must not count as one.
            try? ledger.restore(before)
            throw error
        }
        self.before = before
        self.home = home
        self.header = header
        self.ledger = ledger
        self.clock = clock
    }

    /// Attempts left, this one not among them.
    package var remainingAttempts: Int { ledger.budget.remaining }

    /// Whether the limit was reached by wrong passcodes with self-destruct on.
    var mustDestroy: Bool { ledger.budget.decision(at: clock.now()) == .destroy }

    /// What a refusal adds about the limit.
    var warning: String { ledger.budget.warning }

    /// What is counted now.
    var budget: AttemptBudget { ledger.budget }

    /// What was counted before it.
    var budgetBefore: AttemptBudget { before }

    /// How often the ledger was written.
    var ledgerSequence: UInt64 { ledger.sequence }

    /// Milliseconds until the next attempt.
    var delayLeft: UInt64 { ledger.budget.delayLeft(at: clock.now()) }

    /// The attempt was never checked, or repeated what is known to be wrong: it costs nothing.
    mutating func refund() throws(VaultError) { try ledger.restore(before) }

    /// The passcode was wrong.
    mutating func refuse() throws(VaultError) {
        let now = clock.now()
        try ledger.update { $0.refuse(at: now) }
    }

    /// The passcode was right.
    mutating func settle() throws(VaultError) {
        let now = clock.now()
        try ledger.update { $0.settle(at: now) }
    }
}

extension AttemptLedger {
    /// Decides whether an attempt may be made and burns it.
    /// - Throws: `delayed`, `attemptsExhausted`, `noWayLeft`, `readOnly`, and what reading and writing can throw.
    static func burn(
        in home: HomeDirectory, header: consuming LockedHeader, clock: any BootClock
    ) throws(VaultError) -> BurnedAttempt {
        let now = clock.now()
        let policy = header.header.policy
        let hasPhrase = header.header.recoverySlot != nil
        let ledger = try AttemptLedger.open(in: home, vault: header.header.vault, policy: policy, now: now)
        switch ledger.budget.decision(at: now) {
        case .allowed: return try BurnedAttempt(in: home, header: header, ledger: ledger, clock: clock)
        case .delayed(let milliseconds):
            throw VaultError(
                .delayed,
                "too many failed attempts: the next one is possible in \(seconds(milliseconds))"
                    + ledger.budget.warning,
                remainingAttempts: ledger.budget.remaining, retryAfter: .milliseconds(milliseconds))
        case .destroy:
            throw VaultError(.wiped, "wrong passcodes have reached the limit: this vault is to be destroyed")
        case .closed:
            throw .noAttemptLeft(hasPhrase: hasPhrase)
        }
    }

    /// Adds one failure that nothing was burned for, durably.
    /// - Returns: The budget after it.
    static func countFailure(
        in home: HomeDirectory, header: Header, clock: any BootClock
    ) throws(VaultError) -> AttemptBudget {
        let now = clock.now()
        var ledger = try AttemptLedger.open(in: home, vault: header.vault, policy: header.policy, now: now)
        try ledger.update { budget in
            budget.burn(at: now)
            budget.refuse(at: now)
        }
        return ledger.budget
    }

    /// Sets everything back to zero after the recovery phrase opened the vault.
    static func reset(in home: HomeDirectory, header: Header, clock: any BootClock) throws(VaultError) {
        let now = clock.now()
        var ledger = try AttemptLedger.open(in: home, vault: header.vault, policy: header.policy, now: now)
        try ledger.update { $0.settle(at: now) }
    }
}

/// Milliseconds in words, rounded up.
package func seconds(_ milliseconds: UInt64) -> String {
    let seconds = (milliseconds + 999) / 1000
    if seconds < 120 { return "\(seconds) s" }
    let minutes = (seconds + 59) / 60
    return "\(minutes) min"
}
