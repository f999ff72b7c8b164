/// One option of the table.
package struct Option: Sendable, Hashable {
    /// The name, without the two hyphens.
    package let name: String
    /// The word for its value in help; nil for a switch.
    package let placeholder: String?
    /// The kind of its value; nil for a switch.
    package let kind: ValueKind?
    /// One sentence for help and completions.
    package let help: String
    /// Whether it may stand more than once on one line.
    package var isRepeatable = false
    /// Whether it is accepted for what was written before, and shown nowhere.
    package var isHidden = false
    /// A letter that stands for it behind one hyphen.
    package var short: Character?

    /// The option as it is typed.
    package var spelled: String { "--" + name }

    /// The option as a usage line shows it.
    package var synopsis: String { placeholder.map { "\(spelled) \($0)" } ?? spelled }

    /// The option as the list of options shows it.
    var listed: String { short.map { "-\($0), \(synopsis)" } ?? synopsis }
}

/// A switch, as code asks for it.
package struct Flag: Sendable {
    package let option: Option

    package init(_ name: String, _ help: String, short: Character? = nil, isHidden: Bool = false) {
        option = Option(name: name, placeholder: nil, kind: nil, help: help, isHidden: isHidden, short: short)
    }
}

/// An option with a text value, as code asks for it.
package struct TextOption: Sendable {
    package let option: Option

    package init(
        _ name: String, _ placeholder: String, _ kind: ValueKind = .text, help: String, short: Character? = nil,
        isHidden: Bool = false
    ) {
        option = Option(
            name: name, placeholder: placeholder, kind: kind, help: help, isHidden: isHidden, short: short)
    }
}

/// An option whose value is a duration, as code asks for it.
package struct SecondsOption: Sendable {
    package let option: Option
    let range: ClosedRange<Int>

    package init(_ name: String, _ range: ClosedRange<Int>, help: String) {
        option = Option(name: name, placeholder: "TIME", kind: .seconds(range), help: help)
        self.range = range
    }
}

/// An option whose value is a file descriptor, as code asks for it.
package struct DescriptorOption: Sendable {
    package let option: Option

    package init(_ name: String, _ help: String) {
        option = Option(name: name, placeholder: "N", kind: .descriptor, help: help)
    }
}

/// An option whose value is a number, and which has a default, as code asks for it.
package struct NumberOption: Sendable {
    package let option: Option
    let range: ClosedRange<Int>
    package let fallback: Int

    package init(_ name: String, _ range: ClosedRange<Int>, default fallback: Int, help: String) {
        self.init(name, "N", .whole(range), range, fallback, help)
    }

    package init(seconds name: String, _ range: ClosedRange<Int>, default fallback: Int, help: String) {
        self.init(name, "TIME", .seconds(range), range, fallback, help)
    }

    private init(
        _ name: String, _ placeholder: String, _ kind: ValueKind, _ range: ClosedRange<Int>, _ fallback: Int,
        _ help: String
    ) {
        let shown = if case .seconds = kind { DurationWord.word(fallback) } else { String(fallback) }
        option = Option(name: name, placeholder: placeholder, kind: kind, help: "\(help) (default: \(shown)).")
        self.range = range
        self.fallback = fallback
    }
}

/// An option whose value is a number of requests per second, as code asks for it.
package struct RateOption: Sendable {
    package let option: Option

    package init(_ name: String, help: String) {
        option = Option(name: name, placeholder: "N", kind: .rate, help: help)
    }
}

/// An option with a text value that may stand more than once, as code asks for it.
package struct ListOption: Sendable {
    package let option: Option

    package init(
        _ name: String, _ placeholder: String, _ kind: ValueKind = .text, help: String, short: Character? = nil
    ) {
        option = Option(
            name: name, placeholder: placeholder, kind: kind, help: help, isRepeatable: true, short: short)
    }
}
