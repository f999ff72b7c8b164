internal import SecretMemory
internal import VaultFormat

/// Values that stand in another entry: `{REF:P@I:` and that entry's number, as KeePass and KeePassXC write them into
/// copies.
struct KeePassReferences {
    private var entries: [String: XMLNode] = [:]

    /// Finds all entries below a group.
    init(_ top: XMLNode) { collect(top) }

    private mutating func collect(_ group: XMLNode) {
        for entry in group.all("Entry") {
            guard let number = KeePassReferences.digits(entry["UUID"]), entries[number] == nil else { continue }
            entries[number] = entry
        }
        for child in group.all("Group") { collect(child) }
    }

    /// An entry's number as references write it: base 64 in hexadecimal digits.
    private static func digits(_ node: XMLNode?) -> String? {
        let box = SecretBufferBox(limit: 64)
        let isNumber = try? node?.text?.withBytes { text throws(ImportError) in
            text.byteCount <= 64 ? try box.appendBase64(text) : false
        }
        guard isNumber == true, box.count == 16 else { return nil }
        return box.withBytes { bytes in
            (0..<16).map { String(Int(bytes[$0]) + 256, radix: 16).dropFirst() }.joined()
        }
    }

    /// What a value refers to, or the value itself. A reference of another form, or one that leads nowhere or in a
    /// circle, stays the text that it is, and is noted.
    func followed(_ value: XMLNode, _ item: ImportedItem) -> XMLNode {
        if let found = followed(value) { return found }
        item.note(.changed, "a reference to another entry, which is the text of the reference now")
        return value
    }

    /// Nil where a reference leads nowhere.
    func followed(_ value: XMLNode) -> XMLNode? {
        var current = value
        for _ in 0..<8 {
            guard KeePassReferences.isThere(in: current) else { return current }
            guard let (field, number) = KeePassReferences.target(of: current), let entry = entries[number],
                let next = entry.all("String").first(where: { $0["Key"]?.openText == field })?["Value"]
            else { return nil }
            current = next
        }
        return nil
    }

    private static let mark: StaticString = "{REF:"
    private static let fields: [UInt8: String] = [
        UInt8(ascii: "T"): "Title", UInt8(ascii: "U"): "UserName", UInt8(ascii: "P"): "Password",
        UInt8(ascii: "A"): "URL", UInt8(ascii: "N"): "Notes",
    ]

    private static func isThere(in node: XMLNode) -> Bool {
        let size = mark.utf8CodeUnitCount
        return node.text?.withBytes { text in
            guard text.byteCount >= size else { return false }
            return (0...text.byteCount - size).contains { text[$0] == 0x7B && text.equals(mark, $0..<$0 + size) }
        } ?? false
    }

    /// The field and the number of a value that is one reference by number and nothing else.
    private static func target(of node: XMLNode) -> (field: String, number: String)? {
        node.text?.withBytes { text -> (String, String)? in
            guard text.byteCount == 42, text.equals(mark, 0..<5), text.equals("@I:", 6..<9), text[41] == 0x7D,
                let field = fields[text[5]]
            else { return nil }
            return (field, text.openText(9..<41).lowercased())
        } ?? nil
    }
}
