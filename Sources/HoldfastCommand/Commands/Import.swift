internal import CommandLineArguments
internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls

extension Options {
    static let format = TextOption(
        "format", "FORMAT", .word(ImportFormat.allCases.map(\.rawValue)),
        help: "What the file is (default: found out from what is in it); gnome-keyring has none.")
    static let fromKeyring = Flag("from-keyring", "Import from your session's keyring, as --format gnome-keyring.")
    static let planOnly = Flag("dry-run", "Only show what would be imported.")
    static let skipFaulty = Flag("skip-faulty", "List entries that cannot be read, and leave them out.")
    static let takeOver = Flag(
        "update", "Apply what differs to entries that the vault has; the old values stay in the history.")
    static let intoCollection = TextOption(
        "collection", "C", .collection, help: "Put everything into this folder, before that of --prefix.", short: "c")
    static let prefix = TextOption("prefix", "PATH", help: "Put everything into this folder.")
    static let column = ListOption(
        "column", "COLUMN=ROLE",
        help:
            "With csv: what a column is: title, group, username, password, url, notes, otp, tags, text:LABEL, secret:LABEL or "
            + "ignore.")
    static let keyFile = TextOption("key-file", "FILE", .file, help: "With kdbx: the database's key file.")
    static let withoutPassword = Flag("no-password", "With kdbx: the database has only a key file.")
    static let fileDescriptor = DescriptorOption(
        "file-password-fd", "Read the password of the imported file from file descriptor N, one line.")
}

extension Command {
    static let importItems = Command(
        "import", synonyms: ["migrate"], summary: "import entries from another password manager",
        details: [
            "Reads databases of KeePass and KeePassXC (KDBX 3 and 4, XML), exports of Bitwarden (JSON, plain or with a password of its "
                + "own; ZIP), 1Password (1PUX) and Proton Pass (ZIP, JSON), tables (CSV) of these and of Firefox, Chrome, Safari, "
                + "LastPass, Dashlane and NordPass, any other CSV with --column, one-time codes of Aegis and 2FAS (plain or encrypted), "
                + "lists of otpauth:// and Google Authenticator's otpauth-migration:// addresses, QR codes (PNG, JPEG), the folder of "
                + "pass or gopass (with its file .gpg-id), whose entries gpg decrypts, and what holdfast export --plain wrote.",
            "With --from-keyring and without FILE it asks your session's keyring (any Secret Service) for all entries. A locked "
                + "keyring asks for its password itself. The entries get the tag secret-service, so that after holdfast secrets serve "
                + "programs find them as before.",
            "Everything is stored, or nothing. An entry whose content is already in the vault at the same path is skipped, so "
                + "importing a file twice changes nothing. If the vault has another version of an entry (same path and user name), the "
                + "differences are listed; --update applies them and keeps the old values in the history. An entry of another account "
                + "gets a number behind its name.",
            "Anything that is not imported unchanged is listed with its entry, and the exit code is 8 instead of 0: left out (none of "
                + "it is in the vault) or changed (stored in another form). Repeated notes are counted in one line; --json lists all of "
                + "them in notUnderstood. An entry that cannot be read ends the import before anything is stored; --skip-faulty lists "
                + "it and leaves it out.",
            "The passcode is asked for even if an agent has the vault open.",
            "An export that is not encrypted is still on your disk afterwards; remove it.",
        ],
        example: "holdfast import passwords.kdbx --dry-run",
        places: [Place(name: "FILE", kind: .file, help: "The file, or the folder of pass.", isOptional: true)],
        options: [
            Options.format.option, Options.fromKeyring.option, Options.planOnly.option, Options.skipFaulty.option,
            Options.takeOver.option,
            Options.intoCollection.option,
            Options.prefix.option,
            Options.column.option, Options.keyFile.option, Options.withoutPassword.option,
            Options.fileDescriptor.option,
            Options.json.option,
        ] + Options.unlocking,
        run: importFile)
}

private func importFile(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let source = try source(arguments)
    let folder = try folder(arguments)
    // Before the file becomes entries: what it becomes would be in memory beside the derivation of the key.
    let vault = try Unlocking.open(arguments, isForWhole: true)
    let (imported, isPlainFile) = try read(source, arguments)
    let items = ItemStore(vault)
    let plan = try vaultCall {
        try ImportPlan(imported, into: items, folder: folder, updates: arguments[Options.takeOver])
    }
    if !arguments[Options.planOnly] {
        try Progress.show("Importing") { progress throws(CommandError) in
            try vaultCall {
                try plan.store(in: items) { done in progress.update(done, of: plan.writes) }
            }
        }
    }
    let report = ImportReport(plan, imported.notes, isDry: arguments[Options.planOnly])
    try report.write(isJSON: arguments[Options.json])
    if isPlainFile, !arguments[Options.planOnly] {
        Output.remark(
            "\(arguments[place: 0]) still has every secret, and is not encrypted. Remove it when you have seen that all is here."
        )
    }
    return report.exit
}

