/// The kind of an option's value or of an argument. It decides how the value is checked, shown in help, and completed
/// by a shell.
enum ValueKind: Sendable, Hashable {
    /// Any text that is not empty.
    case text
    /// The path of a folder.
    case folder
    /// The path of a file.
    case file
    /// Seconds in this range.
    case seconds(ClosedRange<Int>)
    /// The number of an open file descriptor.
    case descriptor
    /// A whole number from 1 on.
    case number
    /// One of these words.
    case word([String])
    /// The words of a command.
    case command

    /// What is wrong with a value of this kind; nil if it is valid.
    func complaint(_ text: String) -> String? {
        switch self {
        case .text, .folder, .file: text.isEmpty ? "must not be empty" : nil
        case .seconds(let range):
            ValueKind.seconds(text, range) == nil ? "must be \(range.lowerBound) to \(range.upperBound) seconds" : nil
        case .descriptor:
            ValueKind.descriptor(text) == nil ? "must be the number of a file descriptor (0, 3, 4 ...)" : nil
        case .number: Int(text).map { $0 > 0 } ?? false ? nil : "must be a whole number, at least 1"
        case .word(let words): words.contains(text) ? nil : "must be one of: " + words.joined(separator: ", ")
        case .command: nil
        }
    }

    static func seconds(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = descriptor(text).map(Int.init), range.contains(number) else { return nil }
        return number
    }

    /// Decimal digits only: a sign or a space is not part of a number.
    static func descriptor(_ text: String) -> Int32? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int32(text)
    }
}

/// One option of the table.
struct Option: Sendable, Hashable {
    /// The name, without the two hyphens.
    let name: String
    /// The word for its value in help; nil for a switch.
    let placeholder: String?
    /// The kind of its value; nil for a switch.
    let kind: ValueKind?
    /// One sentence for help and completions.
    let help: String

    /// The option as it is typed.
    var spelled: String { "--" + name }

    /// The option as help shows it.
    var synopsis: String { placeholder.map { "\(spelled) \($0)" } ?? spelled }
}

/// A switch, as code asks for it.
struct Flag: Sendable {
    let option: Option

    init(_ name: String, _ help: String) {
        option = Option(name: name, placeholder: nil, kind: nil, help: help)
    }
}

/// An option with a text value, as code asks for it.
struct TextOption: Sendable {
    let option: Option

    init(_ name: String, _ placeholder: String, _ kind: ValueKind = .text, help: String) {
        option = Option(name: name, placeholder: placeholder, kind: kind, help: help)
    }
}

/// An option whose value is a number of seconds, as code asks for it.
struct SecondsOption: Sendable {
    let option: Option
    let range: ClosedRange<Int>

    init(_ name: String, _ range: ClosedRange<Int>, help: String) {
        option = Option(name: name, placeholder: "SECONDS", kind: .seconds(range), help: help)
        self.range = range
    }
}

/// An option whose value is a file descriptor, as code asks for it.
struct DescriptorOption: Sendable {
    let option: Option

    init(_ name: String, _ help: String) {
        option = Option(name: name, placeholder: "N", kind: .descriptor, help: help)
    }
}

/// A positional argument.
struct Place: Sendable, Hashable {
    /// Its word in help.
    let name: String
    let kind: ValueKind
    let help: String
    /// Whether it takes all remaining arguments, possibly none.
    var isRest = false
    /// Whether it can be omitted.
    var isOptional = false
}
