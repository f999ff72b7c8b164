internal import Items
internal import VaultCore
internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls

extension Options {
    static let newFileDescriptor = DescriptorOption(
        "file-password-fd", "Read the password of the new file from file descriptor N, one line.")
    static let plainText = Flag(
        "plain", "JSON in plain text, which anyone can read, instead of an encrypted database of KeePass.")
}

extension Command {
    static let exportItems = Command(
        "export", summary: "write all entries to a file for another program",
        details: [
            "Where the policy demands a stronger unlock for a collection than the passcode, that collection is left out and named, and the "
                + "exit code is 7.",
            "Writes all entries, or those of one folder. The passcode or the recovery phrase is asked for even "
                + "if an agent has the vault open. An existing file is never overwritten. The trash is left out; "
                + "holdfast backup keeps everything.",
            "A database of KeePass (KDBX 4) is encrypted with a password that you choose. Values of more than 1 MiB are "
                + "attachments in it, up to \(VaultExport.largestAttachments >> 20) MiB together. "
                + "Earlier values are earlier versions of their entry. What KeePass has no place for, such as "
                + "the kind of an entry, it keeps unseen, and holdfast import reads it.",
            "With --plain the file is JSON and not encrypted: you are asked again before it is written. Values of more "
                + "than 1 MiB are not in it. What is left out is named, and the exit code is 8.",
        ],
        example: "holdfast export passwords.kdbx",
        places: [Place(name: "FILE", kind: .file, help: "The new file.")],
        options: [
            Options.plainText.option, Options.onlyCollection.option, Options.newFileDescriptor.option,
            Options.yes.option,
        ] + Options.proving,
        run: exportFile)
}

private func exportFile(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = arguments[place: 0]
    let isPlain = arguments[Options.plainText]
    if isPlain {
        try Confirmation.require(arguments)
        guard arguments[Options.fileDescriptor] == nil else {
            throw .usage("plain text has no password; omit --file-password-fd")
        }
    } else if arguments[Options.fileDescriptor] == nil, !Terminal.isThere {
        throw .usage("there is no terminal to ask for the new file's password; use --file-password-fd N")
    }
    guard unsafe access(path, F_OK) != 0 else { throw .failure(.exists, "\(Escaping.name(path)) exists already") }
    let (vault, _) = try Unlocking.openProving(arguments)
    let items = ItemStore(vault)
    let collection = arguments[Options.onlyCollection]
    let all = try vaultCall { try items.list() }.filter {
        // What is written below this first part, wherever it lies.
        collection.map(EntryPath(collection: $0.collection, name: $0.name).isBelow) ?? true
    }
    let content: SecretBytes
    var left = all.filter(\.isFile)
    if isPlain {
        try Confirmation.ask(
            arguments,
            "\(Format.count(all.count - left.count, "entry", "entries")) will be in \(Escaping.name(path)) in plain text. Anyone who can read the file has every "
                + "secret, and it may stay on the disk after you remove it.", word: "export")
        content = try vaultCall { try VaultExport.plain(all, of: items, left: &left) }
    } else {
        let export = try vaultCall { try VaultExport(all, of: items) }
        left = export.left
        let password = try newPassword(arguments)
        do throws(ImportError) { content = try export.sealed(with: password) } catch {
            throw .failure(.init(word: error.kind.rawValue), "\(error.reason); nothing was exported")
        }
    }
    try write(content, to: path)
    Output.remark("Exported \(Format.count(all.count - left.count, "entry", "entries")).")
    if !left.isEmpty {
        Output.note(
            "\(Format.count(left.count, "value")) of more than 1 MiB left out; holdfast get NAME writes one: "
                + ItemNames.several(left.map { EntryPath(collection: $0.collection, name: $0.name).short }))
    }
    let shut = vault.collectionsOutOfReach.keys.filter { collection == nil || collection == $0 }.sorted()
    guard !shut.isEmpty else { return left.isEmpty ? .done : .partly }
    Output.note(
        "WARNING: not in the file is what is in \(ItemNames.several(shut)): the vault's policy demands a stronger unlock for it "
            + "(holdfast lock-policy show)")
    return .notAllowed
}

private func newPassword(_ arguments: Arguments) throws(CommandError) -> SecretBytes {
    if let descriptor = arguments[Options.fileDescriptor] {
        let password = try SecretInput.line(descriptor, 4096, "the password of the file")
        guard password.count > 0 else { throw .failure(.empty, "the password of the file is empty") }
        return password
    }
    return try SecretInput.filePassword()
}

/// A new file that only its owner reads; it is gone again if it cannot be written whole.
private func write(_ content: borrowing SecretBytes, to path: String) throws(CommandError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .failure(.output, "\(Escaping.name(path)): \(SystemError.last)") }
    defer { close(file) }
    do throws(CommandError) {
        try content.withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: file) }
        guard fsync(file) == 0 else { throw .failure(.output, "\(Escaping.name(path)): \(SystemError.last)") }
    } catch {
        unsafe unlink(path)
        throw error
    }
}
