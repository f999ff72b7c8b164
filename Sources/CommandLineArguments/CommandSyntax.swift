/// Everything that parsing, help and completions know of a command.
///
/// A program has a hundred commands and runs one: of all others only the words are looked at, so the long parts are
/// made when they are asked for, each time.
package struct CommandSyntax: Sendable {
    /// The words that name it: `["passcode", "change"]`.
    package let words: [String]
    /// What other programs call it. The parser does not accept these words, but suggests this command for them.
    package let synonyms: [String]
    /// What the command does, in a few words without a full stop; lower case, for the list of commands.
    package let summary: String
    /// One command line as it is typed.
    package let example: String
    /// Whether options may stand elsewhere too, so that ``required`` is not checked by the parser: see
    /// ``OptionSource``.
    package let isCompletedLater: Bool
    /// What to type instead of these words, for earlier names of a command; nil for all others.
    package let successor: String?
    private let parts: Parts

    package struct Parts: Sendable {
        let details: @Sendable () -> [String]
        let places: @Sendable () -> [Place]
        let required: @Sendable () -> [Option]
        let options: @Sendable () -> [Option]
        let groups: @Sendable () -> [(title: String, options: [Option])]

        package init(
            details: @escaping @Sendable () -> [String], places: @escaping @Sendable () -> [Place] = { [] },
            required: @escaping @Sendable () -> [Option] = { [] }, options: @escaping @Sendable () -> [Option],
            groups: @escaping @Sendable () -> [(title: String, options: [Option])] = { [] }
        ) {
            self.details = details
            self.places = places
            self.required = required
            self.options = options
            self.groups = groups
        }
    }

    /// Paragraphs for its own help.
    package var details: [String] { parts.details() }
    package var places: [Place] { parts.places() }
    /// Options without which the command does not run; they are among ``options``.
    package var required: [Option] { parts.required() }
    package var options: [Option] { parts.required() + parts.options() + [Flag.help.option] }
    /// Titles under which help lists some of the options, in this order; those that have none come first.
    package var groups: [(title: String, options: [Option])] { parts.groups() }

    package init(
        _ words: [String], synonyms: [String] = [], summary: String, example: String, isCompletedLater: Bool = false,
        successor: String? = nil, parts: Parts
    ) {
        self.words = words
        self.synonyms = synonyms
        self.summary = summary
        self.example = example
        self.isCompletedLater = isCompletedLater
        self.successor = successor
        self.parts = parts
    }

    package init(
        _ words: [String], synonyms: [String] = [], summary: String,
        details: @autoclosure @escaping @Sendable () -> [String], example: String,
        places: @autoclosure @escaping @Sendable () -> [Place] = [],
        required: @autoclosure @escaping @Sendable () -> [Option] = [],
        options: @autoclosure @escaping @Sendable () -> [Option], isCompletedLater: Bool = false,
        groups: @autoclosure @escaping @Sendable () -> [(title: String, options: [Option])] = [],
        successor: String? = nil
    ) {
        self.init(
            words, synonyms: synonyms, summary: summary, example: example, isCompletedLater: isCompletedLater,
            successor: successor,
            parts: Parts(details: details, places: places, required: required, options: options, groups: groups))
    }

    /// As it is typed, without the program.
    package var name: String { words.joined(separator: " ") }

    /// The command and its arguments as help shows them, without the program.
    /// - Parameter shown: The options that help describes.
    func usage(_ shown: [Option]) -> String {
        var parts = words
        parts += places.map { $0.isRest ? "[\($0.name)...]" : $0.isOptional ? "[\($0.name)]" : $0.name }
        for option in shown where option != Flag.help.option {
            let isRequired = required.contains(option)
            parts.append((isRequired ? option.synopsis : "[\(option.synopsis)]") + (option.isRepeatable ? "..." : ""))
        }
        return parts.joined(separator: " ")
    }

    /// The same under words that it had before.
    /// - Parameter successor: What to type today.
    package func earlier(_ words: [String], successor: String) -> CommandSyntax {
        CommandSyntax(
            words, synonyms: synonyms, summary: summary, example: example, isCompletedLater: isCompletedLater,
            successor: successor,
            parts: Parts(
                details: { ["Today this is \(successor)."] + details }, places: parts.places, required: parts.required,
                options: parts.options, groups: parts.groups))
    }

    /// The options that help and completions show.
    package var shownOptions: [Option] { options.filter { !$0.isHidden } }

    package func option(named name: String) -> Option? { options.first { $0.name == name } }
}

extension Flag {
    /// Every command has it.
    package static let help = Flag("help", "Show this help.", short: "h")
    /// It is accepted before the command.
    package static let version = Flag("version", "Print the version.", short: "v")
}

extension CommandSyntax {
    /// The command that shows help for a command.
    package static func help(of program: String, example: String) -> CommandSyntax {
        CommandSyntax(
            ["help"], summary: "show help for a command",
            details: ["Shows the same help as \(program) COMMAND --help, or what \(program) --help shows."],
            example: example,
            places: [Place(name: "COMMAND", kind: .command, help: "The words that name it.", isRest: true)], options: []
        )
    }

    /// The command that prints a completion script for the shell at its first place.
    package static func completions(of program: String) -> CommandSyntax {
        CommandSyntax(
            ["completions"], summary: "print shell completions",
            details: [
                "Prints a script that completes commands, options and folders. For bash, add this to ~/.bashrc: "
                    + "source <(\(program) completions bash)"
            ],
            example: "\(program) completions bash",
            places: [Place(name: "SHELL", kind: .word(["bash", "zsh", "fish"]), help: "bash, zsh or fish.")],
            options: [])
    }
}

/// A positional argument.
package struct Place: Sendable, Hashable {
    /// Its word in help.
    package let name: String
    package let kind: ValueKind
    package let help: String
    /// Whether it takes all remaining arguments, possibly none.
    package let isRest: Bool
    /// Whether it can be omitted.
    package let isOptional: Bool

    package init(name: String, kind: ValueKind, help: String, isRest: Bool = false, isOptional: Bool = false) {
        self.name = name
        self.kind = kind
        self.help = help
        self.isRest = isRest
        self.isOptional = isOptional
    }

    /// Whether a word that stands where a command's own word belongs is probably meant for this place: a name, a file
    /// or a setting.
    func isLike(_ word: String) -> Bool {
        switch kind {
        case .item, .plainValue, .file: true
        case .text, .inFolder: name == "NAME"
        case .setting(let keys): keys.contains(where: word.hasPrefix)
        default: false
        }
    }
}
