internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import OneTimeCodes
internal import SystemCalls
internal import Imports
internal import SecretMemory

extension Options {
    static let codeField = TextOption(
        "field", "LABEL", .field, help: "The code of this field (default: the first one-time code).", short: "f")
    static let copies = Flag("copy", "Copy it to the clipboard instead of writing it.", short: "c")
}

extension Command {
    static let code = Command(
        "otp", synonyms: ["totp", "2fa", "code"], summary: "show a one-time code",
        details: [
            "Writes the code of now, and on a terminal for how many seconds it is valid. A code by counter moves the counter "
                + "on: the next number is stored before the code is shown, so no number is used twice.",
            "A vault that has the password and the key of the codes is one factor, not two.",
        ],
        example: "holdfast otp mail --copy",
        places: [.itemName],
        options: [
            Options.codeField.option, Options.copies.option, Options.clearAfter.option, Options.collection.option,
            Options.json.option,
        ] + Options.unlocking, run: showCode)
}

/// A code, and for how long it is the code.
private struct ShownCode: ~Copyable {
    let code: SecretBytes
    let remaining: Int?
    let counter: UInt64?
}

private func showCode(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.copies], arguments[Options.json] { throw .usage("use only one of --copy and --json") }
    let clipboard = arguments[Options.copies] ? try Clipboard.find() : nil
    let access = ItemAccess(arguments)
    let found = try access.find(arguments[place: 0])
    let field = try codeField(of: found.item, arguments[Options.codeField])
    let shown = try code(field, arguments[Options.codeField], found, access)
    if let clipboard {
        try clipboard.copy(shown.code, for: arguments[Options.clearAfter], untilLockOf: access.agentHome())
        return .done
    }
    if arguments[Options.json] {
        var json = SecretJSON()
        do throws(SecretMemoryError) {
            try json.raw("{\"code\":")
            try shown.code.withBytes { bytes throws(SecretMemoryError) in try json.value(bytes) }
            try json.raw(",\"remainingSeconds\":\(shown.remaining.map(String.init) ?? "null")")
            try json.raw(",\"counter\":\(shown.counter.map(String.init) ?? "null")}")
        } catch { throw CommandError(error) }
        try json.write()
    } else {
        try shown.code.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: STDOUT_FILENO) }
        try Output.write("\n")
        if let remaining = shown.remaining { Output.remark("valid for \(remaining) s") }
        if let counter = shown.counter { Output.remark("number \(counter)") }
    }
    return .done
}

private func codeField(of item: borrowing Item, _ label: String?) throws(CommandError) -> Item.Field {
    let field: Item.Field?
    if let label { field = try item.named(label) } else { field = item.field(.oneTimeCode) }
    guard let field, field.kind == .oneTimeCode else {
        throw CommandError(
            .notFound, code: .noOneTimeCode,
            label == nil ? "this entry has no one-time code" : "this field is no one-time code",
            advice: "holdfast edit NAME adds a field with kind otp")
    }
    return field
}

private func code(
    _ field: Item.Field, _ label: String?, _ found: borrowing FoundItem, _ access: ItemAccess
) throws(CommandError) -> ShownCode {
    let current = try OneTimeCode.read(field, of: found.item)
    guard case .counter = current.moment else {
        let now = UInt64(max(0, WallClock.milliseconds / 1000))
        do throws(OneTimeCodeError) {
            return ShownCode(code: try current.code(at: now), remaining: current.remaining(at: now), counter: nil)
        } catch { throw CommandError(error) }
    }
    var shown: ShownCode?
    try access.change(found) { item throws(CommandError) in
        let field = try codeField(of: item, label)
        let code = try OneTimeCode.read(field, of: item)
        guard case .counter(let number) = code.moment else {
            throw .failure(.busy, "the one-time code was changed; try again")
        }
        let next = try CodeAndNext.of(code)
        try vaultCall {
            try next.text.withBytes { bytes throws(VaultError) in
                try item.set(field, bytes: bytes, keepsEarlier: false)
            }
        }
        shown = ShownCode(code: next.digits, remaining: nil, counter: number)
    }
    guard let shown = shown.take() else { throw .failure(.unexpected, "no code was computed") }
    return shown
}

/// A code by counter, and what is stored in place of its key and number.
private struct CodeAndNext: ~Copyable {
    let digits: SecretBytes
    let text: SecretBytes

    static func of(_ code: borrowing OneTimeCode) throws(CommandError) -> CodeAndNext {
        let digits = try call { () throws(OneTimeCodeError) in try code.code(at: 0) }
        let text = try call { () throws(OneTimeCodeError) in
            let next = try code.advanced()
            switch next {
            case .some(let next): return try next.text()
            case .none: throw .invalid(.counter)
            }
        }
        return CodeAndNext(digits: digits, text: text)
    }

    private static func call(
        _ body: () throws(OneTimeCodeError) -> SecretBytes
    ) throws(CommandError) -> SecretBytes {
        do throws(OneTimeCodeError) { return try body() } catch { throw CommandError(error) }
    }
}

extension OneTimeCode {
    fileprivate static func read(_ field: Item.Field, of item: borrowing Item) throws(CommandError) -> OneTimeCode {
        try item.withValue(of: field) { text throws(CommandError) in
            do throws(OneTimeCodeError) { return try OneTimeCode(parsing: text) } catch { throw CommandError(error) }
        }
    }
}
