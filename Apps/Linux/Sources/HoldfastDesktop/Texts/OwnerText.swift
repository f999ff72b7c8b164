import GtkKit
import Holdfast
import HoldfastUI

/// What the system says while it looks for its owner, in the user's words.
enum OwnerText {
    /// - Parameters:
    ///   - guidance: Nil before a sensor said anything.
    ///   - misses: Samples that did not match.
    static func of(_ step: OwnerStep, _ guidance: OwnerGuidance?, _ finger: OwnerFinger?, misses: Int) -> String {
        switch guidance {
        // The reader is ready for the next one at once, too soon to be read.
        case .touch where misses > 0: tr("Not recognised. Once more.")
        case .touch:
            finger.map { tr("Touch the fingerprint reader (%s).", of($0)) } ?? tr("Touch the fingerprint reader.")
        case .retry: tr("Not seen well enough. Once more.")
        case .tooShort: tr("Too short. Once more.")
        case .notCentred: tr("Put the finger in the middle.")
        case .removeAndRetry: tr("Lift the finger, and put it down again.")
        case .noMatch: tr("Not recognised. Once more.")
        case .checking: tr("Checking…")
        case nil: step == .biometrics ? tr("Asking the fingerprint reader…") : tr("Asking the system…")
        }
    }

    private static func of(_ finger: OwnerFinger) -> String {
        switch finger {
        case .leftThumb: tr("left thumb")
        case .leftIndex: tr("left index finger")
        case .leftMiddle: tr("left middle finger")
        case .leftRing: tr("left ring finger")
        case .leftLittle: tr("left little finger")
        case .rightThumb: tr("right thumb")
        case .rightIndex: tr("right index finger")
        case .rightMiddle: tr("right middle finger")
        case .rightRing: tr("right ring finger")
        case .rightLittle: tr("right little finger")
        }
    }

    /// The system's own words: they come in its language.
    static func of(_ prompt: OwnerPrompt) -> String {
        switch prompt {
        case .hidden(let text), .shown(let text), .information(let text), .problem(let text): Place.trimmed(text)
        }
    }

    /// Why only the passcode is taken.
    static func of(_ reason: PasscodeReason) -> String {
        switch reason {
        case .start: tr("After a start, and every three days, the passcode comes first.")
        case .nonMatches: tr("Too many fingers did not match. The passcode is needed now.")
        case .enrollmentChanged: tr("Fingers were added or removed. The passcode is needed once.")
        case .rules: tr("The vault's rules were changed. The passcode is needed once.")
        }
    }

    static func of(_ obstacle: OwnerObstacle) -> String {
        switch obstacle {
        case .missing: tr("The system cannot ask for you now.")
        case .notEnrolled: tr("Nothing is set up for it in the system's settings.")
        case .lockedOut: tr("The system takes no try now.")
        case .busy: tr("Something else is using it.")
        }
    }
}
