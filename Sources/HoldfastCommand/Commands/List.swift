internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let list = Command(
        "list", synonyms: ["ls", "dir"], summary: "list the records",
        details: [
            "Prints a table on a terminal; otherwise one line per record with collection, name, bytes and time of the "
                + "last change (UTC) and origin (protected, open, or \"open, sealed\"), separated by tabs. Control and similar characters in names are shown as "
                + "\\u{...}, and a backslash as two.",
            "The table shows the origin if any record was written while the vault was locked. With --open, the open compartment is listed without a passcode.",
        ],
        example: "holdfast list --collection logins",
        options: [Options.onlyCollection.option, Options.open.option, Options.json.option] + Options.unlocking,
        run: listRecords)
}

private func listRecords(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.list(arguments) }
    return try showRecords(records(arguments), arguments)
}

func showRecords(_ records: [Vault.RecordInfo], _ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.json] {
        try Output.write(.object(["records": .array(records.map(\.json))]))
    } else if Descriptors.isTerminal(STDOUT_FILENO) {
        guard !records.isEmpty else {
            Output.remark("No records.")
            return .done
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
    } else {
        try Output.write(
            records.map { record in
                let time = Format.timestamp(milliseconds: record.modified) ?? "-"
                let cells = [Escaping.name(record.collection), Escaping.name(record.name), "\(record.size)", time]
                return (cells + [record.originWords]).joined(separator: "\t") + "\n"
            }.joined())
    }
    return .done
}

private func records(_ arguments: Arguments) throws(CommandError) -> [Vault.RecordInfo] {
    let collection = arguments[Options.onlyCollection]
    if (collection ?? "").utf8.count <= RecordName.maximumCollectionSize,
        let records = try AgentAccess.use(arguments, { agent, _ in try agent.list(collection) })
    {
        return records
    }
    let vault = try Unlocking.open(arguments)
    let records = try vaultCall { try vault.records(in: collection) }
    let outOfReach = vault.collectionsOutOfReach.count
    if outOfReach > 0 {
        Output.note(
            "\(Format.count(outOfReach, "collection")) not listed: the vault's policy demands a stronger unlock for it "
                + "(holdfast lock-policy show)")
    }
    return records
}

extension Vault.RecordInfo {
    var json: JSON {
        .object([
            "collection": .text(collection), "name": .text(name), "size": .count(size),
            "created": Format.timestamp(milliseconds: created).map { .text($0) } ?? .null,
            "modified": Format.timestamp(milliseconds: modified).map { .text($0) } ?? .null,
            "isFile": .boolean(isFile), "isItem": .boolean(isItem), "origin": .text(origin.rawValue),
            "isSealed": .boolean(isSealed),
        ])
    }

    fileprivate var originWords: String { isSealed ? "open, sealed" : origin.rawValue }
}
