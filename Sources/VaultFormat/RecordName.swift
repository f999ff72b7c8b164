/// A record's collection and name: UTF-8, checked for size.
package struct RecordName: Sendable, Hashable {
    package static let maximumCollectionSize = 255
    package static let maximumNameSize = 1024

    package let collection: String
    package let name: String

    /// Nil when the name is empty or either is too long. An empty collection is the default one's name on disk.
    package init?(collection: String, name: String) {
        guard !name.isEmpty, name.utf8.count <= RecordName.maximumNameSize,
            collection.utf8.count <= RecordName.maximumCollectionSize
        else { return nil }
        self.collection = collection
        self.name = name
    }

    /// By their bytes: texts that only look alike are different names.
    package static func == (left: RecordName, right: RecordName) -> Bool {
        left.name.hasBytes(of: right.name) && left.collection.hasBytes(of: right.collection)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combineBytes(of: collection)
        hasher.combineBytes(of: name)
    }

    /// What the lookup key is a keyed hash of: both texts, each behind its 16-bit length.
    package var lookupInput: [UInt8] {
        var writer = ByteWriter()
        writer.counted(Array(collection.utf8))
        writer.counted(Array(name.utf8))
        return writer.bytes
    }
}

/// A folder: what stands in front of the names of its entries as they are written. It is the first part, which is a
/// collection or the beginning of a name from an earlier version, and maybe more of them.
package struct EntryFolder: Sendable, Hashable {
    package let first: String
    /// What follows the slash behind that; empty for all of it.
    package let rest: String

    /// Nil for parts that are longer than any stored one.
    package init?(first: String, rest: String) {
        guard first.utf8.count <= RecordName.maximumCollectionSize, rest.utf8.count <= RecordName.maximumNameSize else {
            return nil
        }
        self.first = first
        self.rest = rest
    }

    /// By their bytes, as records' names.
    package static func == (left: EntryFolder, right: EntryFolder) -> Bool {
        left.first.hasBytes(of: right.first) && left.rest.hasBytes(of: right.rest)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combineBytes(of: first)
        hasher.combineBytes(of: rest)
    }
}

extension String {
    /// Whether it has the same bytes as another text, not only the same characters. Several times as fast as comparing
    /// them one by one.
    package func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var (left, right) = (self, other)
        return left.withUTF8 { left in right.withUTF8 { right in unsafe left.elementsEqual(right) } }
    }
}

extension Hasher {
    /// For texts that are compared by their bytes.
    package mutating func combineBytes(of text: String) {
        var text = text
        text.withUTF8 { bytes in
            combine(bytes.count)
            unsafe combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}
