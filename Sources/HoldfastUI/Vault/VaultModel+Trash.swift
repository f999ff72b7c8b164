package import Holdfast

extension VaultModel {
    /// Reads what is in the trash. Every item is looked at for that: it is only done when the trash is to be shown.
    /// - Returns: Why not; nil when it was read.
    @discardableResult
    package func loadTrash() async -> VaultProblem? {
        switch await VaultModel.trashed(in: store) {
        case .success(let found):
            // Locked while it was read: nothing is shown.
            trash = lock.isLocked ? [] : found
            return nil
        case .failure(let error): return VaultProblem(error)
        }
    }

    /// Puts something back under its name.
    /// - Returns: Why not; nil when it is back. `exists` when its name is taken by now.
    package func restore(_ trashed: ItemStore.Trashed) async -> VaultProblem? {
        let problem = await change(VaultModel.restore(store, trashed))
        await loadTrash()
        return problem
    }

    /// Removes things from the trash for good; all of them when nil.
    /// - Returns: Why not; nil when they are gone.
    package func emptyTrash(_ some: [ItemStore.Trashed]? = nil) async -> VaultProblem? {
        let problem = await change(VaultModel.emptyTrash(store, some))
        await loadTrash()
        return problem
    }

    @concurrent
    private nonisolated static func trashed(in store: ItemStore) async -> Result<[ItemStore.Trashed], VaultError> {
        Result { () throws(VaultError) in try store.trashed() }
    }

    @concurrent
    private nonisolated static func restore(
        _ store: ItemStore, _ trashed: ItemStore.Trashed
    ) async -> Result<Void, VaultError> {
        Result { () throws(VaultError) in try store.restore(trashed) }
    }

    @concurrent
    private nonisolated static func emptyTrash(
        _ store: ItemStore, _ some: [ItemStore.Trashed]?
    ) async -> Result<Void, VaultError> {
        Result { () throws(VaultError) in try store.emptyTrash(some) }
    }
}
