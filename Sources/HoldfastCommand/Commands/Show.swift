internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import VaultFormat
internal import Imports
internal import ProgramAccess
internal import SecretMemory

extension Options {
    static let reveal = Flag("reveal", "Show secrets and notes too.", short: "r")
    static let field = TextOption(
        "field", "LABEL", .field, help: "Only the value of this field or file, or of the notes, as it is.", short: "f")
}

extension Command {
    static let show = Command(
        "show", synonyms: ["view", "display"], summary: "show an entry",
        details: [
            "Shows the fields. Secrets, one-time codes and notes are hidden; --reveal shows them, and so does --field for the "
                + "field that it names.",
            "Part of a name is enough, in any case of letters, as long as only one entry is meant; of several you choose one. A plain value has one "
                + "field, value.",
            "Of a folder, what is in it is listed on a terminal.",
            "With --field the bytes are written as they were stored, without a line feed. On a terminal, control characters are "
                + "shown as \\u{...} and the last line is ended; --raw writes the bytes as they are there too. A file is named "
                + "by its field or its own name, and gives its content. Of several with the same label, LABEL is the first and LABEL#2 the second.",
        ],
        example: "holdfast show mail --field username",
        places: [.itemName],
        options: [
            Options.field.option, Options.reveal.option, Options.raw.option, Options.collection.option,
            Options.json.option,
        ] + Options.unlocking,
        run: showItem)
}

private func showItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.raw], arguments[Options.field] == nil { throw .usage("--raw requires --field") }
    let access = ItemAccess(arguments)
    let found: FoundItem
    do throws(CommandError) { found = try access.find(arguments[place: 0], .partOrFolder) } catch {
        guard error.code == .isFolder, ItemNames.isSeen, arguments[Options.field] == nil,
            !arguments[Options.json]
        else { throw error }
        return try list(arguments[place: 0], access)
    }
    if let label = arguments[Options.field] {
        guard !arguments[Options.json] else { throw .usage("use only one of --field and --json") }
        try found.item.withNamed(label) { bytes throws(CommandError) in
            var value = ShownValue(isRaw: arguments[Options.raw])
            try value.write(bytes)
            try value.end()
        }
    } else if arguments[Options.json] {
        try showJSON(found.item, found.path, reveals: arguments[Options.reveal])
    } else {
        try showText(found.item, found.record, reveals: arguments[Options.reveal])
    }
    return .done
}

extension Item {
    /// Lends the value of what a text names; of a file its content.
    /// - Throws: `fieldNotFound`; as ``Items/Item/requireHere(_:)``.
    borrowing func withNamed<R>(
        _ label: String, _ body: (RawSpan) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        let found: Part = if let part = part(label) { part } else { .field(try named(label)) }
        try vaultCall { try requireHere(found) }
        return try withPart(found) { value throws(CommandError) in try body(value) }
    }
}

private func showText(_ item: borrowing Item, _ record: NamedRecord, reveals: Bool) throws(CommandError) {
    var rows: [(String, String)] = []
    rows.append(("entry", record.written))
    rows.append(("kind", item.kind.word + (item.isFavourite ? ", favourite" : "")))
    for field in item.fields { rows.append((Escaping.name(field.label), shown(field, of: item, reveals))) }
    let tags = item.tags.map { Escaping.name($0) }
    if !tags.isEmpty { rows.append(("tags", tags.joined(separator: ", "))) }
    let notes = item.withNotes { notes in
        reveals ? block(notes) : "(\(Format.size(UInt64(notes.byteCount))), hidden)"
    }
    if let notes { rows.append(("notes", notes)) }
    rows.append(("changed", Format.localTime(milliseconds: item.modified)))
    if !item.history.isEmpty { rows.append(("history", Format.count(item.history.count, "earlier value"))) }
    try Output.write(Facts.text(rows))
    if !reveals, item.fields.contains(where: { !$0.kind.isOpen && $0.kind != .file }) || notes != nil {
        Output.remark("Use --reveal to show what is hidden.")
    }
    if let problem = SSHIdentities.problem(of: item) {
        Output.note("SSH programs are not offered all of this: \(problem)")
    }
}

private func shown(_ field: Item.Field, of item: borrowing Item, _ reveals: Bool) -> String {
    let file = item.withFile(of: field) { name, content in
        "\(Escaping.name(name)) (\(Format.size(UInt64(content.byteCount))))"
    }
    if let file { return file }
    guard field.kind.isOpen || reveals else { return "(hidden)" }
    return item.withValue(of: field) { block($0) }
}

/// A value in a column: its further lines are indented below.
private func block(_ value: RawSpan) -> String {
    let bytes = (0..<value.byteCount).map { value.byte(at: $0) }
    let text = ShownValue.shown(bytes[...])
    return text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n    ")
}

private func showJSON(_ item: borrowing Item, _ path: RecordName, reveals: Bool) throws(CommandError) {
    var json = SecretJSON()
    do throws(SecretMemoryError) { try json.append(item, path, reveals: reveals) } catch { throw CommandError(error) }
    try json.write()
}

extension Format {
    static func json(_ milliseconds: Int64) -> JSON { timestamp(milliseconds: milliseconds).map { .text($0) } ?? .null }
}
