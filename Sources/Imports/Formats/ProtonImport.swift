package import SecretMemory
internal import VaultFormat

/// Proton Pass's export without encryption: a ZIP archive with `Proton Pass/data.json`, or that file alone.
///
/// Source: the types in github.com/bitwarden/clients, `libs/importer/src/importers/protonpass`.
package enum ProtonImport {
    /// The files inside of the archive that hold the items.
    private static let data = "Proton Pass/data.json", encrypted = "Proton Pass/data.pgp"

    /// Whether bytes are an archive of Proton Pass.
    static func isExport(_ bytes: RawSpan) -> Bool {
        ZipArchive.holds(data, bytes) || ZipArchive.holds(encrypted, bytes)
    }

    private static let isEncrypted = ImportError(
        .unsupported, "", "the file is encrypted with PGP; export it again without encryption")

    /// - Throws: ``ImportError``.
    package static func read(
        _ bytes: consuming SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        guard bytes.withBytes({ !$0.begins(with: "-----BEGIN PGP MESSAGE-----") }) else { throw isEncrypted }
        var result = Imported(options)
        guard bytes.withBytes({ $0.begins(with: "PK\u{3}\u{4}") }) else {
            try read(JSONDocument(bytes), into: &result)
            return result
        }
        let archive = try ZipArchive(bytes)
        guard archive.entries[encrypted] == nil else { throw isEncrypted }
        switch try archive.content(data) {
        case .some(let content): try read(JSONDocument(content), into: &result)
        case .none: throw .malformed("", "this is no export of Proton Pass: the archive has no \(data)")
        }
        for name in archive.entries.keys.sorted() where name != data {
            result.note(.leftOut, "a file of the archive", place: name)
        }
        return result
    }

    private static func read(
        _ document: borrowing JSONDocument, into result: inout Imported
    ) throws(ImportError) {
        guard !(document.root["encrypted"]?.isTrue ?? false) else { throw isEncrypted }
        guard let vaults = document.root["vaults"], case .object(let members) = vaults.value else { throw .unknownJSON }
        for (_, vault) in members {
            let name = try document.text(vault["name"])
            document.noteUnread(
                in: vault, except: ["items", "display"], entry: name ?? "", place: "line \(vault.line)", into: &result)
            for node in vault["items"]?.elements ?? [] {
                let place = "line \(node.line)"
                do throws(ImportError) { try read(node, document, name, place, into: &result) } catch {
                    let title = try document.text(node["data"]?["metadata"]?["name"])
                    try result.leaveOut(error, entry: title ?? "", place: place)
                }
            }
        }
        document.noteUnread(in: document.root, except: ["vaults", "version", "userId"], into: &result)
    }

    /// Members of an entry that say nothing outside of Proton Pass: its numbers for things, the version of its form.
    private static let meaningless: Set<String> = [
        "itemId", "shareId", "contentFormatVersion", "shareCount", "data.metadata.itemUuid", "data.content.cardType",
        "state",
    ]

    private static let kinds: [String: ItemKind] = [
        "login": .login, "alias": .login, "note": .note, "creditCard": .card, "identity": .identity,
        "sshKey": .sshKey, "wifi": .note, "custom": .note,
    ]

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ vault: String?, _ place: String,
        into result: inout Imported
    ) throws(ImportError) {
        guard let data = node["data"] else { throw .malformed(place, "an entry has no data") }
        let name = try document.text(data["metadata"]?["name"]) ?? ""
        guard document.integer(node["state"]) != 2 else {
            return result.note(.leftOut, "an entry in the trash", entry: name, place: place)
        }
        let type = try document.text(data["type"]) ?? ""
        let item = try ImportedItem(
            kinds[type] ?? .note, path: [vault, name.isEmpty ? "unnamed" : name].compactMap(\.self), place: place,
            created: milliseconds(node["createTime"], document))
        if name.isEmpty { item.note(.changed, "an entry without a name") }
        if let alias = try document.string(node["aliasEmail"]) { try item.add(.text, "username", alias) }
        if let content = data["content"] { try readContent(content, type, document, item) }
        for field in data["extraFields"]?.elements ?? [] { try readField(field, document, item) }
        if let notes = try document.string(data["metadata"]?["note"]) { try item.addNotes(notes) }
        if node["pinned"]?.isTrue ?? false { item.favour() }
        let modified = milliseconds(node["modifyTime"], document)
        if kinds[type] == nil {
            item.note(.changed, "an entry of a kind that is not known, which is a note now")
            try document.addUnread(in: node, to: item, except: meaningless)
        }
        document.noteUnread(in: node, of: item, except: meaningless)
        item.finish(modified: modified)
        try result.append(item)
    }

    /// Members with a label or a kind of their own; any other text is an open field that is called as its member.
    private static let fields: [String: (label: String, kind: FieldKind)] = [
        "itemEmail": ("email", .text), "itemUsername": ("username", .text), "password": ("password", .secret),
        "cardholderName": ("holder", .text), "number": ("number", .secret),
        "verificationNumber": ("security code", .secret), "pin": ("PIN", .secret), "expirationDate": ("expires", .date),
        "birthdate": ("born", .date), "socialSecurityNumber": ("social security number", .secret),
        "passportNumber": ("passport number", .secret), "licenseNumber": ("license number", .secret),
        "website": ("website", .url), "personalWebsite": ("personal website", .url), "ssid": ("SSID", .text),
    ]

    private static func readContent(
        _ content: JSONNode, _ type: String, _ document: borrowing JSONDocument, _ item: ImportedItem,
        notes: String? = nil
    ) throws(ImportError) {
        for url in content["urls"]?.elements ?? [] {
            if let value = try document.string(url) { try item.add(.url, "website", value) }
        }
        if let code = try document.string(content["totpUri"]) { try item.addCode("code", code) }
        if let keys = content["passkeys"], !keys.isEmpty {
            item.note(.leftOut, "a passkey")
            keys.markRead()
        }
        if type == "sshKey" {
            try item.addKey(document.string(content["privateKey"]), told: document.text(content["publicKey"]))
        }
        let isRead: Set = ["urls", "totpUri", "passkeys", "privateKey", "publicKey"]
        for (key, value) in content.members where !isRead.contains(key) {
            if key == notes, let text = try document.string(value) {
                try item.addNotes(text)
            } else if key == "sections" || key == "extraSections" {
                try readSections(value, document, item)
            } else if key.hasPrefix("extra") {
                for field in value.elements ?? [] { try readField(field, document, item) }
            } else if let text = try document.string(value) {
                let (label, kind) = fields[key] ?? (ImportedItem.words(key), .text)
                try kind == .date ? item.addDate(label, text) : item.add(kind, label, text)
            }
        }
    }

    private static func readSections(
        _ sections: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        for section in sections.elements ?? [] {
            let name = try document.text(section["sectionName"]) ?? ""
            for field in section["sectionFields"]?.elements ?? [] { try readField(field, document, item, in: name) }
        }
    }

    private static func readField(
        _ field: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem, in section: String = ""
    ) throws(ImportError) {
        let name = try document.text(field["fieldName"]) ?? ""
        let (own, data) = (name.isEmpty ? "field" : name, field["data"])
        let label = item.label(own, in: section)
        let type = try document.text(field["type"])
        if let code = try document.string(data?["totpUri"]) {
            try item.addCode(label, code)
        } else if let time = try document.text(data?["timestamp"]) {
            // A time at midnight is a day.
            let isDay = time.hasSuffix("T00:00:00Z") || time.hasSuffix("T00:00:00.000Z")
            try isDay ? item.add(.date, label, text: String(time.prefix(10))) : item.add(.text, label, text: time)
        } else if let value = try document.string(data?["content"]) {
            try item.add(type == "text" ? .text : .secret, label, value, keepsEmpty: !name.isEmpty)
        } else {
            item.note(.leftOut, "the field \"\(name.prefix(64))\", which has no value that is known")
        }
    }

    /// Whether the table that Proton Pass writes has the content of such an entry in JSON, in place of its notes.
    ///
    /// Source: github.com/ProtonMail/WebClients, `packages/pass/lib/export/csv.ts`.
    static func hasContentInTable(_ type: String) -> Bool { ["creditCard", "identity"].contains(type) }

    /// Adds the content of an entry that is in the place of its notes; what is no JSON is its notes.
    /// - Parameter other: What the table takes, which is still there.
    static func addContent(
        _ text: consuming SecretBytes, of type: String, beside other: Int, to item: ImportedItem
    ) throws(ImportError) {
        switch try object(memory(text.copy()), beside: other) {
        case .some(let document):
            try readContent(document.root, type, document, item, notes: "note")
            document.noteUnread(in: document.root, of: item, except: ["cardType"])
        case .none: try item.addNotes(text)
        }
    }

    private static func object(
        _ text: consuming SecretBytes, beside other: Int
    ) throws(ImportError) -> JSONDocument? {
        do throws(ImportError) {
            let document = try JSONDocument(text, beside: other)
            guard case .object = document.root.value else { return nil }
            return document
        } catch {
            guard error.kind == .malformed || error.kind == .tooLarge else { throw error }
            return nil
        }
    }

    private static func milliseconds(_ node: JSONNode?, _ document: borrowing JSONDocument) -> Int64? {
        guard let seconds = document.integer(node), (1...253_402_300_799).contains(seconds) else { return nil }
        return Int64(seconds) * 1000
    }
}
