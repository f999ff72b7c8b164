import GtkKit
import Holdfast
import HoldfastUI

/// What is said of a passcode that is being chosen.
enum StrengthText {
    static func of(_ strength: PasscodeStrength) -> String {
        let level =
            switch strength.level {
            case .none: ""
            case .veryWeak: tr("Guessed instantly.")
            case .weak: tr("Weak: found in hours.")
            case .fair: tr("Fair: months for one machine.")
            case .strong: tr("Strong.")
            }
        guard let hint = strength.hints.first.map(of) else { return level }
        return "\(level) \(hint)"
    }

    private static func of(_ hint: PasscodeStrength.Hint) -> String {
        switch hint {
        case .common: tr("It is one of those that people try first.")
        case .pattern: tr("Its characters are a sequence.")
        case .longer: tr("Make it longer, with unrelated words.")
        case .onlyDigits: tr("Use more than digits.")
        }
    }
}
