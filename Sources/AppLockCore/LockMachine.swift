public import VaultCore
public import VaultFormat

/// Why content is shut.
public enum LockReason: String, Sendable, Hashable, CaseIterable {
    /// The app was just started.
    case launch
    /// The app was away for longer than the lock timing allows.
    case background
    /// The app asked for it, or the owner pressed the button.
    case forced
    /// The machine was restarted, or its clock is not the one the unlock was made under.
    case reboot
}

/// How an authentication ended. Only a success carries on; everything else leaves the lock shut.
public enum AuthenticationOutcome: Sendable, Hashable {
    /// The vault was opened: keys are in memory.
    case unlocked
    /// Definitely refused; the next attempt is possible at once, or after so many milliseconds.
    case refused(retryAfterMilliseconds: UInt64)
    /// The owner turned away. Never a failure to count, never a way down.
    case cancelled
    /// Could not be asked, or failed for another reason. Never a yes.
    case unavailable
}

/// What happens to the lock.
public enum LockEvent: Sendable, Hashable {
    /// The process started.
    case launch
    /// About to be interrupted: content must be covered before the system takes its picture.
    case willResignActive
    /// In front and usable again.
    case didBecomeActive
    /// Out of sight.
    case didEnterBackground
    /// About to come back.
    case willEnterForeground
    /// The owner asks for the prompt (the retry button).
    case authenticate
    /// The owner asks with a factor whose attempts are not counted (the recovery phrase): no delay stands in its way.
    case authenticateUncounted
    /// The prompt with this number ended. A number other than the running prompt's is a late callback.
    case authenticationEnded(UInt64, AuthenticationOutcome)
    /// The timer that an effect asked for went off, early or late.
    case timeout
    /// Shut now, whatever the timing.
    case forceLock
    /// The lock was switched on or off, or given another timing. Proving the right to do so is the caller's part.
    case settingsChanged(isEnabled: Bool, timing: LockTiming)
}

/// What the shell around the machine does, in this order.
public enum LockEffect: Sendable, Hashable {
    /// Wipe every key, first of all.
    case dropKeys
    /// Hide content from sight and from screen readers.
    case showCover
    /// Show content again; only ever asked for while unlocked or disabled.
    case hideCover
    /// Put up the one lock screen.
    case presentLockScreen
    /// Take it down.
    case dismissLockScreen
    /// Start the prompt with this number.
    case beginAuthentication(UInt64)
    /// End the prompt with this number; its outcome is not waited for.
    case cancelAuthentication(UInt64)
    /// Send ``LockEvent/timeout`` at this instant; replaces an earlier one.
    case startTimer(BootInstant)
    /// No timer is needed any more.
    case stopTimer
}

/// The app lock as a value: events in, effects out, no clock and no disk. Unknown, late and doubled events leave it shut.
public struct LockMachine: Sendable, Hashable {
    /// What the lock is doing.
    public enum State: Sendable, Hashable {
        /// The lock is switched off; content is free to see.
        case disabled
        /// Shut; nothing runs.
        case locked(LockReason)
        /// Shut, and the prompt with this number is up.
        case authenticating(UInt64)
        /// Shut, and no attempt is taken until this instant.
        case delayed(until: BootInstant)
        /// Open since this instant.
        case unlocked(since: BootInstant)
    }

    /// What the lock is doing.
    public private(set) var state: State
    /// Whether content is hidden. Always true while shut.
    public private(set) var isCovered: Bool
    /// Whether the one lock screen is up.
    public private(set) var isLockScreenShown = false
    /// When an unlocked app left the foreground.
    private var leftAt: BootInstant?
    private var isInForeground = true
    private var isActive = true
    private var lastPrompt: UInt64 = 0
    private var timing: LockTiming

    /// A machine before ``LockEvent/launch``: shut and covered where the lock is on.
    public init(isEnabled: Bool, timing: LockTiming) {
        self.timing = timing
        state = isEnabled ? .locked(.launch) : .disabled
        isCovered = isEnabled
    }

