internal import VaultFormat

/// A record's name and its collection, with the sizes that the vault allows.
package struct RecordPath: Sendable, Hashable {
    /// Bytes of a collection's name.
    static let collectionSizes = 0...RecordName.maximumCollectionSize
    /// Bytes of a name.
    static let nameSizes = 1...RecordName.maximumNameSize

    /// The collection it is in.
    package let collection: String
    /// Its name there.
    package let name: String

    /// Nil when one of the two has a size that no record has.
    package init?(collection: String, name: String) {
        guard RecordPath.collectionSizes.contains(collection.utf8.count),
            RecordPath.nameSizes.contains(name.utf8.count)
        else { return nil }
        self.collection = collection
        self.name = name
    }

    /// By their bytes: texts that only look alike are different names.
    package static func == (left: RecordPath, right: RecordPath) -> Bool {
        left.collection.utf8.elementsEqual(right.collection.utf8) && left.name.utf8.elementsEqual(right.name.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in collection.utf8 { hasher.combine(byte) }
        for byte in name.utf8 { hasher.combine(byte) }
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        collection = try cursor.text(bytes, RecordPath.collectionSizes, "collection")
        name = try cursor.text(bytes, RecordPath.nameSizes, "name")
    }

    func write(_ writer: inout Writer) {
        writer.text(collection, atMost: RecordPath.collectionSizes.upperBound)
        writer.text(name, atMost: RecordPath.nameSizes.upperBound)
    }
}

/// A folder as names are written: its first part, and the rest of it, which may be empty.
package struct FolderPath: Sendable, Hashable {
    private static let restSizes = 0...RecordPath.nameSizes.upperBound

    /// Its first part.
    package let first: String
    /// What follows the slash behind that.
    package let rest: String

    /// Nil when one of the two has a size that no folder's has.
    package init?(first: String, rest: String) {
        guard RecordPath.collectionSizes.contains(first.utf8.count), FolderPath.restSizes.contains(rest.utf8.count)
        else { return nil }
        self.first = first
        self.rest = rest
    }

    /// By their bytes, as places of records.
    package static func == (left: FolderPath, right: FolderPath) -> Bool {
        left.first.utf8.elementsEqual(right.first.utf8) && left.rest.utf8.elementsEqual(right.rest.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in first.utf8 { hasher.combine(byte) }
        for byte in rest.utf8 { hasher.combine(byte) }
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        first = try cursor.text(bytes, RecordPath.collectionSizes, "folder")
        rest = try cursor.text(bytes, FolderPath.restSizes, "folder")
    }

    func write(_ writer: inout Writer) {
        writer.text(first, atMost: RecordPath.collectionSizes.upperBound)
        writer.text(rest, atMost: FolderPath.restSizes.upperBound)
    }
}
