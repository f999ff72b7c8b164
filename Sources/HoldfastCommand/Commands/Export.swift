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

/// Bytes of values beyond 1 MiB that a database gets as attachments, all together: so much of one is imported again.
private let largestAttachments = 48 << 20

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
                + "attachments in it, up to \(largestAttachments >> 20) MiB together. "
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
        content = try plain(all, items, &left)
    } else {
        content = try database(all, items, vault, arguments, &left)
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

/// An item; nil for a value that is too large to be one.
private func item(_ summary: ItemSummary, _ items: ItemStore) throws(CommandError) -> Item? {
    guard !summary.isFile else { return nil }
    do throws(VaultError) { return try items.item(summary.name, in: summary.collection) } catch {
        guard error.code == .tooLarge else { throw CommandError(error) }
        return nil
    }
}

/// - Parameter left: The values that are too large for it.
private func plain(
    _ all: [ItemSummary], _ items: ItemStore, _ left: inout [ItemSummary]
) throws(CommandError) -> SecretBytes {
    var json = SecretJSON()
    try json.raw("{\"format\":\"\(HoldfastImport.format)\",\"version\":1,\"items\":[")
    var isFirst = true
    left = []
    for record in all {
        guard let path = RecordName(collection: record.collection, name: record.name) else { continue }
        let found = try item(record, items)
        guard let item = found else {
            left.append(record)
            continue
        }
        if !isFirst { try json.raw(",\n") }
        isFirst = false
        try json.append(item, path, reveals: true, withHistory: true)
    }
    try json.raw("]}\n")
    return try json.bytes()
}

/// - Parameter left: The values that are too large for it.
private func database(
    _ all: [ItemSummary], _ items: ItemStore, _ vault: Vault, _ arguments: Arguments, _ left: inout [ItemSummary]
) throws(CommandError) -> SecretBytes {
    let root = KDBXGroup()
    let entries = all.map { EntryPath(collection: $0.collection, name: $0.name) }
    let names = try vaultCall { try items.names() }
    left = []
    var room = largestAttachments
    for (summary, (entry, written)) in zip(all, zip(entries, names.written(entries))) {
        if let item = try item(summary, items) {
            root.add(entry, written: written, item)
        } else if let file = try attachment(summary, vault, room) {
            room -= file.size
            root.add(entry, written: written, try vaultCall { try Item(.file, now: summary.modified) }, file)
        } else {
            left.append(summary)
        }
    }
    let password = try newPassword(arguments)
    do throws(ImportError) {
        var export = try KDBXExport(title: "Holdfast")
        try export.append(root)
        return try export.seal(password: password)
    } catch { throw .failure(.init(word: error.kind.rawValue), "\(error.reason); nothing was exported") }
}

/// A value in a file of its own; nil for one that is larger.
private func attachment(
    _ summary: ItemSummary, _ vault: Vault, _ room: Int
) throws(CommandError) -> KDBXGroup.Attachment? {
    struct IsTooLarge: Error {}
    var content = SecretBuffer(limit: room)
    var isTooLarge = false
    try vaultCall {
        do {
            try vault.read(summary.name, in: summary.collection) { part in
                guard part.byteCount <= room - content.count else { throw IsTooLarge() }
                try content.append(part)
            }
        } catch is IsTooLarge { isTooLarge = true }
    }
    guard !isTooLarge else { return nil }
    let name = summary.name.split(separator: "/").last.map(String.init) ?? summary.name
    return KDBXGroup.Attachment(name, content)
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