    /// Whether content may be looked at.
    public var isContentVisible: Bool { !isCovered }

    /// Takes one event and returns what has to be done, in order.
    public mutating func handle(_ event: LockEvent, at now: BootInstant) -> [LockEffect] {
        switch event {
        case .launch: launched()
        case .willResignActive: resigned()
        case .didBecomeActive: becameActive(now)
        case .didEnterBackground: leftForeground(now)
        case .willEnterForeground: enteringForeground(now)
        case .authenticate: authenticate(now, isCounted: true)
        case .authenticateUncounted: authenticate(now, isCounted: false)
        case .authenticationEnded(let number, let outcome): ended(number, outcome, now)
        case .timeout: timedOut(now)
        case .forceLock: state == .disabled ? [] : shut(.forced)
        case .settingsChanged(let isEnabled, let timing): settingsChanged(isEnabled, timing, now)
        }
    }
}

extension LockMachine {
    private mutating func launched() -> [LockEffect] {
        guard state != .disabled else { return cover(false) }
        return shut(.launch)
    }

    /// Shuts from any state: keys first, then sight, then the screen.
    private mutating func shut(_ reason: LockReason) -> [LockEffect] {
        var effects: [LockEffect] = [.dropKeys]
        if case .authenticating(let number) = state { effects.append(.cancelAuthentication(number)) }
        // A running delay is the ledger's; it goes on, and is asked for again at the next prompt.
        state = .locked(reason)
        leftAt = nil
        effects += cover(true)
        if !isLockScreenShown {
            isLockScreenShown = true
            effects.append(.presentLockScreen)
        }
        effects.append(.stopTimer)
        return effects
    }

    private mutating func cover(_ hidden: Bool) -> [LockEffect] {
        guard hidden != isCovered else { return [] }
        isCovered = hidden
        return [hidden ? .showCover : .hideCover]
    }

    private mutating func resigned() -> [LockEffect] {
        isActive = false
        // The prompt itself makes an app inactive; it is covered already then.
        return state == .disabled ? [] : cover(true)
    }

    private mutating func leftForeground(_ now: BootInstant) -> [LockEffect] {
        isInForeground = false
        isActive = false
        switch state {
        case .disabled: return []
        case .unlocked:
            guard let seconds = timing.seconds else {
                leftAt = now
                return cover(true)
            }
            if seconds == 0 { return shut(.background) }
            leftAt = now
            return cover(true) + [.startTimer(now.advanced(bySeconds: seconds))]
        case .authenticating(let number):
            state = .locked(.background)
            return [.dropKeys, .cancelAuthentication(number)] + cover(true)
        // Keys that came into memory past the machine (a recovery, say) must not stay behind a lock that is shut.
        case .locked, .delayed: return [.dropKeys] + cover(true)
        }
    }

    private mutating func enteringForeground(_ now: BootInstant) -> [LockEffect] {
        isInForeground = true
        return lockIfAwayTooLong(now)
    }

    private mutating func becameActive(_ now: BootInstant) -> [LockEffect] {
        isActive = true
        isInForeground = true
        let effects = lockIfAwayTooLong(now)
        switch state {
        case .disabled: return effects + cover(false)
        case .unlocked:
            leftAt = nil
            return effects + [.stopTimer] + cover(false)
        case .locked, .delayed: return effects + authenticate(now, isCounted: true)
        case .authenticating: return effects
        }
    }

    /// An instant of another boot, or one before the app left, proves nothing about how long it was away: shut.
    private mutating func lockIfAwayTooLong(_ now: BootInstant) -> [LockEffect] {
        guard case .unlocked(let since) = state else { return [] }
        let reference = leftAt ?? since
        guard let away = now.milliseconds(since: reference) else { return shut(.reboot) }
        guard leftAt != nil, let seconds = timing.seconds, away >= UInt64(seconds) * 1000 else { return [] }
        return shut(.background)
    }

