internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import ProgramProtocols
internal import ProgramAccess
internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import SystemCalls

/// A record that a text on the command line names, and how its name is written.
struct NamedRecord: Equatable {
    let path: RecordName
    let written: String

    init(_ path: RecordName) { self.init(path, written: path.entry.text) }

    init(_ path: RecordName, written: String) {
        self.path = path
        self.written = written
    }
}

extension Vault.RecordInfo {
    var entry: EntryPath { EntryPath(collection: collection, name: name) }
}

extension TrashEntry {
    /// Where it was.
    var entry: EntryPath { EntryPath(collection: key.collection, name: name) }
    /// Where it is stored.
    var stored: RecordName? {
        ItemID(key.id).flatMap { RecordName(collection: key.collection, name: Item.trashName($0)) }
    }
}

/// How much of a name a command is content with, where it is not whole.
enum Naming {
    /// What is shown and copied: parts of a name, as long as only one record is meant.
    case part
    /// As ``part``; a folder's whole name means the folder.
    case partOrFolder
    /// What a program may be waiting for: as ``part`` on a terminal, else nothing but the whole name.
    case partOnTerminal
    /// What is changed: as ``part`` on a terminal, else the last parts of a name.
    case lastPart
    /// What is removed or moved: on a terminal the one record that is meant is asked for, as in `Remove logins/mail?`.
    case asked(String)

    /// - Parameter isSeen: Whether somebody sees which record is taken.
    func limit(isSeen: Bool) -> EntryNames.Nearness? {
        switch self {
        case .part, .partOrFolder: isSeen ? .middle : .beginning
        case .partOnTerminal, .asked: isSeen ? .middle : nil
        case .lastPart: isSeen ? .middle : .lastPart
        }
    }

    /// Whether nothing is changed.
    fileprivate var reads: Bool {
        switch self {
        case .part, .partOrFolder, .partOnTerminal: true
        case .lastPart, .asked: false
        }
    }

    /// Whether what it finds is called by its name in what follows.
    fileprivate var tells: Bool {
        if case .partOnTerminal = self { return false }
        return true
    }
}

extension ItemAccess {
    /// Runs a command's work on the record that the command line names: first on the one that its text means as it is,
    /// which costs no list; where that is not there, on the one that it can mean.
    /// - Parameter body: Throws `recordNotFound` only where the record is not there, and has done nothing then.
    /// - Throws: `recordNotFound`, which says what may have been meant; `ambiguous`; `cancelled`.
    func naming<R: ~Copyable>(
        _ text: String, _ naming: Naming, _ body: (NamedRecord) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        if var first = try record(as: text) {
            if naming.tells { first = try exact(first) }
            do throws(CommandError) {
                let result = try body(first)
                if naming.reads { tellOther(text, first) }
                return result
            } catch {
                guard error.code == .recordNotFound else { throw error }
                if isLiteral { throw ItemNames.named(error, first) }
            }
        } else {
            throw ItemNames.noSuchPath
        }
        let record = try choose(text, naming)
        do throws(CommandError) { return try body(record) } catch {
            throw error.code == .recordNotFound ? ItemNames.named(error, record) : error
        }
    }

    /// Reads the item that a text names.
    /// - Throws: As ``naming(_:_:_:)``.
    func find(_ text: String, _ precision: Naming = .part) throws(CommandError) -> FoundItem {
        try naming(text, precision) { record throws(CommandError) in
            FoundItem(record: record, item: try item(record.path))
        }
    }

    /// The record that a text names, without reading it.
    /// - Throws: As ``naming(_:_:_:)``.
    func resolve(_ text: String, _ precision: Naming) throws(CommandError) -> NamedRecord {
        guard let first = try record(as: text) else { throw ItemNames.noSuchPath }
        let names = try names()
        if isLiteral {
            guard names.contains(first.path.entry) else { throw ItemNames.none(text, []) }
            return first
        }
        if let record = names.entry(text).flatMap(names.record) { return record }
        return try choose(text, precision, among: names)
    }

