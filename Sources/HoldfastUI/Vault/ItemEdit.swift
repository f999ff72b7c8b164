package import Holdfast

/// An item while its values are changed on the screen, all at once: what they were, to see what was changed, and what
/// is to be stored, in one transaction or not at all. All of it lies in locked memory and goes when the lock falls.
@MainActor
package final class ItemEdit {
    /// A value that is changed.
    package enum Part: Sendable, Hashable {
        /// That of a field.
        case field(ItemFieldsModel.Field)
        /// The notes.
        case notes
    }

    /// The fields that can be changed or removed, in the order of the screen.
    package let fields: [ItemFieldsModel.Field]
    /// The number of the write that is changed.
    private(set) var version: UInt64?
    private var values: [Part: ShownValue]
    private var changed: [Part: ShownValue] = [:]
    private var removed: [ItemFieldsModel.Field] = []

    init(_ fields: [ItemFieldsModel.Field], _ values: [Part: ShownValue], _ version: UInt64?) {
        (self.fields, self.values, self.version) = (fields, values, version)
    }

    /// Lends what is stored; nil where it is not read: the key of a one-time code, and the content of a file.
    package func withValue<R>(of part: Part, _ body: (RawSpan) -> R) -> R? { values[part]?.withBytes { body($0) } }

    /// Whether what was typed is another value than the stored one. An empty key of a one-time code is none.
    package func differs(_ part: Part, from typed: RawSpan) -> Bool {
        guard let stored = values[part] else { return typed.byteCount > 0 }
        return stored.withBytes { stored in
            let isSame = unsafe stored.withUnsafeBytes { stored in
                unsafe typed.withUnsafeBytes { unsafe stored.elementsEqual($0) }
            }
            return !isSame
        }
    }

    /// Keeps what was typed, to be stored by ``ItemFieldsModel/save(_:)``.
    package func set(_ part: Part, _ typed: borrowing SecretBytes) throws(ItemDraft.Refusal) {
        let kind: FieldKind = if case .field(let field) = part { field.kind } else { .text }
        let text = try ItemDraft.stored(typed, kind)
        do throws(VaultError) {
            changed[part] = try text.withBytes { bytes throws(VaultError) in try ShownValue(bytes) }
        } catch { throw .other(VaultProblem(error)) }
    }

    /// Marks a field to be removed.
    package func remove(_ field: ItemFieldsModel.Field) { removed.append(field) }

    /// Forgets what was to be stored, for another try.
    package func reset() { (changed, removed) = ([:], []) }

    /// What is to be stored.
    var changes: ItemEdits { ItemEdits(changed: changed, removed: removed, version: version) }

    /// Another program changed the item: what it stored is known by now, and may be changed.
    func accept(_ version: UInt64?) { self.version = version }

    func drop() {
        reset()
        (values, version) = ([:], nil)
    }
}

/// What one transaction does to an item.
struct ItemEdits: Sendable {
    let changed: [ItemEdit.Part: ShownValue]
    let removed: [ItemFieldsModel.Field]
    let version: UInt64?

    /// Whether a value has to be a date, and may be none.
    var hasDate: Bool {
        changed.keys.contains { if case .field(let field) = $0 { field.kind == .date } else { false } }
    }

    func apply(to item: inout Item) throws {
        guard let version, item.sequence == version else { throw VaultError.changedItem }
        // Setting a value moves no field; removing one moves those behind it.
        for (part, value) in changed {
            switch part {
            case .notes: try item.setNotes(try value.copy())
            case .field(let field):
                guard !removed.contains(field) else { continue }
                guard let found = item.found(field) else { throw VaultError.changedItem }
                try item.set(found, try value.copy())
            }
        }
        for field in removed.sorted(by: { $0.id > $1.id }) {
            guard let found = item.found(field) else { throw VaultError.changedItem }
            try item.remove(found)
        }
    }
}
