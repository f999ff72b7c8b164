internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Options {
    static let restoredName = TextOption("as", "NAME", help: "Give it this name (default: the one that it had).")
}

extension Command {
    static let trashList = Command(
        "trash", "list", summary: "list the entries in the trash",
        details: [
            "Entries that were removed with holdfast rm are kept here, 30 days unless rm said otherwise; then they are removed "
                + "for good when the next entry is."
        ],
        example: "holdfast trash list",
        options: [Options.json.option] + Options.unlocking, run: listTrash)

    static let trashRestore = Command(
        "trash", "restore", summary: "put an entry back",
        details: [
            "Of several entries of the same name the one that was removed last is put back; NAME#2 is the one before it, as trash list shows them."
        ],
        example: "holdfast trash restore mail",
        places: [Place(name: "NAME", kind: .text, help: "What it was called.")],
        options: [Options.restoredName.option, Options.collection.option] + Options.unlocking, run: restoreItem)

    static let trashEmpty = Command(
        "trash", "empty", summary: "remove the entries in the trash for good",
        details: ["Earlier backups still contain them. With a name, only the entry of that name is removed."],
        example: "holdfast trash empty",
        places: [Place(name: "NAME", kind: .text, help: "What it was called.", isOptional: true)],
        options: [Options.yes.option, Options.collection.option] + Options.unlocking, run: emptyTrash)
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
    var table = Table(["NAME", "REMOVED", "KEPT UNTIL"])
    for (entry, name) in zip(trash, TrashNames(trash).written) {
        table.append([
            name, Format.localTime(milliseconds: entry.moved), Format.localTime(milliseconds: entry.expires),
        ])
    }
    if Descriptors.isTerminal(STDOUT_FILENO) { table.fit(Terminal.columns(STDOUT_FILENO), cutting: [0]) }
    try Output.write(table.text)
    return .done
}

extension ItemAccess {
    /// What in the trash was called so; of several the one that was removed last, or the one behind a number sign.
    /// - Parameter takesNumber: Whether a number sign and a number may stand behind the name: not where something goes
    ///   for good.
    fileprivate func trashed(
        _ text: String, takesNumber: Bool
    ) throws(CommandError) -> (entry: TrashEntry, older: Int) {
        let all = try trash()
        let names = TrashNames(all)
        let found: [TrashEntry]
        if isLiteral {
            let place = EntryPath(collection: arguments[Options.collection] ?? "", name: text)
            found = all.filter { $0.entry == place }
        } else {
            found = names.meant(by: text, takesNumber: takesNumber).map { all[$0] }
        }
        guard let first = found.first else {
            let near = Suggestion.nearest(to: text, among: names.written)
            throw CommandError(
                .notFound, code: .recordNotFound,
                "no entry '\(Escaping.name(text))' in the trash",
                advice: near.map { "did you mean \(ShellWord.always($0))?" }
                    ?? "holdfast trash list shows what is there")
        }
        return (first, found.count - 1)
    }
}

private func restoreItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let (entry, older) = try access.trashed(arguments[place: 0], takesNumber: true)
    var target: RecordName?
    if let name = arguments[Options.restoredName] {
        if access.isLiteral {
            target = RecordName(collection: entry.key.collection, name: name)
        } else {
            target = try access.requireFree(name).path
        }
    }
    do throws(CommandError) { try access.restore(entry, as: target) } catch {
        guard error.code == .recordExists else { throw error }
        var error = error
        error.advice = "give it another name with --as"
        throw error
    }
    let restored = (target ?? entry.entry.record).map(access.told)
    let written = restored ?? entry.entry.text
    let rest = older > 0 ? " \(Format.count(older, "older one")) of this name left in the trash." : ""
    Output.remark("Restored \(written).\(rest)")
    return .done
}

private func emptyTrash(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try Confirmation.require(arguments)
    let access = ItemAccess(arguments)
    var entry: TrashEntry?
    if let name = arguments.places.first {
        entry = try access.trashed(name, takesNumber: false).entry
    }
    let count = try entry == nil ? access.trash().count : 1
    guard count > 0 else {
        Output.remark("The trash is empty.")
        return .done
    }
    try Confirmation.ask(
        arguments, "\(Format.count(count, "entry", "entries")) in the trash will be removed for good.", word: "empty")
    let removed = try access.emptyTrash(entry)
    Output.remark("Removed \(Format.count(removed, "entry", "entries")) for good.")
    return .done
}
