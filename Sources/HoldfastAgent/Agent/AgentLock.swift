internal import AppLockCore
internal import VaultCore
internal import VaultFormat

/// The lock machine as an agent runs it: whoever makes a request is in front of it, and between two requests it is in the
/// background, where the lock timing runs. A value; the caller drops the keys when it is told to.
///
/// Not the `AppLock` actor: its tasks and timers bring the concurrency runtime's threads and a clock that stands while
/// the machine sleeps. This needs one timer of the kernel, and no thread.
struct AgentLock {
    private var machine: LockMachine
    private var limits: Limits
    private var active = 0
    /// When the machine wants to be woken.
    private var idleDue: BootInstant?
    private var openedAt: BootInstant?

    /// Seconds after which an open vault locks by itself.
    struct Limits: Sendable, Hashable {
        /// Without a request.
        var idle: UInt32
        /// In any case.
        var timeout: UInt32

        static let standard = Limits(idle: 15 * 60, timeout: 12 * 3600)

        /// With what the vault's authenticated rules allow: a time in the rules is the longest there is. `immediately` and
        /// the words are about an app that is left and started again; an agent is neither.
        func bounded(by timing: LockTiming?) -> Limits {
            guard let seconds = timing?.seconds, seconds > 0 else { return self }
            return Limits(idle: min(idle, seconds), timeout: timeout)
        }
    }

    init(limits: Limits) {
        self.limits = limits
        machine = LockMachine(isEnabled: true, timing: .after(seconds: limits.idle))
    }

    var isUnlocked: Bool {
        if case .unlocked = machine.state { return true }
        return false
    }

    /// When something has to happen by itself.
    var due: BootInstant? {
        guard isUnlocked, let openedAt else { return nil }
        let end = openedAt.advanced(bySeconds: limits.timeout)
        guard let idleDue else { return end }
        return idleDue.milliseconds < end.milliseconds ? idleDue : end
    }

    /// A request begins. - Returns: Whether the keys must go, because it came too late.
    mutating func beginRequest(_ now: BootInstant) -> Bool {
        active += 1
        return (active == 1 && run(.willEnterForeground, now)) || endIfOverdue(now)
    }

    mutating func endRequest(_ now: BootInstant) -> Bool {
        active = max(0, active - 1)
        return (active == 0 && run(.didEnterBackground, now)) || endIfOverdue(now)
    }

    /// The number of the prompt that an unlock answers; nil when the lock is open already.
    mutating func beginUnlock(_ now: BootInstant) -> UInt64? {
        _ = run(.didBecomeActive, now)
        if case .authenticating(let number) = machine.state { return number }
        return nil
    }

    /// - Parameter limits: Those of this unlock, where it succeeded.
    /// - Returns: Whether the keys must go: the lock was shut meanwhile.
    mutating func endUnlock(_ prompt: UInt64?, opened limits: Limits?, _ now: BootInstant) -> Bool {
        var mustDropKeys = false
        if let prompt {
            // Delays are the ledger's, which other processes share; the machine keeps none of its own.
            let outcome: AuthenticationOutcome = limits == nil ? .unavailable : .unlocked
            mustDropKeys = run(.authenticationEnded(prompt, outcome), now)
        }
        if let limits {
            guard isUnlocked, !mustDropKeys else { return true }
            self.limits = limits
            openedAt = now
            mustDropKeys = run(.settingsChanged(isEnabled: true, timing: .after(seconds: limits.idle)), now)
        }
        // Whoever unlocked has what he came for: the idle time runs from here.
        if active == 0 && run(.didEnterBackground, now) { mustDropKeys = true }
        return mustDropKeys
    }

    /// - Returns: Always true where keys could be.
    mutating func lock(_ now: BootInstant) -> Bool {
        openedAt = nil
        return run(.forceLock, now)
    }

    /// The time has come, or may have.
    mutating func checkTime(_ now: BootInstant) -> Bool {
        if let idleDue, idleDue.bootID != now.bootID || idleDue.milliseconds <= now.milliseconds {
            if run(.timeout, now) { return true }
        }
        return endIfOverdue(now)
    }

    private mutating func endIfOverdue(_ now: BootInstant) -> Bool {
        guard isUnlocked, let openedAt else { return false }
        guard let open = now.milliseconds(since: openedAt), open < UInt64(limits.timeout) * 1000 else {
            return lock(now)
        }
        return false
    }

    private mutating func run(_ event: LockEvent, _ now: BootInstant) -> Bool {
        var mustDropKeys = false
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .dropKeys: mustDropKeys = true
            case .startTimer(let instant): idleDue = instant
            case .stopTimer: idleDue = nil
            // There is no screen here, and whoever unlocks brings the answer along.
            case .showCover, .hideCover, .presentLockScreen, .dismissLockScreen, .beginAuthentication,
                .cancelAuthentication:
                break
            }
        }
        return mustDropKeys
    }
}
