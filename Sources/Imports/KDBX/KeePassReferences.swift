internal import SecretMemory
internal import VaultFormat

/// What values refer to: the value of another entry (`{REF:P@I:` and that entry's number), or another value of the same
/// one (`{USERNAME}`), in any field and within other text, as KeePassXC resolves them.
///
/// A text can double with each step, and a search goes through all entries: what they read is counted in bytes, and has
/// a limit for the whole file. What leads nowhere, to several entries or in a circle, or beyond a limit, is not
/// resolved.
final class KeePassReferences: @unchecked Sendable {  // one thread reads a file
    /// A value with everything in place.
    struct Value: ~Copyable {
        let text: SecretBytes
        /// Whether a part of it is hidden where it comes from, or is one that no open field should have.
        let isProtected: Bool
    }

    enum Outcome: ~Copyable {
        /// It refers to nothing.
        case plain
        case resolved(Value)
        /// It stays the text that it is.
        case unresolved
    }

    /// How many values lead to each other, at most, as in KeePassXC.
    private static let deepest = 10
    /// Bytes that values become, at most, all together; and one alone.
    private static let mostBytes = 16 << 20, longest = 1 << 20
    /// Bytes that are read and compared and elements that are visited for it, at most; and what following one costs
    /// beside that.
    static let mostWork = 32 << 20
    private static let step = 64

    /// A value that a search may find, and its entry.
    private struct Found {
        let value: XMLNode
        let entry: XMLNode
    }

    /// What values have that a search compares with another one.
    private struct Place: Hashable {
        let field: KeePassPlaceholder.Field
        let count: Int
    }

    private var values: [Place: [Found]] = [:]
    private var numbers: [String: XMLNode] = [:]
    /// The values of entries by the bytes of their keys, of those entries that were asked for one.
    private var strings: [ObjectIdentifier: [[UInt8]: XMLNode]] = [:]
    private var bytes = 0
    /// What was read, compared and visited until now.
    private(set) var work = 0

    /// - Returns: False beyond the limit.
    private func charge(_ count: Int) -> Bool {
        work += count
        return work <= KeePassReferences.mostWork
    }

    /// Finds all entries below groups.
    init(_ tops: [XMLNode]) { for top in tops { collect(top) } }

    private func collect(_ group: XMLNode) {
        for child in group.children {
            if child.name == "Group" { collect(child) }
            guard child.name == "Entry" else { continue }
            for string in child.children where string.name == "String" {
                guard let value = string["Value"] else { continue }
                let key = string["Key"]?.openText ?? ""
                let field = KeePassPlaceholder.Field.allCases.first { $0.key == key && !key.isEmpty }
                let place = Place(field: field ?? .other, count: value.byteCount)
                values[place, default: []].append(Found(value: value, entry: child))
            }
            if let number = KeePassReferences.digits(child), numbers[number] == nil { numbers[number] = child }
        }
    }

    /// An entry's number as references write it: base 64 in hexadecimal digits.
    private static func digits(_ entry: XMLNode) -> String? {
        let box = SecretBufferBox(limit: 64)
        let isNumber = try? entry["UUID"]?.text?.withBytes { text throws(ImportError) in
            text.byteCount <= 64 ? try box.appendBase64(text) : false
        }
        guard isNumber == true, box.count == 16 else { return nil }
        return box.withBytes { bytes in
            (0..<16).map { String(Int(bytes[$0]) + 256, radix: 16).dropFirst() }.joined()
        }
    }

    /// - Parameter owner: The entry that the value is of.
    func resolve(_ value: XMLNode, of owner: XMLNode) throws(ImportError) -> Outcome {
        let isPlain =
            value.text?.withBytes { text in
                text.byteCount > KeePassReferences.longest || !KeePassPlaceholder.isThere(in: text)
            } ?? true
        guard !isPlain else { return .plain }
        let output = SecretBufferBox(limit: KeePassReferences.longest)
        var way = Way()
        guard try expand(value, of: owner, into: output, &way) else { return .unresolved }
        return .resolved(Value(text: try output.bytes(), isProtected: way.isProtected))
    }

    /// The values on the way to one, and what was met there.
    private struct Way {
        var values: [ObjectIdentifier] = []
        var isProtected = false
    }

    /// - Returns: False where something cannot be resolved.
    private func expand(
        _ value: XMLNode, of owner: XMLNode, into output: SecretBufferBox, _ way: inout Way
    ) throws(ImportError) -> Bool {
        let id = ObjectIdentifier(value)
        guard way.values.count < KeePassReferences.deepest, !way.values.contains(id) else { return false }
        way.values.append(id)
        defer { way.values.removeLast() }
        guard value.byteCount <= KeePassReferences.longest, charge(value.byteCount) else { return false }
        return try value.text?.withBytes { text throws(ImportError) in
            var (start, position) = (0, 0)
            while position < text.byteCount {
                guard text[position] == UInt8(ascii: "{"),
                    let (placeholder, end) = KeePassPlaceholder.at(position, in: text)
                else {
                    position += 1
                    continue
                }
                guard try append(text.extracting(start..<position), to: output),
                    try append(placeholder, text, of: owner, to: output, &way)
                else { return false }
                (start, position) = (end, end)
            }
            return try append(text.extracting(start..<text.byteCount), to: output)
        } ?? true
    }

    private func append(_ text: RawSpan, to output: SecretBufferBox) throws(ImportError) -> Bool {
        bytes += text.byteCount
        guard bytes <= KeePassReferences.mostBytes, output.count + text.byteCount <= KeePassReferences.longest else {
            return false
        }
        try output.append(text)
        return true
    }

