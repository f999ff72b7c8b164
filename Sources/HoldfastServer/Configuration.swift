internal import CommandLineArguments

/// Options of `serve` that stand in a file or in the environment: the command line comes first, then the environment,
/// then the file. Other commands take from them what they have.
enum Configuration {
    static let prefix = "HOLDFAST_SERVER_"
    /// What is decided at the moment, and not once for all.
    private static let forbidden = [ServerOptions.config.option, ServerOptions.newKeys.option]

    /// The arguments with what the environment and the file add.
    /// - Throws: ``UsageError`` that names the line or the variable.
    static func completed(_ arguments: Arguments, of syntax: CommandSyntax) throws(UsageError) -> Arguments {
        guard syntax.isCompletedLater else { return arguments }
        return try completed(arguments, of: syntax, file: arguments[ServerOptions.config])
    }

    /// The same with a file that is named elsewhere.
    static func completed(
        _ arguments: Arguments, of syntax: CommandSyntax, file: String?
    ) throws(UsageError) -> Arguments {
        let serve = ServerCommand.serve.syntax
        var sources = [
            try OptionSource(
                environment: CommandWords.environment(prefix: prefix), prefix: prefix, for: serve, without: forbidden)
        ]
        if let file {
            sources.append(
                try OptionSource(file: TextFile.read(file), named: file, for: serve, without: forbidden))
        }
        let whole = arguments.completed(by: sources, for: syntax)
        try ServerTable.program.requireAll(whole, of: syntax)
        return whole
    }
}

extension ServerCommand {
    static let checkConfig = ServerCommand(
        CommandSyntax(
            ["check-config"], summary: "check a configuration file, and the files that it names",
            details: [
                "Reads the file as serve --config does, and what it names: certificate, keys, tokens. It makes nothing "
                    + "and asks no database. It prints the options that serve would use.",
                "A line is name = value, with an option of serve without its hyphens; a switch is yes or no; # begins a "
                    + "comment. The environment comes before the file ($\(Configuration.prefix)LISTEN for listen), and "
                    + "the command line before both.",
            ],
            example: "holdfast-server check-config /etc/holdfast-server/server.conf",
            places: [Place(name: "FILE", kind: .file, help: "The configuration file.")], options: [])
    ) { arguments in
        let serve = ServerCommand.serve.syntax
        let whole = try Configuration.completed(arguments, of: serve, file: arguments[place: 0])
        try ServeSettings(whole).check()
        for option in serve.options {
            for value in whole.values(of: option) {
                ServerOutput.say("\(option.name) = \(option.kind == nil ? "yes" : value)\n")
            }
        }
        return .done
    }
}
