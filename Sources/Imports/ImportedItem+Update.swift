internal import Cryptography
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension ImportedItem {
    /// Takes over into an item of the vault what it has and that has not. Values before become earlier ones, and
    /// nothing goes that this has not.
    func update(_ stored: inout Item) throws(VaultError) {
        var used: Set<Int> = []
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
                    try stored.set(old, bytes: value)
                } else {
                    used.insert(stored.fields.count)
                    try stored.add(field.kind, field.label, bytes: value)
                }
            }
        }
        try updateNotes(&stored)
        try updateHistory(&stored)
        for tag in item.tags where !stored.tags.contains(tag) { try stored.addTag(tag) }
        if item.isFavourite { stored.isFavourite = true }
        stored.touch(max(item.modified, Item.now))
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
    private func updateHistory(_ stored: inout Item) throws(VaultError) {
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
            guard !isThere, stored.history.count < ItemLimits.history else { continue }
            try item.withValue(of: earlier) { value throws(VaultError) in
                try stored.addEarlier(earlier.kind, earlier.label, bytes: value, replaced: earlier.replaced)
            }
        }
    }

    private func updateNotes(_ stored: inout Item) throws(VaultError) {
        let notes = try ImportedItem.notes(of: item)
        let old = try ImportedItem.notes(of: stored)
        guard notes.count > 0, !notes.isEqual(to: old) else { return }
        try old.withBytes { old throws(VaultError) in
            try stored.addEarlier(.text, "notes", bytes: old, replaced: Item.now)
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