    private func append(
        _ placeholder: KeePassPlaceholder, _ text: RawSpan, of owner: XMLNode, to output: SecretBufferBox,
        _ way: inout Way
    ) throws(ImportError) -> Bool {
        guard charge(KeePassReferences.step) else { return false }
        switch placeholder {
        case .unknown: return false
        case .own(let field): return try append(field, of: owner, to: output, &way)
        case .string(let name):
            let key = text.openText(name)
            guard let value = value(of: owner, key) else { return false }
            way.isProtected = way.isProtected || key == "URL" && mayHaveSecret(value)
            return try append(value, key, of: owner, to: output, &way)
        case .part(let part):
            let address = SecretBufferBox(limit: KeePassReferences.longest)
            // An entry has an address; an empty one may not be written.
            guard let value = value(of: owner, "URL") else { return work <= KeePassReferences.mostWork }
            way.isProtected =
                way.isProtected || part == .password || part == .userInfo || part.mayHaveSecret && mayHaveSecret(value)
            guard try append(value, "URL", of: owner, to: address, &way) else { return false }
            return try address.withBytes { address throws(ImportError) in
                let range = KeePassPlaceholder.part(part, of: address)
                guard let range = range ?? (part == .withoutScheme ? 0..<address.byteCount : nil) else { return true }
                return try append(address.extracting(range), to: output)
            }
        case .reference(let wanted, let field, let range):
            guard let entry = find(field, text.extracting(range)) else { return false }
            if wanted == .number {
                guard charge(entry.children.count), let digits = KeePassReferences.digits(entry) else { return false }
                let number = Array(digits.uppercased().utf8)
                return try unsafe append(number.span.bytes, to: output)
            }
            return try append(wanted, of: entry, to: output, &way)
        }
    }

    private func append(
        _ field: KeePassPlaceholder.Field, of entry: XMLNode, to output: SecretBufferBox, _ way: inout Way
    ) throws(ImportError) -> Bool {
        // An entry has all of them; an empty one may not be written.
        guard let value = value(of: entry, field.key) else { return work <= KeePassReferences.mostWork }
        way.isProtected = way.isProtected || field == .address && mayHaveSecret(value)
        return try append(value, field.key, of: entry, to: output, &way)
    }

    private func append(
        _ value: XMLNode, _ key: String, of entry: XMLNode, to output: SecretBufferBox, _ way: inout Way
    ) throws(ImportError) -> Bool {
        // Hidden where they are here, though not always in KeePass.
        let isHidden = key == "Password" || key == "Notes" || KeePassCodes.isSecret(key)
        let isCode = value.text?.withBytes { $0.begins(with: ItemValue.oneTimeCodePrefix) } ?? false
        way.isProtected = way.isProtected || value.isProtected || isHidden || isCode
        return try expand(value, of: entry, into: output, &way)
    }

    /// Whether an address has a place for a password or a token: before an `@`, or behind `?` or `#`. Which part it is
    /// does not count: programs read addresses in many ways.
    private func mayHaveSecret(_ value: XMLNode) -> Bool {
        value.text?.withBytes { text in
            (0..<text.byteCount).contains { "@?#".utf8.contains(text[$0]) }
        } ?? false
    }

    /// The value of the first string with a key; nil where there is none, or beyond the limit.
    private func value(of entry: XMLNode, _ key: String) -> XMLNode? {
        let id = ObjectIdentifier(entry)
        if strings[id] == nil { strings[id] = index(entry) }
        return strings[id]?[Array(key.utf8)]
    }

    private func index(_ entry: XMLNode) -> [[UInt8]: XMLNode] {
        var index: [[UInt8]: XMLNode] = [:]
        guard charge(entry.children.count) else { return [:] }
        for string in entry.children where string.name == "String" {
            let key = string["Key"]
            guard charge(string.children.count + (key?.byteCount ?? 0)) else { return [:] }
            let bytes = key?.text?.withBytes { text in (0..<text.byteCount).map { text[$0] } } ?? []
            guard let value = string["Value"], index[bytes] == nil else { continue }
            index[bytes] = value
        }
        return index
    }

    /// The one entry that has the text in a field; where none has it, the one that has it in another case.
    private func find(_ field: KeePassPlaceholder.Field, _ wanted: RawSpan) -> XMLNode? {
        if field == .number {
            return wanted.byteCount == 32 ? numbers[wanted.openText(0..<wanted.byteCount).lowercased()] : nil
        }
        let candidates = values[Place(field: field, count: wanted.byteCount)] ?? []
        for isSame in [isEqual, isSimilar] as [(RawSpan, RawSpan) -> Bool] {
            var found: XMLNode?
            for value in candidates {
                guard charge(1 + wanted.byteCount) else { return nil }
                guard value.entry !== found, value.value.text?.withBytes({ isSame($0, wanted) }) ?? false else {
                    continue
                }
                if found != nil { return nil }
                found = value.entry
            }
            if found != nil { return found }
        }
        return nil
    }

    private func isEqual(_ text: RawSpan, _ wanted: RawSpan) -> Bool {
        text.byteCount == wanted.byteCount && (0..<text.byteCount).allSatisfy { text[$0] == wanted[$0] }
    }

    /// Letters outside of ASCII are the same in one case only.
    private func isSimilar(_ text: RawSpan, _ wanted: RawSpan) -> Bool {
        func small(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        return text.byteCount == wanted.byteCount
            && (0..<text.byteCount).allSatisfy { small(text[$0]) == small(wanted[$0]) }
    }
}

extension KeePassPlaceholder.Field {
    /// The key of its string; empty for what is no one string.
    var key: String {
        switch self {
        case .title: "Title"
        case .user: "UserName"
        case .password: "Password"
        case .address: "URL"
        case .notes: "Notes"
        case .number, .other: ""
        }
    }
}
