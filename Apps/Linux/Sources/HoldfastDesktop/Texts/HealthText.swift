import GtkKit
import Holdfast
import HoldfastUI

/// What is said of passwords that should be changed.
enum HealthText {
    /// The verdict in a sentence, and then what it does not cover.
    static func verdict(_ report: HealthReport, count: Int) -> String {
        let verdict =
            if count > 0 {
                trn("%d item needs a better password.", "%d items need a better password.", count)
            } else if report.passwords > 0 {
                trn(
                    "Nothing is wrong with your password.", "Nothing is wrong with your %d passwords.", report.passwords
                )
            } else {
                tr("There is no password to look at yet.")
            }
        return ([verdict] + leftOut(report)).joined(separator: " ")
    }

    private static func leftOut(_ report: HealthReport) -> [String] {
        var parts: [String] = []
        if report.guarded > 0 {
            parts.append(
                trn(
                    "%d item was left out because it asks before use.",
                    "%d items were left out because they ask before use.", report.guarded))
        }
        if report.outOfReach > 0 {
            parts.append(
                trn(
                    "%d collection was left out because it needs a stronger unlock.",
                    "%d collections were left out because they need a stronger unlock.", report.outOfReach))
        }
        if report.withoutRange > 0 {
            parts.append(
                trn(
                    "%d password was not compared: the folder has no file for it.",
                    "%d passwords were not compared: the folder has no files for them.", report.withoutRange))
        }
        return parts
    }

    static func progress(_ progress: HealthProgress) -> String {
        switch progress {
        case .reading: tr("Looking at your passwords…")
        case .lookingUp: tr("Comparing with the list…")
        }
    }

    static func of(_ row: HealthModel.Row) -> String {
        switch row.reason {
        case .breached(let times?): trn("Seen %d time", "Seen %d times", Int(clamping: times))
        case .breached(nil): tr("It is in your list.")
        case .weak(.veryWeak), .weak(.none): tr("Guessed instantly.")
        case .weak: tr("Weak: found in hours.")
        case .reused(_, let entries): others(row.others, more: entries - 1 - row.others.count)
        case .old(let since): tr("Unchanged since %s", Format.time(milliseconds: since))
        }
    }

    private static func others(_ names: [String], more: Int) -> String {
        let known = tr("Also in %s", names.joined(separator: ", "))
        return more > 0 ? known + " " + trn("and %d more", "and %d more", more) : known
    }

    static func of(_ failure: HealthModel.Failure) -> String {
        switch failure {
        case .vault(let problem): ProblemText.of(problem)
        case .list(let error): of(error)
        }
    }

    private static func of(_ error: BreachListError) -> String {
        switch error {
        case .unreadable(let error): tr("The list cannot be read: %s", "\(error)")
        case .notRegular: tr("The list is neither a file nor a folder of files.")
        case .empty: tr("The file is empty.")
        case .notHex(let digits, _):
            tr("This is no list of breached passwords: a line does not begin with %s digits of a SHA-1.", "\(digits)")
        case .noCount: tr("This is no list of breached passwords: a line has something else than a number at its end.")
        case .longLine: tr("This is no list of breached passwords: a line is too long.")
        case .notSorted: tr("The list is not sorted. Use the one that is ordered by hash.")
        case .noRanges: tr("This folder has no list of breached passwords in it.")
        case .largeRange: tr("A file in the folder is too large.")
        case .changed: tr("The file was changed while it was read. Try again.")
        case .memory: ProblemText.of(.outOfMemory)
        }
    }
}
