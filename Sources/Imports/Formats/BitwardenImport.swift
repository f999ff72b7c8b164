internal import Cryptography
package import SecretMemory
internal import VaultFormat

/// Bitwarden's JSON export, plain or protected with a password of its own, of one person or of an organisation; and the
/// ZIP archive of such a file, `data.json`, and the attachments below `attachments/`.
///
/// Source: the export models in github.com/bitwarden/clients, `libs/common/src/models/export`.
package enum BitwardenImport {
    /// - Parameter password: Nil for none.
    /// - Throws: ``ImportError``; `passwordNeeded` where the file is protected.
    package static func read(
        _ bytes: consuming SecretBytes, password: borrowing SecretBytes?, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        guard bytes.withBytes({ !$0.begins(with: "PK\u{3}\u{4}") }) else {
            let archive = try ZipArchive(bytes)
            switch try archive.content(data) {
            case .some(let content): return try read(JSONDocument(content), password: password, archive, options)
            case .none: throw .malformed("", "this is no export of Bitwarden: the archive has no \(data)")
            }
        }
        return try read(JSONDocument(bytes), password: password, nil, options)
    }

    /// The file inside of the archive that holds the items.
    static let data = "data.json"

    /// Whether bytes are an archive of Bitwarden.
    static func isExport(_ bytes: RawSpan) -> Bool { ZipArchive.holds(data, bytes) }

    private static func read(
        _ document: consuming JSONDocument, password: borrowing SecretBytes?, _ archive: consuming ZipArchive?,
        _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        guard document.root["encrypted"]?.isTrue ?? false else { return try read(document, archive, options) }
        guard document.root["passwordProtected"]?.isTrue ?? false else {
            throw ImportError(
                .unsupported, "",
                "the file is encrypted for the account that wrote it; export it again with a password of its own, or without one"
            )
        }
        switch password {
        case .none: throw ImportError(.passwordNeeded, "", "the file is protected with a password")
        case .some(let password):
            let content = try decrypt(document, password)
            // What it came out of goes before it is read.
            document = try JSONDocument(content)
            return try read(document, archive, options)
        }
    }

    private static func read(
        _ document: borrowing JSONDocument, _ archive: borrowing ZipArchive?, _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        guard let items = document.root["items"]?.elements else { throw .unknownJSON }
        var result = Imported(options)
        var (folders, files) = (try Folders(document), Files())
        switch archive {
        case .some(let archive): files = Files(archive)
        case .none: break
        }
        for (index, node) in items.enumerated() {
            let place = "line \(node.line), item \(index + 1)"
            let attached = files.take(of: try document.text(node["id"]) ?? "")
            do throws(ImportError) {
                guard let item = try item(node, document, &folders, place, into: &result) else { continue }
                switch archive {
                case .some(let archive):
                    for (name, path) in attached { try item.addFile("file", name: name, at: path, in: archive) }
                case .none: break
                }
                try result.append(item)
            } catch {
                try result.leaveOut(error, entry: document.text(node["name"]) ?? "", place: place)
            }
        }
        for path in files.left { result.note(.leftOut, "a file that no entry has", place: path) }
        for name in folders.unused { result.note(.leftOut, "a folder without entries", entry: name) }
        document.noteUnread(in: document.root, except: listed, into: &result)
        return result
    }

    /// Members of an entry that say nothing outside of Bitwarden: its numbers for things, keys that only its server's
    /// data need, and the one kind of note that there is.
    private static let meaningless: Set<String> = ["id", "organizationId", "object", "key", "secureNote.type"]
    /// What is listed elsewhere, and as ``meaningless`` of folders and collections.
    private static let listed: Set<String> = [
        "items", "collections.organizationId", "collections.externalId", "collections.groups", "collections.users",
        "collections.object", "folders.object",
    ]

    private static let kinds: [Int: ItemKind] = [
        1: .login, 2: .note, 3: .card, 4: .identity, 5: .sshKey, 6: .card, 7: .identity, 8: .identity,
    ]

    /// An entry; nil for one in the trash, which is noted.
    private static func item(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ folders: inout Folders, _ place: String,
        into result: inout Imported
    ) throws(ImportError) -> ImportedItem? {
        let name = try document.text(node["name"]) ?? ""
        guard node["deletedDate"]?.isEmpty ?? true else {
            folders.use(node, document)
            result.note(.leftOut, "an entry in the trash", entry: name, place: place)
            return nil
        }
        let kind = document.integer(node["type"]).flatMap { kinds[$0] }
        let folder = try folders.place(of: node, document)
        let item = try ImportedItem(
            kind ?? .note, path: folder.path + [name.isEmpty ? "unnamed" : name], place: place,
            created: document.time(node["creationDate"], of: nil))
        _ = try document.time(node["creationDate"], of: item)
        if name.isEmpty { item.note(.changed, "an entry without a name") }
        if folder.isMissing { item.note(.leftOut, "a folder or collection that the file does not name") }
        if folder.isCut { item.note(.changed, "a name of more than \(Folders.longestName) bytes, which was cut") }
        for other in folder.others { item.addTag(other) }
        if folder.hasMore { item.note(.leftOut, "more than \(Folders.mostOthers) further folders or collections") }
        if !folder.others.isEmpty {
            item.note(.changed, "more than one folder or collection: the first is its folder, the others are tags")
        }
        if let login = node["login"] { try readLogin(login, document, item) }
        for (group, fields) in groups {
            guard let part = node[group] else { continue }
            for (key, label, kind) in fields {
                guard let value = try document.string(part[key]) else { continue }
                try kind == .date ? item.addDate(label, value) : item.add(kind, label, value)
            }
        }
        try readKey(node["sshKey"], document, item)
        try readExpiry(node["card"], document, item)
        for field in node["fields"]?.elements ?? [] { try readField(field, document, item) }
        if let notes = try document.string(node["notes"]) { try item.addNotes(notes) }
        if node["favorite"]?.isTrue ?? false { item.favour() }
        if let reprompt = node["reprompt"], !reprompt.isEmpty, document.integer(reprompt) != 0 {
            item.askEachTime()
            reprompt.markRead()
        }
        if let archived = node["archivedDate"], !archived.isEmpty {
            item.addTag("archived")
            archived.markRead()
        }
        for earlier in (node["passwordHistory"]?.elements ?? []).reversed() {
            guard let value = try document.string(earlier["password"]) else { continue }
            let time = try document.time(earlier["lastUsedDate"], of: item)
            try item.addEarlier(.secret, "password", value, replaced: time)
        }
        let modified = try document.time(node["revisionDate"], of: item)
        if kind == nil {
            item.note(.changed, "an entry of a kind that is not known, which is a note now")
            try document.addUnread(in: node, to: item, except: meaningless)
        }
        document.noteUnread(in: node, of: item, except: meaningless)
        item.finish(modified: modified)
        return item
    }

    private static func readLogin(
        _ login: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        if let value = try document.string(login["username"]) { try item.add(.text, "username", value) }
        if let value = try document.string(login["password"]) { try item.add(.secret, "password", value) }
        for uri in login["uris"]?.elements ?? [] {
            if let value = try document.string(uri["uri"]) { try item.add(.url, "website", value) }
        }
        if let code = try document.string(login["totp"]) { try item.addCode("code", code) }
        if let keys = login["fido2Credentials"], !keys.isEmpty {
            item.note(.leftOut, "a passkey")
            keys.markRead()
        }
    }

    /// A custom field: a text, a secret, a check box, or another field under a name of its own.
    private static func readField(
        _ field: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        let (name, type) = (try document.text(field["name"]) ?? "", document.integer(field["type"]))
        if type == 3 {
            field.markRead()
            return item.note(.leftOut, "the linked field \"\(name.prefix(64))\"")
        }
        let kind: FieldKind = type == 0 || type == 2 ? .text : .secret
        if let value = try document.string(field["value"]), value.count > 0 {
            try item.add(kind, name.isEmpty ? "field" : name, value)
        } else if !name.isEmpty, field["value"]?.isEmpty ?? true {
            // That there is a field of this name may be all that it says.
            try item.add(kind, name, SecretBytes.none(), keepsEmpty: true)
        }
    }

    private static func readExpiry(
        _ card: JSONNode?, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        guard let card else { return }
        try item.addExpiry(month: document.text(card["expMonth"]), year: document.text(card["expYear"]))
    }

    private static func readKey(
        _ key: JSONNode?, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        guard let key else { return }
        try item.addKey(document.string(key["privateKey"]), told: document.text(key["publicKey"]))
        if let value = try document.text(key["keyFingerprint"]) { try item.add(.text, "fingerprint", text: value) }
    }
}
