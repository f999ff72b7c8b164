internal import Items
internal import SecretMemory
internal import VaultFormat

// An item as an entry: its fields as KeePass has them, its earlier values as earlier versions, and the rest in custom
// data (KeePassLayout).
extension KDBXExport {
    mutating func append(
        _ item: borrowing Item, title: String, _ origin: String?, _ file: KDBXGroup.Attachment?
    ) throws(ImportError) {
        var values = KDBXValues(item)
        let current = values.current
        var layout = KeePassLayout()
        layout.kind = item.kind
        layout.isFavourite = item.isFavourite
        layout.isRecord = file != nil
        (layout.created, layout.modified) = (item.created, item.modified)
        layout.isTitleLiteral = unsafe KeePassPlaceholder.isThere(in: Array(title.utf8).span.bytes)
        layout.areNotesLiteral = item.withNotes { KeePassPlaceholder.isThere(in: $0) } ?? false
        layout.tags = item.tags
        layout.fields = values.places(of: current, item, isCurrent: true)
        let expiry = layout.fields.first { $0.place == .expiry }.flatMap { KeePassTime.expiry($0.key) }
        try write("<Entry>")
        try write("<UUID>\(Base64ID.text(item.id.bytes))</UUID>")
        try writeTimes(created: item.created, modified: item.modified, expiry: expiry)
        if !item.tags.isEmpty { try write(element: "Tags", item.tags.joined(separator: ";")) }
        try write(string: "Title", text: title)
        if let origin { try write(string: KeePassTree.originKey, text: origin) }
        try write(current, layout.fields, &values, item)
        if item.withNotes({ _ in true }) ?? false { try writeNotes(item) }
        if let file {
            files.append(file.content)
            try write(binary: KDBXValues.plain(file.name), files.count - 1)
        }
        try write(data: KeePassLayout.key, layout.text)
        try writeHistory(title, &values, item)
        try write("</Entry>")
    }

    /// Earlier versions, the oldest first: each is the entry as it was before one value was replaced.
    private mutating func writeHistory(
        _ title: String, _ values: inout KDBXValues, _ item: borrowing Item
    ) throws(ImportError) {
        let history = item.history
        guard !history.isEmpty else { return }
        try write("<History>")
        for (index, earlier) in history.enumerated() {
            var version = values.version(before: index)
            var fields = values.places(of: version, item, isCurrent: false)
            guard let changed = version.firstIndex(where: { $0.source == .earlier(index) }) else { continue }
            var field = fields[changed]
            field.replaced = earlier.replaced
            // Where there is no room for all, what was replaced alone is the version.
            let cost = version.reduce(item.withNotes { $0.byteCount } ?? 0) { $0 + $1.size + 128 }
            let isWhole = cost <= room
            if isWhole { room -= cost } else { (version, fields) = ([version[changed]], [fields[changed]]) }
            try write("<Entry><UUID>\(Base64ID.text(item.id.bytes))</UUID>")
            try writeTimes(
                created: item.created, modified: index == 0 ? item.created : history[index - 1].replaced, expiry: nil)
            try write(string: "Title", text: title)
            try write(version, fields, &values, item)
            if isWhole { try writeNotes(item) }
            try write(data: KeePassLayout.earlierKey, field.words)
            try write("</Entry>")
        }
        try write("</History>")
    }

    /// Strings and attachments.
    private mutating func write(
        _ version: [KDBXValues.Value], _ fields: [KeePassLayout.Field], _ values: inout KDBXValues,
        _ item: borrowing Item
    ) throws(ImportError) {
        for (value, field) in zip(version, fields) {
            switch field.place {
            case .expiry: break
            case .string, .literal:
                try values.withBytes(of: value.source, item) { bytes throws(ImportError) in
                    try write(string: field.key, value: bytes, isSecret: !value.kind.isOpen)
                }
            case .content, .file:
                let number: Int
                if let known = values.files[value.source] {
                    number = known
                } else {
                    let content = try values.withBytes(of: value.source, item) { bytes throws(ImportError) in
                        let part = field.place == .file ? ItemValue.fileContent(bytes)?.content : nil
                        return try KeePassTree.File(copying: bytes.extracting(part ?? 0..<bytes.byteCount))
                    }
                    files.append(content)
                    number = files.count - 1
                    values.files[value.source] = number
                }
                try write(binary: field.key, number)
            }
        }
    }

    private mutating func writeNotes(_ item: borrowing Item) throws(ImportError) {
        _ = try item.withNotes { notes throws(ImportError) in try write(string: "Notes", value: notes, isSecret: false)
        }
    }

