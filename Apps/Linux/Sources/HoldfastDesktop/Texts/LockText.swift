import GtkKit
import HoldfastUI
import Holdfast

/// The lock screen's words.
enum LockText {
    static func of(_ reason: LockReason, _ prompt: UnlockSecret) -> String {
        switch reason {
        case .launch: prompt == .pin ? tr("Enter your PIN to continue.") : tr("Enter your passcode to continue.")
        case .background: tr("Locked after you left.")
        case .idle: tr("Locked because it was idle.")
        case .systemLock: tr("Locked with your session.")
        case .userSwitch: tr("Locked because of a user switch.")
        case .suspend: tr("Locked before sleep.")
        case .lidClosed: tr("Locked when the lid was closed.")
        case .minimised: tr("Locked when it was minimised.")
        case .forced: tr("You locked it.")
        case .panic: tr("Locked in an emergency. Nothing was destroyed.")
        case .reboot, .clockWentBack: tr("Locked because the clock changed.")
        case .keysGone: tr("Locked because the keys are gone.")
        }
    }

    static func of(_ guidance: LockGuidance) -> String? {
        switch guidance {
        case .none: nil
        case .refused(.delayed): nil  // the countdown says it
        case .refused(let problem), .unreadable(let problem): ProblemText.of(problem)
        case .phraseOnly: ProblemText.of(.attemptsExhausted)
        }
    }

    static func attempts(_ left: Int, _ consequence: LimitConsequence) -> String {
        switch consequence {
        case .slows: trn("%d attempt left", "%d attempts left", left)
        case .destroys:
            trn(
                "%d attempt left before everything is destroyed", "%d attempts left before everything is destroyed",
                left)
        }
    }

    static func delay(_ seconds: Int) -> String {
        let (minutes, rest) = (seconds / 60, seconds % 60)
        return tr("Try again in %s", "\(minutes):\(rest < 10 ? "0" : "")\(rest)")
    }
}
