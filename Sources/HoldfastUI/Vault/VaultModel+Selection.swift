internal import Holdfast

/// What was done to several items at once.
package struct Batch: Sendable, Equatable {
    /// An item that is elsewhere now.
    package struct Move: Sendable, Hashable {
        /// Where it was.
        package let old: VaultItem.ID
        /// Where it is.
        package let new: VaultItem.ID
    }

    /// Those it was done to, by their names before.
    package fileprivate(set) var done: [VaultItem.ID] = []
    /// Those that have other names now.
    package fileprivate(set) var moves: [Move] = []
    /// How many it was not done to.
    package fileprivate(set) var failed = 0
    /// Why not; the first reason.
    package fileprivate(set) var problem: VaultProblem?
}

// Several items at once: each in a transaction of its own, so that one that cannot be changed holds up no other.
extension VaultModel {
    /// What is known of items, as far as they are there.
    package func items(_ ids: [VaultItem.ID]) -> [VaultItem] {
        let wanted = Set(ids)
        return all.filter { wanted.contains($0.id) }
    }

    /// Throws items away, as ``delete(_:)`` does.
    package func delete(_ ids: [VaultItem.ID]) async -> Batch {
        await batch(ids) { vault, store, id throws(VaultError) in
            try VaultModel.discard(id, vault, store)
            return id
        }
    }

    /// Puts back what was thrown away last under these names.
    package func undelete(_ ids: [VaultItem.ID]) async -> Batch {
        await loadTrash()
        let trashed = trash
        let batch = await batch(ids) { _, store, id throws(VaultError) in
            // The latest comes first.
            guard let found = trashed.first(where: { $0.name == id.name && $0.collection == id.collection }) else {
                throw VaultError(.recordNotFound, "it is not in the trash")
            }
            try store.restore(found)
            return id
        }
        await loadTrash()
        return batch
    }

    /// Gives items another folder; the last part of their names stays.
    /// - Parameter folder: `work/servers`; empty for none.
    package func move(_ ids: [VaultItem.ID], toFolder folder: String) async -> Batch {
        await batch(ids) { _, store, id throws(VaultError) in
            let title = EntryPath(collection: id.collection, name: id.name).parts.title
            let path = try EntryPath(new: folder.isEmpty ? title : folder + "/" + title)
            let new = VaultItem.ID(collection: path.collection, name: path.name)
            guard new != id else { return id }
            try VaultModel.checkCollection(new)
            try store.rename(id.name, in: id.collection, to: new.name, into: new.collection, isChecked: true)
            return new
        }
    }

    /// Takes moves back.
    package func undo(_ moves: [Batch.Move]) async -> Batch {
        let old = Dictionary(moves.map { ($0.new, $0.old) }) { first, _ in first }
        return await batch(moves.map(\.new)) { _, store, id throws(VaultError) in
            guard let old = old[id] else { return id }
            try store.rename(id.name, in: id.collection, to: old.name, into: old.collection)
            return old
        }
    }

    /// Adds tags to items, and takes others away.
    package func tag(_ ids: [VaultItem.ID], adding: [String], removing: [String] = []) async -> Batch {
        await batch(ids) { _, store, id throws(VaultError) in
            try store.write { session throws(VaultError) in
                try session.change(EntryPath(collection: id.collection, name: id.name)) { item throws(VaultError) in
                    for tag in removing { try item.removeTag(tag) }
                    for tag in adding { try item.addTag(tag) }
                }
            }
            return id
        }
    }

    /// - Parameter body: Changes one item, and returns where it is then.
    private func batch(
        _ ids: [VaultItem.ID],
        _ body: @escaping @Sendable (Vault, ItemStore, VaultItem.ID) throws(VaultError) -> VaultItem.ID
    ) async -> Batch {
        var batch = await VaultModel.run(vault, store, ids, body)
        if let error = batch.error { batch.result.problem = note(error) }
        for move in batch.result.moves { uses.rename(move.old, to: move.new) }
        if !lock.isLocked {
            await load()
            if batch.result.done.contains(where: { uses.times[$0] != nil }) { await storeUses() }
        }
        return batch.result
    }

    @concurrent
    private nonisolated static func run(
        _ vault: Vault, _ store: ItemStore, _ ids: [VaultItem.ID],
        _ body: @Sendable (Vault, ItemStore, VaultItem.ID) throws(VaultError) -> VaultItem.ID
    ) async -> (result: Batch, error: VaultError?) {
        var batch = Batch()
        var first: VaultError?
        for id in ids {
            do throws(VaultError) {
                let new = try body(vault, store, id)
                if new != id { batch.moves.append(Batch.Move(old: id, new: new)) }
                batch.done.append(id)
            } catch {
                first = first ?? error
                // All that follow fail as this one.
                if error.code == .locked || error.code == .wiped { break }
            }
        }
        batch.failed = ids.count - batch.done.count
        return (batch, first)
    }
}
