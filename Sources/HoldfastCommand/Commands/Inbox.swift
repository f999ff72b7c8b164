internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Place {
    static let inboxName = Place(name: "NAME", kind: .text, help: "What it is called there, as inbox list shows it.")
}

extension Command {
    static let inboxList = Command(
        "inbox", "list", synonyms: ["ls", "show"], summary: "list what was written while the vault was locked",
        details: [
            "Entries stored with put --open move to the inbox when the vault is unlocked, and wait there until you "
                + "accept or reject them. Anyone who can write to the vault's folder may have written them.",
            "Without a terminal, prints one line per entry: name in the inbox, collection and name it was written for, "
                + "bytes, time of the last change (UTC), and open or sealed, separated by tabs.",
        ],
        example: "holdfast inbox list",
        options: [Options.json.option] + Options.unlocking, run: listInbox)

    static let inboxAccept = Command(
        "inbox", "accept", synonyms: ["confirm", "take", "keep"], summary: "make an entry of the inbox one of yours",
        details: [
            "Stores the entry under the name it was written for, or the one you give. Whoever wrote it chose that name, so it must be "
                + "one that a new entry can have, and free; an entry is replaced only with --as and --replace. Look at it first: holdfast get inbox/NAME."
        ],
        example: "holdfast inbox accept note --as shopping",
        places: [.inboxName],
        options: [
            Options.asName.option, Options.collection.option, Options.replace.option, Options.json.option,
        ] + Options.unlocking, run: acceptItem)

    static let inboxReject = Command(
        "inbox", "reject", synonyms: ["rm", "remove", "delete"], summary: "discard an entry of the inbox",
        details: [
            "Removes the entry and its content."
        ],
        example: "holdfast inbox reject note",
        places: [.inboxName], options: [Options.json.option] + Options.unlocking, run: rejectItem)
}

private func listInbox(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let items = try ItemAccess(arguments).inbox()
    let waiting = try Unlocking.find(arguments).open.status().items
    if waiting > 0 {
        let words = waiting == 1 ? "1 more entry moves" : "\(waiting) more entries move"
        Output.remark("\(words) here at the next unlock: holdfast lock, then holdfast unlock.")
    }
    if arguments[Options.json] {
        try Output.write(.object(["items": .array(items.map(\.json))]))
    } else if Descriptors.isTerminal(STDOUT_FILENO) {
        guard !items.isEmpty else {
            Output.remark("The inbox is empty.")
            return .done
        }
        var table = Table(["NAME", "WRITTEN AS", "SIZE", "CHANGED", "HOW"], rightAligned: [2])
        for item in items {
            table.append([
                Escaping.name(item.name), EntryPath(collection: item.originalCollection, name: item.originalName).text,
                Format.size(item.size), Format.localTime(milliseconds: item.modified), item.how,
            ])
        }
        table.fit(Terminal.columns(STDOUT_FILENO), cutting: [0, 1])
        try Output.write(table.text)
    } else {
        try Output.write(
            items.map { item in
                let names = [item.name, item.originalCollection, item.originalName].map(Escaping.name)
                let time = Format.timestamp(milliseconds: item.modified) ?? "-"
                return (names + ["\(item.size)", time, item.how]).joined(separator: "\t") + "\n"
            }.joined())
    }
    return .done
}

extension ItemAccess {
    /// What waits in the inbox.
    fileprivate func inbox() throws(CommandError) -> [Vault.InboxItem] {
        try run { agent throws(VaultError) in
            try agent.inbox()
        } own: { (_, vault) throws(VaultError) in
            try vault.inbox()
        }
    }
}

