internal import Holdfast

extension Command {
    static let remove = Command(
        "rm", synonyms: ["remove", "delete", "del", "erase"], summary: "remove a record",
        details: ["Removes a record and its content. A backup made before still holds it."],
        places: [.recordName], options: [Options.collection.option, Options.open.option] + Options.unlocking,
        run: removeRecord)
}

private func removeRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.remove(arguments) }
    let name = arguments[place: 0]
    let collection = arguments.collection
    let vault = try Unlocking.open(arguments)
    try Naming.explaining(name, collection) { () throws(CommandError) in
        try vaultCall { try vault.delete(name, in: collection) }
    }
    Output.remark("removed \(Naming.record(name, collection))")
    return .done
}
