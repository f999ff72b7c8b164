/// Where everything is in an item's bytes (items.md 2). The bytes stay with the caller, in memory for secrets; what is
/// kept here are numbers.
///
/// An item is a front of fixed size and then entries in the order of their tags. Entries with a tag that this program
/// does not know are kept where they are.
package struct ItemLayout: Sendable, Hashable {
    /// An entry's place: its tag (1 byte), the size of its content (4), and the content.
    package struct Entry: Sendable, Hashable {
        package static let headSize = 5

        package let tag: UInt8
        /// Of the content.
        package let range: Range<Int>
        /// With the head.
        package var whole: Range<Int> { range.lowerBound - Entry.headSize..<range.upperBound }
    }

    /// A field's place.
    package struct Field: Sendable, Hashable {
        package let kind: FieldKind
        package let label: Range<Int>
        package let value: Range<Int>
    }

    /// What a field held until it was changed.
    package struct Earlier: Sendable, Hashable {
        /// When it was replaced: milliseconds since 1970.
        package let replaced: Int64
        package let field: Field
    }

    /// The item is in the trash.
    package struct Trash: Sendable, Hashable {
        /// Milliseconds since 1970.
        package let moved: Int64
        /// From when on it may be removed for good; not before ``moved``.
        package let expires: Int64
        /// What it was called.
        package let name: Range<Int>
    }

    /// What an entry is.
    package enum Tag {
        package static let field: UInt8 = 1
        package static let tag: UInt8 = 2
        package static let notes: UInt8 = 3
        package static let trash: UInt8 = 4
        package static let earlier: UInt8 = 5
    }

    package static let version: UInt8 = 1
    package static let frontSize = 36

    package var front: ItemFront
    /// All of them, in the order in which they are.
    package private(set) var entries: [Entry] = []
    package private(set) var fields: [Field] = []
    /// Ascending by their bytes, each once.
    package private(set) var tags: [Range<Int>] = []
    package private(set) var notes: Range<Int>?
    package private(set) var trash: Trash?
    /// The latest last.
    package private(set) var history: [Earlier] = []

    /// - Throws: ``FormatError/newerVersion(_:)``; ``FormatError/wrongSize`` for an item that ends early or is too
    ///   large; ``FormatError/invalid(field:)`` for whatever no writer writes.
    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard bytes.byteCount <= ItemLimits.size else { throw .wrongSize }
        front = try ItemFront(parsing: bytes)
        var offset = ItemLayout.frontSize
        while offset < bytes.byteCount {
            guard entries.count < ItemLimits.entries else { throw .invalid(field: "item entries") }
            let entry = try ItemLayout.entry(bytes, at: offset)
            guard entry.tag >= entries.last?.tag ?? 1 else { throw .invalid(field: "item order") }
            try add(entry, of: bytes)
            entries.append(entry)
            offset = entry.range.upperBound
        }
    }

    private static func entry(_ bytes: RawSpan, at offset: Int) throws(FormatError) -> Entry {
        guard let tag = bytes.integer(at: offset, as: UInt8.self),
            let size = bytes.integer(at: offset + 1, as: UInt32.self),
            Int(size) <= bytes.byteCount - offset - Entry.headSize
        else { throw .wrongSize }
        let start = offset + Entry.headSize
        return Entry(tag: tag, range: start..<start + Int(size))
    }

    private mutating func add(_ entry: Entry, of bytes: RawSpan) throws(FormatError) {
        switch entry.tag {
        case Tag.field:
            guard fields.count < ItemLimits.fields else { throw .invalid(field: "item fields") }
            fields.append(try Field(parsing: bytes, entry.range))
        case Tag.tag: try addTag(entry.range, of: bytes)
        case Tag.notes:
            guard notes == nil, bytes.extracting(entry.range).isUTF8 else { throw .invalid(field: "item notes") }
            notes = entry.range
        case Tag.trash:
            guard trash == nil else { throw .invalid(field: "item trash") }
            trash = try Trash(parsing: bytes, entry.range)
        case Tag.earlier:
            guard history.count < ItemLimits.history, entry.range.count >= 8,
                let replaced = bytes.integer(at: entry.range.lowerBound, as: Int64.self)
            else { throw .invalid(field: "item history") }
            let field = try Field(parsing: bytes, entry.range.lowerBound + 8..<entry.range.upperBound)
            history.append(Earlier(replaced: replaced, field: field))
        default: break
        }
    }

    private mutating func addTag(_ range: Range<Int>, of bytes: RawSpan) throws(FormatError) {
        let tag = bytes.extracting(range)
        guard tags.count < ItemLimits.tags, ItemValue.isLabel(tag, limit: ItemLimits.tag) else {
            throw .invalid(field: "item tags")
        }
        if let last = tags.last, !bytes.extracting(last).isBefore(tag) { throw .invalid(field: "item tags") }
        tags.append(range)
    }

    /// Where an entry with this tag would go: behind all that have the same.
    package func end(of tag: UInt8) -> Int {
        entries.last { $0.tag <= tag }?.range.upperBound ?? ItemLayout.frontSize
    }

    /// The entries with this tag.
    package func entries(_ tag: UInt8) -> [Entry] { entries.filter { $0.tag == tag } }
}

