internal import SecretMemory
internal import SyncFormat
internal import VaultFormat

/// The front of a field's bytes: kind (u8), zero (u8), the label behind its size (u16), the value.
struct FieldFront {
    let kind: UInt8
    let label: [UInt8]
    let value: Range<Int>

    /// Nil for what is no field.
    init?(_ whole: Range<Int>, in space: borrowing MergeSpace) {
        let front: (kind: UInt8, label: [UInt8])? = space.withBytes { bytes in
            let field = bytes.extracting(whole)
            guard let kind = field.integer(at: 0, as: UInt8.self), let size = field.integer(at: 2, as: UInt16.self),
                4 + Int(size) <= field.byteCount
            else { return nil }
            return (kind, field.copied(4..<4 + Int(size)))
        }
        guard let front else { return nil }
        kind = front.kind
        label = front.label
        value = whole.lowerBound + 4 + label.count..<whole.upperBound
    }
}

/// The record that everybody sees of a state.
package struct ItemProjection: ~Copyable {
    package let record: SyncRecord
    /// Of an item: whether it is in the trash.
    package let isInTrash: Bool
    /// Whether the state has more than an item can hold.
    package let isPartial: Bool

    /// - Throws: ``SyncError/format(_:)`` for a state of which no record can be made, ``SyncError/memory(_:)``.
    package init(of bytes: RawSpan) throws(SyncError) {
        var space = MergeSpace()
        let layout = try space.layout(at: try space.add(bytes))
        let table = space.table(of: layout.elements.map(\.value))
        let state = try table.numbered(layout)
        let shown = ShownItem(state, table, in: space)
        guard let wanted = shown.single[.place].map({ table.places[$0] }) else {
            throw .format(.invalid(field: "state place"))
        }
        let place = try StatePlace(wanted, in: space)
        let trash = shown.single[.trash].map { table.places[$0] }
        let content: SecretBytes
        if layout.form == .value {
            guard let value = shown.single[.value].map({ table.places[$0] }) else {
                throw .format(.invalid(field: "state value"))
            }
            content = try space.copy([value])
        } else {
            content = try ItemProjection.item(
                layout, shown, table, modified: state.modified, name: place.name, in: &space)
        }
        isPartial = shown.isPartial
        isInTrash = layout.form == .item && trash?.isEmpty == false
        record = SyncRecord(
            id: layout.id, form: layout.form, collection: place.collection, name: place.name, minimum: place.minimum,
            content: content)
    }

    /// The bytes of an item, which a reader takes: what does not read as one is refused here, before it is anywhere.
    private static func item(
        _ layout: StateLayout, _ shown: ShownItem, _ table: ValueTable, modified: Int64, name: String,
        in space: inout MergeSpace
    ) throws(SyncError) -> SecretBytes {
        func bytes(_ part: ItemPart, _ count: Int) throws(SyncError) -> [UInt8] {
            guard let place = shown.single[part].map({ table.places[$0] }), place.count == count else {
                throw .format(.invalid(field: "state front"))
            }
            return space.withBytes { $0.copied(place) }
        }
        var front = ByteWriter()
        front.integer(ItemLayout.version)
        front.append(try bytes(.kind, 1) + bytes(.flags, 2))
        front.append(layout.id.bytes)
        front.append(try bytes(.created, 8))
        front.integer(UInt64(bitPattern: modified))
        var places = [try space.add(front.bytes)]
        func add(_ tag: UInt8, _ prefix: [UInt8], _ content: Range<Int>? = nil) throws(SyncError) {
            var head = ByteWriter()
            head.integer(tag)
            head.integer(UInt32(prefix.count + (content?.count ?? 0)))
            head.append(prefix)
            places.append(try space.add(head.bytes))
            if let content { places.append(content) }
        }
        for field in shown.fields { try add(ItemLayout.Tag.field, [], table.places[field.value]) }
        let tags = shown.tags.map { tag in space.withBytes { $0.copied(table.places[tag]) } }
        for tag in (tags + shown.widening.map { Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try add(ItemLayout.Tag.tag, tag)
        }
        if let notes = shown.single[.notes] { try add(ItemLayout.Tag.notes, [], table.places[notes]) }
        if let trash = shown.single[.trash].map({ table.places[$0] }), !trash.isEmpty {
            var former = ByteWriter()
            former.append(space.withBytes { $0.copied(trash) })
            former.counted(Array(name.utf8))
            try add(ItemLayout.Tag.trash, former.bytes)
        }
        for earlier in shown.history { try add(ItemLayout.Tag.earlier, [], table.places[earlier]) }
        // With their tags and sizes, and so in the order of their tags.
        places += shown.unknown.map { table.places[$0] }
        let content = try space.copy(places)
        try content.withBytes { bytes throws(SyncError) in
            do throws(FormatError) { _ = try ItemLayout(parsing: bytes) } catch { throw .format(error) }
        }
        return content
    }
}
