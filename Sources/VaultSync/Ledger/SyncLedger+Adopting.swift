internal import Items
internal import SecretMemory
package import SyncFormat
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// When entries that were taken do not count, and when own ones were never heard by anybody.
///
/// Both change states and never what is shown: no record is touched. There may be as many shadows as items, so they are
/// found first, in one look at all of them, and then changed in as many transactions as the caller makes of it. What
/// was done is not found or not changed a second time, so that it may be interrupted anywhere.
extension SyncLedger {
    // Adopting

    /// Items that may have values of entries that do not count.
    /// - Parameters:
    ///   - last: Of each stream that is cut off the last entry that counts; 0 for none.
    ///   - writers: All streams that are known, where such an entry was taken. All items that were ever removed, and
    ///     those that were first met and never changed, are said then, too: nothing in them tells which entry they came
    ///     with. Nil where no such entry was taken.
    /// - Returns: Ascending ids for ``adopt(_:after:saying:at:in:)``, a part of them in each transaction.
    /// - Throws: `locked`, `damaged`.
    package func itemsToAdopt(
        after last: [StreamID: UInt64], saying writers: Set<StreamID>?
    ) throws(VaultError) -> [SyncItemID] {
        try items { seen in
            if let writers,
                !seen.removals.isEmpty || !seen.context.highest.contains(where: { writers.contains($0.stream) })
            {
                return true
            }
            return seen.context.highest.contains { dot in last[dot.stream].map { dot.number > $0 } ?? false }
        }
    }

    /// Writes the values of entries that do not count as this device's own.
    /// - Parameters:
    ///   - ids: As they were found; each once for one stamp.
    ///   - last: As they were found with, like `writers`.
    ///   - stamp: Of the entry that will have them, never used before.
    ///   - session: The transaction. What the entry becomes is written in it, too.
    /// - Returns: What this device has to say.
    /// - Throws: What reading and writing throws; then nothing of the transaction may be kept.
    package func adopt(
        _ ids: some Sequence<SyncItemID>, after last: [StreamID: UInt64], saying writers: Set<StreamID>?,
        at stamp: Stamp,
        in session: inout WriteSession
    ) throws(VaultError) -> [SyncState] {
        try amend(ids, &session) { state throws(SyncError) in
            try StateAmendment(adopting: state, after: last, at: stamp)
        } isSaid: {
            guard let writers else { return $0.isChanged }
            return $0.isChanged || $0.hasRemovals || $0.streams.isDisjoint(with: writers)
        }
    }

    // Taking back

    /// Items that name entries of the own stream behind the last one that this life and the other one have.
    /// - Parameter last: 0 for none.
    /// - Returns: Ascending ids for ``rebase(_:of:after:at:in:)``, a part of them in each transaction. The items of the
    ///   unpublished entries belong to them, too: an item that was first met and a removal name no entry.
    /// - Throws: `locked`, `damaged`.
    package func itemsToRebase(of stream: StreamID, after last: UInt64) throws(VaultError) -> [SyncItemID] {
        try items { $0.names(stream, after: last) }
    }

    /// Takes back the numbers of the own stream that this life used without anybody's hearing of it. Nothing of the
    /// other life may be taken before all of them are taken back.
    /// - Parameters:
    ///   - ids: As they were found, and those of the items in all unpublished entries; each once for one stamp.
    ///   - last: The last entry that both lives have.
    ///   - stamp: Of the entry that will have them, of the new stream, never used before.
    ///   - session: The transaction. What the entry becomes is written in it, too.
    /// - Returns: What this device has to say: the states of all of them.
    /// - Throws: What reading and writing throws; then nothing of the transaction may be kept.
    package func rebase(
        _ ids: some Sequence<SyncItemID>, of stream: StreamID, after last: UInt64, at stamp: Stamp,
        in session: inout WriteSession
    ) throws(VaultError) -> [SyncState] {
        try amend(ids, &session) { state throws(SyncError) in
            try StateAmendment(rebasing: state, of: stream, after: last, at: stamp)
        } isSaid: { _ in
            true
        }
    }

    // Both

    /// The items of which a shadow's begin says something.
    private func items(where isWanted: (StateSeen) -> Bool) throws(VaultError) -> [SyncItemID] {
        var found: [SyncItemID] = []
        _ = try vault.forEachRecord(for: holder) { visit, _, content throws(VaultError) in
            guard case .own(let name) = visit, let id = Shadow.id(ofName: name) else { return }
            // The begin is in the first record, whatever more there is of it.
            let start = try Shadow.layout(content).stateOffset
            let seen: StateSeen
            do throws(FormatError) {
                seen = try StateSeen(parsing: content, in: start..<content.byteCount)
            } catch { throw VaultError(.format(error)) }
            if isWanted(seen) { found.append(id) }
        }
        return found.sorted()
    }

    private func amend(
        _ ids: some Sequence<SyncItemID>, _ session: inout WriteSession,
        _ change: (RawSpan) throws(SyncError) -> StateAmendment, isSaid: (borrowing StateAmendment) -> Bool
    ) throws(VaultError) -> [SyncState] {
        var states: [SyncState] = []
        for id in ids {
            guard let shadow = try session.shadow(of: id) else { continue }
            let amended = try shadow.state.withBytes { state throws(VaultError) in
                try syncCall { () throws(SyncError) in try change(state) }
            }
            let isSaid = amended.isAnything && isSaid(amended)
            let front = shadow.front
            if isSaid && amended.isReduced {
                try amended.said.withBytes { state throws(VaultError) in try session.store(front, state, of: id) }
            } else if amended.isChanged {
                try amended.state.withBytes { state throws(VaultError) in try session.store(front, state, of: id) }
            }
            if isSaid { states.append(SyncState(amended.said)) }
        }
        return states
    }
}
