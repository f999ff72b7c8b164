internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Place {
    static let itemName = Place(name: "NAME", kind: .item, help: "The entry: its name, or enough of it.")
}

extension Options {
    static let kind = TextOption(
        "kind", "KIND", .word(ItemTemplate.words),
        help: "What it is: \(ItemTemplate.words.joined(separator: ", ")) (default: login).", short: "k")
    static let username = TextOption("username", "TEXT", help: "The user name.", short: "u")
    static let url = ListOption("url", "URL", help: "An address it is for.")
    static let text = ListOption("text", "LABEL=TEXT", help: "A field that is shown and found by a search.")
    static let date = ListOption("date", "LABEL=DATE", help: "A date: 2031-12-24 or 2031-12.")
    static let secretLabel = ListOption("secret", "LABEL", help: "Also ask for a secret of this name.")
    static let withCode = Flag("otp", "Also ask for the key of one-time codes.")
    static let qrPicture = TextOption(
        "qr-image", "FILE", .file,
        help: "Read the key of one-time codes from a picture of its QR code (PNG or JPEG); - is standard input.")
    static let withNotes = Flag("notes", "Also ask for notes of any number of lines, last of all.")
    static let attach = ListOption("attach", "FILE", .file, help: "Also store this file in the entry; 1 MiB in all.")
    static let tag = ListOption("tag", "TAG", .tag, help: "A tag.", short: "t")
    static let favourite = Flag("favourite", "Make it a favourite, which the desktop app lists by itself.")
    static let generates = Flag("generate", "Make a new password instead of asking for one.", short: "g")
    static let secretDescriptor = DescriptorOption(
        "secret-fd",
        "Read the secrets from file descriptor N, one line each in the order in which they are asked for; the last one of "
            + "several lines is the rest.")

    /// What --generate takes.
    static let generating = [
        length.option, kinds.option, readable.option, words.option, separator.option, capitals.option, withDigit.option,
    ]
}

extension Command {
    static let add = Command(
        "add", synonyms: ["new"], summary: "add a login, a card, a note or another entry",
        details: [
            "Without options, everything that a login, a card or an identity has is asked for in turn. Secrets are not shown, and passwords "
                + "are asked for twice; ? shows what you type, and an empty answer leaves a field out. Notes are written in your editor.",
            "With options, and with --secret-fd, only secrets are asked for. A login has a password; a card a number, a security code and a "
                + "PIN; an ssh-key a passphrase and a private key; an otp the key of its codes; a note its text. --qr-image reads that "
                + "key from a picture of its QR code: wl-paste -t image/png | holdfast add mail --qr-image -",
            "A folder is part of the name: logins/mail. holdfast put stores a value without fields.",
        ],
        example: "holdfast add logins/mail -u ada --url https://mail.example --generate",
        places: [Place(name: "NAME", kind: .inFolder, help: "The name of the new entry, with its folder.")],
        options: [
            Options.kind.option, Options.username.option, Options.url.option, Options.text.option, Options.date.option,
            Options.secretLabel.option, Options.withCode.option, Options.qrPicture.option, Options.withNotes.option,
            Options.attach.option,
            Options.tag.option, Options.favourite.option, Options.generates.option,
        ] + Options.generating + [Options.secretDescriptor.option, Options.collection.option] + Options.unlocking,
        run: addItem)
}

private func addItem(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let template = arguments[Options.kind].flatMap(ItemTemplate.named) ?? .login
    let input = ValueInput(arguments)
    try requireGenerate(arguments)
    let asked = try wanted(arguments, template)
    if !asked.isEmpty { try input.requireSource() }
    let code: SecretBytes? = if let path = arguments[Options.qrPicture] { try QRPicture.code(in: path) } else { nil }
    var item = try vaultCall { try Item(template.kind) }
    try addOpenFields(arguments, to: &item)
    if template.kind == .file, item.field(.file) == nil { throw .usage("a file needs --attach FILE") }
    let access = ItemAccess(arguments)
    let record = try access.requireFree(arguments[place: 0])
    let first = arguments[Options.username] == nil ? 0 : 1
    let openCount = item.fields.count - first
    if arguments[Options.generates] {
        let password = try Generating.secret(arguments)
        try vaultCall { try item.add(.secret, "password", password.value) }
    }
    for asked in asked {
        guard let value = try input.value(asked) else {
            // The editor was left without a text.
            guard template.kind == .note, asked.extent == .lines, arguments[Options.secretDescriptor] == nil,
                item.fields.isEmpty
            else { continue }
            throw .failure(.cancelled, "nothing was written; nothing was added")
        }
        if asked.label == ItemTemplate.notes.label, asked.extent == .lines {
            try vaultCall { try item.setNotes(value) }
        } else {
            try vaultCall { try item.add(asked.kind, asked.label, value) }
        }
    }
    if let code { try vaultCall { try item.add(.oneTimeCode, "code", code) } }
    // The addresses and other fields were read first, so that nothing is asked for in vain.
    try vaultCall {
        for _ in 0..<openCount { try item.move(item.fields[first], to: item.fields.count - 1) }
        // As with options, an address stands behind the password.
        if let website = item.field(.url), openCount == 0 { try item.move(website, to: item.fields.count - 1) }
    }
    try access.add(item, as: record)
    Output.remark("Added \(access.told(record.path)).")
    return .done
}

