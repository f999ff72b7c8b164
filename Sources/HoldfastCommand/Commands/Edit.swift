internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import SecretMemory

extension Options {
    static let changedField = TextOption(
        "field", "LABEL", .field,
        help: "Only change this field: its secret is asked for, or made with --generate.", short: "f")
}

extension Command {
    static let edit = Command(
        "edit", synonyms: ["modify", "change"], summary: "change an entry in an editor",
        details: [
            "Opens the entry as text in $VISUAL or $EDITOR. The text lies in a folder of your own in memory, which is overwritten and "
                + "removed afterwards; if the system has no such place, you are warned. What an editor itself writes elsewhere, "
                + "such as swap and undo files, is not reached; Vim is told to write none.",
            "If the text is not understood, you can edit it again. If another program changed the entry meanwhile, nothing is "
                + "replaced unless you say so. Values that change stay in the entry's history, but those of a plain value, as put stores it.",
            "With --field no editor is used: the new value is asked for (a password twice), read with --secret-fd or made. With --qr-image the one-time "
                + "code becomes that of a picture.",
        ],
        example: "holdfast edit mail --field password --generate",
        places: [.itemName],
        options: [
            Options.changedField.option, Options.generates.option,
        ] + Options.generating + [
            Options.attach.option, Options.qrPicture.option, Options.secretDescriptor.option,
            Options.collection.option,
        ] + Options.unlocking,
        run: editItem)
}

private func editItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try requireGenerate(arguments)
    let access = ItemAccess(arguments)
    if let label = arguments[Options.changedField] { return try changeField(label, access, arguments) }
    guard !arguments[Options.generates], arguments[Options.secretDescriptor] == nil else {
        throw .usage("--generate and --secret-fd require --field")
    }
    if let path = arguments[Options.qrPicture] { return try setCode(QRPicture.code(in: path), access, arguments) }
    if !arguments[Options.attach].isEmpty { return try addFiles(access, arguments) }
    let found = try access.find(arguments[place: 0], .lastPart)
    // What ends this command waits until the text is gone, but where the editor runs or something is asked: there it is
    // watched for.
    return try HeldSignals.during { () throws(CommandError) in try editText(found, access) }
}

private func editText(_ found: borrowing FoundItem, _ access: ItemAccess) throws(CommandError) -> ExitCode {
    let folder = try EditFolder(runtime: try HomeFolder.runtime())
    folder.warn()
    let original = try text(of: found.item, found.record)
    let held = Held(found.item)
    var isDropped = false
    try original.withBytes { bytes throws(CommandError) in try folder.write(bytes) }
    while true {
        try Editor.run(folder.textPath)
        let edited = try folder.read()
        let isSame = original.withBytes { original in edited.withBytes { constantTimeEquals(original, $0) } }
        if isSame {
            Output.remark("Nothing was changed.")
            return .done
        }
        do throws(CommandError) {
            let item = try edited.withBytes { bytes throws(CommandError) in try EditedItem.read(bytes) }
            if let question = held.question(item, found.record), try !Confirmation.isWanted(question) {
                isDropped = true
                break
            }
            try store(item, found, access)
            break
        } catch {
            try askAgain(error)
        }
    }
    guard !isDropped else { throw ItemNames.cancelled }
    Output.remark("Changed \(found.record.written).")
    return .done
}

/// What an entry has before it is edited.
private struct Held {
    private let hasFields: Bool
    private let hasNotes: Bool

    init(_ item: borrowing Item) {
        hasFields = !item.fields.isEmpty
        hasNotes = item.withNotes { $0.byteCount > 0 } ?? false
    }

    /// What is asked where a text was emptied, which is more often a slip than meant.
    func question(_ edited: borrowing EditedItem, _ record: NamedRecord) -> String? {
        guard edited.fields.isEmpty else { return nil }
        if hasFields { return "This removes all fields of \(record.written). Continue?" }
        let keepsNotes = (edited.notes?.bytes.count ?? 0) > 0
        return hasNotes && !keepsNotes ? "This removes the notes of \(record.written). Continue?" : nil
    }
}

extension EditedItem {
    fileprivate static func read(_ text: RawSpan) throws(CommandError) -> EditedItem {
        do throws(EditError) { return try EditedItem(parsing: text) } catch {
            throw CommandError(.usage, code: .invalidEdit, "line \(error.line): \(error.what)")
        }
    }
}

private func text(of item: borrowing Item, _ record: NamedRecord) throws(CommandError) -> SecretBuffer {
    do throws(SecretMemoryError) { return try ItemText.write(item, path: record.written) } catch {
        throw CommandError(error)
    }
}