extension ItemLayout.Field {
    /// Whether the bytes are a field as an item has it.
    package static func isValid(_ bytes: RawSpan) -> Bool {
        (try? ItemLayout.Field(parsing: bytes, 0..<bytes.byteCount)) != nil
    }

    /// Kind (1 byte), zero (1), the label behind its size (2), and the value.
    init(parsing bytes: RawSpan, _ range: Range<Int>) throws(FormatError) {
        let start = range.lowerBound
        guard range.count >= 4, let kind = bytes.integer(at: start, as: UInt8.self), kind > 0,
            bytes.integer(at: start + 1, as: UInt8.self) == 0,
            let size = bytes.integer(at: start + 2, as: UInt16.self), Int(size) <= range.count - 4
        else { throw .invalid(field: "item field") }
        self.kind = FieldKind(rawValue: kind)
        label = start + 4..<start + 4 + Int(size)
        value = label.upperBound..<range.upperBound
        guard ItemValue.isLabel(bytes.extracting(label), limit: ItemLimits.label) else {
            throw .invalid(field: "item label")
        }
        guard ItemValue.isValid(bytes.extracting(value), self.kind) else { throw .invalid(field: "item value") }
    }
}

extension ItemLayout.Trash {
    /// Two times (8 bytes each), and the name behind its size (2).
    init(parsing bytes: RawSpan, _ range: Range<Int>) throws(FormatError) {
        let start = range.lowerBound
        guard range.count >= 18, let moved = bytes.integer(at: start, as: Int64.self),
            let expires = bytes.integer(at: start + 8, as: Int64.self), expires >= moved,
            let size = bytes.integer(at: start + 16, as: UInt16.self), Int(size) == range.count - 18, size > 0,
            Int(size) <= RecordName.maximumNameSize
        else { throw .invalid(field: "item trash") }
        name = start + 18..<range.upperBound
        guard bytes.extracting(name).isUTF8 else { throw .invalid(field: "item trash") }
        self.moved = moved
        self.expires = expires
    }
}

extension RawSpan {
    /// The UTF-8 at a place as a text, for what is no secret: labels, tags, names of files.
    package func text(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

/// What an item may hold. Checked before anything is read further, and before anything is written.
package enum ItemLimits {
    /// Bytes of a whole item: what a record can hold.
    package static let size = 1 << 20
    /// Fields of an item.
    package static let fields = 256
    /// Tags of an item.
    package static let tags = 64
    /// Earlier values of an item's fields, all together; the oldest go first.
    package static let history = 256
    /// Bytes of a label, in UTF-8.
    package static let label = 255
    /// Bytes of a tag, in UTF-8.
    package static let tag = 64
    /// Bytes of a file's name, in UTF-8.
    package static let fileName = 255

    /// Fields, tags, earlier values, and what newer programs add.
    package static let entries = 1024
}
