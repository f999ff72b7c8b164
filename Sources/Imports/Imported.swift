internal import Items
internal import SecretMemory
internal import VaultFormat

/// One thing of a file that is not in the vault as it was there.
package struct ImportNote: Sendable, Hashable {
    /// What the import did with it.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Nothing of it is in the vault.
        case leftOut = "left out"
        /// The vault has it in another form.
        case changed = "changed"
    }

    /// What the import did with it.
    package let kind: Kind
    /// The path of its entry; empty for what is of no entry.
    package let entry: String
    /// Where it was in the file, such as `line 3`; empty where nobody can look.
    package let place: String
    /// What it is. The same words for the same thing: notes are counted by them.
    package let what: String

    /// Entry, place and what it is.
    package var text: String {
        if entry.isEmpty { return place.isEmpty ? what : "\(place): \(what)" }
        return place.isEmpty ? "\(entry): \(what)" : "\(entry) (\(place)): \(what)"
    }
}

/// The notes that say the same.
package struct ImportNoteGroup: Sendable {
    package let kind: ImportNote.Kind
    package let what: String
    package fileprivate(set) var notes: [ImportNote]

    /// In the order in which each is there first.
    package static func groups(of notes: [ImportNote]) -> [ImportNoteGroup] {
        var groups: [ImportNoteGroup] = []
        var places: [String: Int] = [:]
        for note in notes {
            let key = note.kind.rawValue + ":" + note.what
            if let place = places[key] {
                groups[place].notes.append(note)
            } else {
                places[key] = groups.count
                groups.append(ImportNoteGroup(kind: note.kind, what: note.what, notes: [note]))
            }
        }
        return groups
    }
}

/// What a file is read with, beside its password.
package struct ImportOptions: Sendable {
    /// What the columns of a table are that no program we know writes, by their names.
    package var columns: [String: TableImport.Role]
    /// Whether an entry that cannot be read is left out and listed; otherwise it ends the import.
    package var skipsFaulty: Bool

    package init(columns: [String: TableImport.Role] = [:], skipsFaulty: Bool = false) {
        (self.columns, self.skipsFaulty) = (columns, skipsFaulty)
    }
}

/// What was read from a file.
package struct Imported: Sendable {
    package internal(set) var items: [ImportedItem] = []
    /// What the vault will not have as the file has it.
    package internal(set) var notes: [ImportNote] = []
    private let skipsFaulty: Bool
    /// Values of their own below the items.
    private var records = 0
    /// Bytes of memory that the items take, and the notes.
    private var (size, noteSize) = (0, 0)

    /// Nothing yet.
    package init(_ options: ImportOptions = ImportOptions()) { skipsFaulty = options.skipsFaulty }

    /// Takes an item that is complete, with its notes.
    /// - Throws: ``ImportError`` (`tooLarge`).
    package mutating func append(_ item: ImportedItem) throws(ImportError) {
        try item.placeFiles()
        records += item.attachments.count
        guard items.count + records < ImportLimits.items else {
            throw ImportError(
                .tooLarge, item.place,
                "a file has at most \(ImportLimits.items) items and attachments that are too large for them")
        }
        size += item.bytesOfMemory
        guard size <= ImportLimits.entries else {
            throw ImportError(
                .tooLarge, item.place, "the entries take more than \(ImportLimits.entries >> 20) MiB of memory")
        }
        for fault in item.faults {
            guard skipsFaulty else { throw fault.ofEntry(item.name) }
            note(.leftOut, "a part that cannot be read: \(fault.what)", entry: item.name, place: fault.place)
        }
        if item.origin == nil, item.hasOtherName {
            item.note(.changed, "a title or a folder with characters that no name has")
        }
        // A value of its own that could not be read would be an empty entry.
        if !item.isRecord || !item.isEmpty { items.append(item) }
        for (kind, what) in item.remarks { note(kind, what, entry: item.name, place: item.place) }
    }

    /// Notes something of no item, or of one that is not taken. A file may have millions of such things: the last note
    /// says that there are more.
    package mutating func note(_ kind: ImportNote.Kind, _ what: String, entry: String = "", place: String = "") {
        guard notes.count <= ImportLimits.notes, noteSize <= ImportLimits.noteBytes else { return }
        noteSize +=
            ImportBudget.element(ImportNote.self)
            + [what, entry, place].reduce(0) { size, text in
                size + ImportBudget.text(text.utf8.count)
            }
        let isLast = notes.count == ImportLimits.notes || noteSize > ImportLimits.noteBytes
        notes.append(
            ImportNote(
                kind: kind, entry: entry, place: place,
                what: isLast ? "this and what follows is not listed" : what))
    }

    /// Lists an entry that cannot be read, where such entries are to be left out.
    /// - Throws: The error otherwise, and one that is not of this entry alone.
    package mutating func leaveOut(
        _ error: ImportError, entry: String = "", place: String
    ) throws(ImportError) {
        guard error.isOfPart else { throw error }
        guard skipsFaulty else { throw error.ofEntry(entry) }
        note(.leftOut, "an entry that cannot be read: \(error.what)", entry: entry, place: place)
    }
}

extension ImportedItem {
    /// An item without its fields and texts.
    private static let front = ImportBudget.object(MemoryLayout<Item>.size + 128)
    /// What an item knows of one of its fields: where it begins and what it is, twice.
    private static let field = 2 * (MemoryLayout<ItemLayout.Entry>.stride + MemoryLayout<ItemLayout.Earlier>.stride)

    /// What is said of it, in an array and in a table.
    private static func remark(_ what: String) -> Int {
        ImportBudget.element((ImportNote.Kind, String).self) + ImportBudget.element(String.self)
            + 2 * ImportBudget.text(what.utf8.count + 16) + ImportBudget.object(32)
    }

    /// Bytes of memory that it takes. A few bytes of a file become a thousand of an item: what a file has bounds
    /// nothing.
    fileprivate var bytesOfMemory: Int {
        var size = ImportedItem.front + item.partCount * ImportedItem.field + ImportBudget.locked(item.size)
        for text in path { size += ImportedItem.text(text) }
        size += ImportedItem.text(name) + ImportedItem.text(place)
        for (_, what) in remarks { size += ImportedItem.remark(what) }
        for file in attachments { size += ImportedItem.text(file.name) + ImportBudget.locked(file.content.count) }
        if let record { size += ImportedItem.text(record.name) + ImportBudget.locked(record.content.count) }
        return size
    }

    private static func text(_ text: String) -> Int {
        ImportBudget.element(String.self) + ImportBudget.text(text.utf8.count)
    }
}
