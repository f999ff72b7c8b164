#if canImport(SwiftUI)
internal import AppLockCore
internal import HoldfastUI
internal import SwiftUI
internal import VaultFormat

/// Keys of the lock screen's words in `Localizable.strings`.
enum LockText {
    /// Nil where there is nothing to say: the device asks by itself.
    static func key(_ reason: LockReason, _ prompt: UnlockSecret, takesSecret: Bool) -> LocalizedStringKey? {
        reason == .launch && !takesSecret ? nil : key(reason, prompt)
    }

    static func key(_ reason: LockReason, _ prompt: UnlockSecret) -> LocalizedStringKey {
        if reason == .launch, prompt == .recoveryPhrase { return "lock.reason.launch.phrase" }
        if reason == .launch, prompt == .pin { return "lock.reason.launch.pin" }
        // Joined before: what is interpolated becomes an argument of the key.
        return LocalizedStringKey("lock.reason." + reason.rawValue)
    }

    static func key(_ guidance: LockGuidance) -> LocalizedStringKey? {
        switch guidance {
        case .none, .refused(.delayed): nil
        case .refused(let problem), .unreadable(let problem): ProblemText.key(problem)
        case .phraseOnly: "problem.attemptsExhausted"
        }
    }

    static func attempts(_ left: Int, _ consequence: LimitConsequence) -> LocalizedStringKey {
        switch consequence {
        case .slows: "lock.attempts \(left)"
        case .destroys: "lock.attempts.destroys \(left)"
        }
    }

    static func field(_ prompt: UnlockSecret) -> LocalizedStringKey {
        switch prompt {
        case .pin: "lock.pin"
        case .passcode: "lock.passcode"
        case .recoveryPhrase: "lock.phrase"
        }
    }

    /// The words of the button that turns to it.
    static func use(_ prompt: UnlockSecret) -> LocalizedStringKey {
        switch prompt {
        case .pin: "lock.usePIN"
        case .passcode: "lock.usePasscode"
        case .recoveryPhrase: "lock.usePhrase"
        }
    }
}
#endif
