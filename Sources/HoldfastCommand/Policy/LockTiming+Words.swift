internal import Holdfast

extension LockTiming {
    static let allowed = "immediately, relaunch, never, or a time such as 15s, 5min, 1h"

    /// Out of a word of the command line; nil for one that is no timing.
    init?(word: String) {
        switch word {
        case "immediately": self = .immediately
        case "relaunch": self = .onRelaunch
        case "never": self = .never
        default:
            let digits = word.prefix { $0.isASCII && $0.isNumber }
            guard let number = PolicySetting.number(String(digits)).flatMap(UInt32.init(exactly:)) else { return nil }
            let factor: UInt32
            switch word[digits.endIndex...] {
            case "", "s": factor = 1
            case "min": factor = 60
            case "h": factor = 3600
            default: return nil
            }
            let (seconds, isTooLong) = number.multipliedReportingOverflow(by: factor)
            guard !isTooLong, seconds < .max - 1 else { return nil }
            self = .after(seconds: seconds)
        }
    }

    /// A word that gives this timing back.
    var word: String {
        switch self {
        case .immediately: return "immediately"
        case .onRelaunch: return "relaunch"
        case .never: return "never"
        default:
            let seconds = seconds ?? 0
            if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
            return seconds % 60 == 0 ? "\(seconds / 60)min" : "\(seconds)s"
        }
    }
}
