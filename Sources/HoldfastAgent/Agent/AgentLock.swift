package import AppLockCore
internal import VaultCore
package import VaultHeader
package import VaultFormat

/// The lock machine as an agent runs it: it is in the background all the time, where the lock timing runs, and each
/// request and each unlock is a short visit that starts the timing anew. A value; the caller drops the keys when it is
/// told to.
///
/// Not the `AppLock` actor: its tasks and timers bring the concurrency runtime's threads and a clock that stands while
/// the machine sleeps. This needs one timer of the kernel, and no thread.
package struct AgentLock {
    private var machine: LockMachine
    private var limits: Limits
    /// When the machine wants to be woken.
    private var idleDue: BootInstant?
    private var openedAt: BootInstant?
    /// The unlock, or the end of the last request since.
    private var usedAt: BootInstant?

    /// Seconds after which an unlocked vault locks automatically.
    package struct Limits: Sendable, Hashable {
        /// Without a request.
        package var idle: UInt32
        /// In any case.
        package var timeout: UInt32

        package static let standard = Limits(idle: 15 * 60, timeout: 12 * 3600)

        package init(idle: UInt32, timeout: UInt32) {
            self.idle = idle
            self.timeout = timeout
        }

        /// With what the vault's authenticated rules allow: a time in the rules is the longest there is. `immediately`
        /// and the words are about an app that is left and started again; an agent is neither.
        func bounded(by timing: LockTiming?) -> Limits {
            guard let seconds = timing?.seconds, seconds > 0 else { return self }
            return Limits(idle: min(idle, seconds), timeout: timeout)
        }

        /// Whether a vault that was not used for so long is still open where these rules hold.
        /// - Parameter unused: Milliseconds.
        package static func allow(_ timing: LockTiming, unused: UInt64) -> Bool {
            guard let seconds = timing.seconds, seconds > 0 else { return true }
            return unused < UInt64(seconds) * 1000
        }
    }

    package init(limits: Limits) {
        self.limits = limits
        machine = LockMachine(settings: AgentLock.settings(limits))
        _ = run(.system(.didEnterBackground), BootInstant(bootID: [], milliseconds: 0))
    }

    private static func settings(_ limits: Limits) -> LockSettings {
        LockSettings(isEnabled: true, timing: .after(seconds: limits.idle))
    }

    package var isUnlocked: Bool {
        if case .unlocked = machine.state { return true }
        return false
    }

    /// The time of the next automatic event.
    var due: BootInstant? {
        guard isUnlocked, let openedAt else { return nil }
        let end = openedAt.advanced(bySeconds: limits.timeout)
        guard let idleDue else { return end }
        return idleDue.milliseconds < end.milliseconds ? idleDue : end
    }

    // Each of these returns why the keys must go, or nil.

    /// A request begins or ends, perhaps too late: sleep in the middle of one is still counted.
    package mutating func visit(_ now: BootInstant) -> LogLockReason? {
        if let overdue = checkTime(now) { return overdue }
        // A visit to a shut lock would begin a prompt, or end the one that an unlock answers.
        guard isUnlocked else { return nil }
        let reason = run(.system(.didBecomeActive), now)
        return run(.system(.didEnterBackground), now) ?? reason
    }

    /// A request that found the vault open has ended.
    package mutating func noteUse(_ now: BootInstant) { usedAt = now }

    /// Milliseconds since the vault was used; as long as there is where the clock cannot tell. Requests that began
    /// meanwhile count once they have ended.
    package func unused(_ now: BootInstant) -> UInt64 {
        usedAt.flatMap { now.milliseconds(since: $0) } ?? .max
    }

    /// The vault's rules have changed: an idle time that is longer than they allow becomes theirs, from now on.
    package mutating func bound(by timing: LockTiming?, _ now: BootInstant) -> LogLockReason? {
        guard isUnlocked else { return nil }
        let reason = visit(now)
        limits = limits.bounded(by: timing)
        return run(.settingsChanged(AgentLock.settings(limits)), now) ?? visit(now) ?? reason
    }

    /// The number of the prompt that an unlock answers; nil when the lock is open already. To be called after
    /// ``checkTime(_:)``.
    package mutating func beginUnlock(_ now: BootInstant) -> UInt64? {
        prompt = nil
        _ = run(.system(.didBecomeActive), now)
        return prompt
    }

    /// - Parameter limits: Those of this unlock, where it succeeded.
    package mutating func endUnlock(
        _ prompt: UInt64?, by method: UnlockMethod?, opened limits: Limits?, _ now: BootInstant
    ) -> LogLockReason? {
        let wasOpen = isUnlocked
        var reason: LogLockReason?
        if let prompt {
            // Delays are the ledger's, which other processes share; the machine keeps none of its own.
            let outcome: AuthenticationOutcome = limits == nil ? .unavailable : .unlocked(by: method)
            reason = run(.authenticationEnded(prompt, outcome), now)
        }
        if let limits {
            if isUnlocked, reason == nil {
                self.limits = limits
                openedAt = now
                usedAt = now
                reason = run(.settingsChanged(AgentLock.settings(limits)), now)
            } else {
                // The lock was shut meanwhile: what was opened is shut again.
                reason = reason ?? .requested
            }
        }
        // The unlock is done, whatever the outcome: the visit ends, or the next unlock would begin no prompt. The idle
        // time starts here.
        let after = run(.system(.didEnterBackground), now)
        return reason ?? (wasOpen || limits != nil ? after : nil)
    }

    /// Shuts, whatever runs.
    package mutating func lock(_ now: BootInstant) {
        openedAt = nil
        _ = run(.forceLock, now)
    }

    /// The session or the machine did something that locks. Its end follows at once: a session that is locked at the
    /// screen must not block a user who unlocks from elsewhere, and its end may never be reported.
    package mutating func notice(_ event: LockEvent, _ end: LockEvent?, _ now: BootInstant) {
        _ = run(.system(event), now)
        if let end { _ = run(.system(end), now) }
        lock(now)
    }

    /// The time has come, or may have.
    package mutating func checkTime(_ now: BootInstant) -> LogLockReason? {
        guard isUnlocked else { return nil }
        if let idleDue, idleDue.bootID != now.bootID || idleDue.milliseconds <= now.milliseconds {
            if let reason = run(.timeout, now) { return reason }
        }
        guard let openedAt else { return nil }
        if let open = now.milliseconds(since: openedAt), open < UInt64(limits.timeout) * 1000 { return nil }
        lock(now)
        return .timeout
    }

    /// The prompt that the machine began last.
    private var prompt: UInt64?
    /// How often it has shut.
    private(set) package var locks: UInt32 = 0

    private mutating func run(_ event: LockMachine.Event, _ now: BootInstant) -> LogLockReason? {
        var reason: LogLockReason?
        let wasUnlocked = isUnlocked
        defer { if wasUnlocked, !isUnlocked { locks &+= 1 } }
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .dropKeys: reason = .idle
            case .startTimer(let instant): idleDue = instant
            case .stopTimer: idleDue = nil
            case .beginAuthentication(let number): prompt = number
            default: break  // no screen is here, no settings, and the vault destroys itself
            }
        }
        return reason
    }
}
