internal import CommandLineArguments

/// One row of the command table: its syntax, and what it does.
struct Command: TableCommand {
    let syntax: CommandSyntax
    let run: @Sendable (Arguments) throws(CommandError) -> ExitCode

    init(_ syntax: CommandSyntax, run: @escaping @Sendable (Arguments) throws(CommandError) -> ExitCode) {
        self.syntax = syntax
        self.run = run
    }

    init(
        _ words: String..., synonyms: [String] = [], summary: String, details: [String], example: String,
        places: [Place] = [], options: [Option],
        run: @escaping @Sendable (Arguments) throws(CommandError) -> ExitCode
    ) {
        syntax = CommandSyntax(
            words, synonyms: synonyms, summary: summary, details: details, example: example, places: places,
            options: options)
        self.run = run
    }
}

extension Arguments {
    /// The collection that was named, or the default one.
    var collection: String { self[Options.collection] ?? Options.defaultCollection }
}
