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

    /// The same command under words that it had before: hidden, and on a terminal it names today's words.
    func earlier(_ words: String..., successor: String) -> Command {
        Command(syntax.earlier(words, successor: successor), run: run)
    }
}
