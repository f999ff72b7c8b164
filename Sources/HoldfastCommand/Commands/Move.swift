internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import HoldfastDoctor

extension Place {
    fileprivate static let newName = Place(
        name: "NEW", kind: .inFolder,
        help: "The new name, with its folder; in FOLDER/ the last part of the old one stays.")
}

extension Options {
    static let toCollection = TextOption(
        "to-collection", "C", help: "The collection it gets, to the byte; then NEW is all of its name.",
        isHidden: true)
}

extension Command {
    static let move = Command(
        "mv", synonyms: ["move", "rename"], summary: "rename an entry, or move it to another folder",
        details: [
            "Content and time of creation stay, and nothing is ever without a name in between. An existing entry is never "
                + "replaced.",
            "FOLDER/ with its slash as the old name means all that is in it: it goes into the new folder if that is there, and else gets its "
                + "name. All of it is moved, or nothing. On a terminal it is asked for.",
        ],
        example: "holdfast mv mail logins/mail",
        places: [.recordName, .newName],
        options: [Options.yes.option, Options.collection.option, Options.toCollection.option] + Options.unlocking,
        run: moveRecord)

    static let copyRecord = Command(
        "cp", synonyms: ["duplicate"], summary: "copy an entry",
        details: [
            "An existing entry is never replaced. A value of more than 1 MiB is copied with holdfast get and holdfast put.",
            "FOLDER/ with its slash as the old name means all that is in it, as with holdfast mv.",
        ],
        example: "holdfast cp wifi wifi-guests",
        places: [.recordName, .newName],
        options: [Options.yes.option, Options.collection.option, Options.toCollection.option] + Options.unlocking,
        run: duplicateRecord)
}

private func moveRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try change(arguments, .asked("Move"), isMoved: true) { (access, path, target) throws(CommandError) in
        try access.run(changes: true) { agent throws(VaultError) in
            try agent.move(path, to: target.path)
        } own: { (items, _) throws(VaultError) in
            try items.rename(
                path.name, in: path.collection, to: target.path.name, into: target.path.collection, isChecked: true)
        }
        Output.remark("Now \(access.told(target.path)).")
    }
}

private func duplicateRecord(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try change(arguments, .asked("Copy"), isMoved: false) { (access, path, target) throws(CommandError) in
        try access.run(changes: true) { agent throws(VaultError) in
            try agent.copy(path, to: target.path)
        } own: { (items, _) throws(VaultError) in
            try items.copy(
                path.name, in: path.collection, to: target.path.name, into: target.path.collection, isChecked: true)
        }
        Output.remark("Copied to \(access.told(target.path)).")
    }
}

private func change(
    _ arguments: Arguments, _ naming: Naming, isMoved: Bool,
    _ change: (ItemAccess, RecordName, NamedRecord) throws(CommandError) -> Void
) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let new = arguments[place: 1]
    // What cannot be is refused before anything is asked for.
    if !access.isLiteral, !arguments.contains(Options.toCollection.option) {
        if let work = try FolderWork(arguments[place: 0], access) { return try work.place(new, isMoved: isMoved) }
        if !new.hasSuffix("/") { _ = try ItemNames.new(new) }
    }
    // Whether the new name is free depends on what is there.
    let record = try access.resolve(arguments[place: 0], naming)
    do throws(CommandError) {
        let target = try access.target(new, for: record.path, isMoved: isMoved)
        guard target.path != record.path else { throw ItemNames.taken(target.written) }
        do throws(CommandError) { try change(access, record.path, target) } catch {
            throw error.code == .recordExists ? ItemNames.taken(target.written) : error
        }
    } catch {
        guard error.code == .recordExists else { throw error }
        var taken = error
        taken.advice = "choose another name"
        throw taken
    }
    return .done
}

extension ItemAccess {
    /// What a record is called when it was moved or copied.
    /// - Parameter isMoved: Whether the record itself gets the name.
    fileprivate func target(
        _ new: String, for old: RecordName, isMoved: Bool
    ) throws(CommandError) -> NamedRecord {
        let moved = isMoved ? old.entry : nil
        if isLiteral || arguments.contains(Options.toCollection.option) {
            guard let path = RecordName(collection: arguments[Options.toCollection] ?? old.collection, name: new) else {
                throw ItemNames.noSuchPath
            }
            return NamedRecord(path)
        }
        // Into a folder, where the last part stays.
        let last = old.name.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
        let inFolder = EntryPath(name: last ?? old.name).short
        if new.hasSuffix("/") { return try requireFree(new + inFolder, for: moved) }
        // Of what other programs call a folder, nobody means an entry beside it.
        if ItemNames.isSeen, let terminal = Terminal(), try names().all.contains(where: { $0.isIn(folder: new) }) {
            if try goesInto(new, terminal) { return try requireFree(new + "/" + inFolder, for: moved) }
        }
        return try requireFree(new, for: moved)
    }

    /// A slip renames nothing: what is neither yes nor no asks again.
    private func goesInto(_ folder: String, _ terminal: borrowing Terminal) throws(CommandError) -> Bool {
        while true {
            let answer = try terminal.readAnswer(
                prompt: "\(folder)/ is a folder. Put it in there? n names the entry \(folder). [Y/n] ")
            switch answer.lowercased() {
            case "", "y", "yes": return true
            case "n", "no": return false
            default: continue
            }
        }
    }
}
