internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import SystemCalls

extension Options {
    static let tree = Flag("tree", "Show folders as a tree.")
    static let long = Flag(
        "long", "Show collection, name, size and exact time, and the origin where it differs.", short: "l")
}

extension Command {
    static let list = Command(
        "list", synonyms: ["ls", "dir"], summary: "list the entries",
        details: [
            "Prints a table on a terminal; otherwise one line per entry with name, kind, user name and time of the last change (UTC), "
                + "separated by tabs. With --long these are collection, name, bytes, time and origin (protected, open, or \"open, sealed\"). "
                + "Control and similar characters in names are shown as \\u{...}, and a backslash as two: typed like this, a name opens its entry.",
            "With FOLDER only what is in it is listed. With --open, the open compartment is listed without a passcode.",
        ],
        example: "holdfast list logins",
        places: [Place(name: "FOLDER", kind: .inFolder, help: "Only what is in this folder.", isOptional: true)],
        options: [
            Options.tree.option, Options.long.option, Options.onlyCollection.option, Options.open.option,
            Options.json.option,
        ] + Options.unlocking,
        run: listRecords)
}

/// A record as it is listed.
struct ListedRecord {
    let info: Vault.RecordInfo
    /// The word for what it is.
    private(set) var kind: String
    /// Empty for none.
    private(set) var user: String

    init(_ info: Vault.RecordInfo, kind: ItemKind? = nil, user: String = "") {
        self.info = info
        self.kind = (kind ?? (info.isFile ? .file : .value)).word
        self.user = user
    }

    /// What a search found.
    init(_ entry: RecordEntry) {
        self.init(AgentClient.info(entry), kind: entry.isItem ? ItemKind(rawValue: entry.kind) : nil, user: entry.user)
    }

    /// As ``init(_:)``, in this process.
    init(_ match: ItemStore.Match) {
        let info = Vault.RecordInfo(
            collection: match.collection, name: match.name, size: match.size, created: match.created,
            modified: match.modified, isFile: match.isFile, isItem: match.kind != nil, origin: .protected,
            isSealed: false)
        self.init(info, kind: match.kind, user: match.user)
    }

    fileprivate init(_ info: Vault.RecordInfo, _ known: ListedRecord?) {
        self.init(info)
        if let known { (kind, user) = (known.kind, known.user) }
    }
}

private func listRecords(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.list(arguments) }
    return try list(arguments.places.first, ItemAccess(arguments))
}

/// - Parameter folder: Only what is in it.
func list(_ folder: String?, _ access: ItemAccess) throws(CommandError) -> ExitCode {
    let arguments = access.arguments
    let all = try access.records()
    let first = arguments[Options.onlyCollection] ?? folder?.split(separator: "/").first.map(String.init)
    // What asks for a better unlock is refused, not left out, where it was named.
    if let first, first.utf8.count <= RecordName.maximumCollectionSize { try access.requireReach(of: first) }
    // How each is written depends on all.
    let names = EntryNames(all.map(\.info.entry))
    var listed = Array(zip(all, names.written()))
    if let collection = arguments[Options.onlyCollection] {
        listed = listed.filter { $0.0.info.entry.isBelow(collection) }
    }
    if var folder {
        while folder.hasSuffix("/") { folder.removeLast() }
        let typed = EntryFolder(parsing: folder + "/")
        listed = listed.filter { record, _ in
            record.info.entry.isIn(folder: folder) || typed.map { names.has(record.info.entry, in: $0) } ?? false
        }
        guard !listed.isEmpty else {
            throw CommandError(
                .notFound, code: .recordNotFound,
                "there is no folder '\(Escaping.name(folder))'",
                advice: "holdfast list --tree shows all folders")
        }
    }
    return try showRecords(listed, arguments)
}

extension ItemAccess {
    /// - Throws: `assuranceTooLow` for a collection that this unlock does not reach.
    func requireReach(of collection: String) throws(CommandError) {
        try run { agent throws(VaultError) in
            _ = try agent.list(collection)
        } own: { (_, vault) throws(VaultError) in
            _ = try vault.records(in: collection)
        }
    }

