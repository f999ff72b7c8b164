internal import Cryptography
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension ImportedItem {
    /// Takes over into an item of the vault what it has and that has not. Values before become earlier ones, and
    /// nothing goes that this has not.
    /// - Throws: `tooLarge` where there is no room for all values before: none of them goes for a new one.
    func update(_ stored: inout Item) throws(VaultError) {
        var used: Set<Int> = []
        var history = stored.history.count
        var changed: [Item.Field] = []
        for field in item.fields {
            if !isThere(field, stored, &used) { changed.append(field) }
        }
        for field in changed {
            try item.withValue(of: field) { value throws(VaultError) in
                let old = stored.fields.first {
                    !used.contains($0.index) && $0.kind == field.kind
                        && $0.label.lowercased() == field.label.lowercased()
                }
                if let old {
                    used.insert(old.index)
                    history += old.size > 0 ? 1 : 0
                    try stored.set(old, bytes: value)
                } else {
                    used.insert(stored.fields.count)
                    try stored.add(field.kind, field.label, bytes: value)
                }
            }
        }
        try updateNotes(&stored, &history)
        try updateHistory(&stored, &history)
        guard stored.history.count == history else {
            throw VaultError(.tooLarge, "the entry has no room for the values that it had before")
        }
        // What programs on the session bus get is for the user to say.
        for tag in item.tags where !stored.tags.contains(tag) && tag != Item.secretServiceTag {
            try stored.addTag(tag)
        }
        if item.isFavourite { stored.isFavourite = true }
        stored.touch(Item.now)
    }

    /// Whether a field of the vault's item that none of this has used has the same label and value.
    private func isThere(_ field: Item.Field, _ stored: borrowing Item, _ used: inout Set<Int>) -> Bool {
        for other in stored.fields
        where !used.contains(other.index) && other.size == field.size
            && other.label.lowercased() == field.label.lowercased()
        {
            let isEqual = item.withValue(of: field) { value in
                stored.withValue(of: other) { constantTimeEquals($0, value) }
            }
            if isEqual {
                used.insert(other.index)
                return true
            }
        }
        return false
    }

    /// Adds the earlier values that it does not have, as now or before.
    private func updateHistory(_ stored: inout Item, _ history: inout Int) throws(VaultError) {
        for earlier in item.history {
            let isThere = item.withValue(of: earlier) { value in
                stored.fields.contains { field in
                    field.label.lowercased() == earlier.label.lowercased()
                        && stored.withValue(of: field) { constantTimeEquals($0, value) }
                }
                    || stored.history.contains { other in
                        other.label.lowercased() == earlier.label.lowercased()
                            && stored.withValue(of: other) { constantTimeEquals($0, value) }
                    }
            }
            guard !isThere, earlier.size > 0 else { continue }
            history += 1
            try item.withValue(of: earlier) { value throws(VaultError) in
                try stored.addEarlier(earlier.kind, earlier.label, bytes: value, replaced: earlier.replaced)
            }
        }
    }

    private func updateNotes(_ stored: inout Item, _ history: inout Int) throws(VaultError) {
        let notes = try ImportedItem.notes(of: item)
        let old = try ImportedItem.notes(of: stored)
        guard notes.count > 0, !notes.isEqual(to: old) else { return }
        history += old.count > 0 ? 1 : 0
        try old.withBytes { old throws(VaultError) in
            try stored.addEarlier(.secret, "notes", bytes: old, replaced: Item.now)
        }
        try stored.setNotes(notes)
    }

    /// Empty for none.
    private static func notes(of item: borrowing Item) throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) {
            var notes = SecretBuffer(limit: ItemLimits.size)
            _ = try item.withNotes { bytes throws(SecretMemoryError) in try notes.append(bytes) }
            return try notes.bytes()
        } catch { throw VaultError(error) }
    }
}
