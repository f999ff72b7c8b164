package import Holdfast

/// A new item before it is stored: what was entered, in locked memory.
@MainActor
package final class ItemDraft {
    /// Why something that was entered cannot be a part of the item.
    package enum Refusal: Error, Sendable, Hashable {
        /// It is neither an `otpauth://` text nor a key of one-time codes in base 32.
        case code
        /// A date is `2031-12-24` or `2031-12`.
        case date
        /// A tag has 1 to 64 bytes, a label 1 to 255, and there are limits to how many.
        case label
        /// Anything else.
        case other(VaultProblem)
    }

    private var item: Item?

    /// Begins an item without fields.
    package init(_ kind: ItemKind) throws(Refusal) {
        do throws(VaultError) { item = try Item(kind) } catch { throw Refusal(error) }
    }

    /// Adds a field. An empty value adds none.
    package func add(_ kind: FieldKind, _ label: String, _ value: borrowing SecretBytes) throws(Refusal) {
        guard value.count > 0 else { return }
        let text = try ItemDraft.stored(value, kind)
        do throws(VaultError) { try item?.add(kind, label, text) } catch { throw Refusal(error, kind) }
    }

    /// Sets the notes, in UTF-8; empty ones are none.
    package func setNotes(_ notes: borrowing SecretBytes) throws(Refusal) {
        do throws(VaultError) { try item?.setNotes(notes) } catch { throw Refusal(error) }
    }

    /// Gives it tags as they were typed, between commas.
    package func setTags(_ typed: String) throws(Refusal) {
        do throws(VaultError) { for tag in ItemDraft.tags(typed) { try item?.addTag(tag) } } catch {
            throw Refusal(error)
        }
    }

    /// Marks it to be shown first.
    package func setFavourite(_ isFavourite: Bool) { item?.isFavourite = isFavourite }

    /// The tags in a text that was typed: between commas, without the `#` that a search wants.
    package static func tags(_ typed: String) -> [String] {
        typed.split(whereSeparator: { $0 == "," || $0.isNewline }).compactMap { part in
            let words = part.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
            let tag = words.drop { $0 == "#" }
            return tag.isEmpty ? nil : String(tag)
        }
    }

    /// A value as it is stored: a key of one-time codes becomes the `otpauth://` text that all programs read.
    static func stored(_ value: borrowing SecretBytes, _ kind: FieldKind) throws(Refusal) -> SecretBytes {
        if kind == .oneTimeCode {
            do throws(OneTimeCodeError) { return try OneTimeCode(entered: value).text() } catch { throw .code }
        }
        do throws(SecretMemoryError) { return try value.copy() } catch { throw .other(.outOfMemory) }
    }

    /// The item, once.
    func take() -> Item? { item.take() }
}

extension ItemDraft.Refusal {
    init(_ error: VaultError, _ kind: FieldKind? = nil) {
        self = error.code == .invalidItem ? (kind == .date ? .date : .label) : .other(VaultProblem(error))
    }
}

extension VaultModel {
    /// Stores a new item.
    /// - Returns: Why not; nil when it was stored. The draft is used up, whatever the outcome.
    package func add(_ draft: ItemDraft, at id: VaultItem.ID) async -> VaultProblem? {
        guard let item = draft.take() else { return .notFound }
        return await change(VaultModel.add(store, item, id))
    }

    /// Gives an item, a value or a file another name or collection.
    /// - Returns: Why not; nil when it was renamed. `exists` when the name is taken.
    package func rename(_ id: VaultItem.ID, to new: VaultItem.ID) async -> VaultProblem? {
        guard new != id else { return nil }
        return await change(VaultModel.rename(store, id, new))
    }

    @concurrent
    private nonisolated static func add(
        _ store: ItemStore, _ item: borrowing Item, _ id: VaultItem.ID
    ) async -> Result<Void, VaultError> {
        do throws(VaultError) {
            try checkCollection(id)
            try store.add(item, as: id.name, in: id.collection)
            return .success(())
        } catch { return .failure(error) }
    }

    @concurrent
    private nonisolated static func rename(
        _ store: ItemStore, _ id: VaultItem.ID, _ new: VaultItem.ID
    ) async -> Result<Void, VaultError> {
        Result { () throws(VaultError) in
            try checkCollection(new)
            try store.rename(id.name, in: id.collection, to: new.name, into: new.collection)
        }
    }
}