    /// Everything but the trash, with what each is.
    func records() throws(CommandError) -> [ListedRecord] {
        let result = try run { agent throws(VaultError) in
            let all = try agent.list(nil)
            let known = try agent.find("", in: nil)
            return (all, known.map { ListedRecord($0) }, 0)
        } own: { (items, vault) throws(VaultError) in
            let all = try vault.records()
            let known = try items.search(ItemQuery(""))
            return (all, known.map { ListedRecord($0) }, vault.collectionsOutOfReach.count)
        }
        let (all, known, outOfReach) = result
        if outOfReach > 0 {
            Output.note(
                "\(Format.count(outOfReach, "collection")) not listed: the vault's policy demands a stronger unlock for it "
                    + "(holdfast lock-policy show)")
        }
        let kinds = Dictionary(known.map { ($0.info.entry, $0) }) { first, _ in first }
        return all.map { ListedRecord($0, kinds[$0.entry]) }
    }
}

/// - Parameter records: Each with its name as it is written.
func showRecords(
    _ records: [(ListedRecord, String)], _ arguments: Arguments
) throws(CommandError) -> ExitCode {
    if arguments[Options.json] {
        try Output.write(.object(["records": .array(records.map { $0.json(written: $1) })]))
        return .done
    }
    let isSeen = Descriptors.isTerminal(STDOUT_FILENO)
    guard !records.isEmpty || !isSeen else {
        Output.remark("No entries.")
        return .done
    }
    if arguments[Options.tree] {
        try Output.write(NameTree(records.map { ($0.info.entry, $1) }).text)
    } else if arguments[Options.long] {
        try showLong(records.map(\.0.info), isSeen)
    } else if isSeen {
        var table = Table(["NAME", "USER", "KIND", "CHANGED"])
        // As it is read, and not as it is stored.
        for (record, written) in records.sorted(by: { $0.1 < $1.1 }) {
            table.append([
                written, Escaping.name(record.user), record.kind, Format.age(milliseconds: record.info.modified),
            ])
        }
        table.fit(Terminal.columns(STDOUT_FILENO), cutting: [0, 1])
        try Output.write(table.text)
    } else {
        try Output.write(
            records.map { record, written in
                let time = Format.timestamp(milliseconds: record.info.modified) ?? "-"
                return [written, record.kind, Escaping.name(record.user), time].joined(separator: "\t") + "\n"
            }.joined())
    }
    return .done
}

private func showLong(_ records: [Vault.RecordInfo], _ isSeen: Bool) throws(CommandError) {
    guard isSeen else {
        return try Output.write(
            records.map { record in
                let time = Format.timestamp(milliseconds: record.modified) ?? "-"
                let cells = [Escaping.name(record.collection), Escaping.name(record.name), "\(record.size)", time]
                return (cells + [record.originWords]).joined(separator: "\t") + "\n"
            }.joined())
    }
    let showsOrigin = records.contains { $0.origin != .protected }
    let titles = ["COLLECTION", "NAME", "SIZE", "CHANGED"] + (showsOrigin ? ["ORIGIN"] : [])
    var table = Table(titles, rightAligned: [2])
    for record in records {
        let cells = [
            Escaping.name(record.collection), Escaping.name(record.name), Format.size(record.size),
            Format.localTime(milliseconds: record.modified),
        ]
        table.append(cells + (showsOrigin ? [record.originWords] : []))
    }
    table.fit(Terminal.columns(STDOUT_FILENO), cutting: [0, 1])
    try Output.write(table.text)
}

extension ListedRecord {
    func json(written: String) -> JSON {
        let own: [String: JSON] = [
            "path": .text(written), "kind": .text(kind), "user": user.isEmpty ? .null : .text(user),
        ]
        return .object(info.facts.merging(own) { first, _ in first })
    }
}

extension Vault.RecordInfo {
    var json: JSON { .object(facts) }

    fileprivate var facts: [String: JSON] {
        [
            "collection": .text(collection), "name": .text(name), "size": .count(size),
            "created": Format.timestamp(milliseconds: created).map { .text($0) } ?? .null,
            "modified": Format.timestamp(milliseconds: modified).map { .text($0) } ?? .null,
            "isFile": .boolean(isFile), "isItem": .boolean(isItem), "origin": .text(origin.rawValue),
            "isSealed": .boolean(isSealed),
        ]
    }

    fileprivate var originWords: String { isSealed ? "open, sealed" : origin.rawValue }
}
