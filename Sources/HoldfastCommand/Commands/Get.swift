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
        try access.naming(arguments[place: 0], .partOnTerminal) { record throws(CommandError) in
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
    var done: UInt64 = 0
    var value = ShownValue(isRaw: access.arguments[Options.raw])
    func pass(_ bytes: RawSpan) throws(CommandError) {
        try value.write(bytes)
        done += UInt64(bytes.byteCount)
        progress.update(done, of: nil)
    }
    let isDone: Void? = try access.use { agent, session in
        try agent.get(path) { bytes in
            session.hasBegun = true
            try pass(bytes)
        }
    }
    if isDone != nil { return try value.end() }
    let vault = try access.open().vault
    try vaultCall { try vault.read(path.name, in: path.collection) { try pass($0) } }
    try value.end()
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
