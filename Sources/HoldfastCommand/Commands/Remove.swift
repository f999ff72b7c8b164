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
                + "still contain both. The name must be complete."
        ],
        example: "holdfast rm mail --collection logins",
        places: [Place(name: "NAME", kind: .item, help: "Name of the record.")],
        options: [
            Options.collection.option, Options.forGood.option, Options.days.option, Options.open.option,
        ] + Options.unlocking,
        run: removeRecord)
}

private func removeRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.remove(arguments) }
    let name = arguments[place: 0]
    let collection = arguments.collection
    let path = try Naming.check(name, collection)
    let access = ItemAccess(arguments)
    let isForGood = arguments[Options.forGood]
    guard !isForGood || !arguments.contains(Options.days.option) else {
        throw .usage("use only one of --for-good and --days")
    }
    let isKept = try access.naming(name, in: collection) { () throws(CommandError) in
        guard isForGood else { return try access.discard(path, days: arguments[Options.days]) }
        try access.remove(path)
        return false
    }
    let record = Naming.record(name, collection)
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
