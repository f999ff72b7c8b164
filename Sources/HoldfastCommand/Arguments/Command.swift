/// One row of the command table: everything that parsing, help and completions know of a command.
struct Command: Sendable {
    /// The words that name it: `["passcode", "change"]`.
    let words: [String]
    /// What other programs call it. The parser does not accept these words, but suggests this command for them.
    let synonyms: [String]
    /// What the command does, in a few words without a full stop; lower case, for the list of commands.
    let summary: String
    /// Paragraphs for its own help.
    let details: [String]
    /// One command line as it is typed.
    let example: String
    let places: [Place]
    let options: [Option]
    let run: @Sendable (Arguments) throws(CommandError) -> ExitCode

    init(
        _ words: String..., synonyms: [String] = [], summary: String, details: [String], example: String,
        places: [Place] = [], options: [Option],
        run: @escaping @Sendable (Arguments) throws(CommandError) -> ExitCode
    ) {
        self.words = words
        self.synonyms = synonyms
        self.summary = summary
        self.details = details
        self.example = example
        self.places = places
        self.options = options + [Options.help.option]
        self.run = run
    }

    /// As it is typed, without `holdfast`.
    var name: String { words.joined(separator: " ") }

    /// The command and its arguments as help shows them.
    var usage: String {
        var parts = ["holdfast"] + words
        parts += places.map { $0.isRest ? "[\($0.name)...]" : $0.isOptional ? "[\($0.name)]" : $0.name }
        parts += options.filter { $0 != Options.help.option }.map { "[\($0.synopsis)]" }
        return parts.joined(separator: " ")
    }

    func option(named name: String) -> Option? { options.first { $0.name == name } }
}
