internal import VaultHeader
internal import VaultFormat

extension LockMachine {
    mutating func authenticate(_ now: BootInstant, isCounted: Bool) -> [LockEffect] {
        guard isShut, prompt == nil, !absences.contains(.background) else { return [] }
        guard !isCounted || !isDelayed(now) else { return [] }
        // An explicit request proves presence: if the system never reported that its session was unlocked, the user
        // must not be locked out.
        absences.subtract(.session)
        hasPrompted = true
        return begin(.unlock)
    }

    mutating func begin(_ purpose: Prompt.Purpose) -> [LockEffect] {
        lastPrompt += 1
        prompt = Prompt(number: lastPrompt, purpose: purpose)
        if purpose == .unlock { state = .authenticating(lastPrompt) }
        return [.beginAuthentication(lastPrompt)]
    }

    mutating func ended(_ number: UInt64, _ outcome: AuthenticationOutcome, _ now: BootInstant) -> [LockEffect] {
        if outcome == .wipeRequired { return wipe(number, now) }
        guard let ended = prompt, ended.number == number else { return lockIfExpired(now) + lateOutcome(outcome) }
        if outcome == .retry { return lockIfExpired(now) }
        prompt = nil
        switch outcome {
        case .unlocked: delayedUntil = nil
        case .wrongSecret(let wait, _) where wait > .zero, .delayed(let wait) where wait > .zero:
            delayedUntil = now.advanced(by: wait)
        case .wrongSecret, .delayed, .biometricFailed, .cancelled, .unavailable, .systemLockout, .hardwareBusy, .retry,
            .wipeRequired:
            break
        }
        // The ledger's delay is kept above all; a change that was proved too late is none.
        let expired = lockIfExpired(now)
        guard case .unlocked(let method) = outcome else { return expired + failed(ended.purpose, outcome, now) }
        return expired.isEmpty
            ? succeeded(ended.purpose, method, now) : expired + failed(ended.purpose, .cancelled, now)
    }

    /// This is the vault's own result, so it is valid whoever waits for it.
    private mutating func wipe(_ number: UInt64, _ now: BootInstant) -> [LockEffect] {
        var effects: [LockEffect] = []
        if let ended = prompt, ended.number == number {
            prompt = nil
            effects = failed(ended.purpose, .wipeRequired, now)
        }
        return effects + end(in: .wiping) + [.record(.wipeBegan), .beginWipe]
    }

    /// Late or doubled. If it opened the vault, the keys must not stay behind a lock that is shut.
    func lateOutcome(_ outcome: AuthenticationOutcome) -> [LockEffect] {
        if case .unlocked = outcome, isShut { return [.dropKeys] }
        return []
    }

    private mutating func succeeded(
        _ purpose: Prompt.Purpose, _ method: UnlockMethod?, _ now: BootInstant
    ) -> [LockEffect] {
        switch purpose {
        case .unlock:
            state = settings.isEnabled ? .unlocked(since: now) : .disabled
            leftAt = nil
            return [.record(.unlocked(by: method))]
        case .settings(let settings):
            return apply(settings, now) + [.applySettings(settings)]
        }
    }

    private mutating func failed(
        _ purpose: Prompt.Purpose, _ outcome: AuthenticationOutcome, _ now: BootInstant
    ) -> [LockEffect] {
        switch purpose {
        case .unlock:
            rest(now)
            return [.record(.notUnlocked(outcome))]
        case .settings: return [.revertSettings(outcome)]
        }
    }
}
