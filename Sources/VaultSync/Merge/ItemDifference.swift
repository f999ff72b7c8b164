internal import Cryptography
package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// What somebody changed in a record, written as a change of this device.
///
/// Nobody tells the sync of a write: an import, an older build and an app write records too. It compares the record
/// with what it showed last.
package enum ItemDifference {
    /// A record that the sync meets for the first time. Its dots are of a stream that follows from its bytes, so that
    /// two restores of one backup meet without a conflict.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``, ``SyncError/cryptography(_:)``.
    package static func first(
        _ record: borrowing SyncRecord, wideningTags: Set<String>
    ) throws(SyncError) -> SecretBytes {
        var space = MergeSpace()
        let parts = try RecordParts(record, wideningTags: wideningTags, in: &space)
        let stream = pseudoStream(of: record, in: space, parts)
        let ids = firstIDs(parts.fields, of: record.id)
        let values = try allValues(parts, ids, &space)
        let table = space.table(of: parts.places + values.map(\.place))
        var state = ItemState()
        state.write(
            at: Stamp(Dot(stream, 1), time: parts.modified), adding: try numbered(values, table))
        return try space.encoded(state, of: record.id, form: record.form, values: table)
    }

    /// Compares a record with what is shown of a state.
    /// - Parameters:
    ///   - record: As it is now.
    ///   - bytes: The state.
    ///   - stamp: Of the change, if there is one: never used before. The change's time is never before that of what it
    ///     replaces.
    ///   - isRevived: Whether the item was removed for good and is back: then it is written even if it says what was
    ///     shown.
    ///   - newID: Draws the id of a new field.
    /// - Returns: The state after the change; nil when the record says what is shown.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``, ``SyncError/cryptography(_:)``.
    package static func change(
        _ record: borrowing SyncRecord, from bytes: RawSpan, at stamp: Stamp, wideningTags: Set<String>,
        isRevived: Bool = false, newID: () throws(SyncError) -> FieldID = randomID
    ) throws(SyncError) -> SecretBytes? {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        guard layout.id == record.id, layout.form == record.form else { throw .format(.invalid(field: "state id")) }
        let parts = try RecordParts(record, wideningTags: wideningTags, in: &space)
        let stored = layout.elements.map(\.value)
        // What was shown, by numbers that the record's values have too.
        let first = space.table(of: stored + parts.places)
        let before = try first.numbered(layout)
        let shown = ShownItem(before, first, in: space)
        let ids = try fieldIDs(parts.fields, shown, first, in: space, newID)
        var edit = Edit(before, shown)
        try edit.compare(parts, ids, first)
        edit.compareOrder(ids)
        edit.compareWidening(parts.widening) { value in
            WideningMark(space.withBytes { $0.copied(first.places[value]) })
        }
        guard !edit.isEmpty || isRevived else { return nil }
        let time = ItemState.time(replacing: edit.gone, now: stamp.time)
        return try written(edit, of: layout, first, at: Stamp(stamp.dot, time: time), &space)
    }

    /// Settles what several devices wrote at once in fields and notes: what is shown stays, and the rest goes into the
    /// history, where its user finds it.
    ///
    /// Several devices may do that at once. All write the same, because nothing of it hangs on when or where.
    /// - Parameter dot: Of the change, if there is one: never used before.
    /// - Returns: The state after that; nil where nothing is to be settled.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``, ``SyncError/cryptography(_:)``.
    package static func settled(_ bytes: RawSpan, at dot: Dot) throws(SyncError) -> SecretBytes? {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        guard layout.hasSeveralValues(in: [.field, .notes]) else { return nil }
        let table = space.table(of: layout.elements.map(\.value))
        let state = try table.numbered(layout)
        var edit = Edit(state, ShownItem(state, table, in: space))
        edit.settle { value, other in space.isHigherCounter(table.places[other], than: table.places[value]) }
        guard !edit.isEmpty else { return nil }
        let time = ItemState.time(replacing: edit.gone, now: .min)
        return try written(edit, of: layout, table, at: Stamp(dot, time: time), &space)
    }

    /// A state after an edit.
    private static func written(
        _ edit: Edit, of layout: StateLayout, _ first: ValueTable, at stamp: Stamp, _ space: inout MergeSpace
    ) throws(SyncError) -> SecretBytes {
        var added = try edit.added.map { addition throws(SyncError) in
            (part: addition.part, place: try place(addition.value, first, &space))
        }
        for loser in edit.losers() {
            let place = try addHistory(first.places[loser.value], of: loser.part, time: stamp.time, &space)
            added.append((part: .history, place: place))
        }
        let table = space.table(of: layout.elements.map(\.value) + added.map(\.place))
        var state = try table.numbered(layout)
        let gone = renumbered(edit.gone, from: first, to: table)
        let values = try numbered(added, table)
        let kept = Set(
            state.elements.filter { !gone.contains($0) && !$0.part.isSingle }.map { Member($0.part, $0.value) })
        try state.checkWrite(at: stamp)
        state.write(
            at: stamp, removing: gone, adding: values.filter { !kept.contains(Member($0.part, $0.value)) })
        let said = try space.said(state, at: stamp, of: layout.id, form: layout.form, values: table)
        return try space.encoded(said, of: layout.id, form: layout.form, values: table)
    }

    /// Whether a part of a state has a value that is not shown.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    package static func hasConflict(_ bytes: RawSpan) throws(SyncError) -> Bool {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        return try !space.table(of: layout.elements.map(\.value)).numbered(layout).conflictedParts.isEmpty
    }

    /// The same values by the numbers of another table.
    static func renumbered(
        _ elements: Set<ItemState.Element>, from old: ValueTable, to new: ValueTable
    ) -> Set<ItemState.Element> {
        Set(
            elements.compactMap { element in
                new.number(of: old.places[element.value]).map { number in
                    ItemState.Element(element.part, element.stamp, number)
                }
            })
    }

    /// A value of a set.
    private struct Member: Hashable {
        let part: ItemPart
        let value: Int

        init(_ part: ItemPart, _ value: Int) {
            self.part = part
            self.value = value
        }
    }

    private static func place(
        _ value: Edit.Value, _ table: ValueTable, _ space: inout MergeSpace
    ) throws(SyncError) -> Range<Int> {
        switch value {
        case .number(let number): table.places[number]
        case .bytes(let bytes): try space.add(bytes)
        }
    }

    /// An earlier value: when it was replaced, and the field as it was; notes as a text of that label.
    static func addHistory(
        _ place: Range<Int>, of part: ItemPart, time: Int64, _ space: inout MergeSpace
    ) throws(SyncError) -> Range<Int> {
        var writer = ByteWriter()
        writer.integer(UInt64(bitPattern: time))
        if part.kind == .notes {
            writer.integer(FieldKind.text.rawValue)
            writer.integer(UInt8(0))
            writer.counted(Array("notes".utf8))
        }
        return try space.add(writer.bytes, place)
    }

    /// 16 random bytes.
    package static func randomID() throws(SyncError) -> FieldID {
        do throws(CryptographyError) {
            guard let id = FieldID(try SecureRandom.bytes(FieldID.size)) else { throw CryptographyError.invalidSize }
            return id
        } catch { throw .cryptography(error) }
    }

    // Values

    typealias Placed = (part: ItemPart, place: Range<Int>)
    typealias Numbered = (part: ItemPart, value: Int)

    /// Every value of a record with its part.
    private static func allValues(
        _ parts: RecordParts, _ ids: [FieldID], _ space: inout MergeSpace
    ) throws(SyncError) -> [Placed] {
        var values: [Placed] = parts.single.map { ($0.part, $0.place) }
        for (field, id) in zip(parts.fields, ids) { values.append((.field(id), field.whole)) }
        values += parts.tags.map { (.tag, $0) } + parts.history.map { (.history, $0) }
        values += parts.unknown.map { (.unknown, $0) }
        for tag in parts.widening { values.append((.wideningTag, try space.add(WideningMark(tag, true).bytes))) }
        if !ids.isEmpty { values.append((.order, try space.add(ids.flatMap(\.bytes)))) }
        return values
    }

    private static func numbered(_ values: [Placed], _ table: ValueTable) throws(SyncError) -> [Numbered] {
        var seen: Set<[Int]> = []
        var all: [Numbered] = []
        for value in values {
            guard let number = table.number(of: value.place) else { throw .format(.invalid(field: "state value")) }
            // An item may have two earlier values of equal bytes.
            let key = [Int(value.part.kind.rawValue), number] + (value.part.field?.bytes.map(Int.init) ?? [])
            if seen.insert(key).inserted { all.append((value.part, number)) }
        }
        return all
    }

    // Ids

    /// The stream of what nobody wrote in a group yet.
    private static func pseudoStream(
        of record: borrowing SyncRecord, in space: borrowing MergeSpace, _ parts: RecordParts
    ) -> StreamID {
        var hasher = BLAKE3()
        unsafe hasher.update(Array("holdfast/1/sync-first\n".utf8).span.bytes)
        unsafe hasher.update(record.id.bytes.span.bytes)
        // What the item is called is a part of what it says.
        if let place = parts.single.first?.place {
            space.withBytes { hasher.update($0.extracting(place)) }
        }
        record.content.withBytes { hasher.update($0) }
        let digest = hasher.finalize()
        return digest.withBytes { StreamID(truncating: $0) }
    }

    /// Field ids that follow from the labels: two devices that meet with the same item have the same.
    private static func firstIDs(_ fields: [RecordParts.Field], of item: SyncItemID) -> [FieldID] {
        var ordinals: [[UInt8]: UInt16] = [:]
        return fields.map { field in
            let key = [field.kind] + field.label
            defer { ordinals[key, default: 0] += 1 }
            var writer = ByteWriter()
            writer.append(Array("holdfast/1/sync-field\n".utf8))
            writer.append(item.bytes)
            writer.integer(field.kind)
            writer.counted(field.label)
            writer.integer(ordinals[key] ?? 0)
            let digest = unsafe BLAKE3.hash(writer.bytes.span.bytes)
            return digest.withBytes { FieldID(truncating: $0) }
        }
    }

    /// The id of each field that is there now: that of the shown one that it is, or a new one.
    private static func fieldIDs(
        _ fields: [RecordParts.Field], _ shown: ShownItem, _ table: ValueTable, in space: borrowing MergeSpace,
        _ newID: () throws(SyncError) -> FieldID
    ) throws(SyncError) -> [FieldID] {
        var places: [Range<Int>] = fields.map(\.value)
        var fronts: [(kind: UInt8, label: [UInt8], value: Range<Int>)] = []
        for (_, number) in shown.fields {
            let whole = table.places[number]
            guard let front = FieldFront(whole, in: space) else { throw .format(.invalid(field: "item field")) }
            fronts.append((front.kind, front.label, front.value))
            places.append(front.value)
        }
        let values = space.table(of: places)
        let before = zip(shown.fields, fronts).map { field, front in
            FieldKey(
                kind: front.kind, label: front.label, value: values.number(of: front.value) ?? -1, whole: field.value)
        }
        let now = fields.map { field in
            FieldKey(
                kind: field.kind, label: field.label, value: values.number(of: field.value) ?? -1,
                whole: table.number(of: field.whole) ?? -2)
        }
        var ids: [FieldID] = []
        for match in FieldMatch.match(shown: before, now: now) {
            if let match { ids.append(shown.fields[match].id) } else { ids.append(try newID()) }
        }
        return ids
    }
}
