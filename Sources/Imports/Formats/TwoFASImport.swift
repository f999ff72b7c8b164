internal import Cryptography
internal import OneTimeCodes
package import SecretMemory
internal import VaultFormat

/// A backup of 2FAS (`.2fas`, JSON, schemas 1 to 4), plain or encrypted with a password.
package enum TwoFASImport {
    /// - Throws: ``ImportError``; `passwordNeeded` where the file is encrypted.
    package static func read(
        _ bytes: consuming SecretBytes, password: borrowing SecretBytes?, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let document = try JSONDocument(bytes)
        let root = document.root
        guard let version = document.integer(root["schemaVersion"]), let services = root["services"]?.elements else {
            throw ImportError(.malformed, "", "this is no backup of 2FAS: the list of services is missing")
        }
        guard (1...4).contains(version) else {
            throw ImportError(.unsupported, "", "the file was written by a newer version of 2FAS")
        }
        var result = Imported(options)
        var groups = try ForeignGroups(root["groups"], "id", document)
        try read(services, document, &groups, into: &result)
        let content: SecretBytes? = try document.withString(root["servicesEncrypted"]) { sealed throws(ImportError) in
            switch password {
            case .none: throw ImportError(.passwordNeeded, "", "the file is encrypted")
            case .some(let password): try decrypt(sealed, password)
            }
        }
        if let content {
            let inner = try JSONDocument(content, beside: document.size)
            guard let services = inner.root.elements else {
                throw ImportError(.malformed, "servicesEncrypted", "the list of services is missing")
            }
            try read(services, inner, &groups, into: &result)
        }
        groups.noteUnused(&result)
        document.noteUnread(in: root, except: meaningless, into: &result)
        return result
    }

    /// What is of the app and of the backup itself; services and groups are listed by themselves.
    private static let meaningless: Set = [
        "services", "groups.isExpanded", "groups.updatedAt", "updatedAt", "appVersionCode", "appVersionName",
        "appOrigin", "reference",
    ]

    /// Pictures and places in the list, and the QR code that the settings were read from.
    private static let meaninglessOfService: Set = [
        "type", "serviceTypeID", "order", "badge", "icon", "otp.link", "otp.source",
    ]

    private static func read(
        _ services: [JSONNode], _ document: borrowing JSONDocument, _ groups: inout ForeignGroups,
        into result: inout Imported
    ) throws(ImportError) {
        for (index, node) in services.enumerated() {
            let place = "line \(node.line), service \(index + 1)"
            do throws(ImportError) { try read(node, document, &groups, place, into: &result) } catch {
                try result.leaveOut(error, entry: document.text(node["name"]) ?? "", place: place)
            }
        }
    }

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ groups: inout ForeignGroups, _ place: String,
        into result: inout Imported
    ) throws(ImportError) {
        guard let key = try document.string(node["secret"]), key.count > 0 else {
            throw .malformed(place, "the key is missing")
        }
        let otp = node["otp"]
        let name = try document.text(node["name"]) ?? ""
        let issuer = try document.text(otp?["issuer"]) ?? ""
        let label = try document.text(otp?["label"]) ?? ""
        let account = try document.text(otp?["account"]) ?? ""
        let code = ForeignCode(
            kind: try document.text(otp?["tokenType"])?.lowercased() ?? "totp",
            algorithm: try document.text(otp?["algorithm"]), digits: document.integer(otp?["digits"]),
            period: document.integer(otp?["period"]), counter: document.integer(otp?["counter"]),
            issuer: issuer.isEmpty ? name : issuer, account: account)
        let item = try ImportedItem(.oneTimeCode, path: [name.isEmpty ? issuer : name, account], place: place)
        try item.addCode(code, key: key)
        if !["", name, account, "\(name):\(account)", "\(issuer):\(account)"].contains(label) {
            try item.add(.text, "label", text: label)
        }
        if let id = try document.text(node["groupId"]), !id.isEmpty { groups.add(id, to: item) }
        let modified = document.integer(node["updatedAt"])
        document.noteUnread(in: node, of: item, except: meaninglessOfService)
        // Milliseconds, until the year 9999.
        if let modified, (1...253_402_300_799_999).contains(modified) { item.finish(modified: Int64(modified)) }
        try result.append(item)
    }

    /// Content and tag, salt, and nonce, in base 64 with colons between: AES-256-GCM under a key that PBKDF2 gives.
    private static func decrypt(
        _ sealed: RawSpan, _ password: borrowing SecretBytes
    ) throws(ImportError) -> SecretBytes {
        let place = "servicesEncrypted"
        let parts = try parts(sealed, place)
        let key = try parts.salt.withBytes { salt throws(ImportError) in
            let outer = BulkMemory.begin(isAllowed: false)
            defer { BulkMemory.end(outer) }
            return try cryptography(PBKDF2SHA256.derive(password, salt: salt, rounds: 10_000, count: 32))
        }
        return try parts.content.withBytes { content throws(ImportError) in
            try parts.nonce.withBytes { nonce throws(ImportError) in
                let end = content.byteCount - 16
                do throws(CryptographyError) {
                    return try AuthenticatedCipher.open(
                        content.extracting(0..<end), tag: content.extracting(end..<content.byteCount), key: key,
                        nonce: nonce)
                } catch {
                    throw ImportError(.wrongPassword, "", "the password is not the file's, or the file was changed")
                }
            }
        }
    }

    private struct Parts: ~Copyable { let content, salt, nonce: SecretBytes }

    private static func parts(_ text: RawSpan, _ place: String) throws(ImportError) -> Parts {
        var colons: [Int] = []
        for offset in 0..<text.byteCount where text[offset] == UInt8(ascii: ":") {
            colons.append(offset)
            guard colons.count < 3 else { break }
        }
        guard colons.count == 2 else { throw .malformed(place, "there are not three parts") }
        func part(_ range: Range<Int>) throws(ImportError) -> SecretBytes {
            switch try SecretBytes.decoded(base64: text.extracting(range)) {
            case .some(let part): return part
            case .none: throw .malformed(place, "this is not base 64")
            }
        }
        let parts = Parts(
            content: try part(0..<colons[0]), salt: try part(colons[0] + 1..<colons[1]),
            nonce: try part(colons[1] + 1..<text.byteCount))
        guard parts.content.count > 16, (8...1024).contains(parts.salt.count), parts.nonce.count == 12 else {
            throw .malformed(place, "a part has the wrong size")
        }
        return parts
    }
}