    private mutating func write(binary name: String, _ number: Int) throws(ImportError) {
        try write("<Binary><Key>")
        try write(escaped: name)
        try write("</Key><Value Ref=\"\(number)\"/></Binary>")
    }

    private mutating func write(data key: String, _ text: String) throws(ImportError) {
        try write("<CustomData><Item><Key>\(key)</Key><Value>")
        try write(escaped: text)
        try write("</Value></Item></CustomData>")
    }

    private mutating func writeTimes(created: Int64, modified: Int64, expiry: Int64?) throws(ImportError) {
        try write("<Times><CreationTime>\(KDBXExport.time(created))</CreationTime>")
        try write("<LastModificationTime>\(KDBXExport.time(modified))</LastModificationTime>")
        if let expiry { try write("<ExpiryTime>\(KDBXExport.time(expiry))</ExpiryTime>") }
        try write("<Expires>\(expiry == nil ? "False" : "True")</Expires></Times>")
    }

    /// Seconds since the year 1, in base 64.
    private static func time(_ milliseconds: Int64) -> String {
        let seconds = KeePassTime.seconds(milliseconds) + 62_135_596_800
        return Base64ID.text((0..<8).map { UInt8(truncatingIfNeeded: seconds >> (8 * Int64($0))) })
    }

    mutating func write(element name: String, _ text: String) throws(ImportError) {
        try write("<\(name)>")
        try write(escaped: text)
        try write("</\(name)>")
    }

    private mutating func write(string key: String, text: String) throws(ImportError) {
        let bytes = Array(text.utf8)
        try unsafe write(string: key, value: bytes.span.bytes, isSecret: false)
    }

    private mutating func write(string key: String, value: RawSpan, isSecret: Bool) throws(ImportError) {
        try write("<String>")
        try write(element: "Key", key)
        // The whole content is encrypted; the mark keeps the value hidden in the program that opens it.
        try write(isSecret ? "<Value ProtectInMemory=\"True\">" : "<Value>")
        for offset in 0..<value.byteCount { try write(character: value[offset]) }
        try write("</Value></String>")
    }

    private mutating func write(escaped text: String) throws(ImportError) {
        for byte in KDBXValues.plain(text).utf8 { try write(character: byte) }
    }

    private mutating func write(character byte: UInt8) throws(ImportError) {
        switch byte {
        case UInt8(ascii: "<"): try write("&lt;")
        case UInt8(ascii: ">"): try write("&gt;")
        case UInt8(ascii: "&"): try write("&amp;")
        case UInt8(ascii: "\""): try write("&quot;")
        case 0x0D: try write("&#xD;")
        default:
            do throws(SecretMemoryError) { try xml.append(byte) } catch { throw ImportError(error) }
        }
    }

    mutating func write(_ text: String) throws(ImportError) {
        do throws(SecretMemoryError) { try xml.append(text) } catch { throw ImportError(error) }
    }
}

/// Bytes that are no secret, in base 64.
enum Base64ID {
    static func text(_ bytes: [UInt8]) -> String {
        var text = SecretBuffer()
        _ = try? unsafe Base64.append(bytes.span.bytes, to: &text)
        return text.withBytes { $0.openText(0..<$0.byteCount) }
    }
}

/// The values of an item, as it is and as it was, and where each goes in an entry.
struct KDBXValues {
    /// Where a value of the item is.
    enum Source: Hashable { case field(Int), earlier(Int) }

    struct Value {
        let kind: FieldKind
        let label: String
        let size: Int
        let source: Source
    }

    /// What the bytes of a value are for XML.
    private enum Form { case text, literal, bytes }

    let current: [Value]
    /// Where each attachment is among the files that were written.
    var files: [Source: Int] = [:]
    private let fields: [Item.Field]
    private let history: [Item.Earlier]
    private var forms: [Source: Form] = [:]
    /// By the number of the replaced value.
    private let versions: [[Value]]

    init(_ item: borrowing Item) {
        fields = item.fields
        history = item.history
        current = fields.enumerated().map {
            Value(kind: $1.kind, label: $1.label, size: $1.size, source: .field($0))
        }
        // From the end: before a value was replaced, its field had it.
        var version = current
        var versions: [[Value]] = []
        for (index, earlier) in history.enumerated().reversed() {
            let value = Value(
                kind: earlier.kind, label: earlier.label, size: earlier.size, source: .earlier(index))
            if let place = version.firstIndex(where: { $0.label.utf8.elementsEqual(earlier.label.utf8) }) {
                version[place] = value
            } else {
                version.append(value)
            }
            versions.append(version)
        }
        self.versions = versions.reversed()
    }

