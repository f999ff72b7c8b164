internal import Cryptography
package import Items
internal import SecretMemory
internal import OneTimeCodes
internal import VaultFormat
internal import VaultStorage

/// An item that was read from another program's file, and where it goes.
package final class ImportedItem: @unchecked Sendable {  // built by one thread, then only read
    /// What it will be called: groups and folders, then the title, with slashes between.
    package let name: String
    /// Where it was in the file.
    package let place: String
    package fileprivate(set) var item: Item

    init(_ kind: ItemKind, path: [String], place: String, created: Int64? = nil) throws(ImportError) {
        name = ImportedItem.name(path)
        self.place = place
        do throws(VaultError) { item = try Item(kind, now: created ?? Item.now) } catch {
            throw ImportError(error, place)
        }
    }

    /// Without what no name may have, at most 1,000 bytes.
    private static func name(_ path: [String]) -> String {
        let parts = path.map { part in
            let plain = String(
                part.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F || $0 == "/" ? " " : Character($0) })
            return plain.split(separator: " ").joined(separator: " ")
        }.filter { !$0.isEmpty }
        var name = parts.joined(separator: "/")
        while name.utf8.count > 1000 { name.removeLast() }
        return name.isEmpty ? "unnamed" : name
    }
}

/// What was read from a file.
package struct Imported: Sendable {
    package internal(set) var items: [ImportedItem] = []
    /// What was not understood, each with its place: nothing of it is in an item.
    package internal(set) var notes: [String] = []

    /// Nothing yet.
    package init() {}

    mutating func append(_ item: ImportedItem) throws(ImportError) {
        guard items.count < ImportLimits.items else {
            throw ImportError(.tooLarge, item.place, "a file has at most \(ImportLimits.items) items")
        }
        items.append(item)
    }

    mutating func note(_ place: String, _ what: String) { notes.append("\(place): \(what)") }
}

extension ImportedItem {
    /// Adds a field; an empty value adds none.
    /// - Throws: ``ImportError`` where an item cannot hold it.
    func add(_ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes) throws(ImportError) {
        try value.withBytes { value throws(ImportError) in try add(kind, label, bytes: value) }
    }

    func add(_ kind: FieldKind, _ label: String, bytes value: RawSpan) throws(ImportError) {
        guard value.byteCount > 0 else { return }
        // A text that is none is kept, as a secret; a label is made one that an item can have.
        let kind = ItemValue.isValid(value, kind) ? kind : .secret
        do throws(VaultError) { try item.add(kind, ImportedItem.label(label), bytes: value) } catch {
            throw ImportError(error, place)
        }
    }

    func add(_ kind: FieldKind, _ label: String, text: String) throws(ImportError) {
        let bytes = Array(text.utf8)
        try unsafe add(kind, label, bytes: bytes.span.bytes)
    }

    private static func label(_ label: String) -> String {
        var plain = String(label.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        while plain.utf8.count > ItemLimits.label { plain.removeLast() }
        return plain.isEmpty ? "field" : plain
    }

    /// Adds a one-time code: an `otpauth://` text, or a key in base 32.
    /// - Returns: False where it is neither; then it is kept as a secret.
    func addCode(_ label: String, _ value: borrowing SecretBytes) throws(ImportError) -> Bool {
        guard value.count > 0 else { return true }
        let text: SecretBytes
        do throws(OneTimeCodeError) {
            let isAddress = value.withBytes { $0.begins(with: "otpauth:") }
            text = try isAddress ? OneTimeCode(parsing: value).text() : OneTimeCode(base32: value).text()
        } catch {
            try add(.secret, label, value)
            return false
        }
        try add(.oneTimeCode, label, text)
        return true
    }

    func addFile(_ label: String, name: String, content: RawSpan) throws(ImportError) {
        let plain = String(
            name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F || $0 == "/" ? "_" : Character($0) })
        let isName = !plain.isEmpty && plain != "." && plain != ".." && plain.utf8.count <= ItemLimits.fileName
        do throws(VaultError) { try item.addFile(label, name: isName ? plain : "file", content: content) } catch {
            throw ImportError(error, place)
        }
    }

    /// Keeps a value that was there before; values of today's are added first.
    func addEarlier(
        _ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes, replaced: Int64?
    ) throws(ImportError) {
        try value.withBytes { value throws(ImportError) in try addEarlier(kind, label, bytes: value, replaced: replaced)
        }
    }

    func addEarlier(_ kind: FieldKind, _ label: String, bytes value: RawSpan, replaced: Int64?) throws(ImportError) {
        do throws(VaultError) {
            try item.addEarlier(kind, ImportedItem.label(label), bytes: value, replaced: replaced ?? item.created)
        } catch { throw ImportError(error, place) }
    }

    func setNotes(_ notes: borrowing SecretBytes) throws(ImportError) {
        guard notes.count > 0 else { return }
        do throws(VaultError) { try item.setNotes(notes) } catch { throw ImportError(error, place) }
    }

    /// Adds a tag; what no tag can be is left out.
    func addTag(_ tag: String) {
        let plain = tag.split(separator: " ").joined(separator: " ")
        try? item.addTag(plain)
    }

    func favour() { item.isFavourite = true }

    /// Sets the time of the last change, after everything else.
    func finish(modified: Int64?) { if let modified { item.touch(modified) } }
}
