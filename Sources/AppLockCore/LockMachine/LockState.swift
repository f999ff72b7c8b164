public import VaultCore

/// What the lock is doing.
public enum LockState: Sendable, Hashable {
    /// The lock is switched off; content is free to see.
    case disabled
    /// Shut; nothing runs.
    case locked(LockReason)
    /// Shut, and the prompt with this number is up.
    case authenticating(UInt64)
    /// Shut, and no counted attempt is taken until this instant.
    case delayed(until: BootInstant)
    /// Open since this instant.
    case unlocked(since: BootInstant)
    /// Shut for good: everything is being destroyed. Only ``wiped`` follows.
    case wiping
    /// Nothing is left. No event leaves this state.
    case wiped
}
