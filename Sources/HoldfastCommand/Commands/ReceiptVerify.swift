internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Command {
    static let receiptVerify = Command(
        "receipt", "verify", synonyms: ["check", "show"], summary: "verify the receipt of a wipe",
        details: [
            "Verifies the signature of a receipt and shows what it says: of a file, or of the one that was left where the "
                + "vault was. Needs no vault and no network. With --key it "
                + "also checks that the receipt was signed with that key, which was shown when self-destruct was "
                + "turned on or before the wipe. Without --key it only shows that the receipt is unchanged since it "
                + "was signed.",
            "The exit code is 5 if the file is not a receipt, was changed, or was signed with another key, and 1 if "
                + "something is still to be erased.",
        ],
        example: "holdfast receipt verify wipe-receipt",
        places: [
            Place(
                name: "FILE", kind: .file, help: "The receipt (default: the one in the vault's folder).",
                isOptional: true)
        ],
        options: [Options.receiptKey.option, Options.home.option, Options.json.option], run: verifyReceipt)
}

private func verifyReceipt(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    var path = arguments[place: 0]
    if path.isEmpty { path = try HomeFolder.path(arguments) + "/" + WipeReceipt.fileName }
    let bytes = try ReceiptText.read(path)
    let key = arguments[Options.receiptKey]
    let receipt: WipeReceipt
    do throws(VaultError) { receipt = try WipeReceipt(verifying: bytes, key: key) } catch {
        throw ReceiptText.refused(error, path)
    }
    if arguments[Options.json] {
        try Output.write(ReceiptText.json(receipt, isKeyGiven: key != nil))
    } else {
        try Output.write(ReceiptText.text(receipt, isKeyGiven: key != nil))
    }
    return receipt.isComplete ? .done : .failure
}

/// Receipts for people and programs.
package enum ReceiptText {
    private static let largest = 1 << 16

    package static func read(_ path: String) throws(CommandError) -> [UInt8] {
        do throws(SystemError) {
            // What is longer is no receipt; its beginning shows that.
            return try OwnedDescriptor(path, O_RDONLY | O_NONBLOCK).readPrefix(largest + 1)
        } catch {
            let exit: ExitCode = error.number == ENOENT ? .notFound : .failure
            throw CommandError(exit, code: .input, "\(path): \(error)")
        }
    }

    /// What is wrong with the file that was named. What helps a vault that is damaged helps no receipt.
    static func refused(_ error: VaultError, _ path: String) -> CommandError {
        var failure = CommandError(error)
        failure.what = "\(Escaping.name(path)): \(error.reason)"
        if error.code == .damaged { failure.advice = nil }
        return failure
    }

    static func text(_ receipt: WipeReceipt, isKeyGiven: Bool) -> String {
        let facts = [
            ("vault", receipt.vault.description), ("destroyed", cause(receipt.cause)),
            ("begun", Format.localTime(milliseconds: Int64(clamping: receipt.begun)) + " by the machine's clock"),
            ("ended", Format.localTime(milliseconds: Int64(clamping: receipt.ended))),
            ("complete", receipt.isComplete ? "yes" : "no, something is still to be erased"),
            (
                "left alone",
                Format.count(receipt.strangers, "name") + " in the folder that "
                    + (receipt.strangers == 1 ? "is" : "are") + " not the vault's"
            ),
            ("key", receipt.publicKey), ("key made", origin(receipt.keyOrigin)),
            (
                "signature",
                isKeyGiven
                    ? "valid, made with the given key" : "valid, made with the key above; --key checks whose it is"
            ),
        ]
        var table = Table(["TARGET", "RESULT", "ERASED"], rightAligned: [2])
        for item in receipt.items { table.append([item.target.description, item.result.name, "\(item.count)"]) }
        let notClaimed = WipeReceipt.notClaimed.map { "- \($0)\n" }.joined()
        return Facts.text(facts, wrappedTo: Output.columns) + "\n" + table.text + "\nNot claimed:\n" + notClaimed
    }

    private static func cause(_ cause: WipeCause) -> String {
        switch cause {
        case .attempts: "because wrong passcodes reached the limit"
        case .owner: "because the user asked for it"
        }
    }

    private static func origin(_ origin: WipeReceipt.KeyOrigin) -> String {
        switch origin {
        case .enabled: "when self-destruct was turned on"
        case .wipe: "for this receipt"
        }
    }

    static func json(_ receipt: WipeReceipt, isKeyGiven: Bool = false) -> JSON {
        let items = receipt.items.map { item in
            JSON.object([
                "target": .text(item.target.description), "result": .text(item.result.name),
                "count": .integer(Int64(item.count)),
            ])
        }
        let time = { (milliseconds: UInt64) -> JSON in
            Format.timestamp(milliseconds: Int64(clamping: milliseconds)).map { .text($0) } ?? .null
        }
        return .object([
            "vault": .text(receipt.vault.description), "cause": .text(receipt.cause.name), "begun": time(receipt.begun),
            "ended": time(receipt.ended), "isComplete": .boolean(receipt.isComplete),
            "leftAlone": .integer(Int64(receipt.strangers)), "targets": .array(items),
            "notClaimed": .array(WipeReceipt.notClaimed.map { .text($0) }), "key": .text(receipt.publicKey),
            "keyOrigin": .text(receipt.keyOrigin.rawValue), "isKeyGiven": .boolean(isKeyGiven),
        ])
    }
}
