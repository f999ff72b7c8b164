internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

extension ServerCommand {
    static let backup = ServerCommand(
        "backup", summary: "copy a SQLite database and its keys into a new folder",
        details: [
            "Works while a server runs. The folder has mode 0700 and the files 0600, whatever the umask. Anyone who "
                + "reads the keys can act as the server, unless a TPM has sealed them.",
            "The folder appears when the backup is whole; nothing is left of one that fails.",
        ],
        example: "holdfast-server backup --database accounts.db --to backup-2026-11-23",
        required: [ServerOptions.database.option, ServerOptions.to.option],
        options: [ServerOptions.keysFile.option, ServerOptions.keysIn.option], isConfigured: true, run: Backup.make)

    static let restore = ServerCommand(
        "restore", summary: "put a backup in the place of a lost database",
        details: [
            "Copies the database and the keys out of the backup's folder, where neither may exist, and checks them: the "
                + "database must have been served with these keys. Nothing is left of a backup that is refused.",
            "Devices that have changed their keys since the backup are refused: their users recover their accounts "
                + "with the recovery phrase. Accounts that were deleted since are there again: delete them once more.",
        ],
        example: "holdfast-server restore --from backup-2026-11-23 --database accounts.db",
        required: [ServerOptions.database.option, ServerOptions.from.option],
        options: [ServerOptions.keysFile.option, ServerOptions.keysIn.option], run: Backup.putBack)
}

/// A folder with a copy of the database and one of the keys.
enum Backup {
    private static let database = "/accounts.db"
    private static let keys = "/keys"

    static func make(_ arguments: Arguments) throws -> ServerExit {
        let (path, keysPath) = try places(arguments, "backup")
        let folder = try arguments.required(ServerOptions.to)
        try FolderOwner.become(path, keysPath, named(folder))
        let file = KeyFile(keysPath, try KeyPlace.protection(arguments))
        // Before anything is made: the keys of another server would be no backup.
        let proof = try fits(file, SQLiteBackup.keyMark(path), keysPath)
        guard unsafe access(folder, F_OK) != 0 else {
            throw UsageError("\(folder) exists; name a new folder with --to")
        }
        let work = try UnfinishedFolder(named(folder) + ".unfinished")
        defer { work.remove() }
        try SQLiteBackup.write(path, to: work.path + database)
        // After the database: keys that were rotated meanwhile go with it, and not the other way round.
        try file.copy(to: work.path + keys)
        do throws(SystemError) {
            try work.finish { made throws(SystemError) in try renameDurably(made, to: named(folder)) }
        } catch { throw UsageError("\(folder): \(error)", mayPass: true) }
        ServerOutput.say("Made \(folder)\(database) and \(folder)\(keys).\n")
        tell(proof)
        return .done
    }

    /// A folder's name without what may stand at its end.
    private static func named(_ folder: String) -> String {
        var name = folder[...]
        while name.count > 1, name.hasSuffix("/") { name = name.dropLast() }
        return String(name)
    }

