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
        case .touch where misses > 0: tr("Not recognised. Try again.")
        case .touch:
            finger.map { tr("Touch the fingerprint reader (%s).", of($0)) } ?? tr("Touch the fingerprint reader.")
        case .retry: tr("Not read. Try again.")
        case .tooShort: tr("Too short. Try again.")
        case .notCentred: tr("Centre your finger on the reader.")
        case .removeAndRetry: tr("Lift your finger and try again.")
        case .noMatch: tr("Not recognised. Try again.")
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
        case .nonMatches: tr("Too many fingers did not match. Enter the passcode.")
        case .enrollmentChanged: tr("Fingers were added or removed. Enter the passcode once.")
        case .rules: tr("The vault's policy was changed. Enter the passcode once.")
        }
    }

    static func of(_ obstacle: OwnerObstacle) -> String {
        switch obstacle {
        case .missing, .denied: tr("The system cannot ask for you now.")
        case .notEnrolled: tr("It is not set up in the system's settings.")
        case .lockedOut: tr("The system is locked out.")
        case .busy: tr("Something else is using it.")
        }
    }
}
