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
