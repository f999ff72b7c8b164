internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Place {
    fileprivate static let newName = Place(name: "NEW", kind: .text, help: "The name it gets, in the same collection.")
}

extension Options {
    static let toCollection = TextOption(
        "to-collection", "C", help: "The collection it gets (default: the one it is in).")
}

extension Command {
    static let move = Command(
        "mv", synonyms: ["move", "rename"], summary: "rename a record, or move it to another collection",
        details: [
            "Content and time of creation stay, and nothing is ever without a name in between. An existing record is never "
                + "replaced."
        ],
        example: "holdfast mv mail logins/mail",
        places: [.recordName, .newName],
        options: [Options.collection.option, Options.toCollection.option] + Options.unlocking, run: moveRecord)

    static let copyRecord = Command(
        "cp", synonyms: ["duplicate"], summary: "copy a record",
        details: [
            "An existing record is never replaced. A value of more than 1 MiB is copied with holdfast get and holdfast put."
        ],
        example: "holdfast cp wifi wifi-guests",
        places: [.recordName, .newName],
        options: [Options.collection.option, Options.toCollection.option] + Options.unlocking, run: duplicateRecord)
}

private func moveRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let target = try change(arguments) { (agent, path, target) throws(VaultError) in
        try agent.move(path, to: target)
    } alone: { (items, name, collection, newName, newCollection) throws(VaultError) in
        try items.rename(name, in: collection, to: newName, into: newCollection)
    }
    Output.remark("Now \(target).")
    return .done
}

private func duplicateRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let target = try change(arguments) { (agent, path, target) throws(VaultError) in
        try agent.copy(path, to: target)
    } alone: { (items, name, collection, newName, newCollection) throws(VaultError) in
        try items.copy(name, in: collection, to: newName, into: newCollection)
    }
    Output.remark("Copied to \(target).")
    return .done
}

/// - Returns: What the record is called now, for a sentence.
private func change(
    _ arguments: Arguments,
    _ change: (borrowing AgentClient, RecordPath, RecordPath) throws(VaultError) -> Void,
    alone: (ItemStore, String, String, String, String) throws(VaultError) -> Void
) throws(CommandError) -> String {
    let access = ItemAccess(arguments)
    let path = try access.whole(arguments[place: 0])
    let (name, collection) = (path.name, path.collection)
    var newName = arguments[place: 1]
    // A record that was named with its collection gets its new name in the same way.
    if !name.utf8.elementsEqual(arguments[place: 0].utf8), newName.hasPrefix(collection + "/") {
        newName.removeFirst(collection.count + 1)
    }
    let newCollection = arguments[Options.toCollection] ?? collection
    let target = Naming.record(newName, newCollection)
    let newPath = try Naming.check(newName, newCollection)
    do throws(CommandError) {
        try access.naming(name, in: collection) { () throws(CommandError) in
            try access.run(changes: true) { agent throws(VaultError) in
                try change(agent, path, newPath)
            } own: { (items, _) throws(VaultError) in
                try alone(items, name, collection, newName, newCollection)
            }
        }
    } catch {
        guard error.code == VaultError.Code.recordExists.description else { throw error }
        var error = error
        error.what = "there is already a record \(target)"
        error.advice = "choose another name"
        throw error
    }
    return target
}
