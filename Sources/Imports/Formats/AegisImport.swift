internal import Cryptography
package import SecretMemory
internal import VaultFormat

/// Aegis' JSON export, plain or encrypted with a password.
package enum AegisImport {
    /// - Throws: ``ImportError``; `passwordNeeded` where the file is encrypted.
    package static func read(
        _ bytes: consuming SecretBytes, password: borrowing SecretBytes?, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let document = try JSONDocument(bytes)
        guard document.integer(document.root["version"]) == 1, let database = document.root["db"] else {
            throw ImportError(.unsupported, "", "this is no export of Aegis that is known")
        }
        guard let sealed = try document.string(database) else { return try entries(database, document, options) }
        switch password {
        case .none: throw ImportError(.passwordNeeded, "", "the file is encrypted")
        case .some(let password):
            let inner = try JSONDocument(decrypt(sealed, document, password), beside: document.size)
            return try entries(inner.root, inner, options)
        }
    }

    private static func entries(_ database: JSONNode, _ document: borrowing JSONDocument, _ options: ImportOptions)
        throws(ImportError)
        -> Imported
    {
        guard let entries = database["entries"]?.elements else {
            throw ImportError(.malformed, "", "the list of entries is missing")
        }
        var groups: [String: String] = [:]
        for group in database["groups"]?.elements ?? [] {
            if let id = try document.text(group["uuid"]), let name = try document.text(group["name"]) {
                groups[id] = name
            }
        }
        var result = Imported(options)
        for (index, node) in entries.enumerated() {
            let place = "line \(node.line), entry \(index + 1)"
            let issuer = try document.text(node["issuer"]) ?? ""
            let name = try document.text(node["name"]) ?? ""
            guard let info = node["info"], let secret = try document.string(info["secret"]) else {
                throw .malformed(place, "the key is missing")
            }
            let item = try ImportedItem(.oneTimeCode, path: [issuer, name], place: place)
            guard let text = try address(node, info, document, issuer: issuer, account: name, secret) else {
                try item.add(.secret, "key", secret)
                item.note(.changed, ImportedItem.unknownCode)
                try result.append(item)
                continue
            }
            try item.addCode("code", text)
            if let note = try document.string(node["note"]) { try item.addNotes(note) }
            if node["favorite"]?.isTrue ?? false { item.favour() }
            for group in node["groups"]?.elements ?? [] {
                if let tag = try document.text(group).flatMap({ groups[$0] }) { item.addTag(tag) }
            }
            try result.append(item)
        }
        return result
    }

    /// Nil for codes of another kind, such as Steam's.
    private static func address(
        _ node: JSONNode, _ info: JSONNode, _ document: borrowing JSONDocument, issuer: String, account: String,
        _ secret: borrowing SecretBytes
    ) throws(ImportError) -> SecretBytes? {
        let type = try document.text(node["type"])
        guard type == "totp" || type == "hotp", let type else { return nil }
        let algorithm = try document.text(info["algo"]) ?? "SHA1"
        let digits = document.integer(info["digits"]) ?? 6
        let moment =
            type == "totp"
            ? "period=\(document.integer(info["period"]) ?? 30)" : "counter=\(document.integer(info["counter"]) ?? 0)"
        return try memory { () throws(SecretMemoryError) in
            var text = SecretBuffer()
            try text.append("otpauth://\(type)/\(percent(issuer))%3A\(percent(account))?secret=")
            try secret.withBytes { secret throws(SecretMemoryError) in
                for offset in 0..<secret.byteCount where secret[offset] != UInt8(ascii: "=") {
                    try text.append(secret[offset])
                }
            }
            try text.append("&algorithm=\(algorithm)&digits=\(digits)&\(moment)&issuer=\(percent(issuer))")
            return try text.bytes()
        }
    }

    private static func percent(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count < 2 ? "0" : "") + digits
        }.joined()
    }

    private static func decrypt(
        _ sealed: borrowing SecretBytes, _ document: borrowing JSONDocument, _ password: borrowing SecretBytes
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
        let content = try memory { () throws(SecretMemoryError) in
            var content = SecretBuffer(limit: ImportLimits.file)
            let isValid = try sealed.withBytes { sealed throws(SecretMemoryError) in
                try Base64.decode(sealed, into: &content)
            }
            return isValid ? try content.bytes() : try SecretBytes(zeroed: 0)
        }
        switch master {
        case .none: throw ImportError(.wrongPassword, "", "the password is not the file's")
        case .some(let master): return try open(content, params, document, key: master, "db")
        }
    }

    /// What the password opens of a slot; nil where it is not the slot's.
    private static func key(
        _ slot: JSONNode, _ document: borrowing JSONDocument, _ password: borrowing SecretBytes, _ place: String,
        work: inout Int
    ) throws(ImportError) -> SecretBytes? {
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
        do throws(ImportError) { return try open(sealed, params, document, key: derived, place) } catch {
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
        _ content: borrowing SecretBytes, _ params: JSONNode, _ document: borrowing JSONDocument,
        key: borrowing SecretBytes, _ place: String
    ) throws(ImportError) -> SecretBytes {
        guard let nonce = try hex(params["nonce"], document), let tag = try hex(params["tag"], document),
            nonce.count == 12,
            tag.count == 16, content.count > 0
        else { throw .malformed(place, "nonce, tag or content is missing") }
        return try content.withBytes { content throws(ImportError) in
            try nonce.withBytes { nonce throws(ImportError) in
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
}
