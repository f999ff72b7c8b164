public import SecretMemory
internal import VaultCore
package import VaultFormat
public import VaultStorage

// Tags, notes and the trash.
extension Item {
    /// What the field with the user's name is called.
    package static let userLabel = "username"

    /// Its tags, in ascending order.
    public var tags: [String] { bytes.withBytes { bytes in layout.tags.map { bytes.text($0) } } }

    /// Gives it a tag; it may have it already.
    /// - Throws: `invalidItem` for what is no tag, one too many, or a misspelled one of those that guard an item;
    ///   `outOfMemory`.
    public mutating func addTag(_ tag: String) throws(VaultError) {
        let new = Array(tag.utf8)
        let all = layout.entries(ItemLayout.Tag.tag)
        var place = all.first?.whole.lowerBound ?? layout.end(of: ItemLayout.Tag.tag)
        for entry in all {
            let order = bytes.withBytes { bytes in
                let own = bytes.extracting(entry.range)
                return unsafe (own.isBefore(new.span.bytes), new.span.bytes.isBefore(own))
            }
            if order == (false, false) { return }
            if order.0 { place = entry.range.upperBound }
        }
        try Item.checkGuard(tag)
        let nothing: [UInt8] = []
        try unsafe replace(place..<place, with: .tag(tag), nothing.span.bytes)
        touch(Item.now)
    }

    /// Takes a tag away; it need not have it.
    /// - Throws: `outOfMemory`.
    package mutating func removeTag(_ tag: String) throws(VaultError) {
        guard let index = tags.firstIndex(where: { $0.utf8.elementsEqual(tag.utf8) }) else { return }
        try removeEntry(layout.entries(ItemLayout.Tag.tag)[index])
        touch(Item.now)
    }

    /// Lends the notes, in UTF-8; nil without any.
    /// - Throws: What `body` throws.
    public borrowing func withNotes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
        guard let notes = layout.notes else { return nil }
        return try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(notes)) }
    }

    /// Changes the notes; empty ones remove them.
    /// - Throws: `invalidItem` for what is not UTF-8, `tooLarge`, `outOfMemory`.
    public mutating func setNotes(_ notes: borrowing SecretBytes) throws(VaultError) {
        try notes.withBytes { notes throws(VaultError) in try setNotes(bytes: notes) }
    }

    package mutating func setNotes(bytes notes: RawSpan) throws(VaultError) {
        let end = layout.end(of: ItemLayout.Tag.notes)
        let old = layout.entries(ItemLayout.Tag.notes).first?.whole ?? end..<end
        try replace(old, with: notes.byteCount == 0 ? nil : .notes, notes)
        touch(Item.now)
    }

    /// That it is in the trash.
    package struct Trash: Sendable, Hashable {
        /// When it was moved there: milliseconds since 1970.
        package let moved: Int64
        /// From when on it may be removed for good, by the clock of the machine.
        package let expires: Int64
        /// What it was called.
        package let name: String
    }

    /// Nil for an item that is not in the trash.
    package var trash: Trash? {
        bytes.withBytes { bytes in
            layout.trash.map { Trash(moved: $0.moved, expires: $0.expires, name: bytes.text($0.name)) }
        }
    }

    mutating func setTrash(_ trash: Trash?) throws(VaultError) {
        let end = layout.end(of: ItemLayout.Tag.trash)
        let old = layout.entries(ItemLayout.Tag.trash).first?.whole ?? end..<end
        let entry = trash.map { ItemEntry.trash(moved: $0.moved, expires: $0.expires, name: $0.name) }
        let nothing: [UInt8] = []
        try unsafe replace(old, with: entry, nothing.span.bytes)
    }
}

// What commands and exports call the kinds. The words stay: files have them.
extension ItemKind {
    private static let words: [(kind: ItemKind, word: String)] = [
        (.login, "login"), (.note, "note"), (.card, "card"), (.identity, "identity"), (.sshKey, "ssh-key"),
        (.oneTimeCode, "otp"), (.file, "file"), (.value, "value"),
    ]

    /// What people call it; `value` for a plain one, and `item` for a kind of a newer program.
    package var word: String { ItemKind.words.first { $0.kind == self }?.word ?? "item" }

    /// Nil for a word that names no kind.
    package init?(word: String) {
        guard let kind = ItemKind.words.first(where: { $0.word == word })?.kind else { return nil }
        self = kind
    }
}

extension FieldKind {
    /// The kinds that have a word.
    package static let words: [(FieldKind, String)] = [
        (.text, "text"), (.secret, "secret"), (.url, "url"), (.oneTimeCode, "otp"), (.date, "date"), (.file, "file"),
    ]

    /// The word for it; nil for a kind of a newer program.
    package var word: String? { FieldKind.words.first { $0.0 == self }?.1 }

    /// Nil for a word that names no kind.
    package init?(word: String) {
        guard let kind = FieldKind.words.first(where: { $0.1 == word })?.0 else { return nil }
        self = kind
    }
}
