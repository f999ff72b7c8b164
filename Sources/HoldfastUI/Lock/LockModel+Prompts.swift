public import Holdfast

extension LockModel {
    /// What the user can answer with in place of what is asked for now, for a button each.
    public var otherPrompts: [UnlockSecret] {
        guard guidance != .phraseOnly else { return [] }
        var prompts: [UnlockSecret] = hasPIN ? [.pin, .passcode] : [.passcode]
        if hasRecoveryPhrase { prompts.append(.recoveryPhrase) }
        return prompts.filter { $0 != prompt }
    }

    /// Whether what is asked for is not taken before ``delay`` is over: a passcode and a PIN, never the phrase.
    public var isDelayed: Bool { delay != nil && prompt != .recoveryPhrase }
}
