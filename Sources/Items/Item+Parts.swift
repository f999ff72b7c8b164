internal import SecretMemory
internal import VaultFormat

// What a text names in an item: one rule for commands and references.
extension Item {
    /// What a text can name.
    package enum Part: Sendable, Hashable {
        /// A field; of a file, its content is meant.
        case field(Field)
        /// The notes.
        case notes
    }

    /// What a text names: the first field of this label, by its bytes or else in whatever case; the first file of this
    /// name, likewise; the notes; and behind `#` and a number, the field or file with that number among those of the
    /// same label or name, from 1.
    /// - Returns: Nil where there is nothing of it.
    package borrowing func part(_ text: String) -> Part? {
        if let field = field(text) ?? numbered(text, 0) { return .field(field) }
        if text.lowercased() == "notes", layout.notes != nil { return .notes }
        guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "#")),
            let number = Item.number(text.utf8[text.utf8.index(after: mark)...])
        else { return nil }
        return numbered(String(text[..<mark]), number - 1).map { .field($0) }
    }

    /// Lends the value of what was named; of a file its content. Whoever gives it to a program asks
    /// ``requireHere(_:)`` first.
    /// - Throws: What `body` throws. A part of another item traps.
    package borrowing func withPart<R: ~Copyable, E: Error>(
        _ part: Part, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        switch part {
        case .notes:
            let range = layout.notes ?? 0..<0
            return try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
        case .field(let field):
            return try withValue(of: field) { value throws(E) in
                let content = field.kind == .file ? ItemValue.fileContent(value)?.content : nil
                return try body(value.extracting(content ?? 0..<value.byteCount))
            }
        }
    }

    /// One of those with the same label, or of the files with the same name.
    private borrowing func numbered(_ text: String, _ index: Int) -> Field? {
        let labels = Item.same(fields.map { ($0, $0.label) }, text)
        if !labels.isEmpty { return labels.indices.contains(index) ? labels[index] : nil }
        var files: [(Field, String)] = []
        for field in fields {
            if let name = withFile(of: field, { name, _ in name }) { files.append((field, name)) }
        }
        let named = Item.same(files, text)
        return named.indices.contains(index) ? named[index] : nil
    }

    /// Those with these bytes; else in whatever case.
    private static func same(_ all: [(Field, String)], _ text: String) -> [Field] {
        let exact = all.filter { $0.1.utf8.elementsEqual(text.utf8) }
        let folded = text.lowercased()
        return (exact.isEmpty ? all.filter { $0.1.lowercased() == folded } : exact).map(\.0)
    }

    /// A number from 1 without a sign or a zero before it.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard (1...3).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(String(Substring(digits)))
    }
}
