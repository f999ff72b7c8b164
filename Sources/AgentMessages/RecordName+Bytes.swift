internal import VaultFormat

extension RecordName {
    /// Bytes of a collection's name.
    static var collectionSizes: ClosedRange<Int> { 0...maximumCollectionSize }
    /// Bytes of a name.
    static var nameSizes: ClosedRange<Int> { 1...maximumNameSize }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let collection = try cursor.text(bytes, RecordName.collectionSizes, "collection")
        let name = try cursor.text(bytes, RecordName.nameSizes, "name")
        guard let path = RecordName(collection: collection, name: name) else { throw .invalid(field: "name") }
        self = path
    }

    func write(_ writer: inout Writer) {
        writer.text(collection, atMost: RecordName.collectionSizes.upperBound)
        writer.text(name, atMost: RecordName.nameSizes.upperBound)
    }
}

extension EntryFolder {
    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let first = try cursor.text(bytes, RecordName.collectionSizes, "folder")
        let rest = try cursor.text(bytes, 0...RecordName.maximumNameSize, "folder")
        guard let folder = EntryFolder(first: first, rest: rest) else { throw .invalid(field: "folder") }
        self = folder
    }

    func write(_ writer: inout Writer) {
        writer.text(first, atMost: RecordName.maximumCollectionSize)
        writer.text(rest, atMost: RecordName.maximumNameSize)
    }
}
