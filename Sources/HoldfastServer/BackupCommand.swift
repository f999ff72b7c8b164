internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

extension ServerCommand {
    static let backup = ServerCommand(
        "backup", summary: "copy a SQLite database and its keys into a new folder",
        details: [
            "Works while a server runs. The folder has mode 0700 and the files 0600, whatever the umask. Anyone who "
                + "reads the keys can act as the server, unless a TPM has sealed them."
        ],
        example: "holdfast-server backup --database accounts.db --to backup-2026-11-23",
        required: [ServerOptions.database.option, ServerOptions.to.option],
        options: [ServerOptions.keysFile.option], isConfigured: true, run: Backup.make)

    static let restore = ServerCommand(
        "restore", summary: "put a backup in the place of a lost database",
        details: [
            "Copies the database and the keys out of the backup's folder, where neither may exist, and checks them. "
                + "Devices that have changed their keys since the backup are refused: their users recover their accounts "
                + "with the recovery phrase. Accounts that were deleted since are there again: delete them once more."
        ],
        example: "holdfast-server restore --from backup-2026-11-23 --database accounts.db",
        required: [ServerOptions.database.option, ServerOptions.from.option],
        options: [ServerOptions.keysFile.option], run: Backup.putBack)
}

/// A folder with a copy of the database and one of the keys.
enum Backup {
    private static let database = "/accounts.db"
    private static let keys = "/keys"
    private static let largestKeys = 8192

    static func make(_ arguments: Arguments) throws -> ServerExit {
        let (path, keysPath) = try places(arguments, "backup")
        let folder = try arguments.required(ServerOptions.to)
        guard unsafe mkdir(folder, 0o700) == 0 else { throw UsageError("\(folder): \(SystemError.last)") }
        try SQLiteBackup.write(path, to: folder + database)
        // After the database: keys that were rotated meanwhile go with it, and not the other way round.
        try copy(keysPath, to: folder + keys)
        ServerOutput.say("Made \(folder)\(database) and \(folder)\(keys).\n")
        return .done
    }

    static func putBack(_ arguments: Arguments) throws -> ServerExit {
        let (path, keysPath) = try places(arguments, "restore")
        let folder = try arguments.required(ServerOptions.from)
        for existing in [path, path + "-wal", keysPath] where unsafe access(existing, F_OK) == 0 {
            throw UsageError("\(existing) exists; move it away first")
        }
        try SQLiteBackup.restore(folder + database, to: path)
        try copy(folder + keys, to: keysPath)
        let report = try SQLiteMaintenance(path).check()
        for fault in report.faults { ServerOutput.complain("fault: \(fault)\n") }
        ServerOutput.say("Restored \(report.accounts) accounts to \(path), and the keys to \(keysPath).\n")
        return report.faults.isEmpty ? .done : .faults
    }

    private static func places(
        _ arguments: Arguments, _ command: String
    ) throws(UsageError) -> (database: String, keys: String) {
        let path = try Maintenance.database(arguments).file(for: command)
        return (path, arguments[ServerOptions.keysFile] ?? path + ".keys")
    }

    /// A file of keys, durably, for its owner alone.
    private static func copy(_ source: String, to target: String) throws(UsageError) {
        do throws(SystemError) {
            // Larger ones are no files of keys; the server says so when it reads one.
            let bytes = try OwnedDescriptor(source, O_RDONLY | O_NOFOLLOW).readPrefix(largestKeys + 1)
            let file = try OwnedDescriptor(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            try uninterrupted { fchmod(file.number, 0o600) }
            try unsafe file.write(bytes.span.bytes)
            try file.synchronize()
            try OwnedDescriptor(Paths.parent(of: target), O_RDONLY | O_DIRECTORY).synchronize()
        } catch { throw UsageError("\(source): \(error)") }
    }
}
