/// Something in the trash: two items of the same name may be there.
package struct TrashKey: Sendable, Hashable {
    /// Bytes of an item's id.
    package static let idSize = 16

    /// The collection that it was in.
    package let collection: String
    /// The id of the item, 16 bytes.
    package let id: [UInt8]

    /// Nil when a part has a size that it cannot have.
    package init?(collection: String, id: [UInt8]) {
        guard RecordPath.collectionSizes.contains(collection.utf8.count), id.count == TrashKey.idSize else {
            return nil
        }
        self.collection = collection
        self.id = id
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        var id: [UInt8] = []
        for _ in 0..<TrashKey.idSize { id.append(try cursor.integer(bytes, UInt8.self)) }
        self.id = id
        collection = try cursor.text(bytes, RecordPath.collectionSizes, "collection")
    }

    func write(_ writer: inout Writer) {
        for byte in id { writer.integer(byte) }
        writer.text(collection, atMost: RecordPath.collectionSizes.upperBound)
    }
}

/// One line of the trash.
package struct TrashEntry: Sendable, Hashable {
    /// What it is.
    package let key: TrashKey
    /// What it was called.
    package let name: String
    /// When it was moved there: milliseconds since 1970.
    package let moved: Int64
    /// From when on it may be removed for good.
    package let expires: Int64

    package init(key: TrashKey, name: String, moved: Int64, expires: Int64) {
        self.key = key
        self.name = name
        self.moved = moved
        self.expires = expires
    }

    /// Bytes in a message.
    package var encodedSize: Int { TrashKey.idSize + 4 + key.collection.utf8.count + name.utf8.count + 16 }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        key = try TrashKey(&cursor, bytes)
        name = try cursor.text(bytes, RecordPath.nameSizes, "name")
        moved = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
        expires = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
    }

    func write(_ writer: inout Writer) {
        key.write(&writer)
        writer.text(name, atMost: RecordPath.nameSizes.upperBound)
        writer.integer(UInt64(bitPattern: moved))
        writer.integer(UInt64(bitPattern: expires))
    }
}

/// What goes before the bytes of an item.
package struct ItemHead: Sendable, Hashable {
    /// The number of the write that it was read from.
    package let sequence: UInt64
    /// Whether the record is a plain value, made an item only for this answer.
    package let isOfValue: Bool
    /// Bytes that follow.
    package let size: UInt32

    package init(sequence: UInt64, isOfValue: Bool, size: UInt32) {
        self.sequence = sequence
        self.isOfValue = isOfValue
        self.size = size
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        sequence = try cursor.integer(bytes, UInt64.self)
        isOfValue = try cursor.flag(bytes, "flags")
        size = try cursor.integer(bytes, UInt32.self)
    }

    func write(_ writer: inout Writer) {
        writer.integer(sequence)
        writer.flag(isOfValue)
        writer.integer(size)
    }
}