    /// The record that a new value is stored as: one that is there, or a new one.
    /// - Throws: `invalidName`.
    func target(_ text: String) throws(CommandError) -> NamedRecord {
        if isLiteral {
            guard let record = try record(as: text) else { throw ItemNames.noSuchPath }
            return record
        }
        // Nothing else can mean such a name, and looks like it only to who looks for that.
        let isSimple = text.utf8.allSatisfy {
            (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        if isSimple { return NamedRecord(try ItemNames.new(text)) }
        let names = try names()
        if let record = names.entry(text).flatMap(names.record) { return record }
        return NamedRecord(try ItemNames.new(text))
    }

    /// Checks before anything is typed that a name is free.
    /// - Parameter moved: The entry that gets it: a record from an earlier version may be written as its own new place
    ///   already.
    /// - Throws: `recordExists`, `invalidName`.
    func requireFree(_ text: String, for moved: EntryPath? = nil) throws(CommandError) -> NamedRecord {
        var names = try names()
        if let moved { names = EntryNames(names.all.filter { $0 != moved }) }
        let path: RecordName
        if isLiteral {
            guard let record = try record(as: text) else { throw ItemNames.noSuchPath }
            path = record.path
        } else {
            if let taken = names.entry(text) { throw ItemNames.taken(names.written([taken])[0]) }
            path = try ItemNames.new(text)
        }
        return try requireFree(path, among: names)
    }

    /// As ``requireFree(_:)``, of a place.
    func requireFree(_ path: RecordName) throws(CommandError) -> NamedRecord {
        try requireFree(path, among: try names())
    }

    /// However it is written: two are never written the same, but one of them would be written anew.
    private func requireFree(_ path: RecordName, among names: EntryNames) throws(CommandError) -> NamedRecord {
        if let taken = names.taking(path.entry) { throw ItemNames.taken(names.written([taken])[0]) }
        return NamedRecord(path)
    }

    /// A record as it is written: whether one from an earlier version can be written shorter depends on another one,
    /// and only then is anything read.
    func exact(_ record: NamedRecord) throws(CommandError) -> NamedRecord {
        let entry = record.path.entry
        guard entry.collection == Options.defaultCollection, entry.other != nil else { return record }
        do throws(CommandError) {
            let names = try names()
            return names.contains(entry) ? names.record(entry) ?? record : record
        } catch {
            // One record that cannot be read keeps nobody from another one.
            guard error.code == .damaged else { throw error }
            return record
        }
    }

    /// How a record that was just stored is written, for a remark.
    func told(_ path: RecordName) -> String {
        let record = NamedRecord(path)
        guard Descriptors.isTerminal(STDERR_FILENO) else { return record.written }
        return (try? exact(record))?.written ?? record.written
    }

    /// Where a text means a second entry, which another one went before, says how that is named.
    private func tellOther(_ text: String, _ first: NamedRecord) {
        guard ItemNames.isSeen, !isLiteral, let other = EntryPath.places(of: text).last, other != first.path.entry
        else {
            return
        }
        let isThere = try? run { agent throws(VaultError) in
            try agent.list(Options.defaultCollection).contains { $0.entry == other }
        } own: { (_, vault) throws(VaultError) in
            try vault.contains(other.name, in: other.collection)
        }
        if isThere ?? false { Output.remark("\(other.text) is another one.") }
    }

    /// Whether the collection was named for itself: then a name is what it is, to the byte.
    var isLiteral: Bool { arguments.contains(Options.collection.option) }

    /// What a text means where nothing else is looked at; nil where no record can be called so.
    private func record(as text: String) throws(CommandError) -> NamedRecord? {
        if let collection = arguments[Options.collection] {
            return RecordName(collection: collection, name: text).map { NamedRecord($0) }
        }
        return EntryPath(parsing: text)?.record.map { NamedRecord($0) }
    }

    func names() throws(CommandError) -> EntryNames { EntryNames(try infos().map(\.entry)) }

    /// The record that a text means which is no record's as it is.
    private func choose(_ text: String, _ naming: Naming) throws(CommandError) -> NamedRecord {
        let names = try names()
        if let record = names.entry(text).flatMap(names.record) { return record }
        if case .partOrFolder = naming, let folder = EntryFolder(parsing: text.hasSuffix("/") ? text : text + "/"),
            names.has(folder)
        {
            throw ItemNames.isFolder(folder)
        }
        return try choose(text, naming, among: names)
    }

    private func choose(_ text: String, _ naming: Naming, among names: EntryNames) throws(CommandError) -> NamedRecord {
        let isSeen = ItemNames.isSeen
        let found = naming.limit(isSeen: isSeen).map { names.records(names.near(text, upTo: $0)) } ?? []
        guard let first = found.first else { throw names.missing(text) }
        guard isSeen, let terminal = Terminal() else {
            guard found.count == 1 else { throw ItemNames.ambiguous(text, found) }
            Output.note(first.written)
            return first
        }
        if case .asked = naming, let folder = EntryFolder(parsing: text + "/"), names.has(folder) {
            try terminal.say("With a slash at its end it is the folder: \(ShellWord.quoted(folder.text))")
        }
        if found.count > 1 { return try ItemNames.pick(found, text, terminal) }
        guard case .asked(let verb) = naming else {
            Output.remark(first.written)
            return first
        }
        try Confirmation.requireYes("\(verb) \(first.written)?", on: terminal)
        return first
    }
}

extension EntryNames {
    /// Nil where no record can be called so.
    func record(_ entry: EntryPath) -> NamedRecord? {
        entry.record.map { NamedRecord($0, written: written([entry])[0]) }
    }

    /// As ``record(_:)``, written at once.
    fileprivate func records(_ entries: [EntryPath]) -> [NamedRecord] {
        zip(entries, written(entries)).compactMap { entry, text in
            entry.record.map { NamedRecord($0, written: text) }
        }
    }

    /// The error for a text that means nothing, with what may have been meant.
    fileprivate func missing(_ text: String) -> CommandError {
        var error = ItemNames.none(text, suggestions(for: text))
        if contains(EntryPath(collection: OpenItems.inbox, name: text)) {
            error.advice = "it is in the inbox: holdfast inbox accept makes it an entry"
        } else if let folder = EntryFolder(parsing: text + "/"), has(folder) {
            error.advice = "a folder has a slash at its end: \(ShellWord.quoted(folder.text))"
        }
        return error
    }

    /// What is spelled nearly so, written.
    private func suggestions(for text: String) -> [String] {
        let near = near(text, upTo: .middle)
        guard near.isEmpty else { return written(Array(near.prefix(3))) }
        let wanted = Array(text.lowercased().utf8)
        let alike = all.filter { entry in
            let spelled = entry.spelled.lowercased()
            let last = spelled.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
            return [Array(spelled.utf8), last].contains {
                Suggestion.distance(wanted, $0) <= max(1, $0.count / 3)
            }
        }
        return written(Array(alike.prefix(3)))
    }
}

/// Errors and questions about names. The vault's own errors never contain them; here the user has just typed one.
enum ItemNames {
    /// The most that are shown to choose from.
    private static let most = 9

    /// Whether somebody sees what is written and can be asked: a terminal is on all sides.
    static var isSeen: Bool { [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].allSatisfy(Descriptors.isTerminal) }

    /// The place of a new record.
    /// - Throws: `invalidName`, which says what is wrong with it.
    static func new(_ text: String) throws(CommandError) -> RecordName {
        guard EntryPath(parsing: text) != nil else { throw noSuchPath }
        // git's addresses have an empty part.
        let git = CredentialStore.defaultCollection
        if let entry = EntryPath(parsing: text), entry.collection == git, CredentialAddress(name: entry.name) != nil,
            let path = entry.record
        {
            return path
        }
        do throws(VaultError) {
            guard let path = try EntryPath(new: text).record else {
                throw VaultError(.invalidName, "it is too long")
            }
            return path
        } catch {
            throw CommandError(
                .usage, code: .invalidName, "no new entry can be called '\(Escaping.name(text))': \(error.reason)")
        }
    }

    /// For a name that no record can have.
    static let noSuchPath = CommandError(
        .usage, code: .invalidName, "a name has 1 to 1,024 bytes, a collection's name at most 255; nothing was done")

    static let cancelled = CommandError.failure(.cancelled, "cancelled; nothing was changed")

    static func none(_ text: String, _ near: [String]) -> CommandError {
        let shown = near.map(ShellWord.always).joined(separator: " or ")
        return CommandError(
            .notFound, code: .recordNotFound, "there is no entry '\(Escaping.name(text))'",
            advice: near.isEmpty ? "holdfast list shows what there is" : "did you mean \(shown)?")
    }

    static func taken(_ written: String) -> CommandError {
        CommandError(
            .failure, code: .recordExists, "there is already an entry '\(written)'",
            advice: "choose another name, or change it with holdfast edit")
    }

    static func isFolder(_ folder: EntryFolder) -> CommandError {
        CommandError(
            .notFound, code: .isFolder, "'\(folder.text)' is a folder",
            advice: "holdfast list \(ShellWord.quoted(folder.text)) shows what is in it")
    }

    /// Some names of all, as a sentence has them.
    static func several(_ names: [String]) -> String {
        let more = names.count > mostNamed ? " and \(names.count - mostNamed) more" : ""
        return names.prefix(mostNamed).map { "'\($0)'" }.joined(separator: ", ") + more
    }

    private static let mostNamed = 10

    static func ambiguous(_ text: String, _ found: [NamedRecord]) -> CommandError {
        let shown = found.prefix(5).map { ShellWord.always($0.written) }.joined(separator: ", ")
        let more = found.count > 5 ? " and \(found.count - 5) more" : ""
        return CommandError(
            .usage, code: .ambiguous, "'\(Escaping.name(text))' can be any of \(shown)\(more)",
            advice: "enter more of the name")
    }

    /// Has the user choose one of several.
    fileprivate static func pick(
        _ found: [NamedRecord], _ text: String, _ terminal: borrowing Terminal
    ) throws(CommandError) -> NamedRecord {
        guard found.count <= most else { throw ambiguous(text, found) }
        for (number, record) in found.enumerated() { try terminal.write("\(number + 1)  \(record.written)\n") }
        while true {
            let answer = try terminal.readAnswer(prompt: "Which one? 1 to \(found.count), or Enter for none: ")
            if answer.isEmpty { throw cancelled }
            if let number = Int(answer), found.indices.contains(number - 1) { return found[number - 1] }
        }
    }

    /// Adds the name to the errors that are about it.
    static func explaining<R: ~Copyable>(
        _ record: NamedRecord, _ body: () throws(CommandError) -> R
    ) throws(CommandError) -> R {
        do throws(CommandError) { return try body() } catch { throw named(error, record) }
    }

    static func named(_ error: CommandError, _ record: NamedRecord) -> CommandError {
        var error = error
        switch error.code {
        case .recordNotFound:
            error.what = "there is no entry '\(record.written)'"
        case .recordExists:
            error.what = "there is already an entry '\(record.written)'"
        default: break
        }
        return error
    }
}

/// An item and where it was found.
struct FoundItem: ~Copyable {
    let record: NamedRecord
    var item: Item

    var path: RecordName { record.path }

    /// The item once more, as it was read.
    borrowing func duplicate() throws(CommandError) -> Item {
        do {
            return try item.withBytes { bytes throws(VaultError) in
                try Item(parsing: bytes, sequence: item.sequence, isOfValue: item.isOfValue)
            }
        } catch { throw CommandError(error) }
    }
}
