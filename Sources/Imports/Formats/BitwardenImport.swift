internal import Cryptography
package import SecretMemory
internal import VaultFormat

/// Bitwarden's JSON export, plain or protected with a password of its own.
package enum BitwardenImport {
    /// - Parameter password: Nil for none.
    /// - Throws: ``ImportError``; `passwordNeeded` where the file is protected.
    package static func read(
        _ bytes: consuming SecretBytes, password: borrowing SecretBytes?, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let document = try JSONDocument(bytes)
        guard document.root["encrypted"]?.isTrue ?? false else { return try read(document, options) }
        guard document.root["passwordProtected"]?.isTrue ?? false else {
            throw ImportError(
                .unsupported, "",
                "the file is encrypted for the account that wrote it; export it again with a password of its own, or without one"
            )
        }
        switch password {
        case .none: throw ImportError(.passwordNeeded, "", "the file is protected with a password")
        case .some(let password):
            return try read(JSONDocument(decrypt(document, password), beside: document.size), options)
        }
    }

    private static func read(
        _ document: borrowing JSONDocument, _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        guard let items = document.root["items"]?.elements else {
            throw ImportError(.malformed, "", "this is no export of Bitwarden: the list of items is missing")
        }
        var folders: [String: String] = [:]
        for list in ["folders", "collections"] {
            for folder in document.root[list]?.elements ?? [] {
                guard let id = try document.text(folder["id"]), let name = try document.text(folder["name"]) else {
                    continue
                }
                folders[id] = name
            }
        }
        var result = Imported(options)
        for (index, node) in items.enumerated() {
            let place = "line \(node.line), item \(index + 1)"
            do throws(ImportError) { try read(node, document, folders, place, into: &result) } catch {
                try result.leaveOut(error, entry: document.text(node["name"]) ?? "", place: place)
            }
        }
        return result
    }

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ folders: [String: String], _ place: String,
        into result: inout Imported
    ) throws(ImportError) {
        let kinds: [Int: ItemKind] = [1: .login, 2: .note, 3: .card, 4: .identity, 5: .sshKey]
        guard let type = document.integer(node["type"]), let kind = kinds[type] else {
            return result.note(
                .leftOut, "an entry of a kind that is not known", entry: try document.text(node["name"]) ?? "",
                place: place)
        }
        guard node["deletedDate"]?.isEmpty ?? true else {
            return result.note(
                .leftOut, "an entry in the trash", entry: try document.text(node["name"]) ?? "", place: place)
        }
        guard let name = try document.text(node["name"]) else { throw .malformed(place, "an item has no name") }
        var path: [String] = []
        if let folder = try document.text(node["folderId"]).flatMap({ folders[$0] }) {
            path = folder.split(separator: "/").map(String.init)
        }
        let created = try document.text(node["creationDate"]).flatMap(ForeignTime.milliseconds)
        let item = try ImportedItem(kind, path: path + [name], place: place, created: created)
        if let login = node["login"] { try readLogin(login, document, item) }
        for (group, fields) in groups {
            guard let part = node[group] else { continue }
            for (key, label, kind) in fields {
                if let value = try document.string(part[key]) { try item.add(kind, label, value) }
            }
        }
        try readExpiry(node["card"], document, item)
        for field in node["fields"]?.elements ?? [] {
            let label = try document.text(field["name"]) ?? "field"
            if document.integer(field["type"]) == 3 {
                item.note(.leftOut, "a linked field")
            } else if let value = try document.string(field["value"]) {
                try item.add(document.integer(field["type"]) == 1 ? .secret : .text, label, value)
            }
        }
        if let notes = try document.string(node["notes"]) { try item.addNotes(notes) }
        if node["favorite"]?.isTrue ?? false { item.favour() }
        if let reprompt = node["reprompt"], !reprompt.isEmpty, document.integer(reprompt) != 0 { item.askEachTime() }
        if !(node["archivedDate"]?.isEmpty ?? true) { item.addTag("archived") }
        for earlier in (node["passwordHistory"]?.elements ?? []).reversed() {
            guard let value = try document.string(earlier["password"]) else { continue }
            let time = try document.text(earlier["lastUsedDate"]).flatMap(ForeignTime.milliseconds)
            try item.addEarlier(.secret, "password", value, replaced: time)
        }
        for (key, value) in node.members where !known.contains(key) && !value.isEmpty {
            item.note(.leftOut, "the member \(key.prefix(64))")
        }
        item.finish(modified: try document.text(node["revisionDate"]).flatMap(ForeignTime.milliseconds))
        try result.append(item)
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
        if let keys = login["fido2Credentials"]?.elements, !keys.isEmpty { item.note(.leftOut, "a passkey") }
    }

    private static func readExpiry(
        _ card: JSONNode?, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        guard let card, let month = try document.text(card["expMonth"]).flatMap({ Int($0) }),
            let year = try document.text(card["expYear"]).flatMap({ Int($0) }), (1...12).contains(month),
            (1000...9999).contains(year)
        else { return }
        try item.add(.date, "expires", text: "\(year)-" + (month < 10 ? "0" : "") + "\(month)")
    }

    /// Members of an item that are read, or that mean nothing here.
    private static let known: Set<String> = [
        "type", "name", "folderId", "login", "card", "identity", "sshKey", "secureNote", "fields", "notes", "favorite",
        "passwordHistory", "creationDate", "revisionDate", "id", "organizationId", "collectionIds", "reprompt",
        "object",
        "deletedDate", "archivedDate", "key",
    ]

    private static let groups: [(String, [(String, String, FieldKind)])] = [
        (
            "card",
            [
                ("cardholderName", "holder", .text), ("brand", "brand", .text), ("number", "number", .secret),
                ("code", "security code", .secret),
            ]
        ),
        (
            "identity",
            [
                ("title", "title", .text), ("firstName", "first name", .text), ("middleName", "middle name", .text),
                ("lastName", "last name", .text), ("company", "company", .text), ("email", "email", .text),
                ("phone", "phone", .text), ("username", "username", .text), ("address1", "address 1", .text),
                ("address2", "address 2", .text), ("address3", "address 3", .text), ("city", "city", .text),
                ("state", "state", .text), ("postalCode", "postal code", .text), ("country", "country", .text),
                ("ssn", "social security number", .secret), ("passportNumber", "passport number", .secret),
                ("licenseNumber", "license number", .secret),
            ]
        ),
        (
            "sshKey",
            [
                ("privateKey", "private key", .secret), ("publicKey", "public key", .text),
                ("keyFingerprint", "fingerprint", .text),
            ]
        ),
    ]
}
