/// Where an item of the inbox was written for: what the open compartment called it, whatever it is called in the inbox.
///
/// Layout: flags (1 byte), collection and name, each behind its 16-bit size.
package struct RecordLabel: Sendable, Hashable {
    package static let maximumSize = 1 + 2 + RecordName.maximumCollectionSize + 2 + RecordName.maximumNameSize

    package let record: RecordName
    /// It was sealed to the vault's public key: not even the locked app could read it.
    package let wasSealed: Bool

    package init(record: RecordName, wasSealed: Bool) {
        self.record = record
        self.wasSealed = wasSealed
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(UInt8(wasSealed ? 1 : 0))
        writer.counted(Array(record.collection.utf8))
        writer.counted(Array(record.name.utf8))
        return writer.bytes
    }

    /// Bytes of the label at an offset of an authenticated plaintext.
    static func size(in bytes: RawSpan, at offset: Int) throws(FormatError) -> Int {
        let sizes = try sizes(in: bytes, at: offset)
        return 1 + 2 + sizes.collection + 2 + sizes.name
    }

    /// Reads a label out of an authenticated plaintext.
    package init(parsing bytes: RawSpan, at offset: Int) throws(FormatError) {
        let sizes = try RecordLabel.sizes(in: bytes, at: offset)
        let collection = offset + 3
        let name = collection + sizes.collection + 2
        guard let flags = bytes.integer(at: offset, as: UInt8.self), flags <= 1,
            let collection = RecordLabel.text(bytes, collection, sizes.collection),
            let name = RecordLabel.text(bytes, name, sizes.name),
            let record = RecordName(collection: collection, name: name)
        else { throw .invalid(field: "record label") }
        self.init(record: record, wasSealed: flags == 1)
    }

    private static func sizes(
        in bytes: RawSpan, at offset: Int
    ) throws(FormatError) -> (collection: Int, name: Int) {
        guard let collection = bytes.integer(at: offset + 1, as: UInt16.self).map(Int.init),
            let name = bytes.integer(at: offset + 3 + collection, as: UInt16.self).map(Int.init),
            offset + 5 + collection + name <= bytes.byteCount
        else { throw .invalid(field: "record label") }
        return (collection, name)
    }

    private static func text(_ bytes: RawSpan, _ offset: Int, _ size: Int) -> String? {
        unsafe bytes.extracting(offset..<offset + size).withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
}
