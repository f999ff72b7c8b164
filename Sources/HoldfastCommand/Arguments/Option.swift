/// What stands behind an option or at a place; decides how it is checked, shown in help, and completed by a shell.
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

    /// What is wrong with a value of this kind; nil when nothing is.
    func complaint(_ text: String) -> String? {
        switch self {
        case .text, .folder, .file: text.isEmpty ? "may not be empty" : nil
        case .seconds(let range):
            ValueKind.seconds(text, range) == nil ? "is \(range.lowerBound) to \(range.upperBound) seconds" : nil
        case .descriptor:
            ValueKind.descriptor(text) == nil ? "needs the number of a file descriptor (0, 3, 4 ...)" : nil
        case .number: Int(text).map { $0 > 0 } ?? false ? nil : "needs a whole number from 1 on"
        case .word(let words): words.contains(text) ? nil : "is one of: " + words.joined(separator: ", ")
        case .command: nil
        }
    }

    static func seconds(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard let number = descriptor(text).map(Int.init), range.contains(number) else { return nil }
        return number
    }

    /// Decimal digits only, so that a sign or a space is not taken for a number.
    static func descriptor(_ text: String) -> Int32? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int32(text)
    }
}

/// One option of the table.
struct Option: Sendable, Hashable {
    /// Without the two hyphens.
    let name: String
    /// What help calls its value; nil for a switch.
    let placeholder: String?
    /// What its value is; nil for a switch.
    let kind: ValueKind?
    /// One sentence for help and completions.
    let help: String

    /// As it is typed.
    var spelled: String { "--" + name }

    /// As help shows it.
    var synopsis: String { placeholder.map { "\(spelled) \($0)" } ?? spelled }
}

/// A switch, as code asks for it.
struct Flag: Sendable {
    let option: Option

    init(_ name: String, _ help: String) {
        option = Option(name: name, placeholder: nil, kind: nil, help: help)
    }
}

/// An option with a text behind it, as code asks for it.
struct TextOption: Sendable {
    let option: Option

    init(_ name: String, _ placeholder: String, _ kind: ValueKind = .text, help: String) {
        option = Option(name: name, placeholder: placeholder, kind: kind, help: help)
    }
}

/// An option with a number of seconds behind it, as code asks for it.
struct SecondsOption: Sendable {
    let option: Option
    let range: ClosedRange<Int>

    init(_ name: String, _ range: ClosedRange<Int>, help: String) {
        option = Option(name: name, placeholder: "SECONDS", kind: .seconds(range), help: help)
        self.range = range
    }
}

/// An option with a file descriptor behind it, as code asks for it.
struct DescriptorOption: Sendable {
    let option: Option

    init(_ name: String, _ help: String) {
        option = Option(name: name, placeholder: "N", kind: .descriptor, help: help)
    }
}

/// An argument that is told by its place.
struct Place: Sendable, Hashable {
    /// What help calls it.
    let name: String
    let kind: ValueKind
    let help: String
    /// Takes all that is left, which may be nothing.
    var isRest = false
    /// May be left out.
    var isOptional = false
}
