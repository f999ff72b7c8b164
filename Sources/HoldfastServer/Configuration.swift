internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments

/// Options of `serve` that stand in a file or in the environment: the command line comes first, then the environment,
/// then the file. Other commands take from them what they have.
enum Configuration {
    static let prefix = "HOLDFAST_SERVER_"
    /// What is decided at the moment, and not once for all.
    private static let forbidden = [ServerOptions.config.option, ServerOptions.newKeys.option]

    /// The arguments with what the environment and the file add, and the mistakes in these.
    /// - Throws: ``UsageError`` for a file that cannot be read.
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
            OptionSource(
                environment: try CommandWords.environment(prefix: prefix), prefix: prefix, for: serve,
                without: forbidden)
        ]
        if let file {
            sources.append(OptionSource(file: try TextFile.read(file), named: file, for: serve, without: forbidden))
        }
        return arguments.completed(by: sources, for: syntax, file: file)
    }
}

extension ServerCommand {
    static let checkConfig = ServerCommand(
        CommandSyntax(
            ["check-config"], summary: "check a configuration file, and the files that it names",
            details: [
                "Judges the file as serve does before it makes anything, with the files and folders that it names, and "
                    + "prints all mistakes: FILE:LINE: NAME: what is wrong. It makes nothing and asks no other "
                    + "machine. Without a mistake it prints the options that serve would use.",
                "A line is name = value, with an option of serve without its hyphens; a switch is yes or no; # begins a "
                    + "comment. The environment comes before the file ($\(Configuration.prefix)LISTEN for listen), and "
                    + "the command line before both.",
            ],
            example: "holdfast-server check-config /etc/holdfast-server/server.conf",
            places: [Place(name: "FILE", kind: .file, help: "The configuration file.")], options: [])
    ) { arguments in
        let serve = ServerCommand.serve.syntax
        let whole = try Configuration.completed(arguments, of: serve, file: arguments[place: 0])
        let settings = try ServeSettings(whole)
        if let dates = settings.front.certificate.flatMap({ CertificateDates(pem: $0) }),
            dates.notAfter <= SystemClock().now
        {
            let place = whole.place(of: ServerOptions.certificate.option)
            ServerOutput.complain("\(place): warning: it expired at \(dates.notAfter); renew it\n")
        }
        for option in serve.options {
            for value in whole.values(of: option) {
                ServerOutput.say("\(option.name) = \(option.kind == nil ? "yes" : value)\n")
            }
        }
        return .done
    }
}
