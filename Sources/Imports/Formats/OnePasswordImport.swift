package import SecretMemory
internal import VaultFormat

/// 1Password's export (1PUX): a ZIP archive with the items as JSON in `export.data`, and attachments below `files/`.
///
/// Source: support.1password.com/1pux-format.
package enum OnePasswordImport {
    /// The file inside of the archive that holds the items.
    package static let data = "export.data"

    /// - Throws: ``ImportError``.
    package static func read(
        _ bytes: consuming SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        var files = try Files(ZipArchive(bytes))
        let content: SecretBytes
        switch try files.content(data) {
        case .some(let found): content = found
        case .none: throw .malformed("", "this is no export of 1Password: the archive has no \(data)")
        }
        let document = try JSONDocument(content)
        guard let accounts = document.root["accounts"]?.elements else {
            throw .malformed(data, "the list of accounts is missing")
        }
        var result = Imported(options)
        for account in accounts {
            for vault in account["vaults"]?.elements ?? [] {
                let name = try document.text(vault["attrs"]?["name"])
                // The first vault of an account is its owner's own; its items need no group.
                let isOwn = try document.text(vault["attrs"]?["type"]) == "P"
                if !(vault["attrs"]?["desc"]?.isEmpty ?? true) {
                    result.note(
                        .leftOut, "the description of a vault", entry: name ?? "", place: "\(data), line \(vault.line)")
                }
                for node in vault["items"]?.elements ?? [] {
                    // Earlier versions of the format put each item into an object of its own.
                    let item = node["item"] ?? node
                    do throws(ImportError) {
                        try read(item, document, isOwn ? nil : name, &files, into: &result)
                    } catch {
                        try result.leaveOut(
                            error, entry: document.text(item["overview"]?["title"]) ?? "",
                            place: "\(data), line \(node.line)")
                    }
                }
            }
        }
        document.noteUnread(
            in: document.root, except: ["accounts.attrs", "accounts.vaults.attrs", "accounts.vaults.items"],
            place: data, into: &result)
        for path in files.unused { result.note(.leftOut, "a file that no entry has", place: path) }
        return result
    }

    /// Members of an entry that say nothing outside of 1Password: its numbers for things, how it shows and edits them,
    /// what it makes itself out of other members, and how good it finds a password.
    private static let meaningless: Set<String> = [
        "uuid", "overview.subtitle", "overview.ainfo", "overview.ps", "overview.pbe", "overview.pgrng",
        "overview.icons", "overview.b5UserUUID", "details.loginFields.id", "details.loginFields.name",
        "details.loginFields.fieldType", "details.loginFields.designation", "details.sections.name",
        "details.sections.fields.id", "details.sections.fields.indexAtSource", "details.sections.fields.guarded",
        "details.sections.fields.multiline", "details.sections.fields.dontGenerate",
        "details.sections.fields.inputTraits", "details.sections.fields.placeholder",
        "details.sections.fields.clipboardFilter", "details.sections.fields.value.file.decryptedSize",
        "details.documentAttributes.decryptedSize", "details.sections.fields.value.sshKey.metadata",
    ]

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ group: String?, _ files: inout Files,
        into result: inout Imported
    ) throws(ImportError) {
        let place = "\(data), line \(node.line)"
        let (overview, details) = (node["overview"], node["details"])
        let state = try document.text(node["state"])
        let title = try document.text(overview?["title"]) ?? ""
        guard state != "trashed", !(node["trashed"]?.isTrue ?? false) else {
            files.passOver(details, document)
            return result.note(.leftOut, "an entry in the trash", entry: title, place: place)
        }
        let category = try document.text(node["categoryUuid"]) ?? ""
        let item = try ImportedItem(
            kinds[category] ?? .note, path: [group, title.isEmpty ? "unnamed" : title].compactMap(\.self),
            place: place, created: milliseconds(node["createdAt"], document))
        if title.isEmpty { item.note(.changed, "an entry without a name") }
        if kinds[category] == nil, !category.isEmpty {
            try item.add(.text, "category", text: categories[category] ?? category)
        }
        try readLogin(details, document, item)
        try readAddresses(overview, document, item)
        if let password = try document.string(details?["password"]) { try item.add(.secret, "password", password) }
        for section in details?["sections"]?.elements ?? [] { try readSection(section, document, item, &files) }
        if let attachment = details?["documentAttributes"] {
            try files.add(attachment, document, "file", item)
        }
        if let notes = try document.string(details?["notesPlain"]) { try item.addNotes(notes) }
        for tag in overview?["tags"]?.elements ?? [] {
            if let text = try document.text(tag) { item.addTag(text) }
        }
        if let favourite = document.integer(node["favIndex"]), favourite > 0 { item.favour() }
        if state == "archived" { item.addTag("archived") }
        // The latest comes first there.
        for earlier in (details?["passwordHistory"]?.elements ?? []).reversed() {
            guard let value = try document.string(earlier["value"]) else { continue }
            try item.addEarlier(.secret, "password", value, replaced: milliseconds(earlier["time"], document))
        }
        if let keys = details?["passkey"], !keys.isEmpty {
            item.note(.leftOut, "a passkey")
            keys.markRead()
        }
        let modified = milliseconds(node["updatedAt"], document)
        document.noteUnread(in: node, of: item, except: meaningless)
        item.finish(modified: modified)
        try result.append(item)
    }

    private static func milliseconds(_ node: JSONNode?, _ document: borrowing JSONDocument) -> Int64? {
        guard let seconds = document.integer(node), (0...253_402_300_799).contains(seconds) else { return nil }
        return Int64(seconds) * 1000
    }

    /// What a web page was filled in with: the two that are named, and others as they were called.
    private static func readLogin(
        _ details: JSONNode?, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        for field in details?["loginFields"]?.elements ?? [] {
            guard let value = try document.string(field["value"]) else { continue }
            switch try document.text(field["designation"]) {
            case "username": try item.add(.text, "username", value)
            case "password": try item.add(.secret, "password", value)
            default:
                let type = try document.text(field["fieldType"])
                // Buttons and check boxes say nothing outside of their page.
                if let type, ["B", "C", "I"].contains(type) { continue }
                let name = try document.text(field["name"]) ?? ""
                try item.add(type == "P" ? .secret : .text, name.isEmpty ? "field" : name, value)
            }
        }
    }

    private static func readAddresses(
        _ overview: JSONNode?, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        var known: Set<String> = []
        for address in overview?["urls"]?.elements ?? [] {
            let label = try document.text(address["label"]) ?? ""
            // An address is no secret: it is an open field here too.
            guard let text = try document.text(address["url"]) else { continue }
            known.insert(text)
            try item.add(.url, label.isEmpty ? "website" : label, text: text)
            if let mode = try document.text(address["mode"]), !["", "default"].contains(mode) {
                item.note(.leftOut, "the member overview.urls.mode")
            }
        }
        // It is one of the others as a rule.
        if let text = try document.text(overview?["url"]), !known.contains(text) {
            try item.add(.url, "website", text: text)
        }
    }

    private static let kinds: [String: ItemKind] = [
        "001": .login, "002": .card, "003": .note, "004": .identity, "005": .login, "006": .file, "114": .sshKey,
    ]

    /// Kinds of entries that 1Password has and we have not, by their numbers: they become a field.
    private static let categories: [String: String] = [
        "100": "software license", "101": "bank account", "102": "database", "103": "driver license",
        "104": "outdoor license", "105": "membership", "106": "passport", "107": "reward program",
        "108": "social security number", "109": "wireless router", "110": "server", "111": "email account",
        "112": "API credential", "113": "medical record", "115": "crypto wallet",
    ]
}
