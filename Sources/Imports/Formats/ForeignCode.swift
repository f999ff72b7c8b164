internal import OneTimeCodes
internal import SecretMemory
internal import VaultFormat

/// A one-time code as programs describe it, before it is known whether Holdfast computes such codes.
struct ForeignCode {
    /// `totp`, `hotp`, `steam`, or a word for codes that are not known here.
    var kind: String
    var algorithm: String?
    var digits: Int?
    var period: Int?
    var counter: Int?
    var issuer = ""
    var account = ""

    /// The text of the code.
    /// - Parameter key: In base 32.
    /// - Returns: Nil for codes that cannot be computed here.
    /// - Throws: ``ImportError`` where there is no memory.
    func text(_ key: borrowing SecretBytes) throws(ImportError) -> SecretBytes? {
        var hash: OneTimeCode.Hash? = .sha1
        if let algorithm, !algorithm.isEmpty { hash = OneTimeCode.Hash(named: algorithm) }
        let moment: OneTimeCode.Moment? =
            kind == "hotp" ? UInt64(exactly: counter ?? 0).map { .counter($0) } : .time(period: period ?? 30)
        let characters: OneTimeCode.Characters = kind == "steam" ? .steam : .digits(digits ?? 6)
        guard ["totp", "hotp", "steam"].contains(kind), let hash, let moment,
            characters.count == digits ?? characters.count
        else { return nil }
        do throws(OneTimeCodeError) {
            return try OneTimeCode(
                base32: key, hash: hash, characters: characters, moment: moment, issuer: ForeignCode.plain(issuer),
                account: ForeignCode.plain(account)
            ).text()
        } catch .memory(let error) { throw ImportError(error) } catch { return nil }
    }

    /// A key as programs show it.
    /// - Throws: ``ImportError`` where there is no memory.
    static func key(_ bytes: RawSpan) throws(ImportError) -> SecretBytes {
        do throws(OneTimeCodeError) { return try Base32.text(bytes) } catch .memory(let error) {
            throw ImportError(error)
        } catch { throw ImportError(.unexpected, "", "the key cannot be written") }
    }

    /// A name with spaces in place of control characters, as the name of the item has them.
    private static func plain(_ name: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in name.unicodeScalars { plain.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar) }
        return String(plain)
    }
}

extension ImportedItem {
    /// Adds a code. One that cannot be computed here is noted, and all that it is made of becomes fields: its key a
    /// secret, its settings texts.
    /// - Parameter key: In base 32.
    func addCode(_ code: ForeignCode, key: borrowing SecretBytes) throws(ImportError) {
        switch try code.text(key) {
        case .some(let text): try add(.oneTimeCode, "code", text)
        case .none:
            note(.changed, ImportedItem.unknownCode)
            try add(.secret, "key", key)
            try add(.text, "type", text: code.kind)
            if let algorithm = code.algorithm { try add(.text, "algorithm", text: algorithm) }
            for (label, number) in [("digits", code.digits), ("period", code.period), ("counter", code.counter)] {
                if let number { try add(.text, label, text: "\(number)") }
            }
        }
    }
}

/// The groups of a file: an entry names its own by their identifiers. They become tags.
struct ForeignGroups {
    private var names: [String: String] = [:]
    private var unusedIdentifiers: Set<String> = []

    /// - Parameter key: The member that has a group's identifier.
    init(_ groups: JSONNode?, _ key: String, _ document: borrowing JSONDocument) throws(ImportError) {
        for group in groups?.elements ?? [] {
            if let id = try document.text(group[key]), let name = try document.text(group["name"]) {
                names[id] = name
                unusedIdentifiers.insert(id)
            }
        }
    }

    /// Gives an item the tag of a group that it names.
    mutating func add(_ id: String, to item: ImportedItem) {
        guard let name = names[id] else { return item.note(.leftOut, "a group that is not in the file") }
        unusedIdentifiers.remove(id)
        item.addTag(name)
    }

    /// Notes the groups that no entry named.
    func noteUnused(_ result: inout Imported) {
        for name in unusedIdentifiers.compactMap({ names[$0] }).sorted() {
            result.note(.leftOut, "a group without entries", entry: name)
        }
    }
}

extension SecretBytes {
    /// What a text in base 64 stands for; nil for what is none.
    static func decoded(base64 text: RawSpan) throws(ImportError) -> SecretBytes? {
        var buffer = SecretBuffer(limit: ImportLimits.file)
        try memory { () throws(SecretMemoryError) in try buffer.reserveCapacity(text.byteCount / 4 * 3) }
        guard try memory(Base64.decode(text, into: &buffer)) else { return nil }
        return try memory(buffer.bytes())
    }
}

extension RawSpan {
    /// Whether the bytes begin with an ASCII text in any case.
    func begins(inAnyCase text: String) -> Bool {
        guard text.utf8.count <= byteCount else { return false }
        return zip(text.utf8, 0...).allSatisfy { byte, offset in
            let own = self[offset]
            return own == byte || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(own) && own | 0x20 == byte
        }
    }
}
