internal import BetterAuthMessages
internal import BetterAuthPostgres
internal import BetterAuthServer
internal import CommandLineArguments
internal import Cryptography

extension ServerCommand {
    static let rotateKeys = ServerCommand(
        "rotate-keys", summary: "make new keys for the server",
        details: [
            "Writes new keys into the file. Running servers read them, publish them, and sign with them after "
                + "--publish-seconds. With --keys-in tpm, keys that were readable are sealed by the TPM.",
            "With --compromised the old keys are dropped at once: every session ends, and clients that do not know the "
                + "new key accept no answer. The audit log gets a new key too, if it has one.",
            "With --audit-key only the audit log gets one. Lines of before can still be verified.",
        ],
        example: "holdfast-server rotate-keys --keys-file accounts.db.keys",
        required: [ServerOptions.keysFile.option],
        options: [
            ServerOptions.keysIn.option, ServerOptions.publish.option, ServerOptions.compromised.option,
            ServerOptions.auditKey.option, ServerOptions.refresh.option,
        ],
        isConfigured: true, run: Maintenance.rotateKeys)

    static let migrate = ServerCommand(
        "migrate", summary: "bring a database to this version's form",
        details: [
            "Makes or updates the tables in PostgreSQL, as a user that may do that; serve needs only SELECT, INSERT, "
                + "UPDATE and DELETE. Stop the servers first. An update cannot be undone: it requires a backup "
                + "(pg_dump), and --backup-made says that there is one.",
            "A SQLite file must exist; serve updates it itself. What it was is kept beside it first, as "
                + "FILE.version-N; remove that when you will not go back.",
        ],
        example: "holdfast-server migrate --database accounts.db", required: [ServerOptions.database.option],
        options: [ServerOptions.backupMade.option], isConfigured: true, run: Maintenance.migrate)

    static let acceptRedis = ServerCommand(
        "accept-redis", summary: "go on with a Redis that has forgotten what it was told",
        details: [
            "With serve --redis-lost refuse, sessions are refused after Redis was flushed or lost. This command accepts "
                + "it as it is. If someone may have captured requests, run rotate-keys --compromised first: it ends "
                + "every session."
        ],
        example: "holdfast-server accept-redis --database @database --redis @redis",
        required: [ServerOptions.database.option, ServerOptions.redis.option], isConfigured: true,
        run: Maintenance.acceptRedis)

    static let check = ServerCommand(
        "check", summary: "check a SQLite database",
        details: ["Reads every row and prints the damaged ones on standard error. It changes nothing."],
        example: "holdfast-server check --database accounts.db", required: [ServerOptions.database.option],
        isConfigured: true, run: Maintenance.check)

    static let vacuum = ServerCommand(
        "vacuum", summary: "remove what has expired from a SQLite database",
        details: ["Removes expired rows and gives their space back to the disk."],
        example: "holdfast-server vacuum --database accounts.db", required: [ServerOptions.database.option],
        isConfigured: true, run: Maintenance.vacuum)
}

/// Commands for a database or keys that no server is using.
enum Maintenance {
    /// The value of `--database`.
    static func database(_ arguments: Arguments) throws(UsageError) -> DatabaseLocation {
        let read = try arguments.perhapsFromFile(ServerOptions.database)
        guard let read else { return try DatabaseLocation(TextFile.secret(arguments.required(ServerOptions.database))) }
        return try DatabaseLocation(read)
    }

    /// The file that `--database` names.
    static func file(_ arguments: Arguments, for command: String) throws(UsageError) -> String {
        let path = try database(arguments).file(for: command)
        try FolderOwner.become(path)
        return path
    }

    static func migrate(_ arguments: Arguments) throws -> ServerExit {
        let versions: (from: Int, to: Int)
        switch try Maintenance.database(arguments) {
        case .postgres(let url):
            versions = try PostgresStore.migrate(url, hasBackup: arguments[ServerOptions.backupMade])
        case .file(let path):
            try FolderOwner.become(path)
            versions = try SQLiteMaintenance(path, onUpdate: tell).migrate()
        }
        switch versions.from {
        case versions.to: ServerOutput.say("Already at version \(versions.to).\n")
        case 0: ServerOutput.say("Made the tables of version \(versions.to).\n")
        default: ServerOutput.say("Updated from version \(versions.from) to \(versions.to).\n")
        }
        return .done
    }

