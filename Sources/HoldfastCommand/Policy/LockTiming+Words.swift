internal import CommandLineArguments
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
            guard let seconds = DurationWord.seconds(word).flatMap(UInt32.init(exactly:)), seconds < .max - 1 else {
                return nil
            }
            self = .after(seconds: seconds)
        }
    }

    /// A word that gives this timing back.
    var word: String {
        switch self {
        case .immediately: return "immediately"
        case .onRelaunch: return "relaunch"
        case .never: return "never"
        default: return DurationWord.word(Int(seconds ?? 0))
        }
    }
}