/// The folder that everything goes into; empty for none.
private func folder(_ arguments: Arguments) throws(CommandError) -> String {
    let collection = arguments[Options.intoCollection].flatMap { $0 == Vault.defaultCollection ? nil : $0 }
    let parts = [collection, arguments[Options.prefix]].compactMap(\.self).filter { !$0.isEmpty }
    var folder = parts.joined(separator: "/")
    while folder.hasSuffix("/") { folder.removeLast() }
    if !folder.isEmpty, try ItemNames.new(folder + "/x").entry.isReserved {
        throw .usage("the collection '\(Escaping.name(folder))' is Holdfast's own; choose another folder")
    }
    return folder
}

/// What is read, as far as it can be told before a passcode is asked for.
private enum Source {
    case keyring
    case passFolder
    case file(ImportFormat)
}

private func source(_ arguments: Arguments) throws(CommandError) -> Source {
    let path = arguments[place: 0]
    var named = arguments[Options.format].flatMap(ImportFormat.init)
    if arguments[Options.fromKeyring] {
        guard named ?? .keyring == .keyring else { throw .usage("use only one of --from-keyring and --format") }
        named = .keyring
    }
    if let named { try checkOptions(arguments, of: named) }
    if let named, named.isOfProgram {
        guard arguments.places.isEmpty else { throw .usage("\(named.rawValue) is no file; leave FILE out") }
        return .keyring
    }
    guard !arguments.places.isEmpty else {
        throw .usage("FILE is missing; it may be left out with --from-keyring only")
    }
    guard try !ImportedFile.isFolder(path) else {
        guard named ?? .pass == .pass else { throw .usage("\(Escaping.name(path)) is a folder; only pass has one") }
        try checkOptions(arguments, of: .pass)
        return .passFolder
    }
    let bytes = try ImportedFile.readBulk(path, limit: ImportLimits.file)
    guard bytes.count > 0 else { throw CommandError(ImportError.malformed("", "the file is empty")) }
    guard let format = named ?? bytes.withBytes(ImportFormat.detected), format != .pass else {
        throw .usage("what kind of file this is was not found out; name it with --format")
    }
    try checkOptions(arguments, of: format)
    _ = try keyFile(arguments)
    return .file(format)
}

/// - Returns: Also whether it came out of a file that anyone can read who gets it.
private func read(
    _ source: Source, _ arguments: Arguments
) throws(CommandError) -> (Imported, isPlainFile: Bool) {
    switch source {
    case .keyring: (try KeyringStore.read(), false)
    case .passFolder:
        (try PassStore.read(arguments[place: 0], ImportOptions(skipsFaulty: arguments[Options.skipFaulty])), false)
    case .file(let format): try read(format, arguments)
    }
}

