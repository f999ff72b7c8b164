internal import CommandLineArguments
internal import Holdfast
internal import SecretMemory
internal import VaultFormat

/// An item as text in an editor. Writing and reading it again gives the same item.
enum ItemText {
    /// Bytes that an edited text may have: base 64 makes an item longer.
    static let limit = 2 * ItemLimits.size

    private static let help = """
        # Save and close to store this; close it unchanged to change nothing.
        # A field is its kind (text, secret, url, otp, date, file), its label, a colon and its value.
        # A value of several lines stands below its field, each line behind "| ".
        # A value that is no text is written in base 64, with the word base64 before the kind.
        # Delete a line to remove a field; what it held goes to the item's history.


        """

    static func write(_ item: borrowing Item, path: String) throws(SecretMemoryError) -> SecretBuffer {
        var text = SecretBuffer()
        try text.append("# \(Escaping.name(path))\n" + help)
        try text.append("kind: \(ItemTemplate.all.first { $0.kind == item.kind }?.word ?? "\(item.kind.rawValue)")\n")
        try text.append("favourite: \(item.isFavourite ? "yes" : "no")\n")
        for tag in item.tags { try text.append("tag: \(tag)\n") }
        try text.append("\n")
        for field in item.fields {
            let label = ItemText.label(field.label)
            let file = item.withFile(of: field) { name, _ in name }
            if let file {
                try text.append("file \(label): \(file)\n")
                continue
            }
            try item.withValue(of: field) { value throws(SecretMemoryError) in
                let word = field.kind.word ?? "kind\(field.kind.rawValue)"
                guard isText(value) else {
                    try text.append("base64 \(word) \(label): ")
                    try Base64.append(value, to: &text)
                    return try text.append("\n")
                }
                try text.append("\(word) \(label):")
                try append(value, to: &text)
            }
        }
        _ = try item.withNotes { notes throws(SecretMemoryError) in
            guard isText(notes) else {
                try text.append("base64 notes: ")
                try Base64.append(notes, to: &text)
                return try text.append("\n")
            }
            try text.append("notes:")
            try append(notes, to: &text)
        }
        return text
    }

    private static func append(_ value: RawSpan, to text: inout SecretBuffer) throws(SecretMemoryError) {
        var hasLines = false
        for offset in 0..<value.byteCount where value.byte(at: offset) == UInt8(ascii: "\n") { hasLines = true }
        guard hasLines else {
            if value.byteCount > 0 { try text.append(UInt8(ascii: " ")) }
            try text.append(value)
            return try text.append(UInt8(ascii: "\n"))
        }
        try text.append("\n| ")
        for offset in 0..<value.byteCount {
            try text.append(value.byte(at: offset))
            if value.byte(at: offset) == UInt8(ascii: "\n") { try text.append("| ") }
        }
        try text.append(UInt8(ascii: "\n"))
    }

    /// Whether a value can stand in the text as it is.
    private static func isText(_ value: RawSpan) -> Bool {
        guard value.isUTF8 else { return false }
        for offset in 0..<value.byteCount {
            let byte = value.byte(at: offset)
            if byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") { continue }
            if byte < 0x20 || byte == 0x7F { return false }
        }
        return true
    }

    /// In quotes where it would not be understood without.
    static func label(_ label: String) -> String {
        let isPlain =
            !label.contains { ":\"\\".contains($0) } && label.first != " " && label.last != " "
        if isPlain { return label }
        return "\"" + label.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}

/// What a text in an editor says.
struct EditedItem: ~Copyable {
    /// A value that is shared with the list it is in.
    final class Value: Sendable {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    struct Field {
        let kind: FieldKind
        let label: String
        let value: Value
        /// For errors.
        let line: Int
    }

    var kind: ItemKind?
    var isFavourite = false
    var tags: [String] = []
    var fields: [Field] = []
    var notes: Value?
}

extension Item {
    /// The field that a text on the command line names, by the rule for all (``Items/Item/part(_:)``), or by the
    /// beginning of one label alone.
    /// - Throws: `fieldNotFound`, which says what the item has.
    borrowing func named(_ text: String) throws(CommandError) -> Field {
        if case .field(let field) = part(text) { return field }
        let folded = text.lowercased()
        let all = fields
        let found = all.filter { $0.label.lowercased().hasPrefix(folded) }
        if found.count == 1 { return found[0] }
        let labels = all.map { ShellWord.always($0.label) }.joined(separator: ", ")
        let near = Suggestion.nearest(to: folded, among: all.map { $0.label.lowercased() })
        let index = near.flatMap { near in all.firstIndex { $0.label.lowercased() == near } }
        throw CommandError(
            .notFound, code: .fieldNotFound, "no field '\(Escaping.name(text))' in this entry",
            advice: index.map { "did you mean \(ShellWord.always(all[$0].label))?" }
                ?? (labels.isEmpty ? "it has no fields" : "it has \(labels)"))
    }
}
