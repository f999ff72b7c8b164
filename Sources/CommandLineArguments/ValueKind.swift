/// The kind of an option's value or of an argument. It decides how the value is checked, shown in help, and completed
/// by a shell.
package enum ValueKind: Sendable, Hashable {
    /// Any text that is not empty.
    case text
    /// Any text; it may be empty.
    case any
    /// The path of a folder.
    case folder
    /// The path of a file.
    case file
    /// A duration in this range of seconds.
    case seconds(ClosedRange<Int>)
    /// The number of an open file descriptor.
    case descriptor
    /// A whole number from 1 on.
    case number
    /// A whole number in this range.
    case whole(ClosedRange<Int>)
    /// Requests per second; may have a fraction.
    case rate
    /// One of these words.
    case word([String])
    /// The words of a command.
    case command
    /// The path of an item in the vault.
    case item
    /// The path of a plain value in the vault.
    case plainValue
    /// A folder in the vault, or a new name in one.
    case inFolder
    /// The label of a field.
    case field
    /// A tag.
    case tag
    /// The name of a collection.
    case collection
    /// `KEY=VALUE` with one of these keys, written as they begin an argument.
    case setting([String])

    /// What a program may be asked for to complete it: the word behind `complete`.
    var asked: String? {
        switch self {
        case .item: "items"
        case .plainValue: "values"
        case .inFolder: "folders"
        case .field: "fields"
        case .tag: "tags"
        case .collection: "collections"
        default: nil
        }
    }

    /// What is wrong with a value of this kind; nil if it is valid.
    package func complaint(_ text: String) -> String? {
        switch self {
        case .text, .folder, .file, .item, .plainValue, .inFolder, .field, .tag, .collection, .setting:
            text.isEmpty ? "must not be empty" : nil
        case .seconds(let range):
            ValueKind.seconds(text, range) == nil
                ? "must be a time from \(DurationWord.word(range.lowerBound)) to \(DurationWord.word(range.upperBound)), "
                    + "such as \(DurationWord.examples)" : nil
        case .descriptor:
            ValueKind.descriptor(text) == nil ? "must be the number of a file descriptor (0, 3, 4 ...)" : nil
        case .number: Int(text).map { $0 > 0 } ?? false ? nil : "must be a whole number, at least 1"
        case .whole(let range):
            ValueKind.whole(text, range) == nil
                ? "must be a whole number from \(range.lowerBound) to \(range.upperBound)" : nil
        case .rate: ValueKind.rate(text) == nil ? "must be a number of requests per second, 0 for no limit" : nil
        case .word(let words): words.contains(text) ? nil : "must be one of: " + words.joined(separator: ", ")
        case .command, .any: nil
        }
    }

    /// A whole number in a range.
    static func whole(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = digits(text), range.contains(number) else { return nil }
        return number
    }

    /// The seconds of a duration in a range.
    static func seconds(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard let seconds = DurationWord.seconds(text), range.contains(seconds) else { return nil }
        return seconds
    }

    /// A value of an option in a range: a number, or the seconds of a duration.
    static func number(_ text: String, of option: Option, _ range: ClosedRange<Int>) -> Int? {
        if case .seconds = option.kind { return seconds(text, range) }
        return whole(text, range)
    }

    static func descriptor(_ text: String) -> Int32? { digits(text).flatMap { Int32(exactly: $0) } }

    /// Digits with at most one point between them.
    static func rate(_ text: String) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.utf8.count <= 9 && digits(String($0)) != nil })
        else {
            return nil
        }
        return Double(text)
    }

    /// Decimal digits only: a sign or a space is not part of a number.
    private static func digits(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}

/// Durations as people write them in arguments and configuration files: whole seconds, or a number with one unit.
package enum DurationWord {
    /// Units and their seconds, the largest first. The first word of a unit is the one that is written.
    private static let units: [(spellings: [String], seconds: Int)] = [
        (["d"], 86_400), (["h"], 3_600), (["min", "m"], 60), (["s", ""], 1),
    ]

    /// What a refusal shows as examples.
    package static let examples = "90s, 15min, 12h or 3d"

    /// The seconds that a word such as `90`, `90s`, `15min`, `12h` or `3d` names; nil for anything else, and for more
    /// than fits.
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