    static func putBack(_ arguments: Arguments) throws -> ServerExit {
        let (path, keysPath) = try places(arguments, "restore")
        let folder = try arguments.required(ServerOptions.from)
        try FolderOwner.become(path, keysPath)
        let work = try UnfinishedFolder(path + ".restoring") { left in
            // One that was killed between its two last steps: no server has had the database, since it has no keys.
            guard unsafe access(keysPath, F_OK) != 0, isSame(left + database, path) else { return }
            unsafe unlink(path)
        }
        defer { work.remove() }
        for existing in [path, path + "-wal", keysPath] where unsafe access(existing, F_OK) == 0 {
            throw UsageError("\(existing) exists; move it away first")
        }
        // Its copy has the right mode, whatever the disk of the backup makes of it.
        let copy = work.path + keys
        do throws(KeyFile.Failure) { try KeyFile(folder + keys).copy(to: copy, for: keysPath) } catch {
            guard case .missing = error else { throw error }
            throw UsageError("\(folder)\(keys) does not exist: \(folder) is no backup, or a part of one", mayPass: true)
        }
        let file = KeyFile(copy, try KeyPlace.protection(arguments), named: folder + keys)
        var proof = Proof.done
        try SQLiteBackup.copy(folder + database, to: work.path + database, for: path) {
            proof = try fits(file, $0, folder + keys)
        }
        do throws(SystemError) {
            try work.finish { _ throws(SystemError) in try put(work.path + database, path, copy, keysPath) }
        } catch { throw UsageError("\(path), \(keysPath): \(error)", mayPass: true) }
        let report = try SQLiteMaintenance(path).check()
        for fault in report.faults { ServerOutput.complain("fault: \(fault)\n") }
        ServerOutput.say("Restored \(report.accounts) accounts to \(path), and the keys to \(keysPath).\n")
        tell(proof)
        return report.faults.isEmpty ? .done : .faults
    }

    /// Gives both copies their names, or none. It fails where something is by now.
    private static func put(
        _ database: String, _ path: String, _ keys: String, _ keysPath: String
    ) throws(SystemError) {
        try uninterrupted { unsafe link(database, path) }
        do throws(SystemError) {
            // The keys may be for another disk.
            do throws(SystemError) { try uninterrupted { unsafe link(keys, keysPath) } } catch {
                guard error.number == EXDEV else { throw error }
                do throws(KeyFile.Failure) { try KeyFile(keys).copy(to: keysPath) } catch {
                    guard case .system(_, let number) = error else { throw SystemError(EIO) }
                    throw SystemError(number)
                }
            }
            for place in [path, keysPath] {
                try OwnedDescriptor(Paths.parent(of: place), O_RDONLY | O_DIRECTORY).synchronize()
            }
        } catch {
            unsafe unlink(path)
            throw error
        }
    }

    /// Whether two names are of one file.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe lstat(one, &first) == 0, unsafe lstat(other, &second) == 0 else { return false }
        return first.isSameFile(as: second)
    }

    /// Whether the keys were compared with those that the database was served with.
    private enum Proof {
        case done
        /// They are sealed, and nothing was named that unseals them.
        case sealed
        /// The database does not say which they were.
        case unmarked
    }

    private static func places(
        _ arguments: Arguments, _ command: String
    ) throws(UsageError) -> (database: String, keys: String) {
        let path = try Maintenance.database(arguments).file(for: command)
        let keys = arguments[ServerOptions.keysFile] ?? path + ".keys"
        guard !DatabaseLocation.names(FilePlace.canonical(path)).contains(FilePlace.canonical(keys)) else {
            throw UsageError("--keys-file \(keys) is what the database names; name another file")
        }
        return (path, keys)
    }

    /// Compares keys with what a database says of them.
    /// - Parameter mark: Nil for a database that no server has had.
    /// - Throws: ``KeyCustody/Problem``, ``KeyFile/Failure``.
    private static func fits(_ file: KeyFile, _ mark: KeyMark?, _ name: String) throws -> Proof {
        let keys: ServerKeys
        do throws(KeyFile.Failure) {
            keys = try file.load(responseLifetime: Serve.responseLifetime, accessLifetime: 0)
        } catch {
            guard case .sealed = error else { throw error }
            return .sealed
        }
        guard let mark else { return .unmarked }
        if let problem = KeyCustody.Problem(keys.standing(to: mark), name) { throw problem }
        return .done
    }

    private static func tell(_ proof: Proof) {
        switch proof {
        case .done: break
        case .sealed:
            ServerOutput.say(
                "The keys are sealed: whether they are those of the database is compared with --keys-in tpm, on their "
                    + "machine only.\n")
        case .unmarked:
            ServerOutput.say(
                "The database does not say which keys it was served with: whether they are these was not compared. "
                    + "Clients that know other keys accept no answer.\n")
        }
    }
}
