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
                for node in vault["items"]?.elements ?? [] {
                    // Earlier versions of the format put each item into an object of its own.
                    do throws(ImportError) {
                        try read(node["item"] ?? node, document, isOwn ? nil : name, &files, into: &result)
                    } catch { try result.leaveOut(error, place: "\(data), line \(node.line)") }
                }
            }
        }
        return result
    }

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ group: String?, _ files: inout Files,
        into result: inout Imported
    ) throws(ImportError) {
        let place = "\(data), line \(node.line)"
        let (overview, details) = (node["overview"], node["details"])
        let state = try document.text(node["state"])
        guard state != "trashed", !(node["trashed"]?.isTrue ?? false) else {
            return result.note(
                .leftOut, "an entry in the trash", entry: try document.text(overview?["title"]) ?? "", place: place)
        }
        let category = try document.text(node["categoryUuid"])
        let title = try document.text(overview?["title"]) ?? ""
        let item = try ImportedItem(
            category.flatMap { kinds[$0] } ?? .note, path: [group, title].compactMap(\.self), place: place,
            created: milliseconds(node["createdAt"], document))
        try readLogin(details, document, item)
        try readAddresses(overview, document, item)
        if let password = try document.string(details?["password"]) { try item.add(.secret, "password", password) }
        for section in details?["sections"]?.elements ?? [] {
            for field in section["fields"]?.elements ?? [] {
                try readField(field, document, item, &files)
            }
        }
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
        if let keys = details?["passkey"], !keys.isEmpty { item.note(.leftOut, "a passkey") }
        item.finish(modified: milliseconds(node["updatedAt"], document))
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
                guard let type, ["T", "E", "U", "N", "P", "A", "TEL"].contains(type) else { continue }
                try item.add(type == "P" ? .secret : .text, document.text(field["name"]) ?? "field", value)
            }
        }
    }

    private static func readAddresses(
        _ overview: JSONNode?, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        let all = (overview?["urls"]?.elements ?? []).map { $0["url"] }
        for address in all.isEmpty ? [overview?["url"]] : all {
            if let value = try document.string(address) { try item.add(.url, "website", value) }
        }
    }

    private static let kinds: [String: ItemKind] = [
        "001": .login, "002": .card, "003": .note, "004": .identity, "005": .login, "006": .file, "114": .sshKey,
    ]
}
