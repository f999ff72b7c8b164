internal import Cryptography
package import SecretMemory
internal import SyncFormat
internal import VaultFormat

/// Two versions of one item that are brought together once, without a group: nobody knows which was there first.
///
/// The join is that of the sync; what is in conflict after it is settled at once. A value that the other's history has
/// was replaced there, so the other's is the later one. Else the item that was changed last decides, and the other
/// value goes into the history. Where an item is (its name, the trash) stays as it is here.
package enum ItemOnce {
    /// The item that both become.
    /// - Parameter wideningTags: Tags that let more programs in, in lower case: they stay only where both have them.
    /// - Returns: Nil when it is what is here.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``, ``SyncError/cryptography(_:)``.
    package static func merged(
        _ mine: borrowing SyncRecord, with theirs: borrowing SyncRecord, wideningTags: Set<String>
    ) throws(SyncError) -> SecretBytes? {
        var space = MergeSpace()
        let layouts = (
            try layout(mine, wideningTags, in: &space),
            try layout(theirs, wideningTags, in: &space)
        )
        guard layouts.0.id == layouts.1.id, layouts.0.form == layouts.1.form else {
            throw .format(.invalid(field: "state id"))
        }
        let stored = (layouts.0.elements + layouts.1.elements).map(\.value)
        // The field in an earlier value stands behind its time.
        func earlier(_ layout: StateLayout) -> [Range<Int>] {
            layout.elements.filter { $0.part == .history }.map { $0.value.dropFirst(8) }
        }
        let known = (earlier(layouts.0), earlier(layouts.1))
        let first = space.table(of: stored + known.0 + known.1)
        let (own, other) = (try first.numbered(layouts.0), try first.numbered(layouts.1))
        var joined = own.joined(with: other)
        let replaced = (
            Set(known.0.compactMap(first.number(of:))), Set(known.1.compactMap(first.number(of:)))
        )
        var gone: Set<ItemState<Int>.Element> = []
        var losers: [(part: ItemPart, value: Int)] = []
        for part in Set(joined.elements.map(\.part)).sorted() where part.isSingle {
            let elements = joined.elements(of: part)
            guard elements.count > 1 || part.kind == .trash || part.kind == .place else { continue }
            guard let winner = settle(part, own, other, joined, replaced) else { continue }
            gone.formUnion(elements.filter { $0 != winner })
            guard part.kind == .field || part.kind == .notes else { continue }
            losers += elements.map(\.value).filter { $0 != winner.value && !replaced.0.union(replaced.1).contains($0) }
                .map { (part, $0) }
        }
        // A tag that only one of them has lets nobody in.
        let marks = Set(own.members(of: .wideningTag)).symmetricDifference(other.members(of: .wideningTag))
        gone.formUnion(joined.elements(of: .wideningTag).filter { marks.contains($0.value) })
        var history: [Range<Int>] = []
        for loser in losers {
            history.append(
                try ItemDifference.addHistory(first.places[loser.value], of: loser.part, time: joined.modified, &space))
        }
        let table = space.table(of: stored + known.0 + known.1 + history)
        joined = try table.numbered(layouts.0).joined(with: try table.numbered(layouts.1))
        joined.write(
            at: Stamp(Dot(try ItemOnce.stream(), 1), time: joined.modified),
            removing: ItemDifference.renumbered(gone, from: first, to: table),
            adding: history.compactMap { table.number(of: $0) }.map { (.history, $0) })
        let state = try space.encoded(joined, of: layouts.0.id, form: layouts.0.form, values: table)
        let projection = try state.withBytes { bytes throws(SyncError) in try ItemProjection(of: bytes) }
        return try projection.record.content.withBytes { content throws(SyncError) in
            if mine.content.isEqual(to: content) { return nil }
            do throws(SecretMemoryError) { return try SecretBytes(copying: content) } catch { throw .memory(error) }
        }
    }

    /// What a record says, as a state that lies in the space.
    private static func layout(
        _ record: borrowing SyncRecord, _ wideningTags: Set<String>, in space: inout MergeSpace
    ) throws(SyncError) -> StateLayout {
        let state = try ItemDifference.first(record, wideningTags: wideningTags)
        return try space.layout(at: try state.withBytes { bytes throws(SyncError) in try space.add(bytes) })
    }

    /// Which value of a part stays.
    private static func settle(
        _ part: ItemPart, _ own: ItemState<Int>, _ other: ItemState<Int>, _ joined: ItemState<Int>,
        _ replaced: (own: Set<Int>, other: Set<Int>)
    ) -> ItemState<Int>.Element? {
        let (mine, theirs) = (own.shown(part), other.shown(part))
        switch part.kind {
        case .place, .trash, .flags: return mine ?? theirs
        default: break
        }
        guard let mine, let theirs else { return mine ?? theirs }
        let wasMine = replaced.other.contains(mine.value)
        let wasTheirs = replaced.own.contains(theirs.value)
        if wasMine != wasTheirs { return wasMine ? theirs : mine }
        return joined.shown(part)
    }

    /// Of a write that nobody else will see.
    private static func stream() throws(SyncError) -> StreamID {
        guard let stream = StreamID(try ItemDifference.randomID().bytes) else { throw .cryptography(.invalidSize) }
        return stream
    }
}
