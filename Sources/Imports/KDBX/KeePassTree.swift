package import SecretMemory
internal import VaultFormat

/// The XML of KeePass: of a database, and of an export without encryption.
package enum KeePassTree {
    /// A file that entries refer to by its number.
    final class File: Sendable {
        let content: SecretBytes

        init(_ content: RawSpan) throws(ImportError) {
            self.content = try memory(SecretBytes(copying: content))
        }
    }

    /// By the number that entries name.
    typealias Files = [Int: File]

    /// Reads an export without encryption.
    /// - Throws: ``ImportError`` with the line.
    package static func read(
        export bytes: borrowing SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        try bytes.withBytes { bytes throws(ImportError) in
            let root = try XMLReader.parse(bytes)
            return try read(root, files: [:], options)
        }
    }

    /// Decrypts the protected values, in the order in which they are written.
    static func reveal(_ root: XMLNode, _ stream: consuming InnerStream) throws(ImportError) {
        var nodes: [XMLNode] = []
        collect(root, &nodes)
        var values: [SecretBufferBox] = []
        var total = 0
        for node in nodes {
            let box = SecretBufferBox(limit: ImportLimits.expanded)
            try decode(node, into: box)
            total += box.count
            guard total <= ImportLimits.expanded else {
                throw ImportError(.tooLarge, "line \(node.line)", "the values are too long")
            }
            values.append(box)
        }
        let mask = try stream.bytes(total)
        var start = 0
        for (node, value) in zip(nodes, values) {
            let count = value.count
            var plain = try value.bytes()
            mask.withBytes { mask in
                plain.withMutableBytes { plain in
                    for offset in 0..<count {
                        let byte =
                            unsafe plain.bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) ^ mask[start + offset]
                        plain.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                    }
                }
            }
            start += count
            node.reveal(plain)
        }
    }

    private static func collect(_ node: XMLNode, _ nodes: inout [XMLNode]) {
        if node.attributes["Protected"]?.lowercased() == "true" { nodes.append(node) }
        for child in node.children { collect(child, &nodes) }
    }

    private static func decode(_ node: XMLNode, into box: SecretBufferBox) throws(ImportError) {
        let isThere = node.text != nil
        guard isThere else { return }
        try node.text?.withBytes { text throws(ImportError) in
            guard try box.appendBase64(text) else {
                throw .malformed("line \(node.line)", "a protected value is not base 64")
            }
        }
    }

    static func read(
        _ root: XMLNode, files: Files, _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        guard root.name == "KeePassFile", let top = root["Root"]?["Group"] else {
            throw .malformed("line \(root.line)", "this is no XML of KeePass")
        }
        var files = files
        // Files compressed well could be more together than any of them may be.
        var total = 0
        for binary in root["Meta"]?["Binaries"]?.all("Binary") ?? [] {
            guard let number = binary.attributes["ID"].flatMap({ Int($0) }), files[number] == nil else {
                throw .malformed("line \(binary.line)", "a file has no number, or that of another one")
            }
            let file = try file(binary)
            total += file.content.count
            guard total <= ImportLimits.expanded else {
                throw ImportError(.tooLarge, "line \(binary.line)", "the files are too long")
            }
            files[number] = file
        }
        let bin =
            root["Meta"]?["RecycleBinEnabled"]?.openText.lowercased() == "true"
            ? root["Meta"]?["RecycleBinUUID"]?.openText : nil
        var result = Imported(options)
        try group(top, [], bin, Context(files: files, references: KeePassReferences(top)), into: &result)
        return result
    }

    /// What entries refer to.
    private struct Context {
        let files: Files
        let references: KeePassReferences
    }

    /// A file in the XML itself.
    private static func file(_ node: XMLNode) throws(ImportError) -> File {
        let box = SecretBufferBox(limit: ImportLimits.expanded)
        let isPlain = node.isRevealed
        let isValid =
            try node.text?.withBytes { text throws(ImportError) in
                guard isPlain else { return try box.appendBase64(text) }
                try box.append(text)
                return true
            } ?? true
        guard isValid else { throw .malformed("line \(node.line)", "a file is not base 64") }
        let isCompressed = node.attributes["Compressed"]?.lowercased() == "true"
        return try box.withBytes { bytes throws(ImportError) in
            guard isCompressed else { return try File(bytes) }
            return try GzipFile.expand(bytes).withBytes { expanded throws(ImportError) in try File(expanded) }
        }
    }

    private static func group(
        _ node: XMLNode, _ path: [String], _ bin: String?, _ context: Context, into result: inout Imported
    ) throws(ImportError) {
        if let bin, node["UUID"]?.openText == bin {
            let count = entries(node)
            if count > 0 { result.note(.leftOut, "\(count) entries in the recycle bin") }
            return
        }
        for entry in node.all("Entry") {
            do throws(ImportError) { try self.entry(entry, path, context, into: &result) } catch {
                try result.leaveOut(error, entry: path.joined(separator: "/"), place: "")
            }
        }
        for child in node.all("Group") {
            try group(child, path + [child["Name"]?.openText ?? "unnamed"], bin, context, into: &result)
        }
    }

    /// Fields that every entry has.
    private static let standard: Set = ["Title", "UserName", "Password", "URL", "Notes", originKey]

    /// The string that says where an entry was in a vault of ours, where group and title alone do not.
    static let originKey = "holdfast.path"

    private static func entries(_ node: XMLNode) -> Int {
        node.all("Entry").count + node.all("Group").reduce(0) { $0 + entries($1) }
    }

    private static func entry(
        _ node: XMLNode, _ path: [String], _ context: Context, into result: inout Imported
    ) throws(ImportError) {
        let strings = node.all("String")
        func value(_ key: String) -> XMLNode? { strings.first { $0["Key"]?.openText == key }?["Value"] }
        let title = value("Title").map { context.references.followed($0) ?? $0 }?.openText ?? ""
        let times = node["Times"]
        let item = try ImportedItem(
            .login, path: path + [title.isEmpty ? "unnamed" : title], place: "",
            created: time(times?["CreationTime"]))
        func string(_ key: String) -> XMLNode? { value(key).map { context.references.followed($0, item) } }
        for (key, label, kind) in [
            ("UserName", "username", FieldKind.text), ("Password", "password", .secret), ("URL", "website", .url),
        ] {
            try string(key)?.text?.withBytes { value throws(ImportError) in try item.add(kind, label, bytes: value) }
        }
        try string("Notes")?.text?.withBytes { notes throws(ImportError) in
            let notes = try memory(SecretBytes(copying: notes))
            try item.addNotes(notes)
        }
        if let origin = string(originKey)?.openText { item.keep(origin: origin) }
        let codes = try KeePassCodes.add(strings, to: item)
        for field in strings {
            let key = field["Key"]?.openText ?? ""
            guard !standard.contains(key), !codes.contains(key), let value = field["Value"] else { continue }
            try custom(field, context.references.followed(value, item), item)
        }
        for binary in node.all("Binary") {
            let name = binary["Key"]?.openText ?? "file"
            guard let value = binary["Value"] else { continue }
            if let file = value.attributes["Ref"].flatMap({ Int($0) }).flatMap({ context.files[$0] }) {
                try file.content.withBytes { content throws(ImportError) in
                    try addFile(name, content, to: item)
                }
            } else {
                try file(value).content.withBytes { content throws(ImportError) in
                    try addFile(name, content, to: item)
                }
            }
        }
        for tag in (node["Tags"]?.openText ?? "").split(whereSeparator: { ",;".contains($0) }) {
            item.addTag(String(tag))
        }
        func password(_ entry: XMLNode) -> XMLNode? {
            entry.all("String").first { $0["Key"]?.openText == "Password" }?["Value"]
        }
        let history = (node["History"]?.all("Entry") ?? []).map { old in (old, password(old)) }
        for (index, (old, earlier)) in history.enumerated() {
            // Each is the whole entry as it was: only where the next one has another password was this one changed.
            let next = index + 1 < history.count ? history[index + 1].1 : password(node)
            let isSame = earlier?.text?.withBytes { value in next?.text?.isEqual(to: value) ?? false } ?? true
            guard !isSame else { continue }
            let value = earlier.map { context.references.followed($0, item) }
            try value?.text?.withBytes { value throws(ImportError) in
                try item.addEarlier(
                    .secret, "password", bytes: value, replaced: time(old["Times"]?["LastModificationTime"]))
            }
        }
        if times?["Expires"]?.openText.lowercased() == "true", let expiry = time(times?["ExpiryTime"]),
            let day = ForeignTime.day(milliseconds: expiry)
        {
            try item.add(.date, "expires", text: day)
        }
        item.finish(modified: time(times?["LastModificationTime"]))
        try result.append(item)
    }

    private static func addFile(
        _ name: String, _ content: RawSpan, to item: ImportedItem
    ) throws(ImportError) {
        do throws(ImportError) { try item.addFile("file", name: name, content: content) } catch {
            item.note(.leftOut, "a file that is more than an entry can hold")
        }
    }

    /// What the user added.
    private static func custom(_ field: XMLNode, _ value: XMLNode, _ item: ImportedItem) throws(ImportError) {
        let key = field["Key"]?.openText ?? ""
        // A reference keeps its own mark, not that of what it refers to.
        let isProtected = [field["Value"], value].contains { value in
            value?.attributes["Protected"]?.lowercased() == "true"
                || value?.attributes["ProtectInMemory"]?.lowercased() == "true"
        }
        let kind: FieldKind = key.hasPrefix("KP2A_URL") ? .url : isProtected ? .secret : .text
        try value.text?.withBytes { value throws(ImportError) in try item.add(kind, key, bytes: value) }
    }

    /// A text, or seconds since the year 1 in base 64.
    private static func time(_ node: XMLNode?) -> Int64? {
        guard let text = node?.openText, !text.isEmpty else { return nil }
        if let time = ForeignTime.milliseconds(text) { return time }
        let box = SecretBufferBox(limit: 64)
        guard let node,
            let bytes = try? node.text?.withBytes({ text throws(ImportError) in try box.appendBase64(text) }), bytes,
            box.count == 8
        else { return nil }
        let seconds = box.withBytes { bytes in Int64(bytes.word(0)) | Int64(bytes.word(4)) << 32 }
        let since1970 = seconds.subtractingReportingOverflow(62_135_596_800)
        let milliseconds = since1970.partialValue.multipliedReportingOverflow(by: 1000)
        return since1970.overflow || milliseconds.overflow ? nil : milliseconds.partialValue
    }
}

extension SecretBufferBox {
    /// Appends what a text in base 64 stands for.
    /// - Returns: False for what is none.
    func appendBase64(_ text: RawSpan) throws(ImportError) -> Bool {
        var decoded = SecretBuffer(limit: ImportLimits.expanded)
        let isValid: Bool
        do throws(SecretMemoryError) { isValid = try Base64.decode(text, into: &decoded) } catch {
            throw ImportError(error)
        }
        try decoded.withBytes { bytes throws(ImportError) in try append(bytes) }
        return isValid
    }
}
