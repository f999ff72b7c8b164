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

    /// The option as it is typed.
    package var spelled: String { "--" + name }

    /// The option as help shows it.
    package var synopsis: String { placeholder.map { "\(spelled) \($0)" } ?? spelled }
}

/// A switch, as code asks for it.
package struct Flag: Sendable {
    package let option: Option

    package init(_ name: String, _ help: String) {
        option = Option(name: name, placeholder: nil, kind: nil, help: help)
    }
}

/// An option with a text value, as code asks for it.
package struct TextOption: Sendable {
    package let option: Option

    package init(_ name: String, _ placeholder: String, _ kind: ValueKind = .text, help: String) {
        option = Option(name: name, placeholder: placeholder, kind: kind, help: help)
    }
}

/// An option whose value is a number of seconds, as code asks for it.
package struct SecondsOption: Sendable {
    package let option: Option
    let range: ClosedRange<Int>

    package init(_ name: String, _ range: ClosedRange<Int>, help: String) {
        option = Option(name: name, placeholder: "SECONDS", kind: .seconds(range), help: help)
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
    let fallback: Int

    package init(_ name: String, _ range: ClosedRange<Int>, default fallback: Int, help: String) {
        self.init(name, "N", .whole(range), range, fallback, help)
    }

    package init(seconds name: String, _ range: ClosedRange<Int>, default fallback: Int, help: String) {
        self.init(name, "SECONDS", .seconds(range), range, fallback, help)
    }

    private init(
        _ name: String, _ placeholder: String, _ kind: ValueKind, _ range: ClosedRange<Int>, _ fallback: Int,
        _ help: String
    ) {
        option = Option(name: name, placeholder: placeholder, kind: kind, help: "\(help) (default: \(fallback)).")
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

    package init(_ name: String, _ placeholder: String, help: String) {
        option = Option(name: name, placeholder: placeholder, kind: .text, help: help, isRepeatable: true)
    }
}
