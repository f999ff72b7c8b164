/// The front of an item, of fixed size: version (1 byte), kind (1), flags (2), id (16), times of creation and of the
/// last change (8 each).
package struct ItemFront: Sendable, Hashable {
    private static let favourite: UInt16 = 1

    package var kind: ItemKind
    package var isFavourite: Bool
    package var id: ItemID
    /// Milliseconds since 1970, of the item itself: they stay when it is renamed, and come along when it is imported.
    package var created: Int64
    /// As ``created``, of the last change of what it holds.
    package var modified: Int64

    package init(kind: ItemKind, isFavourite: Bool = false, id: ItemID, created: Int64, modified: Int64) {
        self.kind = kind
        self.isFavourite = isFavourite
        self.id = id
        self.created = created
        self.modified = modified
    }

    init(parsing bytes: RawSpan) throws(FormatError) {
        guard let version = bytes.integer(at: 0, as: UInt8.self) else { throw .wrongSize }
        guard version <= ItemLayout.version else { throw .newerVersion(UInt32(version)) }
        guard version == ItemLayout.version else { throw .invalid(field: "item version") }
        guard let kind = bytes.integer(at: 1, as: UInt8.self), let flags = bytes.integer(at: 2, as: UInt16.self),
            let id = ItemID(reading: bytes, at: 4), let created = bytes.integer(at: 20, as: Int64.self),
            let modified = bytes.integer(at: 28, as: Int64.self)
        else { throw .wrongSize }
        guard kind > 0 else { throw .invalid(field: "item kind") }
        guard ItemFront.isFlags(flags) else { throw .invalid(field: "item flags") }
        self.init(
            kind: ItemKind(rawValue: kind), isFavourite: flags & ItemFront.favourite != 0, id: id, created: created,
            modified: modified)
    }

    /// Whether no other bits are set than those that this version knows.
    package static func isFlags(_ flags: UInt16) -> Bool { flags & ~favourite == 0 }

    /// Writes ``ItemLayout/frontSize`` bytes at the beginning.
    package func write(into bytes: inout MutableRawSpan) {
        bytes.store(ItemLayout.version, at: 0)
        bytes.store(kind.rawValue, at: 1)
        bytes.store(isFavourite ? ItemFront.favourite : 0, at: 2)
        id.write(into: &bytes, at: 4)
        bytes.store(created, at: 20)
        bytes.store(modified, at: 28)
    }
}
