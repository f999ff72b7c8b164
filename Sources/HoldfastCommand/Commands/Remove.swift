internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Options {
    static let forGood = Flag("for-good", "Remove an item at once, without the trash.")
    static let days = NumberOption("days", 0...3650, default: 30, help: "Keep an item in the trash for so many days")
}

extension Command {
    static let remove = Command(
        "rm", synonyms: ["remove", "delete", "del", "erase"], summary: "remove a record",
        details: [
            "Moves an item to the trash, where holdfast trash restore finds it, and removes a plain value for good. Earlier backups "
                + "still contain both. The name must be complete: a part of one removes nothing."
        ],
        example: "holdfast rm mail --collection logins",
        places: [.recordName],
        options: [
            Options.collection.option, Options.forGood.option, Options.days.option, Options.open.option,
        ] + Options.unlocking,
        run: removeRecord)
}

private func removeRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.remove(arguments) }
    let access = ItemAccess(arguments)
    let isForGood = arguments[Options.forGood]
    guard !isForGood || !arguments.contains(Options.days.option) else {
        throw .usage("use only one of --for-good and --days")
    }
    let path = try access.whole(arguments[place: 0])
    let isKept = try access.naming(path.name, in: path.collection) { () throws(CommandError) in
        guard isForGood else { return try access.discard(path, days: arguments[Options.days]) }
        try access.remove(path)
        return false
    }
    let record = Naming.record(path.name, path.collection)
    Output.remark(isKept ? "Moved \(record) to the trash." : "Removed \(record).")
    return .done
}

extension ItemAccess {
    fileprivate func remove(_ path: RecordPath) throws(CommandError) {
        try run(changes: true) { agent throws(VaultError) in
            try agent.remove(path)
        } own: { (_, vault) throws(VaultError) in
            try vault.delete(path.name, in: path.collection)
        }
    }
}
