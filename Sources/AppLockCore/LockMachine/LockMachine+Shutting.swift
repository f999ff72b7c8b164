internal import VaultHeader
internal import VaultFormat

extension LockMachine {
    /// Shuts from any state. Keys that came into memory past the machine go too.
    mutating func shut(_ reason: LockReason, _ now: BootInstant) -> [LockEffect] {
        let wasOpen = !isShut
        var effects: [LockEffect] = [.dropKeys]
        effects += dropPrompt(.cancelled)
        effects += dropSelfDestructChange()
        if wasOpen {
            self.reason = reason
            effects.append(.record(.locked(reason)))
        }
        leftAt = nil
        isCoverLifted = false
        rest(now)
        return effects
    }

    /// As ``shut(_:_:)``, for reasons that mean nothing while the lock is off or shut already.
    mutating func lockIfOpen(_ reason: LockReason, _ now: BootInstant) -> [LockEffect] {
        guard case .unlocked = state else { return [] }
        return shut(reason, now)
    }

    /// An instant of another boot, or one before the lock was opened, proves nothing about how long the app was away.
    mutating func lockIfExpired(_ now: BootInstant) -> [LockEffect] {
        guard case .unlocked(let since) = state else { return [] }
        guard now.bootID == since.bootID else { return shut(.reboot, now) }
        guard let away = now.milliseconds(since: leftAt ?? since) else { return shut(.clockWentBack, now) }
        guard leftAt != nil, let seconds = settings.timing.seconds, away >= UInt64(seconds) * 1000 else { return [] }
        return shut(.background, now)
    }

    /// The state of a closed lock that waits for the user: the ledger's delay continues whatever else happened.
    mutating func rest(_ now: BootInstant) {
        if let until = delayedUntil, isDelayed(now) {
            state = .delayed(until: until)
        } else {
            delayedUntil = nil
            state = .locked(reason)
        }
    }

    /// Whether a counted attempt has to wait. A clock that cannot tell means no: the ledger decides again anyway.
    func isDelayed(_ now: BootInstant) -> Bool {
        guard let until = delayedUntil, let left = until.milliseconds(since: now) else { return false }
        return left > 0
    }

    /// Ends the running prompt. If it was for a change of settings, the caller gets its outcome.
    mutating func dropPrompt(_ outcome: AuthenticationOutcome) -> [LockEffect] {
        guard let ended = prompt else { return [] }
        prompt = nil
        var effects: [LockEffect] = [.cancelAuthentication(ended.number)]
        if case .settings = ended.purpose { effects.append(.revertSettings(outcome)) }
        return effects
    }

    /// The end of a delay does not start a prompt; the user does.
    mutating func endDelay(_ now: BootInstant) {
        guard delayedUntil != nil, !isDelayed(now) else { return }
        delayedUntil = nil
        if case .delayed = state { rest(now) }
    }

    /// The time has been looked at; what is still needed is asked for again.
    mutating func timedOut() -> [LockEffect] {
        timer = nil
        return []
    }

    /// What can be seen follows from the state, and from nothing else.
    mutating func settle() -> [LockEffect] {
        var effects: [LockEffect] = []
        let covers = mustCover
        if covers != isCovered {
            isCovered = covers
            effects.append(covers ? .showCover : .hideCover)
        }
        if isShut != isLockScreenShown {
            isLockScreenShown = isShut
            effects.append(isShut ? .presentLockScreen : .dismissLockScreen)
        }
        let due = timerDue
        if due != timer {
            timer = due
            effects.append(due.map { .startTimer($0) } ?? .stopTimer)
        }
        return effects
    }

    private var mustCover: Bool {
        switch state {
        case .locked, .authenticating, .delayed, .wiping, .wiped: true
        case .disabled: false
        case .unlocked: !(absences.isEmpty || isCoverLifted)
        }
    }

    private var timerDue: BootInstant? {
        switch state {
        case .delayed(let until): until
        case .unlocked:
            if let leftAt, let seconds = settings.timing.seconds { leftAt.advanced(bySeconds: seconds) } else { nil }
        case .disabled, .locked, .authenticating, .wiping, .wiped: nil
        }
    }
}
