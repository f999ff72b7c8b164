internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Options {
    static let forGood = Flag("for-good", "Remove it at once, without the trash.")
    static let recursive = Flag("recursive", "Remove all that is in a folder, FOLDER/ with its slash.", short: "r")
    static let days = NumberOption("days", 0...3650, default: 30, help: "Keep an entry in the trash for so many days")
}

extension Command {
    static let remove = Command(
        "rm", synonyms: ["remove", "delete", "del", "erase"], summary: "move an entry to the trash",
        details: [
            "Moves an entry to the trash, where holdfast trash restore finds it. Earlier backups still contain it. A name that is not complete removes nothing before you have said yes.",
            "With --recursive, FOLDER/ with its slash means all that is in it; without a terminal to ask on, that takes --yes too. All of it "
                + "is removed, or nothing.",
        ],
        example: "holdfast rm logins/mail",
        places: [.recordName],
        options: [
            Options.recursive.option, Options.yes.option, Options.collection.option, Options.forGood.option,
            Options.days.option, Options.open.option,
        ] + Options.unlocking,
        run: removeRecord)
}

private func removeRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] {
        guard !arguments[Options.recursive] else { throw .usage("--recursive cannot be combined with --open") }
        return try OpenItems.remove(arguments)
    }
    let access = ItemAccess(arguments)
    let isForGood = arguments[Options.forGood]
    guard !isForGood || !arguments.contains(Options.days.option) else {
        throw .usage("use only one of --for-good and --days")
    }
    if let work = try FolderWork(arguments[place: 0], access) {
        guard arguments[Options.recursive] else {
            throw .usage("'\(work.folder.text)' is a folder; --recursive removes all that is in it")
        }
        return try work.remove(days: isForGood ? nil : arguments[Options.days])
    }
    return try access.naming(arguments[place: 0], .asked("Remove")) { record throws(CommandError) in
        var isKept = false
        if isForGood {
            try access.remove(record.path)
        } else {
            do throws(CommandError) { isKept = try access.discard(record.path, days: arguments[Options.days]) } catch {
                guard error.code == .tooLarge else { throw error }
                try requireForGood(record)
                try access.remove(record.path)
            }
        }
        Output.remark(isKept ? "Moved \(record.written) to the trash." : "Removed \(record.written).")
        return .done
    }
}

/// The trash has no room for a value that is stored as a file: whether it may be removed without it.
private func requireForGood(_ record: NamedRecord) throws(CommandError) {
    guard ItemNames.isSeen, let terminal = Terminal() else {
        throw CommandError(
            .failure, code: .tooLarge, "a value of more than 1 MiB does not go to the trash",
            advice: "--for-good removes it at once")
    }
    try Confirmation.requireYes("\(record.written) is too large for the trash. Remove it for good?", on: terminal)
}

extension ItemAccess {
    fileprivate func remove(_ path: RecordName) throws(CommandError) {
        try run(changes: true) { agent throws(VaultError) in
            try agent.remove(path)
        } own: { (items, _) throws(VaultError) in
            try items.remove(path.entry)
        }
    }
}
