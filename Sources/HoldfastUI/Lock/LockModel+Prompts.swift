package import Holdfast

extension LockModel {
    /// What the user can answer with in place of what is asked for now, for a button each.
    package var otherPrompts: [UnlockSecret] {
        guard guidance != .phraseOnly else { return [] }
        var prompts: [UnlockSecret] = hasPIN ? [.pin] : []
        if hasPasscode { prompts.append(.passcode) }
        if hasRecoveryPhrase { prompts.append(.recoveryPhrase) }
        return prompts.filter { $0 != prompt }
    }

    /// Whether a secret opens the vault, so that there is something to type.
    package var takesSecret: Bool { hasPasscode || hasPIN || hasRecoveryPhrase }

    /// Whether what is asked for is not taken before ``delay`` is over: a passcode and a PIN, never the phrase.
    package var isDelayed: Bool { delay != nil && prompt != .recoveryPhrase }
}
