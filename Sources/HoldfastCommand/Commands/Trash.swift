internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Options {
    static let restoredName = TextOption("as", "NAME", help: "Give it this name (default: the one that it had).")
}

extension Command {
    static let trashList = Command(
        "trash", "list", summary: "list the items in the trash",
        details: [
            "Items that were removed with holdfast rm are kept here, 30 days unless rm said otherwise; then they are removed "
                + "for good when the next item is."
        ],
        example: "holdfast trash list",
        options: [Options.json.option] + Options.unlocking, run: listTrash)

    static let trashRestore = Command(
        "trash", "restore", summary: "put an item back",
        details: ["Of several items of the same name the one that was removed last is put back."],
        example: "holdfast trash restore mail",
        places: [Place(name: "NAME", kind: .text, help: "What it was called.")],
        options: [Options.restoredName.option, Options.itemCollection.option] + Options.unlocking, run: restoreItem)

    static let trashEmpty = Command(
        "trash", "empty", summary: "remove the items in the trash for good",
        details: ["Earlier backups still contain them. With a name, only the item of that name is removed."],
        example: "holdfast trash empty",
        places: [Place(name: "NAME", kind: .text, help: "What it was called.", isOptional: true)],
        options: [Options.yes.option, Options.itemCollection.option] + Options.unlocking, run: emptyTrash)
}

private func listTrash(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let trash = try ItemAccess(arguments).trash()
    if arguments[Options.json] {
        try Output.write(
            .object([
                "trash": .array(
                    trash.map {
                        .object([
                            "collection": .text($0.key.collection), "name": .text($0.name),
                            "moved": Format.json($0.moved), "expires": Format.json($0.expires),
                        ])
                    })
            ]))
        return .done
    }
    guard !trash.isEmpty else {
        Output.remark("The trash is empty.")
        return .done
    }
    var table = Table(["COLLECTION", "NAME", "REMOVED", "KEPT UNTIL"])
    for entry in trash {
        table.append([
            Escaping.name(entry.key.collection), Escaping.name(entry.name), Format.localTime(milliseconds: entry.moved),
            Format.localTime(milliseconds: entry.expires),
        ])
    }
    if Descriptors.isTerminal(STDOUT_FILENO) { table.fit(Terminal.columns(STDOUT_FILENO), cutting: [0, 1]) }
    try Output.write(table.text)
    return .done
}

extension ItemAccess {
    /// What in the trash was called so; the latest of several.
    fileprivate func trashed(_ name: String, in collection: String?) throws(CommandError) -> TrashEntry {
        let all = try trash().filter { entry in collection.map { entry.key.collection == $0 } ?? true }
        func path(_ entry: TrashEntry) -> String {
            entry.key.collection == Options.defaultCollection ? entry.name : entry.key.collection + "/" + entry.name
        }
        if let entry = all.first(where: { path($0) == name }) ?? all.first(where: { $0.name == name }) { return entry }
        let near = Suggestion.nearest(to: name, among: all.map(path))
        throw CommandError(
            .notFound, code: VaultError.Code.recordNotFound.description,
            "no item '\(Escaping.name(name))' in the trash",
            advice: near.map { "did you mean '\(Escaping.name($0))'?" } ?? "holdfast trash list shows what is there")
    }
}

private func restoreItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let entry = try access.trashed(arguments[place: 0], in: arguments[Options.itemCollection])
    let name = arguments[Options.restoredName]
    do throws(CommandError) { try access.restore(entry, as: name) } catch {
        guard error.code == VaultError.Code.recordExists.description else { throw error }
        var error = error
        error.advice = "give it another name with --as"
        throw error
    }
    Output.remark("Restored \(Naming.record(name ?? entry.name, entry.key.collection)).")
    return .done
}

private func emptyTrash(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try Confirmation.require(arguments)
    let access = ItemAccess(arguments)
    var entry: TrashEntry?
    if let name = arguments.places.first {
        entry = try access.trashed(name, in: arguments[Options.itemCollection])
    }
    let count = try entry == nil ? access.trash().count : 1
    guard count > 0 else {
        Output.remark("The trash is empty.")
        return .done
    }
    try Confirmation.ask(
        arguments, "\(Format.count(count, "item")) in the trash will be removed for good.", word: "empty")
    let removed = try access.emptyTrash(entry)
    Output.remark("Removed \(Format.count(removed, "item")) for good.")
    return .done
}
