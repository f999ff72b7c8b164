internal import Cryptography
package import SecretMemory
internal import VaultFormat

/// Aegis' JSON export, plain or encrypted with a password.
package enum AegisImport {
    /// - Throws: ``ImportError``; `passwordNeeded` where the file is encrypted.
    package static func read(
        _ bytes: consuming SecretBytes, password: borrowing SecretBytes?, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        var document = try JSONDocument(bytes)
        guard document.integer(document.root["version"]) == 1, let database = document.root["db"] else {
            throw ImportError(.unsupported, "", "this is no export of Aegis that is known")
        }
        let content: SecretBytes? = try document.withString(database) { sealed throws(ImportError) in
            switch password {
            case .none: throw ImportError(.passwordNeeded, "", "the file is encrypted")
            case .some(let password): try decrypt(sealed, document, password)
            }
        }
        guard let content else { return try entries(database, document, options) }
        // What it came out of goes before it is read.
        document = try JSONDocument(content)
        return try entries(document.root, document, options)
    }

    private static func entries(
        _ database: JSONNode, _ document: borrowing JSONDocument, _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        guard let entries = database["entries"]?.elements else {
            throw ImportError(.malformed, "", "the list of entries is missing")
        }
        var groups = try ForeignGroups(database["groups"], "uuid", document)
        var result = Imported(options)
        for (index, node) in entries.enumerated() {
            let place = "line \(node.line), entry \(index + 1)"
            do throws(ImportError) { try read(node, document, &groups, place, into: &result) } catch {
                try result.leaveOut(error, entry: document.text(node["name"]) ?? "", place: place)
            }
        }
        groups.noteUnused(&result)
        document.noteUnread(in: database, except: meaningless, into: &result)
        return result
    }

    /// The format's own settings; entries are listed by themselves.
    private static let meaningless: Set = ["version", "entries", "icons_optimized"]

    /// What the app knows an entry by, and its picture.
    private static let meaninglessOfEntry: Set = ["uuid", "icon", "icon_mime", "icon_hash"]

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ groups: inout ForeignGroups, _ place: String,
        into result: inout Imported
    ) throws(ImportError) {
        guard let info = node["info"], let key = try document.string(info["secret"]), key.count > 0 else {
            throw .malformed(place, "the key is missing")
        }
        var code = ForeignCode(
            kind: try document.text(node["type"]) ?? "", algorithm: try document.text(info["algo"]),
            digits: document.integer(info["digits"]), period: document.integer(info["period"]),
            counter: document.integer(info["counter"]), issuer: try document.text(node["issuer"]) ?? "",
            account: try document.text(node["name"]) ?? "")
        // Aegis let MD5 be chosen once, and computes such codes with SHA-1.
        if code.kind != "motp", code.algorithm == "MD5" { code.algorithm = "SHA1" }
        let item = try ImportedItem(.oneTimeCode, path: [code.issuer, code.account], place: place)
        try item.addCode(code, key: key)
        // Without it, the key of Yandex or mOTP is of no use.
        if let pin = try document.string(info["pin"]) { try item.add(.secret, "pin", pin) }
        if let note = try document.string(node["note"]) { try item.addNotes(note) }
        if node["favorite"]?.isTrue ?? false { item.favour() }
        for group in node["groups"]?.elements ?? [] {
            if let id = try document.text(group) { groups.add(id, to: item) }
        }
        // Before version 3 an entry has the name of its group itself.
        if let group = try document.text(node["group"]) { item.addTag(group) }
        document.noteUnread(in: node, of: item, except: meaninglessOfEntry)
        try result.append(item)
    }

    private static func decrypt(
        _ sealed: RawSpan, _ document: borrowing JSONDocument, _ password: borrowing SecretBytes
    ) throws(ImportError) -> SecretBytes {
        let header = document.root["header"]
        guard let params = header?["params"] else {
            throw ImportError(.malformed, "header", "the parameters are missing")
        }
        var master: SecretBytes?
        let slots = header?["slots"]?.elements ?? []
        guard slots.count <= 16 else { throw ImportError(.tooLarge, "header", "there are more than 16 slots") }
        var work = 0
        for (index, slot) in slots.enumerated() where document.integer(slot["type"]) == 1 {
            master = try key(slot, document, password, "slot \(index + 1)", work: &work)
            if master != nil { break }
        }
        switch master {
        case .none: throw ImportError(.wrongPassword, "", "the password is not the file's")
        case .some(let master):
            var content = SecretBuffer(limit: ImportLimits.file)
            let isValid = try memory { () throws(SecretMemoryError) in
                try content.reserveCapacity(sealed.byteCount / 4 * 3)
                return try Base64.decode(sealed, into: &content)
            }
            guard isValid else { throw .malformed("db", "nonce, tag or content is missing") }
            return try content.withBytes { content throws(ImportError) in
                try open(content, params, document, key: master, "db")
            }
        }
    }

    /// What the password opens of a slot; nil where it is not the slot's.
    private static func key(
        _ slot: JSONNode, _ document: borrowing JSONDocument, _ password: borrowing SecretBytes, _ place: String,
        work: inout Int
    ) throws(ImportError) -> SecretBytes? {
        let outer = BulkMemory.begin(isAllowed: false)
        defer { BulkMemory.end(outer) }
        guard let cost = document.integer(slot["n"]), let block = document.integer(slot["r"]),
            let lanes = document.integer(slot["p"]), let salt = try hex(slot["salt"], document),
            let sealed = try hex(slot["key"], document), let params = slot["key_params"]
        else { throw .malformed(place, "a part is missing") }
        guard cost > 1, cost <= 1 << 20, cost & (cost - 1) == 0, (1...32).contains(block), (1...16).contains(lanes),
            128 * cost * block <= ImportLimits.scryptMemory
        else {
            throw ImportError(.tooLarge, place, "the key derivation asks for too much")
        }
        work += 128 * cost * block * lanes
        guard ImportLimits.allowsDerivation(passes: 1, of: UInt64(work)) else {
            throw ImportError(.tooLarge, place, "the key derivation asks for too much")
        }
        let derived = try salt.withBytes { salt throws(ImportError) in
            try cryptography(Scrypt.derive(password, salt: salt, cost: cost, block: block, lanes: lanes, count: 32))
        }
        do throws(ImportError) {
            return try sealed.withBytes { sealed throws(ImportError) in
                try open(sealed, params, document, key: derived, place)
            }
        } catch {
            guard error.kind == .wrongPassword else { throw error }
            return nil
        }
    }

    private static func hex(_ node: JSONNode?, _ document: borrowing JSONDocument) throws(ImportError) -> SecretBytes? {
        switch try document.string(node) {
        case .none: nil
        case .some(let text): try text.withBytes { text throws(ImportError) in try Hex.decode(text) }
        }
    }

    private static func open(
        _ content: RawSpan, _ params: JSONNode, _ document: borrowing JSONDocument,
        key: borrowing SecretBytes, _ place: String
    ) throws(ImportError) -> SecretBytes {
        guard let nonce = try hex(params["nonce"], document), let tag = try hex(params["tag"], document),
            nonce.count == 12,
            tag.count == 16, content.byteCount > 0
        else { throw .malformed(place, "nonce, tag or content is missing") }
        return try nonce.withBytes { nonce throws(ImportError) in
            try tag.withBytes { tag throws(ImportError) in
                do throws(CryptographyError) {
                    return try AuthenticatedCipher.open(content, tag: tag, key: key, nonce: nonce)
                } catch {
                    throw ImportError(.wrongPassword, place, "the password is not the file's, or it was changed")
                }
            }
        }
    }
}
