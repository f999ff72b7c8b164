internal import Holdfast
internal import HoldfastAgent

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension Command {
    static let list = Command(
        "list", synonyms: ["ls", "dir"], summary: "list the records",
        details: [
            "A table on a terminal; else one line per record with collection, name, bytes and time of the last change "
                + "(UTC), separated by tabs. Control characters and the like in names are shown as \\u{...} and a "
                + "backslash as two."
        ],
        options: [Options.onlyCollection.option, Options.json.option] + Options.unlocking, run: listRecords)
}

private func listRecords(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let records = try records(arguments)
    if arguments[Options.json] {
        try Output.write(.object(["records": .array(records.map(\.json))]))
    } else if Descriptors.isTerminal(STDOUT_FILENO) {
        guard !records.isEmpty else {
            Output.remark("no records")
            return .done
        }
        var table = Table(["COLLECTION", "NAME", "SIZE", "CHANGED"], rightAligned: [2])
        for record in records {
            table.append([
                Escaping.name(record.collection), Escaping.name(record.name), Format.size(record.size),
                Format.localTime(milliseconds: record.modified),
            ])
        }
        try Output.write(table.text)
    } else {
        try Output.write(
            records.map { record in
                let time = Format.timestamp(milliseconds: record.modified) ?? "-"
                let cells = [Escaping.name(record.collection), Escaping.name(record.name), "\(record.size)", time]
                return cells.joined(separator: "\t") + "\n"
            }.joined())
    }
    return .done
}

private func records(_ arguments: Arguments) throws(CommandError) -> [Vault.RecordInfo] {
    let collection = arguments[Options.onlyCollection]
    if (collection ?? "").utf8.count <= 255,
        let records = try AgentAccess.use(arguments, { agent, _ in try agent.list(collection) })
    {
        return records
    }
    let vault = try Unlocking.open(arguments)
    return try vaultCall { try vault.records(in: collection) }
}

extension Vault.RecordInfo {
    var json: JSON {
        .object([
            "collection": .text(collection), "name": .text(name), "size": .count(size),
            "created": Format.timestamp(milliseconds: created).map { .text($0) } ?? .null,
            "modified": Format.timestamp(milliseconds: modified).map { .text($0) } ?? .null,
            "isFile": .boolean(isFile),
        ])
    }
}
