internal import Cryptography
package import SecretMemory
internal import SyncFormat
internal import VaultFormat

/// Two versions of one item that are brought together once, without a group: nobody knows which was there first.
///
/// The join is that of the sync; what is in conflict after it is settled at once. A value that the other's history has
/// was replaced there, so the other's is the later one. Else the item that was changed last decides, and the other
/// value goes into the history. Where an item is (its name, the trash) stays as it is here. Nothing keeps what an item
/// has no room for, so two versions that do not fit into one stay two.
package struct ItemOnce: ~Copyable {
    /// The item that both become; nil where they cannot become one.
    package let merged: SecretBytes?

    private init(_ merged: consuming SecretBytes?) { self.merged = merged }

    /// Brings two versions together.
    /// - Parameter wideningTags: Tags that let more programs in. Versions that do not agree about one stay two: values
    ///   of a program would be taken for the user's, or the other way round.
    /// - Returns: Nil when it is what is here.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``, ``SyncError/cryptography(_:)``.
    package static func of(
        _ mine: borrowing SyncRecord, with theirs: borrowing SyncRecord, wideningTags: Set<String>
    ) throws(SyncError) -> ItemOnce? {
        if isSame(mine, theirs) { return nil }
        var space = MergeSpace()
        let layouts = (
            try layout(mine, wideningTags, in: &space), try layout(theirs, wideningTags, in: &space)
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
        let marks = (own.members(of: .wideningTag), other.members(of: .wideningTag))
        guard marks.0 == marks.1 else { return ItemOnce(nil) }
        let replaced = (
            Set(known.0.compactMap(first.number(of:))), Set(known.1.compactMap(first.number(of:)))
        )
        let joined = own.joined(with: other)
        var gone: Set<ItemState.Element> = []
        var losers: [Range<Int>] = []
        for part in Set(joined.elements.map(\.part)).sorted() where part.isSingle {
            let elements = joined.elements(of: part)
            guard let winner = settle(part, own, other, replaced, first, in: space) else { continue }
            gone.formUnion(elements.filter { $0 != winner })
            guard part.kind == .field || part.kind == .notes else { continue }
            for value in Set(elements.map(\.value)).sorted() where value != winner.value {
                let place = first.places[value]
                guard !place.isEmpty, !space.isHigherCounter(first.places[winner.value], than: place) else { continue }
                losers.append(try ItemDifference.addHistory(place, of: part, time: joined.modified, &space))
            }
        }
        // What the history has already is not put there again.
        let all = space.table(of: stored + known.0 + known.1 + losers + losers.map { $0.dropFirst(8) })
        let there = Set((known.0 + known.1).compactMap(all.number(of:)))
        let history = losers.filter { loser in
            all.number(of: loser.dropFirst(8)).map { !there.contains($0) } ?? true
        }
        var state = try all.numbered(layouts.0).joined(with: try all.numbered(layouts.1))
        state.write(
            at: Stamp(Dot(try stream(), 1), time: joined.modified),
            removing: ItemDifference.renumbered(gone, from: first, to: all),
            adding: history.compactMap { all.number(of: $0) }.map { (.history, $0) })
        let encoded = try space.encoded(state, of: layouts.0.id, form: layouts.0.form, values: all)
        return try projected(encoded, mine)
    }

    private static func projected(
        _ state: borrowing SecretBytes, _ mine: borrowing SyncRecord
    ) throws(SyncError) -> ItemOnce? {
        let projection = try state.withBytes { bytes throws(SyncError) in try ItemProjection(of: bytes) }
        guard !projection.isPartial else { return ItemOnce(nil) }
        if isSame(mine, projection.record) { return nil }
        return try projection.record.content.withBytes { content throws(SyncError) in
            do throws(SecretMemoryError) {
                return ItemOnce(try SecretBytes(copying: content))
            } catch { throw .memory(error) }
        }
    }

    /// Whether two items say the same, but for the time of the last change.
    private static func isSame(_ mine: borrowing SyncRecord, _ theirs: borrowing SyncRecord) -> Bool {
        let time = ItemLayout.frontSize - 8..<ItemLayout.frontSize
        guard mine.content.count == theirs.content.count, mine.content.count >= time.upperBound else { return false }
        return mine.content.withBytes { mine in
            theirs.content.withBytes { theirs in
                let rest = time.upperBound..<mine.byteCount
                return constantTimeEquals(
                    mine.extracting(0..<time.lowerBound), theirs.extracting(0..<time.lowerBound))
                    && constantTimeEquals(mine.extracting(rest), theirs.extracting(rest))
            }
        }
    }

    /// What a record says, as a state that lies in the space.
    private static func layout(
        _ record: borrowing SyncRecord, _ wideningTags: Set<String>, in space: inout MergeSpace
    ) throws(SyncError) -> StateLayout {
        let state = try ItemDifference.first(record, wideningTags: wideningTags)
        return try space.layout(at: try state.withBytes { bytes throws(SyncError) in try space.add(bytes) })
    }

    /// Which value of a part stays: where nothing tells, that of the item that was changed last, and of equal times
    /// that of here.
    private static func settle(
        _ part: ItemPart, _ own: ItemState, _ other: ItemState,
        _ replaced: (own: Set<Int>, other: Set<Int>), _ table: ValueTable, in space: borrowing MergeSpace
    ) -> ItemState.Element? {
        let (mine, theirs) = (own.shown(part), other.shown(part))
        switch part.kind {
        case .place, .trash, .flags, .created: return mine ?? theirs
        default: break
        }
        guard let mine, let theirs else { return mine ?? theirs }
        if part.kind == .field {
            if space.isHigherCounter(table.places[theirs.value], than: table.places[mine.value]) { return theirs }
            if space.isHigherCounter(table.places[mine.value], than: table.places[theirs.value]) { return mine }
        }
        let wasMine = replaced.other.contains(mine.value)
        let wasTheirs = replaced.own.contains(theirs.value)
        if wasMine != wasTheirs { return wasMine ? theirs : mine }
        return theirs.stamp.time > mine.stamp.time ? theirs : mine
    }

    /// Of a write that nobody else will see.
    private static func stream() throws(SyncError) -> StreamID {
        guard let stream = StreamID(try ItemDifference.randomID().bytes) else { throw .cryptography(.invalidSize) }
        return stream
    }

    /// The id of a version that stays beside the other: the same whenever it is asked for.
    static func copyID(of content: borrowing SecretBytes) -> SyncItemID {
        var hasher = BLAKE3()
        unsafe hasher.update(Array("holdfast/1/merge-copy\n".utf8).span.bytes)
        content.withBytes { hasher.update($0) }
        return hasher.finalize().withBytes { SyncItemID(truncating: $0) }
    }
}