private func store(
    _ edited: borrowing EditedItem, _ found: borrowing FoundItem, _ access: ItemAccess
) throws(CommandError) {
    var item = try vaultCall { try found.item.duplicate() }
    while true {
        try edited.apply(to: &item)
        do throws(CommandError) { return try access.replace(found.record, with: item) } catch {
            guard error.code == .busy, let terminal = Terminal() else { throw error }
            try terminal.write(
                "Another program changed this entry while you edited it. What it wrote stays in the history if you store yours.\n"
            )
            guard
                try chosen(
                    "overwrite", "Type overwrite to store yours, or press Enter to go back to your text: ", terminal)
            else { throw error }
        }
        item = try access.item(found.path)
    }
}

/// After an error: whether the editor is opened again, with the text as it was left.
/// - Throws: The error if not, or without a terminal to ask on.
private func askAgain(_ error: CommandError) throws(CommandError) {
    guard error.exit != .interrupted, let terminal = Terminal() else { throw error }
    try terminal.write(Escaping.sentence(error.message) + "\n")
    guard try chosen("discard", "Press Enter to edit again, or type discard: ", terminal) else { return }
    throw .failure(.cancelled, "the text was discarded; nothing was changed")
}

/// Whether the user typed the word, in any case; false for Enter alone. Anything else asks again.
private func chosen(_ word: String, _ prompt: String, _ terminal: borrowing Terminal) throws(CommandError) -> Bool {
    while true {
        let answer = try terminal.readAnswer(prompt: prompt).lowercased().filter { !$0.isWhitespace }
        if answer.isEmpty { return false }
        if answer == word { return true }
    }
}

private func changeField(
    _ label: String, _ access: ItemAccess, _ arguments: Arguments
) throws(CommandError) -> ExitCode {
    guard arguments[Options.attach].isEmpty, arguments[Options.qrPicture] == nil else {
        throw .usage("use only one of --field, --attach and --qr-image")
    }
    let input = ValueInput(arguments, onEnter: "Enter changes nothing")
    let makes = arguments[Options.generates]
    if !makes { try input.requireSource() }
    let found = try access.find(arguments[place: 0], .lastPart)
    let field = try found.item.named(label)
    guard field.kind != .file else { throw .usage("a file is replaced with holdfast edit NAME --attach FILE") }
    guard !makes || field.kind == .secret else { throw .usage("--generate makes a password; this field is no secret") }
    // A plain value has nowhere to keep one.
    let keepsEarlier = !found.item.isOfValue
    let value = try newValue(of: field, makes ? nil : input, arguments)
    try access.change(found) { item throws(CommandError) in
        let field = try item.named(label)
        try vaultCall { try item.set(field, value) }
    }
    Output.remark(
        "Changed '\(Escaping.name(field.label))' of \(found.record.written). "
            + (keepsEarlier
                ? "The value before is in its history."
                : "The value before is gone: put and edit keep no earlier values of a plain value."))
    return .done
}

/// - Parameter input: Nil to make one.
private func newValue(
    of field: Item.Field, _ input: ValueInput?, _ arguments: Arguments
) throws(CommandError) -> SecretBytes {
    guard let input else {
        let made = try Generating.secret(arguments)
        return made.value
    }
    let asked = ItemTemplate.Asked("new \(field.label)", field.kind, .line)
    guard let entered = try input.value(asked) else {
        throw .failure(.cancelled, "nothing was entered; nothing was changed")
    }
    return entered
}

/// Changes the item's one-time code, or adds one.
private func setCode(
    _ code: borrowing SecretBytes, _ access: ItemAccess, _ arguments: Arguments
) throws(CommandError) -> ExitCode {
    guard arguments[Options.attach].isEmpty else { throw .usage("use only one of --field, --attach and --qr-image") }
    let found = try access.find(arguments[place: 0], .lastPart)
    try access.change(found) { item throws(CommandError) in
        try vaultCall {
            if let field = item.field(.oneTimeCode) {
                try item.set(field, code)
            } else {
                try item.add(.oneTimeCode, "code", code)
            }
        }
    }
    Output.remark("Changed the one-time code of \(found.record.written).")
    return .done
}

private func addFiles(_ access: ItemAccess, _ arguments: Arguments) throws(CommandError) -> ExitCode {
    let found = try access.find(arguments[place: 0], .lastPart)
    try access.change(found) { item throws(CommandError) in
        for file in arguments[Options.attach] { try attach(file, to: &item) }
    }
    Output.remark("Changed \(found.record.written).")
    return .done
}
