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
    try Naming.check(name, collection)
    if arguments[Options.forGood] {
        guard !arguments.contains(Options.days.option) else { throw .usage("use only one of --for-good and --days") }
        try Naming.explaining(name, collection) { () throws(CommandError) in
            try removeForGood(name, collection, arguments)
        }
    } else if let path = RecordPath(collection: collection, name: name),
        try ItemAccess(arguments).discard(path, days: arguments[Options.days])
    {
        Output.remark("Moved \(Naming.record(name, collection)) to the trash.")
        return .done
    }
    Output.remark("Removed \(Naming.record(name, collection)).")
    return .done
}

private func removeForGood(_ name: String, _ collection: String, _ arguments: Arguments) throws(CommandError) {
    if let path = RecordPath(collection: collection, name: name) {
        let isDone: Void? = try AgentAccess.use(arguments) { agent, session in
            session.changes = true
            try agent.remove(path)
        }
        if isDone != nil { return }
    }
    let vault = try Unlocking.open(arguments)
    try vaultCall { try vault.delete(name, in: collection) }
}