    func version(before index: Int) -> [Value] { versions[index] }

    func withBytes<R: ~Copyable, E: Error>(
        of source: Source, _ item: borrowing Item, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        switch source {
        case .field(let index): try item.withValue(of: fields[index], body)
        case .earlier(let index): try item.withValue(of: history[index], body)
        }
    }

    private mutating func form(_ source: Source, _ item: borrowing Item) -> Form {
        if let known = forms[source] { return known }
        let form = withBytes(of: source, item) { bytes -> Form in
            guard KDBXValues.isText(bytes) else { return .bytes }
            return KeePassPlaceholder.isThere(in: bytes) || bytes.isCommand ? .literal : .text
        }
        forms[source] = form
        return form
    }

    /// Where the values of a version go, one by one. An earlier version does not expire.
    mutating func places(
        of version: [Value], _ item: borrowing Item, isCurrent: Bool
    ) -> [KeePassLayout.Field] {
        var keys = Names(["Title", "UserName", "Password", "URL", "Notes", "otp", KeePassTree.originKey])
        var attachments = Names([])
        var usual = ["username": "UserName", "password": "Password", "website": "URL"]
        var (hasCode, hasExpiry, addresses) = (false, false, 0)
        return version.map { value in
            if value.kind == .file {
                let name = withBytes(of: value.source, item) { bytes in
                    ItemValue.fileContent(bytes).map { bytes.text($0.name) }
                }
                let key = attachments.unique(KDBXValues.plain(name ?? value.label))
                return KeePassLayout.Field(
                    kind: value.kind, place: name == nil ? .content : .file, label: value.label, key: key,
                    name: name == key ? "" : name ?? "")
            }
            if isCurrent, !hasExpiry, value.kind == .date, value.label == "expires" {
                let date = withBytes(of: value.source, item) { $0.openText(0..<$0.byteCount) }
                if KeePassTime.expiry(date) != nil {
                    hasExpiry = true
                    return KeePassLayout.Field(kind: value.kind, place: .expiry, label: value.label, key: date)
                }
            }
            let form = form(value.source, item)
            guard form != .bytes else {
                // XML cannot have it; as a file it comes back byte by byte.
                let key = attachments.unique(KDBXValues.plain(value.label) + ".bin")
                return KeePassLayout.Field(kind: value.kind, place: .content, label: value.label, key: key)
            }
            let place: KeePassLayout.Place = form == .literal ? .literal : .string
            var key = usual.removeValue(forKey: value.label.lowercased())
            if key == nil, value.kind == .oneTimeCode, !hasCode {
                // KeePassXC computes codes by time only.
                hasCode = withBytes(of: value.source, item) { $0.begins(with: "otpauth://totp/") }
                if hasCode { key = "otp" }
            }
            if key == nil, value.kind == .url {
                key = keys.unique(addresses == 0 ? "KP2A_URL" : "KP2A_URL_\(addresses)")
                addresses += 1
            }
            return KeePassLayout.Field(
                kind: value.kind, place: place, label: value.label,
                key: key ?? keys.unique(KDBXValues.plain(value.label)))
        }
    }

    /// Names, each once.
    private struct Names {
        private var used: Set<String>

        init(_ used: Set<String>) { self.used = used }

        /// The name, or the name with a number, in front of what it ends with.
        mutating func unique(_ name: String) -> String {
            var (result, number) = (name, 2)
            let point = name.lastIndex(of: ".") ?? name.endIndex
            while !used.insert(result).inserted {
                result = "\(name[..<point]) \(number)\(name[point...])"
                number += 1
            }
            return result
        }
    }

    /// Whether XML can have these bytes as text.
    private static func isText(_ value: RawSpan) -> Bool {
        guard value.isUTF8 else { return false }
        return (0..<value.byteCount).allSatisfy { offset in
            if value[offset] < 0x20 { return [9, 10, 13].contains(value[offset]) }
            // U+FFFE and U+FFFF are no characters.
            return value[offset] < 0xBE || offset < 2 || value[offset - 2] != 0xEF || value[offset - 1] != 0xBF
        }
    }

    /// A name without what XML cannot have.
    static func plain(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { 0x20..<0xEF ~= $0 }
        if isPlain { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isText =
                        scalar.value >= 0x20 ? scalar.value & ~1 != 0xFFFE : [9, 10, 13].contains(scalar.value)
                    return isText ? scalar : "?"
                }))
    }
}
