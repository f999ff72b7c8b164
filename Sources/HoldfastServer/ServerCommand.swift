internal import BetterAuthServer
internal import CommandLineArguments

/// One row of the server's table: its syntax, and what it does.
struct ServerCommand: TableCommand {
    let syntax: CommandSyntax
    /// Whether it tells mistakes of its sources together with those that it finds itself.
    var judges = false
    let run: @Sendable (Arguments) throws -> ServerExit
    /// Whether it answers others until a signal asks it to stop.
    var serves: Bool { syntax.required.contains(ServerOptions.listen.option) }

    init(_ syntax: CommandSyntax, run: @escaping @Sendable (Arguments) throws -> ServerExit) {
        self.syntax = syntax
        self.run = run
    }

    init(
        _ word: String, summary: String, details: [String], example: String, required: [Option],
        options: [Option] = [], isConfigured: Bool = false, isGrouped: Bool = false, judges: Bool = false,
        run: @escaping @Sendable (Arguments) throws -> ServerExit
    ) {
        syntax = CommandSyntax(
            [word], summary: summary, details: details, example: example, required: required,
            options: (isConfigured ? [ServerOptions.config.option] : []) + options, isCompletedLater: isConfigured,
            groups: isGrouped ? ServerOptions.groups : [])
        self.judges = judges
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

extension Arguments {
    /// The value, or with `@FILE` the first line of a file: a password does not belong on a command line, where every
    /// process of the machine reads it. `@/dev/fd/N` is a descriptor.
    /// - Throws: Also for a URL with a password in it; it is not repeated.
    func perhapsFromFile(_ option: TextOption) throws(UsageError) -> SecretText? {
        guard let value = self[option] else { return nil }
        guard value.hasPrefix("@") else {
            guard !Arguments.hasPassword(Array(value.utf8)) else {
                throw UsageError(
                    "\(option.option.spelled): this URL contains a password, which every process can read there; "
                        + "write the URL into a file and pass @FILE")
            }
            return try TextFile.secret(value)
        }
        return try TextFile.firstLine(String(value.dropFirst()), withSecret: Arguments.hasPassword)
    }

    /// `scheme://user:password@…`, or `scheme://…?password=…`.
    static func hasPassword(_ text: [UInt8]) -> Bool {
        guard let scheme = text.firstRange(of: Array("://".utf8)) else { return false }
        // Letters in one case, and every other byte as something that is in no word.
        let sign = Array("PASSWORD=".utf8)
        let isNamed = text.indices.contains { start in
            text[start...].count >= sign.count && zip(text[start...], sign).allSatisfy { $0 == $1 || $0 == $1 | 0x20 }
        }
        if isNamed { return true }
        // A password may have any character: what comes before the last sign may be one.
        let rest = text[scheme.upperBound...]
        guard let at = rest.lastIndex(of: UInt8(ascii: "@")), let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
            return false
        }
        return colon < at
    }
}
