package import SecretMemory
internal import Items
internal import VaultCore
internal import VaultFormat

/// Our own export in plain text, `holdfast export --plain`. Each item keeps its place.
package enum HoldfastImport {
    /// What the member `format` of the file says.
    package static let format = "holdfast-items"

    /// - Throws: ``ImportError``.
    package static func read(
        _ bytes: consuming SecretBytes, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let document = try JSONDocument(bytes)
        guard try document.text(document.root["format"]) == format, let items = document.root["items"]?.elements else {
            throw .malformed("", "this is no export of Holdfast")
        }
        guard document.integer(document.root["version"]) == 1 else {
            throw ImportError(.unsupported, "", "the file was written by a newer version of Holdfast")
        }
        var result = Imported(options)
        for (index, node) in items.enumerated() {
            let place = "line \(node.line), item \(index + 1)"
            do throws(ImportError) { try read(node, document, place, into: &result) } catch {
                try result.leaveOut(error, entry: document.text(node["name"]) ?? "", place: place)
            }
        }
        document.noteUnread(in: document.root, except: ["items"], into: &result)
        return result
    }

    /// Members of an item that say nothing beside the others, and the number that an item has in its vault only.
    private static let meaningless: Set<String> = ["id", "fields.size", "hasNotes", "isRevealed"]

    private static func read(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ place: String, into result: inout Imported
    ) throws(ImportError) {
        guard let name = try document.text(node["name"]), let collection = try document.text(node["collection"]),
            let word = try document.text(node["kind"]), let fields = node["fields"]?.elements
        else { throw .malformed(place, "an item has no name, collection, kind or fields") }
        guard !(node["hasNotes"]?.isTrue ?? false) || node["isRevealed"]?.isTrue ?? false else {
            throw .malformed(place, "an item was written without its secrets")
        }
        let kind = ItemKind(word: word)
        let origin = EntryPath(collection: collection, name: name)
        let item = try ImportedItem(
            kind ?? .note, path: ImportedItem.parts(of: origin), place: place,
            created: document.time(node["created"], of: nil))
        _ = try document.time(node["created"], of: item)
        item.keep(origin: origin.text)
        if kind == nil { item.note(.changed, "a kind of a newer version, which is a note now") }
        for field in fields { try item.part { () throws(ImportError) in try read(field, document, item) } }
        try item.part { () throws(ImportError) in
            if let notes = try value(node["notes"], document, place) { try item.addNotes(notes) }
        }
        for tag in node["tags"]?.elements ?? [] {
            if let tag = try document.text(tag) { item.addTag(tag) }
        }
        if node["favourite"]?.isTrue ?? false { item.favour() }
        for earlier in node["history"]?.elements ?? [] {
            try item.part { () throws(ImportError) in try readEarlier(earlier, document, item) }
        }
        let modified = try document.time(node["modified"], of: item)
        document.noteUnread(in: node, of: item, except: meaningless)
        item.finish(modified: modified)
        try result.append(item)
    }

    private static func read(
        _ field: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        guard let label = try document.text(field["label"]) else {
            throw .malformed(item.place, "a field has no label")
        }
        switch try value(field["value"], document, item.place) {
        case .none: throw .malformed(item.place, "a field was written without its value")
        case .some(let value):
            let kind = try document.text(field["kind"]).flatMap { FieldKind(word: $0) }
            if let file = try document.text(field["file"]) {
                return try value.withBytes { value throws(ImportError) in
                    try item.addFile(label, name: file, content: value)
                }
            }
            if kind == nil {
                item.note(.changed, "a field of a kind of a newer version, which is a secret now")
            }
            try item.add(kind ?? .secret, label, value, keepsEmpty: true)
        }
    }

    /// An earlier value, the oldest first; of a file it is the whole of what an item has for it.
    private static func readEarlier(
        _ node: JSONNode, _ document: borrowing JSONDocument, _ item: ImportedItem
    ) throws(ImportError) {
        let kind = try document.text(node["kind"]).flatMap { FieldKind(word: $0) }
        guard let label = try document.text(node["label"]), let value = try value(node["value"], document, item.place)
        else { throw .malformed(item.place, "an earlier value has no label or no value") }
        if kind == nil { item.note(.changed, "an earlier value of a kind of a newer version, which is a secret now") }
        try item.addEarlier(
            kind ?? .secret, label, value, replaced: document.time(node["replaced"], of: item))
    }

    /// A string, or an object whose member `base64` is one; nil for null.
    private static func value(
        _ node: JSONNode?, _ document: borrowing JSONDocument, _ place: String
    ) throws(ImportError) -> SecretBytes? {
        guard let text = node?["base64"] else { return try document.string(node) }
        switch try document.string(text) {
        case .none: return nil
        case .some(let text):
            let box = SecretBufferBox(limit: ImportLimits.expanded)
            let isValid = try text.withBytes { text throws(ImportError) in try box.appendBase64(text) }
            guard isValid else { throw .malformed(place, "a value is not base 64") }
            return try box.bytes()
        }
    }
}