private func acceptItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let item = arguments[place: 0]
    let access = ItemAccess(arguments)
    let (name, collection) = try accepted(item, access)
    let acceptance = Acceptance(
        item: item, name: name, collection: collection, isReplacing: arguments[Options.replace])
    let place: (name: String, collection: String)
    do throws(CommandError) {
        place = try access.run(changes: true) { agent throws(VaultError) in
            try agent.accept(acceptance)
        } own: { (_, vault) throws(VaultError) in
            try vault.confirm(
                item, as: name, in: collection, replacing: acceptance.isReplacing,
                besides: EntryPath(collection: collection, name: name).twins.compactMap(\.record))
        }
    } catch {
        throw explained(error, item, name, collection)
    }
    if arguments[Options.json] {
        try Output.write(.object(["collection": .text(place.collection), "name": .text(place.name)]))
    } else {
        let path = RecordName(collection: place.collection, name: place.name)
        let written = path.map(access.told)
        Output.remark("Accepted as \(written ?? Escaping.name(place.name)).")
    }
    return .done
}

/// The name that an item gets.
private func accepted(_ item: String, _ access: ItemAccess) throws(CommandError) -> (name: String, collection: String) {
    let arguments = access.arguments
    if let name = arguments[Options.asName] {
        do throws(CommandError) {
            let path = try arguments[Options.replace] ? access.target(name).path : access.requireFree(name).path
            guard !path.entry.isReserved else {
                throw CommandError(
                    .usage, code: .invalidName, "the collection '\(path.collection)' is Holdfast's own")
            }
            return (path.name, path.collection)
        } catch {
            guard error.code == .recordExists else { throw error }
            var error = error
            error.advice = "give another name with --as, or --replace it"
            throw error
        }
    }
    guard !arguments[Options.replace] else { throw .usage("--replace requires --as NAME") }
    guard let found = try access.inbox().first(where: { $0.name == item }) else {
        throw explained(CommandError(VaultError(.recordNotFound, "")), item, nil, nil)
    }
    let place = EntryPath(
        collection: arguments[Options.collection] ?? found.originalCollection, name: found.originalName)
    do throws(CommandError) {
        // Whoever wrote it chose the name: no address of git's, and nothing of Holdfast's own.
        guard !place.isReserved, (try? EntryPath(new: place.short)) == place, let path = place.record else {
            throw CommandError(
                .usage, code: .invalidName, "no new entry can be called '\(place.text)', as this one was")
        }
        _ = try access.requireFree(path)
        return (path.name, path.collection)
    } catch {
        guard [.recordExists, .invalidName].contains(error.code) else { throw error }
        var error = error
        error.advice = "give another name with --as"
        throw error
    }
}

private func rejectItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let item = arguments[place: 0]
    do throws(CommandError) {
        try ItemAccess(arguments).run(changes: true) { agent throws(VaultError) in
            try agent.reject(item)
        } own: { (_, vault) throws(VaultError) in
            try vault.reject(item)
        }
    } catch { throw explained(error, item, nil, nil) }
    if arguments[Options.json] {
        try Output.write(.object(["rejected": .text(item)]))
    } else {
        Output.remark("Rejected \"\(Escaping.name(item))\".")
    }
    return .done
}

private func explained(_ error: CommandError, _ item: String, _ name: String?, _ collection: String?) -> CommandError {
    var failure = error
    switch error.code {
    case .recordNotFound:
        failure.what = "there is no entry \"\(Escaping.name(item))\" in the inbox"
        failure.advice = "holdfast inbox list shows what there is"
    case .recordExists:
        let target =
            name.map { " \(EntryPath(collection: collection ?? Options.defaultCollection, name: $0).text)" } ?? ""
        failure.what = "there is an entry\(target) already"
        failure.advice = "give another name with --as, or --replace it"
    default: break
    }
    return failure
}

extension Vault.InboxItem {
    fileprivate var how: String { wasSealed ? "sealed" : "open" }

    fileprivate var json: JSON {
        .object([
            "name": .text(name), "originalCollection": .text(originalCollection), "originalName": .text(originalName),
            "size": .count(size), "wasSealed": .boolean(wasSealed),
            "created": Format.timestamp(milliseconds: created).map { .text($0) } ?? .null,
            "modified": Format.timestamp(milliseconds: modified).map { .text($0) } ?? .null,
        ])
    }
}
