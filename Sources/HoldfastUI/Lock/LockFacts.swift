internal import Holdfast

/// What a lock screen knows, read off the main thread.
struct LockFacts: Sendable {
    let snapshot: AppLock.Snapshot
    let isUnlocked: Bool
    let status: Result<Vault.Status, VaultError>
    /// Nil where the header cannot be read, which ``status`` says.
    let protection: Protection?
    /// See ``LockModel/leavesHardware``.
    let leavesHardware: Bool
    let now: BootInstant
    /// How far the vault's wipe is.
    let wipe: Vault.WipeProgress
    /// Of a lock that is shut.
    let owner: OwnerFacts?

    @concurrent
    init(of app: HoldfastApp) async {
        status = Result { () throws(VaultError) in try app.vault.status() }
        if case .failure(let error) = status, error.code == .wiped {
            wipe = app.vault.continueWipe()
        } else {
            wipe = .none
        }
        protection = try? app.vault.protection()
        leavesHardware = app.vault.leavesHardware
        snapshot = await app.lock.snapshot
        // Read after the snapshot, so that a lock between the two is noticed.
        isUnlocked = app.vault.isUnlocked
        now = app.vault.settings.clock.now()
        owner =
            isUnlocked
            ? nil
            : (try? status.get()).flatMap { [snapshot, protection] status in
                protection.map { OwnerFacts(app, status, $0, snapshot) }
            }
    }

    /// Whether the vault was destroyed, and not only begun to be.
    var isWiped: Bool { snapshot.state == .wiped || wipe == .over }

    /// When the next counted attempt is taken; nil when one may be made now.
    var delayedUntil: BootInstant? {
        if case .success(let status) = status, let wait = status.retryAfter {
            return now.advanced(byMilliseconds: wait.wholeMilliseconds)
        }
        if case .delayed(let until) = snapshot.state { return until }
        return nil
    }
}

extension Duration {
    /// Milliseconds, rounded up; 0 for less than none.
    var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(seconds) * 1000 + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// What the lock screen says about the last attempt, or about what stands in the way.
package enum LockGuidance: Sendable, Hashable {
    /// Nothing to say.
    case none
    /// The attempt did not open the vault.
    case refused(VaultProblem)
    /// No passcode is taken any more; only the phrase opens.
    case phraseOnly
    /// The home cannot be read.
    case unreadable(VaultProblem)
}

/// What happens when no attempt is left.
package enum LimitConsequence: Sendable, Hashable {
    /// Only the recovery phrase opens, or one try an hour.
    case slows
    /// Everything is destroyed.
    case destroys
}
