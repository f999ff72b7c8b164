internal import BetterAuthPostgres
internal import BetterAuthServer

/// What is done while no server runs.
enum Maintenance {
    static func isPostgres(_ database: String) -> Bool {
        database.hasPrefix("postgres://") || database.hasPrefix("postgresql://")
    }

    static func migrate(_ words: [String]) throws -> Int32 {
        let arguments = try Arguments(words, valued: ["database"])
        let database = try arguments.perhapsFromFile("database") ?? arguments.required("database")
        if isPostgres(database) {
            try PostgresStore.migrate(database)
            ServerCommand.say("the tables are there\n")
        } else {
            let (from, to) = try SQLiteMaintenance(database).migrate()
            ServerCommand.say(from == to ? "version \(to) already\n" : "version \(from) became \(to)\n")
        }
        return 0
    }

    static func check(_ words: [String]) throws -> Int32 {
        let report = try SQLiteMaintenance(sqliteFile(words, "check")).check()
        ServerCommand.say(
            "accounts \(report.accounts), of these deleted \(report.deleted), devices \(report.devices), "
                + "bytes of rows \(report.bytes), refreshed keys \(report.refreshed)\n")
        for fault in report.faults { ServerCommand.complain("fault: \(fault)\n") }
        if !report.faults.isEmpty {
            ServerCommand.complain("put a backup back; after an update, run holdfast-server migrate\n")
        }
        return report.faults.isEmpty ? 0 : 3
    }

    static func vacuum(_ words: [String]) throws -> Int32 {
        try SQLiteMaintenance(sqliteFile(words, "vacuum")).vacuum(now: SystemClock().now)
        return 0
    }

    /// - Throws: `UsageError` for a PostgreSQL database too, which has its own tools for this. Its URL is not repeated.
    private static func sqliteFile(_ words: [String], _ command: String) throws -> String {
        let arguments = try Arguments(words, valued: ["database"])
        let database = try arguments.perhapsFromFile("database") ?? arguments.required("database")
        guard !isPostgres(database) else {
            throw UsageError(
                "\(command) is for a SQLite file; PostgreSQL checks and vacuums itself (see amcheck, VACUUM)")
        }
        return database
    }

    static func rotateKeys(_ words: [String]) throws -> Int32 {
        let arguments = try Arguments(words, valued: ["keys-file", "publish-seconds", KeyPlace.option])
        let file = KeyFile(
            try arguments.required("keys-file"), try KeyPlace.protection(arguments, sealing: true))
        let seconds = try arguments.number("publish-seconds", 0...86_400, default: 300)
        let lifetimes = Lifetimes()
        let keys = try file.load(
            responseLifetime: Serve.responseLifetime, accessLifetime: lifetimes.refresh * 1000)
        try keys.rotate(now: SystemClock().now, publishedSeconds: Int64(seconds))
        try file.save(keys)
        ServerCommand.say("new keys sign in \(seconds) seconds\n")
        return 0
    }
}
