/// Durations as people write them in arguments and configuration files: whole seconds, or a number with one unit.
package enum DurationWord {
    /// Units and their seconds, the largest first. The first word of a unit is the one that is written.
    private static let units: [(spellings: [String], seconds: Int)] = [
        (["d"], 86_400), (["h"], 3_600), (["min", "m"], 60), (["s", ""], 1),
    ]

    /// What a refusal shows as examples.
    package static let examples = "90s, 15min, 12h or 3d"

    /// The seconds that a word such as `90`, `90s`, `15min`, `12h` or `3d` names; nil for anything else, and for more than
    /// fits.
    package static func seconds(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text[digits.endIndex...]
        guard let number = Int(digits),
            let factor = units.first(where: { $0.spellings.contains(String(unit)) })?.seconds
        else {
            return nil
        }
        let (seconds, isTooLong) = number.multipliedReportingOverflow(by: factor)
        return isTooLong ? nil : seconds
    }

    /// The seconds in the largest unit that divides them: `15min`, and `90s`.
    package static func word(_ seconds: Int) -> String {
        let unit = units.first { seconds != 0 && seconds % $0.seconds == 0 } ?? units[units.count - 1]
        return "\(seconds / unit.seconds)\(unit.spellings[0])"
    }
}
