internal import VaultHeader
internal import VaultFormat

/// The app comes and goes.
extension LockMachine {
    mutating func launched(_ now: BootInstant) -> [LockEffect] {
        hasPrompted = false
        return settings.isEnabled || isShut ? shut(.launch, now) : []
    }

    /// The prompt itself makes an app inactive, so the prompt continues, and the next activation does not start a
    /// second one.
    mutating func interrupted() -> [LockEffect] {
        absences.insert(.inactive)
        isCoverLifted = false
        return []
    }

    mutating func minimised(_ now: BootInstant) -> [LockEffect] {
        _ = interrupted()
        return settings.triggers.contains(.minimised) ? lockIfOpen(.minimised, now) : []
    }

    /// Out of the user's sight: no prompt and no pending change survives that, and the lock timing starts.
    mutating func left(
        _ absence: Absence, because reason: LockReason, locksAtOnce: Bool, _ now: BootInstant
    ) -> [LockEffect] {
        absences.insert(absence)
        isCoverLifted = false
        hasPrompted = false
        var effects = dropPrompt(.cancelled) + dropSelfDestructChange()
        switch state {
        case .disabled: break
        case .unlocked:
            if locksAtOnce || settings.timing == .immediately {
                effects += shut(reason, now)
            } else {
                leftAt = leftAt ?? now
            }
        case .locked, .authenticating, .delayed, .wiping, .wiped: effects += shut(reason, now)
        }
        return effects
    }

    mutating func returned(_ ended: Absence, _ now: BootInstant) -> [LockEffect] {
        absences.subtract(ended)
        guard absences.isEmpty else { return [] }
        leftAt = nil
        guard isShut, !hasPrompted else { return [] }
        return authenticate(now, isCounted: true)
    }

    /// Only the cover goes: a lock that is open stays open, one that is shut stays shut.
    mutating func forcedOpen() -> [LockEffect] {
        guard case .unlocked = state, absences.isSubset(of: .inactive) else { return [] }
        isCoverLifted = true
        leftAt = nil
        return []
    }
}