    private mutating func authenticate(_ now: BootInstant, isCounted: Bool) -> [LockEffect] {
        switch state {
        case .locked: break
        case .delayed(let until):
            // Not over, or a clock that cannot tell: the ledger decides at the next attempt anyway.
            if isCounted, let early = until.milliseconds(since: now), early > 0 { return [] }
        case .disabled, .authenticating, .unlocked: return []
        }
        guard isActive else { return [] }
        lastPrompt += 1
        state = .authenticating(lastPrompt)
        var effects: [LockEffect] = []
        if !isLockScreenShown {
            isLockScreenShown = true
            effects.append(.presentLockScreen)
        }
        return effects + [.stopTimer, .beginAuthentication(lastPrompt)]
    }

    private mutating func ended(
        _ number: UInt64, _ outcome: AuthenticationOutcome, _ now: BootInstant
    ) -> [LockEffect] {
        guard case .authenticating(number) = state else {
            // Late or doubled. If it opened the vault, the keys must not stay behind a lock that is shut.
            if outcome == .unlocked, case .unlocked = state { return [] }
            return outcome == .unlocked && state != .disabled ? [.dropKeys] : []
        }
        switch outcome {
        case .unlocked:
            state = .unlocked(since: now)
            leftAt = isInForeground ? nil : now
            isLockScreenShown = false
            return (isActive ? cover(false) : []) + [.dismissLockScreen]
        case .refused(let milliseconds) where milliseconds > 0:
            let until = now.advanced(byMilliseconds: milliseconds)
            state = .delayed(until: until)
            return [.startTimer(until)]
        case .refused, .cancelled, .unavailable:
            state = .locked(.forced)
            return []
        }
    }

    private mutating func timedOut(_ now: BootInstant) -> [LockEffect] {
        switch state {
        case .unlocked:
            let effects = lockIfAwayTooLong(now)
            guard effects.isEmpty, let leftAt, let seconds = timing.seconds else { return effects }
            return [.startTimer(leftAt.advanced(bySeconds: seconds))]  // it went off early
        case .delayed(let until):
            if let early = until.milliseconds(since: now), early > 0 { return [.startTimer(until)] }
            state = .locked(.forced)  // the owner asks for the next attempt
            return []
        case .disabled, .locked, .authenticating: return []
        }
    }

    private mutating func settingsChanged(
        _ isEnabled: Bool, _ timing: LockTiming, _ now: BootInstant
    ) -> [LockEffect] {
        self.timing = timing
        switch (isEnabled, state) {
        case (true, .disabled):
            // Switched on by who was just authenticated: open until the app leaves.
            state = .unlocked(since: now)
            return []
        case (false, .unlocked):
            state = .disabled
            leftAt = nil
            return [.stopTimer] + (isActive ? cover(false) : [])
        // A lock that is shut cannot be switched off from outside.
        case (false, .locked), (false, .delayed), (false, .authenticating), (false, .disabled), (true, _):
            return []
        }
    }
}

extension BootInstant {
    /// Milliseconds from an earlier instant; nil when the two do not compare: another boot, or the wrong order.
    public func milliseconds(since earlier: BootInstant) -> UInt64? {
        guard bootID == earlier.bootID, milliseconds >= earlier.milliseconds else { return nil }
        return milliseconds - earlier.milliseconds
    }

    /// A later instant of the same boot.
    public func advanced(byMilliseconds more: UInt64) -> BootInstant {
        BootInstant(
            bootID: bootID,
            milliseconds: milliseconds.addingReportingOverflow(more).overflow
                ? .max : milliseconds + more)
    }

    /// A later instant of the same boot.
    public func advanced(bySeconds seconds: UInt32) -> BootInstant { advanced(byMilliseconds: UInt64(seconds) * 1000) }
}
