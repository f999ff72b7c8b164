internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import OneTimeCodes

extension Options {
    static let copiedField = TextOption(
        "field", "LABEL", .field, help: "Copy this field, or notes (default: the password, or the main secret).",
        short: "f")
}

extension Command {
    static let copyField = Command(
        "copy", synonyms: ["clip", "yank"], summary: "copy a field to the clipboard",
        details: [
            "Copies with wl-copy, xclip or xsel, whichever is installed, and clears the clipboard after 30 seconds, or when the "
                + "agent that gave the value locks, if it still has what was copied. The process that does so ends when something else is copied.",
            "Any program of the session can read the clipboard meanwhile, and a clipboard manager may keep what it saw; where the "
                + "program can mark it as a secret, it is marked.",
        ],
        example: "holdfast copy mail",
        places: [.itemName],
        options: [
            Options.copiedField.option, Options.clearAfter.option, Options.collection.option,
        ] + Options.unlocking, run: copyValue)
}

private func copyValue(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let clipboard = try Clipboard.find()
    let access = ItemAccess(arguments)
    let found = try access.find(arguments[place: 0])
    let label = if let label = arguments[Options.copiedField] { label } else { try mainLabel(of: found.item) }
    let value = try found.item.withNamed(label) { bytes throws(CommandError) in
        do throws(SecretMemoryError) {
            let copy = try SecretBytes(copying: bytes)
            return CopiedValue(copy)
        } catch { throw CommandError(error) }
    }
    try clipboard.copy(value.bytes, for: arguments[Options.clearAfter], untilLockOf: access.agentHome())
    return .done
}

/// What is copied, where a generic result must be copyable.
private final class CopiedValue {
    let bytes: SecretBytes
    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

private func mainLabel(of item: borrowing Item) throws(CommandError) -> String {
    if let field = item.mainField, field.kind != .oneTimeCode { return field.label }
    if item.field(.oneTimeCode) != nil {
        throw .usage("this entry has only a one-time code; use holdfast otp NAME --copy")
    }
    guard item.withNotes({ _ in true }) == nil else { return "notes" }
    let labels = item.fields.map { ShellWord.always($0.label) }.joined(separator: ", ")
    throw CommandError(
        .notFound, code: .fieldNotFound, "this entry has no secret",
        advice: labels.isEmpty ? "it has no fields" : "name a field with --field: \(labels)")
}