/// Whether the line says nothing of what is in the item, and somebody is there to be asked.
private func isBare(_ arguments: Arguments) -> Bool {
    let named: [Option] = [
        Options.username.option, Options.url.option, Options.text.option, Options.date.option,
        Options.secretLabel.option,
        Options.withCode.option, Options.qrPicture.option, Options.withNotes.option, Options.attach.option,
        Options.generates.option, Options.secretDescriptor.option,
    ]
    return Terminal.isThere && !named.contains(where: arguments.contains)
}

/// The fields that are asked for, those of several lines last.
private func wanted(_ arguments: Arguments, _ template: ItemTemplate) throws(CommandError) -> [ItemTemplate.Asked] {
    let isBare = isBare(arguments)
    var asked = template.asked.filter { isBare || !$0.kind.isTypedOpenly }
    if arguments[Options.generates] {
        guard template.kind != .oneTimeCode, template.kind != .sshKey else {
            throw .usage("--generate makes a password, which a \(template.word) has not")
        }
        asked.removeAll { $0.label == "password" }
    }
    for label in arguments[Options.secretLabel] { asked.append(.secret(label)) }
    if arguments[Options.qrPicture] != nil {
        guard !arguments[Options.withCode] else { throw .usage("use only one of --otp and --qr-image") }
        asked.removeAll { $0.kind == .oneTimeCode }
    }
    if arguments[Options.withCode], template.kind != .oneTimeCode {
        asked.append(ItemTemplate.Asked("code", .oneTimeCode, .line))
    }
    if template.kind == .note || arguments[Options.withNotes] { asked.append(ItemTemplate.notes) }
    let lines = asked.filter { $0.extent == .lines }
    if lines.count > 1, arguments[Options.secretDescriptor] != nil {
        throw .usage("--secret-fd has only one text of several lines; add the notes with holdfast edit")
    }
    return asked.filter { $0.extent == .line } + lines
}

extension ItemTemplate {
    static let notes = Asked("notes", .text, .lines)
}

private func addOpenFields(_ arguments: Arguments, to item: inout Item) throws(CommandError) {
    if let username = arguments[Options.username] {
        try vaultCall { try item.add(.text, "username", SecretBytes(utf8: username)) }
    }
    for url in arguments[Options.url] {
        try vaultCall { try item.add(.url, "website", SecretBytes(utf8: url)) }
    }
    for (option, kind) in [(Options.text, FieldKind.text), (Options.date, .date)] {
        for assignment in arguments[option] {
            let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw .usage("\(option.option.synopsis): a label, an equals sign and the value")
            }
            do throws(CommandError) {
                try vaultCall { try item.add(kind, String(parts[0]), SecretBytes(utf8: String(parts[1]))) }
            } catch {
                guard kind == .date, error.code == .invalidItem else { throw error }
                throw .usage("\(option.option.synopsis): a date looks like 2031-12-24 or 2031-12")
            }
        }
    }
    for file in arguments[Options.attach] { try attach(file, to: &item) }
    for tag in arguments[Options.tag] { try vaultCall { try item.addTag(tag) } }
    if arguments[Options.favourite] { item.isFavourite = true }
}

/// Stores a file under the last part of its path, in place of one of this name.
func attach(_ path: String, to item: inout Item) throws(CommandError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw .failure(.input, "\(Escaping.name(path)): \(SystemError.last)") }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw .failure(.input, "\(Escaping.name(path)): not a regular file")
    }
    let content = try ValueInput.rest(of: descriptor)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    for field in item.fields.reversed() where item.withFile(of: field, { old, _ in old == name }) ?? false {
        try vaultCall { try item.remove(field) }
    }
    try vaultCall {
        try content.withBytes { content throws(VaultError) in
            try item.addFile("file", name: name, content: content)
        }
    }
}

/// - Throws: A usage error for options that only --generate takes.
func requireGenerate(_ arguments: Arguments) throws(CommandError) {
    guard !arguments[Options.generates] else { return }
    for option in Options.generating where arguments.contains(option) {
        throw .usage("\(option.spelled) requires --generate")
    }
}