private func read(
    _ format: ImportFormat, _ arguments: Arguments
) throws(CommandError) -> (Imported, isPlainFile: Bool) {
    let path = arguments[place: 0]
    let keyFile: SecretBytes? = try keyFile(arguments)
    if format != .kdbx || arguments[Options.withoutPassword] {
        let bytes = try ImportedFile.readBulk(path, limit: ImportLimits.file)
        do throws(ImportError) { return (try read(format, bytes, nil, keyFile, arguments), format != .kdbx) } catch {
            guard format.mayHavePassword, error.kind == .passwordNeeded else { throw CommandError(error) }
        }
    }
    let password: SecretBytes? = try filePassword(arguments)
    // Once more: a copy would be there beside all that is made of the file.
    let bytes = try ImportedFile.readBulk(path, limit: ImportLimits.file)
    do throws(ImportError) {
        let isShown = Progress.isPossible
        if isShown { try? Output.write("Opening the file ...", to: STDERR_FILENO) }
        defer {
            if isShown { try? Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
        }
        return (try read(format, bytes, password, keyFile, arguments), false)
    } catch { throw CommandError(error) }
}

/// An option that another format has would do nothing, and nobody would know.
private func checkOptions(_ arguments: Arguments, of format: ImportFormat) throws(CommandError) {
    let hasKeyFile = arguments[Options.keyFile] != nil
    for (isGiven, option, right) in [
        (hasKeyFile, "--key-file", ImportFormat.kdbx), (arguments[Options.withoutPassword], "--no-password", .kdbx),
        (!arguments[Options.column].isEmpty, "--column", .csv),
    ] where isGiven && format != right {
        throw .usage("\(option) works with the format \(right.rawValue) only, and this is \(format.rawValue)")
    }
    if arguments[Options.withoutPassword], !hasKeyFile {
        throw .usage("--no-password is for a database that has only a key file; name that with --key-file FILE")
    }
}

private func keyFile(_ arguments: Arguments) throws(CommandError) -> SecretBytes? {
    guard let path = arguments[Options.keyFile] else { return nil }
    return try ImportedFile.read(path, limit: ImportLimits.keyFile)
}

private func read(
    _ format: ImportFormat, _ bytes: consuming SecretBytes, _ password: borrowing SecretBytes?,
    _ keyFile: borrowing SecretBytes?, _ arguments: Arguments
) throws(ImportError) -> Imported {
    let options = ImportOptions(columns: try columns(arguments), skipsFaulty: arguments[Options.skipFaulty])
    return try format.read(bytes, password: password, keyFile: keyFile, options)
}

private func columns(_ arguments: Arguments) throws(ImportError) -> [String: TableImport.Role] {
    var columns: [String: TableImport.Role] = [:]
    for assignment in arguments[Options.column] {
        guard let sign = assignment.lastIndex(of: "="), sign > assignment.startIndex,
            let role = TableImport.Role(word: String(assignment[assignment.index(after: sign)...]))
        else { throw ImportError(.unknownColumns, "--column", "a column, an equals sign and a role are required") }
        columns[String(assignment[..<sign])] = role
    }
    return columns
}

private func filePassword(_ arguments: Arguments) throws(CommandError) -> SecretBytes {
    if let descriptor = arguments[Options.fileDescriptor] {
        return try SecretInput.line(descriptor, 4096, "the password of the file")
    }
    guard let terminal = Terminal() else {
        throw .usage("there is no terminal to ask for the password of the file; use --file-password-fd N")
    }
    return try terminal.readValue(prompt: "Password of the imported file: ", .line, limit: 4096)
}

/// Files that an import reads, in locked memory.
enum ImportedFile {
    /// As ``read(_:limit:)``, of what may be more than can be locked.
    static func readBulk(_ path: String, limit: Int) throws(CommandError) -> SecretBytes {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        return try read(path, limit: limit)
    }

    /// - Throws: `noFile` where nothing is.
    static func isFolder(_ path: String) throws(CommandError) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw CommandError(.notFound, code: .noFile, "\(Escaping.name(path)): \(SystemError.last)")
        }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    static func read(_ path: String, limit: Int) throws(CommandError) -> SecretBytes {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard file >= 0 else {
            let (isMissing, message) = (errno == ENOENT, "\(Escaping.name(path)): \(SystemError.last)")
            throw isMissing ? CommandError(.notFound, code: .noFile, message) : .failure(.input, message)
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .failure(.input, "\(Escaping.name(path)): not a regular file")
        }
        guard status.st_size <= limit else {
            throw .failure(
                .tooLarge, "\(Escaping.name(path)): an imported file has at most \(Format.size(UInt64(limit)))")
        }
        // Taken once, in one piece: a user may often lock no more than 8 MiB.
        let size = Int(status.st_size)
        var bytes = try secret(size)
        var filled = 0
        while filled < size {
            let got = try bytes.withMutableBytes { bytes throws(CommandError) in
                try bytes.withPart(filled..<size) { part throws(CommandError) in
                    try Descriptors.read(file, into: &part)
                }
            }
            guard got > 0 else { throw .failure(.input, "\(Escaping.name(path)): the file was changed meanwhile") }
            filled += got
        }
        return bytes
    }
}

extension CommandError {
    init(_ error: ImportError) {
        let exit: ExitCode =
            switch error.kind {
            case .wrongPassword: .refused
            case .malformed, .unsupported, .tooLarge, .noCode: .damaged
            case .passwordNeeded, .unknownColumns: .usage
            case .outOfMemory, .unexpected: .failure
            }
        let advice: String? =
            switch error.kind {
            case .unknownColumns:
                "say what they are with --column COLUMN=ROLE, such as --column Login=username (see holdfast import --help)"
            case .passwordNeeded: "use --file-password-fd N, or --key-file FILE --no-password"
            default: error.entry == nil ? nil : "leave out what cannot be read with --skip-faulty"
            }
        let entry = error.entry.map { $0.isEmpty ? "" : Escaping.name($0) + ", " } ?? ""
        self.init(
            exit, code: .init(word: error.kind.rawValue), "\(entry)\(error.reason); nothing was imported",
            advice: advice)
    }
}
