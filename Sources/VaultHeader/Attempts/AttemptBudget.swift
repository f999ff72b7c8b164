package import VaultFormat

/// What the ledger says before a passcode is looked at.
package enum AttemptDecision: Sendable, Hashable {
    /// An attempt may be burned.
    case allowed
    /// A delay runs for so many more milliseconds.
    case delayed(milliseconds: UInt64)
    /// The limit was reached through attempts that were burned but never checked: only the recovery phrase opens.
    case closed
    /// The limit was reached by wrong passcodes while self-destruct is on.
    case destroy
}

/// The arithmetic of attempts (constructions.md 4): a value without clock or disk.
///
/// `spent` counts what was burned before a check, `refused` what was checked and wrong; success sets both to zero. New
/// attempts stop at `spent`, a wipe follows `refused` only, so a crash can close the passcode but never destroy.
package struct AttemptBudget: Sendable, Hashable {
    package private(set) var spent: UInt32
    package private(set) var refused: UInt32
    /// Milliseconds of the running delay, 0 for none, and when it began.
    package private(set) var delay: UInt64
    package private(set) var delayStart: BootInstant
    package let policy: VaultPolicy

    /// With self-destruct off, the pace once the limit is reached.
    private static let slowestDelay: UInt64 = 3_600_000

    package init(spent: UInt32, refused: UInt32, delay: UInt64, delayStart: BootInstant, policy: VaultPolicy) {
        self.spent = spent
        self.refused = refused
        self.delay = delay
        self.delayStart = delayStart
        self.policy = policy
    }

    /// The state when nothing on disk can be believed: one attempt left after the longest delay. Never a reset, and
    /// nothing refused, so never a wipe.
    package static func distrusted(policy: VaultPolicy, now: BootInstant) -> AttemptBudget {
        AttemptBudget(
            spent: UInt32(policy.attemptLimit - 1), refused: 0, delay: slowestDelay, delayStart: now, policy: policy)
    }

    private var limit: UInt32 { UInt32(policy.attemptLimit) }

    /// Attempts left before the limit.
    package var remaining: Int { Int(limit) - Int(min(spent, limit)) }

    /// What a refusal adds while self-destruct is on; else nothing.
    package var warning: String {
        AttemptBudget.warning(policy: policy, remaining: remaining, refused: Int(min(refused, limit)))
    }

    /// - Parameters:
    ///   - remaining: Attempts before the limit.
    ///   - refused: Wrong passcodes so far; where attempts were lost on the way, the limit closes and does not destroy.
    package static func warning(policy: VaultPolicy, remaining: Int, refused: Int) -> String {
        guard policy.selfDestruct else { return "" }
        guard remaining + refused == policy.attemptLimit else { return "; self-destruct is on" }
        return remaining == 1
            ? "; 1 more wrong passcode destroys this vault" : "; \(remaining) more wrong passcodes destroy this vault"
    }

    /// Milliseconds left of the running delay. Another boot, or a clock behind the delay's start, means that the whole
    /// of it is still to come.
    package func delayLeft(at now: BootInstant) -> UInt64 {
        guard now.bootID == delayStart.bootID, now.milliseconds >= delayStart.milliseconds else { return delay }
        let passed = now.milliseconds - delayStart.milliseconds
        return passed >= delay ? 0 : delay - passed
    }

    /// Whether ``delayStart`` belongs to another boot or the future, and must be written anew for the delay to run.
    package func delayMustRestart(at now: BootInstant) -> Bool {
        delay > 0 && (now.bootID != delayStart.bootID || now.milliseconds < delayStart.milliseconds)
    }

    package mutating func restartDelay(at now: BootInstant) { delayStart = now }

    package func decision(at now: BootInstant) -> AttemptDecision {
        if policy.selfDestruct && refused >= limit { return .destroy }
        let unsettled = spent - min(refused, spent)
        if spent >= limit && refused < limit || unsettled >= limit { return .closed }
        let left = delayLeft(at: now)
        return left > 0 ? .delayed(milliseconds: left) : .allowed
    }

    /// Spends one attempt, and starts the delay that would follow its failure: a kill cannot avoid it.
    package mutating func burn(at now: BootInstant) {
        spent += 1
        startDelay(at: now)
    }

    /// The burned attempt was checked and was wrong.
    package mutating func refuse(at now: BootInstant) {
        refused += 1
        startDelay(at: now)
    }

    /// The passcode was right, or the recovery phrase was used.
    package mutating func settle(at now: BootInstant) {
        spent = 0
        refused = 0
        delay = 0
        delayStart = now
    }

    /// Entry n of the policy's list follows failure n; the last one repeats.
    private mutating func startDelay(at now: BootInstant) {
        let index = min(Int(spent), policy.delays.count) - 1
        delay = spent >= limit ? AttemptBudget.slowestDelay : UInt64(policy.delays[index]) * 1000
        delayStart = now
    }
}
