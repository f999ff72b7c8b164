internal import CommandLineArguments

/// All commands: those that ``FrontPage`` lists, and the hidden ones.
enum CommandTable {
    static let program: ProgramTable<Command> = ProgramTable(
        name: "holdfast", about: "Holdfast keeps passwords and other secrets in an encrypted vault.",
        example: "holdfast add logins/mail -u ada --generate", sections: FrontPage.sections,
        hidden: [.agent, .clipboard, .complete, .manual, .sync] + earlier,
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