    /// Names the copy that an update has kept.
    static func tell(_ update: SQLiteUpdate) {
        guard case .done(_, _, let copy) = update else { return }
        ServerOutput.say("Kept \(copy) to go back to; remove it when you will not go back.\n")
    }

    static func acceptRedis(_ arguments: Arguments) throws -> ServerExit {
        guard case .postgres(let url) = try database(arguments) else {
            throw UsageError("accept-redis is for servers on PostgreSQL and Redis")
        }
        guard let redis = try ServeSettings.redis(arguments) else { throw ServedData.needsRedis }
        let store = PostgresStore(url, redis)
        defer { store.close() }
        try store.acceptRedis()
        ServerOutput.say("Servers go on with Redis as it is, within seconds.\n")
        return .done
    }

    static func check(_ arguments: Arguments) throws -> ServerExit {
        let report = try SQLiteMaintenance(file(arguments, for: "check")).check()
        ServerOutput.say(
            "\(report.accounts) accounts (\(report.deleted) deleted), \(report.devices) devices, "
                + "\(report.bytes) bytes in rows, \(report.refreshed) refreshed keys\n")
        for fault in report.faults { ServerOutput.complain("fault: \(fault)\n") }
        for account in report.unreadable { ServerOutput.complain("cannot be read: \(account)\n") }
        if !report.faults.isEmpty {
            ServerOutput.complain("Restore a backup. After an update, run holdfast-server migrate.\n")
        }
        return report.faults.isEmpty ? .done : .faults
    }

    static func vacuum(_ arguments: Arguments) throws -> ServerExit {
        try SQLiteMaintenance(file(arguments, for: "vacuum"), onUpdate: tell).vacuum(now: SystemClock().now)
        return .done
    }

    static func rotateKeys(_ arguments: Arguments) throws -> ServerExit {
        let path = try arguments.required(ServerOptions.keysFile)
        try FolderOwner.become(path)
        let file = KeyFile(path, try KeyPlace.protection(arguments, sealing: true))
        let seconds = arguments[ServerOptions.publish]
        let isCompromised = arguments[ServerOptions.compromised]
        let isAudit = arguments[ServerOptions.auditKey]
        guard !isAudit || !isCompromised else { throw UsageError("--audit-key and --compromised exclude each other") }
        // Keys are forgotten when nothing that they signed is valid any more. How long sessions live only the
        // configuration says; without it no key is forgotten that any could have been opened with.
        let isKnown = arguments.contains(ServerOptions.refresh.option)
        let refresh = isKnown ? Int64(arguments[ServerOptions.refresh]) : ServerOptions.longestLifetime
        let updated = try file.update(
            responseLifetime: Serve.responseLifetime, accessLifetime: refresh * 1000
        ) { keys throws(CryptographyError) in
            if isAudit {
                try keys.addAuditKey()
            } else if isCompromised {
                try keys.renounce(now: SystemClock().now)
            } else {
                try keys.rotate(now: SystemClock().now, publishedSeconds: Int64(seconds))
            }
            return true
        }
        ServerOutput.say(
            isAudit
                ? "The audit log has a new key.\n"
                : isCompromised
                    ? "The new keys sign now. The old ones are dropped.\n" + keys(updated)
                    : "The new keys sign in \(seconds) seconds.\n" + keys(updated))
        return .done
    }

    /// The newest keys, for whoever looks them up or names them.
    private static func keys(_ keys: ServerKeys) -> String {
        let (response, access) = keys.schedulesForKeeping
        let all = [("response", response), ("access", access)]
        return all.map { "\($0.0): \($0.1.entries.last?.key.publicKey.description ?? "none")\n" }.joined()
    }
}
