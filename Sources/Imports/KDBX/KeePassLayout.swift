internal import Items
internal import SecretMemory
internal import VaultFormat

/// What an item of ours has that an entry of KeePass has no place for, as an item of the entry's custom data, which
/// other programs keep and do not show: lines of words, each word percent-encoded. No value is in it: a field says
/// where its value is, so that what was changed in KeePass is as it is there.
struct KeePassLayout: Equatable {
    /// The key of the custom data; and of that of an entry's earlier version, which tells what was replaced in it.
    static let key = "holdfast.item", earlierKey = "holdfast.earlier"

    /// Where a value is.
    enum Place: String {
        /// A string, which may refer to others as every one does.
        case string = "string"
        /// A string that says what it says, though it looks as if it referred to something.
        case literal = "literal"
        /// An attachment, which is the value: text cannot have it.
        case content = "content"
        /// An attachment, with its name.
        case file = "file"
        /// The time at which the entry expires; the key is the date as we have it.
        case expiry = "expiry"
    }

    struct Field: Equatable {
        let kind: FieldKind
        let place: Place
        let label: String
        /// Of the string or the attachment.
        let key: String
        /// A file's name, where the attachment had to get another.
        var name = ""
        /// When an earlier value was replaced, in milliseconds since 1970.
        var replaced: Int64?
    }

    var kind = ItemKind.login
    var isFavourite = false
    /// Whether the entry is a value of its own, whose attachment is all of it.
    var isRecord = false
    /// Milliseconds since 1970; KeePass keeps seconds.
    var created: Int64 = 0, modified: Int64 = 0
    /// Whether the title refers to nothing, though it looks so.
    var isTitleLiteral = false, areNotesLiteral = false
    var tags: [String] = []
    var fields: [Field] = []

    init() {}

    var text: String {
        var lines = ["kind \(kind.rawValue)", "times \(created) \(modified)"]
        if isFavourite { lines.append("favourite") }
        if isRecord { lines.append("record") }
        if isTitleLiteral { lines.append("title") }
        if areNotesLiteral { lines.append("notes") }
        if !tags.isEmpty { lines.append((["tags"] + tags.map(KeePassLayout.encode)).joined(separator: " ")) }
        lines += fields.map { "field " + $0.words }
        return lines.joined(separator: "\n")
    }

    /// Nil for a text of another form; lines of a newer version are passed over.
    init?(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            var words: [String] = []
            for word in line.split(separator: " ") {
                guard let word = KeePassLayout.decode(word) else { return nil }
                words.append(word)
            }
            switch words.first {
            case "kind":
                guard words.count == 2, let number = UInt8(words[1]), number > 0 else { return nil }
                kind = ItemKind(rawValue: number)
            case "times":
                guard words.count == 3, let first = Int64(words[1]), let last = Int64(words[2]) else { return nil }
                (created, modified) = (first, last)
            case "favourite": isFavourite = true
            case "record": isRecord = true
            case "title": isTitleLiteral = true
            case "notes": areNotesLiteral = true
            case "tags": tags = Array(words.dropFirst())
            case "field":
                guard fields.count < ItemLimits.fields, let field = Field(words.dropFirst()) else { return nil }
                fields.append(field)
            default: break
            }
        }
    }

    fileprivate static func encode(_ word: String) -> String {
        var text = ""
        for byte in word.utf8 {
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + String(Int(byte) + 256, radix: 16).dropFirst()
            }
        }
        return text
    }

    private static func decode(_ word: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = word.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension KeePassLayout.Field {
    /// Five words; a file's name and a time behind them, each with its mark.
    var words: String {
        var words = ["\(kind.rawValue)", place.rawValue, KeePassLayout.encode(label), KeePassLayout.encode(key)]
        if !name.isEmpty { words.append("name=" + KeePassLayout.encode(name)) }
        if let replaced { words.append("replaced=\(replaced)") }
        return words.joined(separator: " ")
    }

    fileprivate init?(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard words.count >= 4, let number = UInt8(words[0]), number > 0,
            let place = KeePassLayout.Place(rawValue: words[1])
        else { return nil }
        self.init(kind: FieldKind(rawValue: number), place: place, label: words[2], key: words[3])
        for word in words.dropFirst(4) {
            if word.hasPrefix("name=") { name = String(word.dropFirst(5)) }
            if word.hasPrefix("replaced=") { replaced = Int64(word.dropFirst(9)) }
        }
    }
}

extension KeePassLayout {
    /// The value of a file's field: its name, then what the attachment has.
    static func fileValue(_ field: Field, _ content: RawSpan) throws(ImportError) -> SecretBytes {
        let name = Array((field.name.isEmpty ? field.key : field.name).utf8.prefix(ItemLimits.fileName))
        var value = try memory(SecretBytes(zeroed: 2 + name.count + content.byteCount))
        value.withMutableBytes { value in
            value.store(UInt16(name.count), at: 0)
            unsafe value.store(name.span.bytes, at: 2)
            value.store(content, at: 2 + name.count)
        }
        return value
    }
}
