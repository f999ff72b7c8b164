package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// A record of a vault as the sync sees it.
package struct SyncRecord: ~Copyable, Sendable {
    package let id: SyncItemID
    package let form: StateLayout.Form
    package let collection: String
    /// As the user knows it: of an item in the trash its name before.
    package let name: String
    /// The assurance that its collection asks for, by its number.
    package let minimum: UInt8
    /// The bytes of an item, or a plain value.
    package let content: SecretBytes

    package init(
        id: SyncItemID, form: StateLayout.Form, collection: String, name: String, minimum: UInt8,
        content: consuming SecretBytes
    ) {
        self.id = id
        self.form = form
        self.collection = collection
        self.name = name
        self.minimum = minimum
        self.content = content
    }
}

/// What a record says of each part, as places in a ``MergeSpace``.
struct RecordParts {
    struct Field {
        let kind: UInt8
        let label: [UInt8]
        let value: Range<Int>
        /// Kind, label and value, as an item has them.
        let whole: Range<Int>
    }

    /// The parts that have one value.
    var single: [(part: ItemPart, place: Range<Int>)] = []
    var fields: [Field] = []
    var tags: [Range<Int>] = []
    /// Of the tags that let more programs in, those that are there.
    var widening: [String] = []
    var history: [Range<Int>] = []
    var unknown: [Range<Int>] = []
    /// The last change by the item's own clock.
    var modified: Int64 = 0

    /// - Parameter wideningTags: Tags that let more programs in.
    /// - Throws: ``SyncError/format(_:)``, ``SyncError/memory(_:)``.
    init(_ record: borrowing SyncRecord, wideningTags: Set<String>, in space: inout MergeSpace) throws(SyncError) {
        var writer = ByteWriter()
        writer.integer(record.minimum)
        writer.counted(Array(record.collection.utf8))
        writer.counted(Array(record.name.utf8))
        single.append((.place, try space.add(writer.bytes)))
        let content = try record.content.withBytes { bytes throws(SyncError) in try space.add(bytes) }
        guard record.form == .item else {
            single.append((.value, content))
            return
        }
        let start = content.lowerBound
        let layout = try RecordParts.layout(of: content, in: space)
        guard SyncItemID(layout.front.id.bytes) == record.id else { throw .format(.invalid(field: "item id")) }
        func placed(_ range: Range<Int>) -> Range<Int> { range.lowerBound + start..<range.upperBound + start }
        single += [(.kind, placed(1..<2)), (.flags, placed(2..<4)), (.created, placed(20..<28))]
        modified = layout.front.modified
        if let notes = layout.notes { single.append((.notes, placed(notes))) }
        let trash = layout.entries(ItemLayout.Tag.trash).first.map { $0.range.lowerBound..<$0.range.lowerBound + 16 }
        single.append((.trash, trash.map(placed) ?? start..<start))
        let entries = layout.entries(ItemLayout.Tag.field)
        for (field, entry) in zip(layout.fields, entries) {
            let label = placed(field.label)
            fields.append(
                Field(
                    kind: field.kind.rawValue, label: space.withBytes { $0.copied(label) }, value: placed(field.value),
                    whole: placed(entry.range)))
        }
        for tag in layout.tags.map(placed) {
            // To the byte: another spelling lets nobody in.
            let text = space.withBytes { $0.text(tag) }
            if wideningTags.contains(where: { $0.hasBytes(of: text) }) {
                widening.append(text)
            } else {
                tags.append(tag)
            }
        }
        history = layout.entries(ItemLayout.Tag.earlier).map { placed($0.range) }
        unknown = layout.entries.filter { $0.tag > ItemLayout.Tag.earlier }.map { placed($0.whole) }
    }

    private static func layout(
        of place: Range<Int>, in space: borrowing MergeSpace
    ) throws(SyncError) -> ItemLayout {
        try space.withBytes { bytes throws(SyncError) in
            do throws(FormatError) {
                return try ItemLayout(parsing: bytes.extracting(place))
            } catch { throw .format(error) }
        }
    }

    /// All places that values have.
    var places: [Range<Int>] {
        single.map(\.place) + fields.flatMap { [$0.whole, $0.value] } + tags + history + unknown
    }
}
