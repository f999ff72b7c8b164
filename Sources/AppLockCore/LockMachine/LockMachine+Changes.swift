internal import VaultHeader

/// Settings change by a prompt made for it, over content that stays as it is.
extension LockMachine {
    /// Whether the prompt with this number decides about a change and not about the lock.
    func asksForChange(_ number: UInt64) -> Bool { prompt?.number == number && prompt?.purpose != .unlock }

    /// Why no prompt for a change may begin now; nil when the user sees the app and nothing else is asked.
    private func obstacle(_ now: BootInstant) -> AuthenticationOutcome? {
        guard !isShut, prompt == nil, absences.isSubset(of: .inactive) else { return .unavailable }
        guard let until = delayedUntil, isDelayed(now) else { return nil }
        return .delayed(until.duration(since: now) ?? .zero)
    }

    mutating func request(_ settings: LockSettings, _ now: BootInstant) -> [LockEffect] {
        if let obstacle = obstacle(now) { return [.revertSettings(obstacle)] }
        return begin(.settings(settings))
    }

    /// What the authenticated header says. A lock that is shut learns it when it is opened, not before.
    mutating func adopt(_ settings: LockSettings, _ now: BootInstant) -> [LockEffect] {
        guard !isShut, settings != self.settings else { return [] }
        return apply(settings, now) + [.applySettings(settings)] + lockIfExpired(now)
    }

    mutating func apply(_ settings: LockSettings, _ now: BootInstant) -> [LockEffect] {
        self.settings = settings
        switch state {
        case .disabled where settings.isEnabled:
            // The user who turned it on was just authenticated, so it stays open until the app leaves the foreground.
            state = .unlocked(since: now)
            leftAt = absences.isSubset(of: .inactive) ? nil : now
        case .unlocked where !settings.isEnabled:
            state = .disabled
            leftAt = nil
        case .disabled, .unlocked, .locked, .authenticating, .delayed, .wiping, .wiped: break
        }
        return []
    }

    /// A prompt that begins while the user is away ends at once.
    mutating func holdSelfDestructChange() -> [LockEffect] {
        guard !isShut, absences.isSubset(of: .inactive) else { return [.cancelSelfDestructChange] }
        hasPendingSelfDestructChange = true
        return []
    }

    mutating func forgetSelfDestructChange() -> [LockEffect] {
        hasPendingSelfDestructChange = false
        return []
    }

    mutating func dropSelfDestructChange() -> [LockEffect] {
        guard hasPendingSelfDestructChange else { return [] }
        hasPendingSelfDestructChange = false
        return [.cancelSelfDestructChange]
    }
}

/// The end: nothing but ``LockState/wiped`` follows.
extension LockMachine {
    mutating func end(in final: State) -> [LockEffect] {
        let effects = [.dropKeys] + dropPrompt(.wipeRequired) + dropSelfDestructChange()
        state = final
        leftAt = nil
        delayedUntil = nil
        return effects
    }

    mutating func handleAtTheEnd(_ event: Event) -> [LockEffect] {
        switch event {
        case .wipeFinished where state == .wiping: end(in: .wiped) + [.record(.wiped), .terminate]
        case .authenticationEnded(_, let outcome): lateOutcome(outcome)
        case .selfDestructChangeBegan: [.cancelSelfDestructChange]
        default: []  // because the end has no exceptions
        }
    }
}
