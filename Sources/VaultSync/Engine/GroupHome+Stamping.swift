internal import Items
internal import SecretMemory
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension GroupHome {
    /// What one transaction has at the most, so that a lock has to wait for no more.
    enum Batch {
        static let changes = 256
        static let bytes = 4 << 20
    }

    /// Writes everything that differs in the vault as entries of this device.
    /// - Parameter comparison: What was found; nil has it looked for.
    /// - Returns: A comparison in which nothing differs, and how many changes there were.
    func stamp(
        _ comparison: SyncLedger.Comparison? = nil
    ) throws(VaultError) -> (clean: SyncLedger.Comparison, changes: Int) {
        var now: SyncLedger.Comparison
        if let comparison { now = comparison } else { now = try ledger.differences() }
        var changes = 0
        for _ in 0..<GroupHome.mostTries {
            let waiting = now.waiting.filter { !unlandable.contains($0) }
            if now.found.isEmpty, waiting.isEmpty { return (now, changes) }
            if now.found.isEmpty { try land(waiting) } else { changes += try seal(now) }
            // Somebody else may have written between two transactions.
            now = try ledger.differences()
        }
        throw VaultError(.busy, "the vault is being written to all the time")
    }

    private func seal(_ comparison: SyncLedger.Comparison) throws(VaultError) -> Int {
        var rest = comparison.found[...]
        var changes = 0
        while !rest.isEmpty {
            try write { session throws(VaultError) in
                var (count, bytes) = (0, 0)
                while !rest.isEmpty, count < Batch.changes, bytes < Batch.bytes {
                    let stamp = try stampInRoom()
                    var (states, fill): ([SyncState], EntryFill) = ([], EntryFill())
                    while let next = rest.popFirst() {
                        for state in try ledger.write(CollectionOfOne(next), at: stamp, in: &session) {
                            states.append(state)
                            fill.add(state)
                            bytes += state.bytes.count
                        }
                        if fill.isFull || bytes >= Batch.bytes { break }
                    }
                    if !states.isEmpty { try seal(states, in: &session) }
                    count += states.count
                }
                if rest.isEmpty {
                    _ = try ledger.write(
                        EmptyCollection(), displaced: comparison.displaced, at: stampInRoom(), in: &session)
                }
                changes += count
            }
        }
        return changes
    }

    /// Shows what waited for collections that are reached by now.
    private func land(_ ids: [SyncItemID]) throws(VaultError) {
        var rest = ids[...]
        while !rest.isEmpty {
            let batch = rest.prefix(EntryFill.most)
            do throws(VaultError) { try landAll(batch) } catch {
                guard error.isOfEntries else { throw error }
                // One of them cannot be shown: it stays waiting.
                for id in batch {
                    do throws(VaultError) { try landAll(CollectionOfOne(id)) } catch {
                        guard error.isOfEntries else { throw error }
                        unlandable.insert(id)
                    }
                }
            }
            rest = rest.dropFirst(batch.count)
        }
    }

    private func landAll(_ ids: some Sequence<SyncItemID>) throws(VaultError) {
        try write { session throws(VaultError) in
            let stamp = try stampInRoom()
            var states: [SyncState] = []
            for id in ids {
                if let state = try ledger.land(id, counting: ended, at: stamp, in: &session) { states.append(state) }
            }
            if !states.isEmpty { try seal(states, in: &session) }
        }
    }

    /// The next stamp, where the stream has room for one more entry.
    func stampInRoom() throws(VaultError) -> Stamp {
        let stamp = nextStamp()
        guard stamp.dot.number <= SyncLimits.entries else {
            throw VaultError(.tooLarge, "the stream of this device is full")
        }
        return stamp
    }

    /// Tries before another writer, who is faster each time, makes this one give up.
    static let mostTries = 8
}
