internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let remove = Command(
        "rm", synonyms: ["remove", "delete", "del", "erase"], summary: "remove a record",
        details: [
            "Removes a record and its content. Earlier backups still contain it."
        ],
        example: "holdfast rm mail --collection logins",
        places: [.recordName], options: [Options.collection.option, Options.open.option] + Options.unlocking,
        run: removeRecord)
}

private func removeRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.remove(arguments) }
    let name = arguments[place: 0]
    let collection = arguments.collection
    try Naming.check(name, collection)
    try Naming.explaining(name, collection) { () throws(CommandError) in
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
    Output.remark("Removed \(Naming.record(name, collection)).")
    return .done
}
