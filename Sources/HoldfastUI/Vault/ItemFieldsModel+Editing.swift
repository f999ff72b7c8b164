internal import Holdfast

extension ItemFieldsModel {
    /// The fields in the order in which a login is used: name, password, code, address, then the others as they are,
    /// and files last.
    package var ordered: [Field] {
        fields.enumerated().sorted { left, right in
            (ItemFieldsModel.rank(left.element), left.offset) < (ItemFieldsModel.rank(right.element), right.offset)
        }.map(\.element)
    }

    private static func rank(_ field: Field) -> Int {
        switch (field.kind, field.label) {
        case (.text, "username"): 0
        case (.secret, "password"): 1
        case (.oneTimeCode, _): 2
        case (.url, _): 3
        case (.file, _): 5
        default: 4
        }
    }

    /// Reads all values that can be changed. Nothing is shown of it here: a screen puts them into its entries.
    /// - Returns: Nil when they cannot be read, and ``problem`` says why.
    package func beginEditing() async -> ItemEdit? {
        guard isItem, let edit = await readForEditing(ordered) else { return nil }
        hide()
        editing = edit
        return edit
    }

    /// Gives the editing up; what was read for it is wiped.
    package func endEditing() {
        editing?.drop()
        editing = nil
    }

    /// Stores all that was changed in one transaction. What values were becomes earlier values.
    /// - Returns: Why not; nil when it was stored, and the editing is over. `busy` when another program has changed the
    ///   item since it was read: nothing was stored, and saving once more does it, where the fields are still there.
    package func save(_ edit: ItemEdit) async -> ItemDraft.Refusal? {
        guard editing === edit else { return .other(.notPending) }
        let changes = edit.changes
        let problem = await vault.change(ItemFieldsModel.store(changes, at: place, in: vault.store))
        guard !vault.lock.isLocked, editing === edit else { return problem.map { .other($0) } }
        await load()
        switch problem {
        case nil:
            endEditing()
            return nil
        case .busy?:
            if let version { edit.accept(version) }
            return .other(.busy)
        case .invalidName?: return changes.hasDate ? .date : .label
        case let problem?: return .other(problem)
        }
    }

    @concurrent
    private nonisolated static func store(
        _ changes: ItemEdits, at place: VaultItem.ID, in store: ItemStore
    ) async -> Result<Void, any Error> {
        do {
            try store.change(place.name, in: place.collection) { item in try changes.apply(to: &item) }
            return .success(())
        } catch { return .failure(error) }
    }
}
