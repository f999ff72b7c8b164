public import Holdfast

/// A record as a list shows it. Its name is decrypted, so it goes when the lock falls.
public struct VaultItem: Sendable, Hashable, Identifiable {
    /// Names a record: a collection and a name in it.
    public struct ID: Sendable, Hashable {
        /// The collection.
        public let collection: String
        /// The name in it.
        public let name: String

        /// A record's place.
        public init(collection: String, name: String) {
            self.collection = collection
            self.name = name
        }
    }

    /// Where it is.
    public let id: ID
    /// Bytes of content.
    public let size: UInt64
    /// Milliseconds since 1970 of its first write.
    public let created: Int64
    /// Milliseconds since 1970 of its last write.
    public let modified: Int64
    /// Whether the content lies in an encrypted file of its own.
    public let isFile: Bool
    /// Whether it was written while the vault was locked and its owner has not confirmed it.
    public let isUnconfirmed: Bool
    /// What it is: ``VaultFormat/ItemKind/value`` for a plain value, ``VaultFormat/ItemKind/file`` for one in a file of its own; nil until
    /// that was read.
    public internal(set) var kind: ItemKind?
    /// Whether it is shown first.
    public internal(set) var isFavourite = false
    /// Its tags, sorted.
    public internal(set) var tags: [String] = []

    /// Its name.
    public var name: String { id.name }
    /// The collection it is in.
    public var collection: String { id.collection }

    init(_ info: Vault.RecordInfo) {
        id = ID(collection: info.collection, name: info.name)
        size = info.size
        created = info.created
        modified = info.modified
        isFile = info.isFile
        isUnconfirmed = info.origin == .open
    }
}

/// A collection as a list shows it.
public struct VaultCollection: Sendable, Hashable, Identifiable {
    /// Its name.
    public let name: String
    /// How many records are in it.
    public let count: Int

    /// The name is what tells it from others.
    public var id: String { name }
}

/// A file that is on its way into the vault or out of it.
public struct Transfer: Sendable, Hashable {
    /// Which way.
    public enum Direction: Sendable, Hashable {
        /// From the disk into the vault.
        case adding
        /// From the vault to the disk, where it is not protected any more.
        case saving
    }

    /// Which way.
    public let direction: Direction
    /// The record's name.
    public let name: String
    /// Bytes done.
    public internal(set) var done: UInt64
    /// Total bytes; nil if unknown.
    public let total: UInt64?

    /// 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(done) / Double(total))
    }
}
