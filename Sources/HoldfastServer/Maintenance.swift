internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments

extension ServerCommand {
    static let rotateKeys = ServerCommand(
        "rotate-keys", summary: "make new keys for the server",
        details: [
            "Writes new keys into the file. Running servers read them, publish them, and sign with them after "
                + "--publish-seconds. With --keys-in tpm, keys that were readable are sealed by the TPM."
        ],
        example: "holdfast-server rotate-keys --keys-file accounts.db.keys",
        required: [ServerOptions.keysFile.option],
        options: [ServerOptions.keysIn.option, ServerOptions.publish.option], run: Maintenance.rotateKeys)

    static let migrate = ServerCommand(
        "migrate", summary: "bring a database to this version's form",
        details: ["Run it after an update, with the servers stopped; serve does it for PostgreSQL by itself."],
        example: "holdfast-server migrate --database accounts.db", required: [ServerOptions.database.option],
        run: Maintenance.migrate)

    static let check = ServerCommand(
        "check", summary: "check a SQLite database",
        details: ["Reads every row and prints the damaged ones on standard error. It changes nothing."],
        example: "holdfast-server check --database accounts.db", required: [ServerOptions.database.option],
        run: Maintenance.check)

    static let vacuum = ServerCommand(
        "vacuum", summary: "remove what has expired from a SQLite database",
        details: ["Removes expired rows and gives their space back to the disk."],
        example: "holdfast-server vacuum --database accounts.db", required: [ServerOptions.database.option],
        run: Maintenance.vacuum)
}

/// Commands for a database or keys that no server is using.
enum Maintenance {
    static func isPostgres(_ database: String) -> Bool {
        database.hasPrefix("postgres://") || database.hasPrefix("postgresql://")
    }

    /// The value of `--database`.
    static func database(_ arguments: Arguments) throws(UsageError) -> String {
        guard let database = try arguments.perhapsFromFile(ServerOptions.database) else {
            return try arguments.required(ServerOptions.database)
        }
        return database
    }

    static func migrate(_ arguments: Arguments) throws -> ServerExit {
        let database = try Maintenance.database(arguments)
        if isPostgres(database) {
            try PostgresStore.migrate(database)
            ServerOutput.say("The tables are up to date.\n")
        } else {
            let (from, to) = try SQLiteMaintenance(database).migrate()
            ServerOutput.say(from == to ? "Already at version \(to).\n" : "Updated from version \(from) to \(to).\n")
        }
        return .done
    }

    static func check(_ arguments: Arguments) throws -> ServerExit {
        let report = try SQLiteMaintenance(sqliteFile(arguments, "check")).check()
        ServerOutput.say(
            "\(report.accounts) accounts (\(report.deleted) deleted), \(report.devices) devices, "
                + "\(report.bytes) bytes in rows, \(report.refreshed) refreshed keys\n")
        for fault in report.faults { ServerOutput.complain("fault: \(fault)\n") }
        if !report.faults.isEmpty {
            ServerOutput.complain("Restore a backup. After an update, run holdfast-server migrate.\n")
        }
        return report.faults.isEmpty ? .done : .faults
    }

    static func vacuum(_ arguments: Arguments) throws -> ServerExit {
        try SQLiteMaintenance(sqliteFile(arguments, "vacuum")).vacuum(now: SystemClock().now)
        return .done
    }

    /// - Throws: `UsageError` also for a PostgreSQL database, which has its own tools for this. Its URL is not repeated.
    private static func sqliteFile(_ arguments: Arguments, _ command: String) throws(UsageError) -> String {
        let database = try Maintenance.database(arguments)
        guard !isPostgres(database) else {
            throw UsageError(
                "\(command) is for a SQLite file; PostgreSQL checks and vacuums itself (see amcheck, VACUUM)")
        }
        return database
    }

    static func rotateKeys(_ arguments: Arguments) throws -> ServerExit {
        let file = KeyFile(
            try arguments.required(ServerOptions.keysFile), try KeyPlace.protection(arguments, sealing: true))
        let seconds = arguments[ServerOptions.publish]
        let lifetimes = Lifetimes()
        let keys = try file.load(
            responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000)
        try keys.rotate(now: SystemClock().now, publishedSeconds: Int64(seconds))
        try file.save(keys)
        ServerOutput.say("The new keys sign in \(seconds) seconds.\n")
        return .done
    }
}
