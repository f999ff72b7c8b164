internal import CommandLineArguments
internal import Holdfast
internal import VaultWipe
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let wipe = Command(
        "wipe", synonyms: ["destroy", "erase", "shred"], summary: "destroy the vault",
        details: [
            "Destroys the vault immediately: first its keys, so that nothing can ever be read again, then everything "
                + "else. Only a backup can bring it back. Asks for the passcode or the recovery phrase, and for a "
                + "word typed on the terminal. If it is interrupted, the next command that uses the vault finishes it.",
            "Leaves a signed receipt in the folder that says what was erased and what is not claimed. The public key "
                + "that verifies it is printed before anything is erased.",
            "With --dry-run it only lists what would be erased, and asks for nothing.",
        ],
        example: "holdfast wipe --dry-run",
        options: [
            Options.dryRun.option, Options.yes.option, Options.receipt.option, Options.json.option, Options.home.option,
            Options.passcodeDescriptor.option, Options.phrase.option, Options.phraseDescriptor.option,
        ],
        run: wipeVault)
}

private func wipeVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.dryRun] { return try showPlan(arguments) }
    let input = SecretInput(arguments)
    let usesPhrase = Unlocking.usesPhrase(arguments)
    guard !usesPhrase || arguments[Options.passcodeDescriptor] == nil else {
        throw .usage("use only one of the passcode and the recovery phrase")
    }
    let vault = try Unlocking.find(arguments)
    let asksNobody = try Unlocking.asksNobody(vault) && !Unlocking.namesSecret(arguments)
    if usesPhrase { try input.requirePhraseSource() } else if !asksNobody { try input.requirePasscodeSource() }
    try Confirmation.require(arguments)
    if !usesPhrase, !asksNobody { try Unlocking.refuseEarly(vault) }
    let path = try vaultCall { try vault.status() }.path
    let copy = try arguments[Options.receipt].map { path throws(CommandError) in try ReceiptCopy(path, home: vault) }
    for warning in try vaultCall({ try vault.wipeWarnings() }) { Output.note("NOTE: \(warning)") }
    try Confirmation.ask(
        arguments, "This destroys the vault in \(path) and everything in it. Only a backup can bring it back.",
        word: "destroy")
    // Before the wipe: its socket may lie in the home.
    let agent = try? AgentAccess.connect(arguments)
    let report = try HeldSignals.during { () throws(CommandError) in
        try wipe(vault, input, usesPhrase, arguments)
    }
    try? agent?.shutDown()
    guard let receipt = report.receipt, report.isFinished else {
        throw CommandError(.failure, code: .wiped, report.summary)
    }
    try copy?.write(receipt)
    if arguments[Options.json] {
        try Output.write(
            .object(["receiptPath": .text(report.receiptPath), "receipt": ReceiptText.json(receipt)]))
    } else {
        try Output.write(
            "destroyed; what was erased is in \(Escaping.sentence(report.receiptPath)) (holdfast receipt verify)\n")
    }
    return .done
}

private func wipe(
    _ vault: Vault, _ input: SecretInput, _ usesPhrase: Bool, _ arguments: Arguments
) throws(CommandError) -> Vault.WipeReport {
    // Before anything is erased, so that a receipt found later can be told from a forged one.
    let announce = { (key: Vault.WipeReceiptKey) throws(VaultError) in
        PassingNote.erase()
        let line = "receipt key: \(key.publicKey)\n"
        do throws(CommandError) {
            if arguments[Options.json] {
                Output.note("receipt key: \(key.publicKey)")
            } else {
                try Output.write(line)
            }
        } catch { throw VaultError(.inputOutput, "\(error.what); nothing was erased") }
    }
    if usesPhrase {
        let phrase = try input.phrase()
        return try vaultCall { try vault.wipe(phrase: phrase, announce: announce) }
    }
    if try Unlocking.asksNobody(vault), !Unlocking.namesSecret(arguments) {
        return try vaultCall {
            try vault.openByDevice()
            return try vault.wipe(proving: vault.proveNobody(), canAskOwner: false, announce: announce)
        }
    }
    return try Unlocking.withPasscode(input, vault) { passcode throws(CommandError) in
        try vaultCall { try vault.wipe(passcode: passcode, spending: vault.burnAttempt(), announce: announce) }
    }
}

private func showPlan(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let plan = try vaultCall { try vault.wipePlan() }
    if arguments[Options.json] {
        let steps = plan.steps.map { step in
            JSON.object([
                "target": .text(step.target.description), "what": .text(step.what),
                "method": .text(step.method.rawValue),
                "files": .integer(Int64(step.files)), "bytes": .count(step.bytes),
            ])
        }
        try Output.write(
            .object([
                "steps": .array(steps), "leftAlone": .array(plan.strangers.map { .text($0) }),
                "warnings": .array(plan.warnings.map { .text($0) }),
            ]))
        return .done
    }
    var table = Table(["TARGET", "WHAT", "FILES", "SIZE", "HOW"], rightAligned: [2, 3])
    for step in plan.steps {
        table.append([
            step.target.description, step.what, "\(step.files)", Format.size(step.bytes), step.method.words,
        ])
    }
    try Output.write(table.text)
    if !plan.strangers.isEmpty {
        try Output.write("left alone: \(plan.strangers.map(Escaping.name).joined(separator: ", "))\n")
    }
    for warning in plan.warnings { try Output.write("\(warning)\n") }
    try Output.write("nothing was erased\n")
    return .done
}

extension WipePlan.Method {
    fileprivate var words: String {
        switch self {
        case .overwritten: "overwritten, then removed"
        case .removed: "removed; unreadable without the keys"
        case .released: "deleted from the TPM or keyring"
        case .left: "left, because it was made for another folder"
        case .byApp: "erased by the app"
        case .waiting: "erased when its app starts"
        }
    }
}

/// The file beside the home that a receipt is also written to. Made before anything is erased, so that a place that
/// cannot be written is found in time; taken away again when nothing was written.
final class ReceiptCopy {
    private let path: String
    private let descriptor: Int32
    private var isWritten = false

    /// - Throws: A usage error for a place in the vault's own folder; a failure where no new file can be made.
    init(_ path: String, home: Vault) throws(CommandError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard !home.contains(folder: folder) else {
            throw .usage("--receipt names a file in the vault's own folder, where a receipt is always left")
        }
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .failure(.output, "\(path): \(SystemError.last); nothing was erased")
        }
        self.path = path
    }

    func write(_ receipt: WipeReceipt) throws(CommandError) {
        do throws(CommandError) {
            try receipt.bytes.withRawSpan { bytes throws(CommandError) in
                try Descriptors.write(bytes, to: descriptor)
            }
        } catch { throw .failure(.output, "\(error.what); the vault is destroyed, its receipt is in its folder") }
        fsync(descriptor)
        isWritten = true
    }

    deinit {
        close(descriptor)
        if !isWritten { unsafe unlink(path) }
    }
}
