internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let get = Command(
        "get", synonyms: ["read", "cat", "print"], summary: "write a value to standard output",
        details: [
            "Writes exactly the bytes that were stored. Each piece of a large value is verified before it is written; "
                + "the exit code says whether the value is complete.",
            "Instead of a name, a reference names a field, a file, the notes or a one-time code of an entry: "
                + "holdfast://COLLECTION/ITEM/FIELD, holdfast://COLLECTION/ITEM?attribute=otp. In a script write one or the other whole.",
            "On a terminal, control characters, which a terminal would act on, are shown as \\u{...}, bytes that are no "
                + "text as \\xNN, and the last line is ended. --raw writes the bytes as they are there too.",
        ],
        example: "holdfast get keys/backup",
        places: [.valueName],
        options: [Options.collection.option, Options.raw.option, Options.open.option] + Options.unlocking,
        run: getValue)
}

private func getValue(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.get(arguments) }
    let access = ItemAccess(arguments)
    let isQuiet = Descriptors.isTerminal(STDOUT_FILENO)
    try Progress.show("Reading", isAllowed: !isQuiet) { progress throws(CommandError) in
        let name = arguments[place: 0]
        if !access.isLiteral, name.utf8.starts(with: "\(SecretReference.scheme)".utf8) {
            return try writeReference(name, arguments, &progress)
        }
        try access.naming(name, .partOnTerminal) { record throws(CommandError) in
            do throws(CommandError) { try write(record.path, access, &progress) } catch {
                guard error.code == .isItem else { throw error }
                try writeField(record, access)
            }
        }
    }
    return .done
}

private func write(
    _ path: RecordName, _ access: ItemAccess, _ progress: inout Progress
) throws(CommandError) {
    var output = ProgressiveOutput(access.arguments)
    try access.read(path) { bytes throws(CommandError) in try output.write(bytes, &progress) }
    try output.end()
}

private func writeReference(
    _ text: String, _ arguments: Arguments, _ progress: inout Progress
) throws(CommandError) {
    let reference: SecretReference
    do throws(ReferenceError) { reference = try SecretReference(parsing: text) } catch { throw .usage(error.words) }
    var output = ProgressiveOutput(arguments)
    try References.reading(arguments) { all throws(CommandError) in
        let values = try all.values(of: [reference]) { (reference, _) throws(CommandError) in
            try all.stream(reference) { bytes throws(CommandError) in try output.write(bytes, &progress) }
        }
        try values[reference]?.bytes.withBytes { bytes throws(CommandError) in try output.write(bytes, &progress) }
    }
    try output.end()
}

/// What is written piece by piece, and told of.
private struct ProgressiveOutput {
    private var value: ShownValue
    private var done: UInt64 = 0

    init(_ arguments: Arguments) { value = ShownValue(isRaw: arguments[Options.raw]) }

    mutating func write(_ bytes: RawSpan, _ progress: inout Progress) throws(CommandError) {
        try value.write(bytes)
        done += UInt64(bytes.byteCount)
        progress.update(done, of: nil)
    }

    mutating func end() throws(CommandError) { try value.end() }
}

/// The value of an item that is a plain one but for its tags.
private func writeField(_ record: NamedRecord, _ access: ItemAccess) throws(CommandError) {
    let item = try access.item(record.path)
    guard item.kind == .value, let field = item.field(ItemStore.plainLabel) else {
        let main = item.mainField?.label ?? item.fields.first?.label ?? "notes"
        throw CommandError(
            .usage, code: .isItem, "'\(record.written)' is a \(item.kind.word) with fields",
            advice: "holdfast show --field \(ShellWord.quoted(main)) -- \(ShellWord.quoted(record.written))")
    }
    try item.withValue(of: field) { bytes throws(CommandError) in
        var value = ShownValue(isRaw: access.arguments[Options.raw])
        try value.write(bytes)
        try value.end()
    }
}
