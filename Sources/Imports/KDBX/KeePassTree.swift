package import SecretMemory
internal import VaultFormat

/// The XML of KeePass: of a database, and of an export without encryption.
package enum KeePassTree {
    /// A file that entries refer to by its number: a part of what is in memory already.
    struct File {
        private let box: SecretBufferBox
        private let range: Range<Int>

        init(_ box: SecretBufferBox, _ range: Range<Int>) { (self.box, self.range) = (box, range) }

        /// All of it.
        init(_ box: SecretBufferBox) { self.init(box, 0..<box.count) }

        init(copying content: RawSpan) throws(ImportError) {
            let box = SecretBufferBox(limit: ImportLimits.expanded)
            try box.append(content)
            self.init(box)
        }

        var count: Int { range.count }

        func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
            try box.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
        }
    }

    /// A file, or why it cannot be read: that is an error of the entries that have it.
    enum Attachment {
        case content(File)
        case damaged(ImportError)
    }

    /// By the number that entries name.
    typealias Files = [Int: Attachment]

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
        guard root.name == "KeePassFile", let tops = root["Root"]?.all("Group"), !tops.isEmpty else {
            throw .malformed("line \(root.line)", "this is no XML of KeePass")
        }
        var files = files
        try collect(root["Meta"]?["Binaries"]?.all("Binary") ?? [], into: &files)
        let meta = root["Meta"]
        let bin =
            meta?["RecycleBinEnabled"]?.openText.lowercased() == "true" ? meta?["RecycleBinUUID"]?.openText : nil
        var result = Imported(options)
        let reader = KeePassEntries(files: files, references: KeePassReferences(tops))
        if let meta { try reader.read(meta: meta, into: &result) }
        for top in tops { try group(top, nil, [], bin, reader, into: &result) }
        for path in root.unread(except: ["Meta", "Root"])
            + (root["Root"]?.unread(except: ["Group", "DeletedObjects"]) ?? [])
        {
            result.note(.leftOut, KeePassEntries.unknown(path))
        }
        return result
    }

    /// Reads the files in the XML itself.
    private static func collect(_ nodes: [XMLNode], into files: inout Files) throws(ImportError) {
        // Files compressed well could be more together than any of them may be.
        var total = 0
        for node in nodes {
            guard let number = node.attributes["ID"].flatMap({ Int($0) }), files[number] == nil else {
                throw .malformed("line \(node.line)", "a file has no number, or that of another one")
            }
            do throws(ImportError) {
                let file = try file(node)
                total += file.count
                files[number] = .content(file)
            } catch {
                guard error.kind == .malformed else { throw error }
                files[number] = .damaged(error)
            }
            guard total <= ImportLimits.expanded else {
                throw ImportError(.tooLarge, "line \(node.line)", "the files are too long")
            }
        }
    }

    /// A file in the XML itself.
    static func file(_ node: XMLNode) throws(ImportError) -> File {
        let box = SecretBufferBox(limit: ImportLimits.expanded)
        let isPlain = node.isRevealed
        let isValid =
            try node.text?.withBytes { text throws(ImportError) in
                guard isPlain else { return try box.appendBase64(text) }
                try box.append(text)
                return true
            } ?? true
        guard isValid else { throw .malformed("line \(node.line)", "a file is not base 64") }
        // An empty file is written without anything compressed.
        guard node.attributes["Compressed"]?.lowercased() == "true", box.count > 0 else { return File(box) }
        let expanded = try box.withBytes { bytes throws(ImportError) in try GzipFile.expand(bytes) }
        return File(expanded)
    }

    /// - Parameter path: The groups around it; nil for the first one, whose own name is no part of a path.
    private static func group(
        _ node: XMLNode, _ path: [String]?, _ tags: [String], _ bin: String?, _ reader: KeePassEntries,
        into result: inout Imported
    ) throws(ImportError) {
        let name = node["Name"]?.openText ?? "unnamed"
        let inner = path.map { $0 + [name] } ?? []
        if let bin, node["UUID"]?.openText == bin {
            let count = entries(node)
            if count > 0 {
                result.note(
                    .leftOut, count == 1 ? "1 entry in the recycle bin" : "\(count) entries in the recycle bin",
                    entry: ImportedItem.name(inner).name)
            }
            return
        }
        let tags = try reader.read(group: node, inner, name, tags, into: &result)
        for child in node.children {
            switch child.name {
            case "Entry":
                do throws(ImportError) { try reader.read(child, inner, tags, into: &result) } catch {
                    let path = inner + [KeePassStrings(child).value("Title")?.openText ?? "unnamed"]
                    try result.leaveOut(error, entry: ImportedItem.name(path).name, place: "")
                }
            case "Group": try group(child, inner, tags, bin, reader, into: &result)
            default: break
            }
        }
    }

    private static func entries(_ node: XMLNode) -> Int {
        node.all("Entry").count + node.all("Group").reduce(0) { $0 + entries($1) }
    }

    /// The string that says where an entry was in a vault of ours, where group and title alone do not.
    static let originKey = "holdfast.path"

    /// A text, or seconds since the year 1 in base 64.
    static func time(_ node: XMLNode?) -> Int64? {
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
