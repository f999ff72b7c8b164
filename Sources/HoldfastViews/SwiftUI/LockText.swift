#if canImport(SwiftUI)
internal import AppLockCore
internal import HoldfastUI
internal import SwiftUI

/// Keys of the lock screen's words in `Localizable.strings`.
enum LockText {
    static func key(_ reason: LockReason, _ prompt: UnlockSecret) -> LocalizedStringKey {
        if reason == .launch, prompt == .pin { return "lock.reason.launch.pin" }
        return LocalizedStringKey("lock.reason.\(reason.rawValue)")
    }

    static func key(_ guidance: LockGuidance) -> LocalizedStringKey? {
        switch guidance {
        case .none, .refused(.delayed): nil
        case .refused(let problem), .unreadable(let problem): key(problem)
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

    static func key(_ problem: VaultProblem) -> LocalizedStringKey {
        switch problem {
        case .wrongPasscode: "problem.wrongPasscode"
        case .wrongPIN: "problem.wrongPIN"
        case .pinIsOver: "problem.pinIsOver"
        case .pinUnavailable: "problem.pinUnavailable"
        case .wrongPhrase, .unreadablePhrase: "problem.wrongPhrase"
        case .delayed(let seconds): "lock.delay \(seconds)"
        case .attemptsExhausted: "problem.attemptsExhausted"
        case .destroyed: "problem.destroyed"
        case .damaged: "problem.damaged"
        case .diskFull: "problem.diskFull"
        case .readOnly, .permissionDenied: "problem.readOnly"
        case .outOfMemory: "problem.outOfMemory"
        case .notRecognised: "problem.owner.notRecognised"
        case .timedOut: "problem.owner.timedOut"
        case .ownerUnavailable(let obstacle): OwnerText.key(obstacle)
        case .passcodeNeeded(let reason): OwnerText.key(reason)
        case .locked, .keysChanged, .newerVersion, .noVault, .exists, .notFound, .invalidName, .invalidPasscode,
            .passcodesDiffer, .invalidPIN, .pinsDiffer, .invalidRules, .assuranceTooLow, .tooLarge, .file, .busy,
            .hardwareUnavailable,
            .hardwareDestroyed, .hardwareUnclaimed, .rolledBack, .cancelled, .notPending, .other:
            "problem.other"
        }
    }
}
#endif
