internal import CommandLineArguments

/// One row of the server's table: its syntax, and what it does.
struct ServerCommand: TableCommand {
    let syntax: CommandSyntax
    let run: @Sendable (Arguments) throws -> ServerExit

    init(_ syntax: CommandSyntax, run: @escaping @Sendable (Arguments) throws -> ServerExit) {
        self.syntax = syntax
        self.run = run
    }

    init(
        _ word: String, summary: String, details: [String], example: String, required: [Option],
        options: [Option] = [], isConfigured: Bool = false, isGrouped: Bool = false,
        run: @escaping @Sendable (Arguments) throws -> ServerExit
    ) {
        syntax = CommandSyntax(
            [word], summary: summary, details: details, example: example, required: required,
            options: (isConfigured ? [ServerOptions.config.option] : []) + options, isCompletedLater: isConfigured,
            groups: isGrouped ? ServerOptions.groups : [])
        self.run = run
    }
}

/// The exit codes of the process; the numbers are documented and do not change.
enum ServerExit: Int32, Sendable, CaseIterable {
    case done = 0
    case failure = 1
    case usage = 2
    case faults = 3

    /// For help and the man page.
    var meaning: String {
        switch self {
        case .done: "done"
        case .failure: "failure, or some requests were not answered before the server stopped"
        case .usage: "incorrect usage; nothing was done"
        case .faults: "a check found faults"
        }
    }
}

/// All commands of `holdfast-server`.
enum ServerTable {
    static let program: ProgramTable<ServerCommand> = ProgramTable(
        name: "holdfast-server", about: "The server of identities: accounts, devices, sessions and access tokens.",
        example: "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db",
        sections: [
            .init(title: "Servers", commands: [.serve, .app, .keys, .hsm]),
            .init(title: "Accounts", commands: ServerCommand.accounts),
            .init(title: "Audit log", commands: [.auditVerify, .auditShow]),
            .init(
                title: "Maintenance",
                commands: [
                    .initialize, .initializeChain, .checkConfig, .backup, .restore, .rotateKeys, .acceptRedis,
                    .migrate, .check, .vacuum,
                ]),
            .init(title: "Help", commands: [.completions, .help]),
        ],
        exitCodes: ServerExit.allCases.map { ($0.rawValue, $0.meaning) })
}

extension ServerCommand {
    static let help = ServerCommand(.help(of: "holdfast-server", example: "holdfast-server help serve")) { arguments in
        ServerOutput.say(try ServerTable.program.help(for: arguments.places))
        return .done
    }

    static let completions = ServerCommand(.completions(of: "holdfast-server")) { arguments in
        ServerOutput.say(ServerTable.program.completions(for: arguments[place: 0]))
        return .done
    }
}
