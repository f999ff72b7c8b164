package import VaultFormat

/// One thing that happened to the lock, for observers and the security log. Nothing in it is secret.
package enum LockRecord: Sendable, Hashable {
    /// Shut, and by what.
    case locked(LockReason)
    /// Opened, and by what; nil where nobody was asked.
    case unlocked(by: UnlockMethod?)
    /// A prompt to open it ended otherwise.
    case notUnlocked(AuthenticationOutcome)
    /// Settings changed.
    case settingsChanged(LockSettings)
    /// Settings that were asked for do not hold, because the prompt for them ended so.
    case settingsReverted(AuthenticationOutcome)
    /// A pending change of self-destruct was given up, because the app was left or locked.
    case selfDestructChangeCancelled
    /// A wipe began.
    case wipeBegan
    /// The wipe ended.
    case wiped
}
