internal import SecretMemory
internal import VaultFormat

/// The strings of an entry, each of which is used once.
struct KeePassStrings {
    private let nodes: [XMLNode]
    private var rest: [(key: String, value: XMLNode?)?]
    /// Where each key is first.
    private var places: [String: Int] = [:]

    init(_ entry: XMLNode) {
        nodes = entry.all("String")
        rest = nodes.map { ($0["Key"]?.openText ?? "", $0["Value"]) }
        for (place, string) in rest.enumerated() {
            if let key = string?.key, places[key] == nil { places[key] = place }
        }
    }

    /// The value of a key that nobody has used; of the first string with the key, if there are several.
    func value(_ key: String) -> XMLNode? { places[key].flatMap { rest[$0]?.value } }

    /// Uses the string of a key.
    /// - Returns: Its value; nil where there is none, or it was used.
    mutating func take(_ key: String) -> XMLNode? {
        guard let place = places[key], let string = rest[place] else { return nil }
        rest[place] = nil
        return string.value
    }

    /// What nobody has used, in the order of the file.
    var others: [(key: String, value: XMLNode)] {
        rest.compactMap { string in string.flatMap { string in string.value.map { (string.key, $0) } } }
    }
}

/// The attachments of an entry, each of which is used once.
struct KeePassBinaries {
    private var nodes: [XMLNode?]
    /// Where those of each name are, the last one first.
    private var places: [String: [Int]] = [:]

    init(_ entry: XMLNode) {
        let all = entry.all("Binary")
        nodes = all
        for (place, binary) in all.enumerated().reversed() {
            places[binary["Key"]?.openText ?? "", default: []].append(place)
        }
    }

    /// Uses the first attachment of a name; nil where there is none that nobody has used.
    mutating func take(_ name: String) -> XMLNode? {
        guard let place = places[name]?.popLast() else { return nil }
        return nodes[place].take()
    }

    /// What nobody has used, in the order of the file.
    var others: [XMLNode] { nodes.compactMap(\.self) }
}

extension XMLNode {
    /// Whether KeePass hides the value: it is encrypted once more, or was before an export.
    var isProtected: Bool {
        ["Protected", "ProtectInMemory"].contains { attributes[$0]?.lowercased() == "true" }
    }

    /// The kind of a field that has the value: what KeePass hides is in no open field, whatever a file says of us.
    func kind(_ kind: FieldKind) -> FieldKind { isProtected && kind.isOpen ? .secret : kind }
}
