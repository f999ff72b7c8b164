internal import CommandLineArguments

/// All commands: those that ``FrontPage`` lists, and the hidden ones.
enum CommandTable {
    static let program: ProgramTable<Command> = ProgramTable(
        name: "holdfast", about: "Holdfast keeps passwords and other secrets in an encrypted vault.",
        example: "holdfast add logins/mail -u ada --generate", sections: FrontPage.sections,
        hidden: [.agent, .clipboard, .complete, .manual] + earlier,
        general: [Options.home.option, Options.json.option],
        notes: [
            .init(homeRule) { $0.options.contains(Options.home.option) },
            .init(secretRule) { $0.options.contains { $0.kind == .descriptor } },
        ],
        exitCodes: ExitCode.allCases.map { ($0.rawValue, $0.meaning) }, front: FrontPage.front)

    /// Words that commands had before; scripts may have them.
    private static let earlier: [Command] = [
        .passcodeVerify, .enrollDevice, .slotsList, .slotsAdd, .slotsRemove, .explain, .lockPolicyExplain,
        .selfDestructStatus, .configShow,
    ]

    private static let homeRule =
        "The vault is in the folder given with --home, otherwise in $HOLDFAST_HOME, $XDG_DATA_HOME/holdfast, or "
        + "~/.local/share/holdfast."

    private static let secretRule =
        "Secrets are entered on the terminal without being shown, or read from the file descriptor you name, one line "
        + "each. They are never read from arguments or the environment."
}

/// One row of the command table: its syntax, and what it does.
struct Command: TableCommand {
    let syntax: CommandSyntax
    let run: @Sendable (Arguments) throws(CommandError) -> ExitCode

    init(_ syntax: CommandSyntax, run: @escaping @Sendable (Arguments) throws(CommandError) -> ExitCode) {
        self.syntax = syntax
        self.run = run
    }

    init(
        _ words: String..., synonyms: [String] = [], summary: String,
        details: @autoclosure @escaping @Sendable () -> [String], example: String,
        places: @autoclosure @escaping @Sendable () -> [Place] = [],
        options: @autoclosure @escaping @Sendable () -> [Option],
        run: @escaping @Sendable (Arguments) throws(CommandError) -> ExitCode
    ) {
        syntax = CommandSyntax(
            words, synonyms: synonyms, summary: summary, example: example,
            parts: .init(details: details, places: places, options: options))
        self.run = run
    }

    /// The same command under words that it had before: hidden, and on a terminal it names today's words.
    func earlier(_ words: String..., successor: String) -> Command {
        Command(syntax.earlier(words, successor: successor), run: run)
    }
}
