package import Holdfast

/// A record as a list shows it. Its name is decrypted, so it goes when the lock falls.
package struct VaultItem: Sendable, Hashable, Identifiable {
    /// Names a record: a collection and a name in it.
    package struct ID: Sendable, Hashable {
        /// The collection.
        package let collection: String
        /// The name in it.
        package let name: String

        /// Where something new of this title in this folder is: `work/servers` is a folder in another one, and without
        /// one it is in the default collection.
        package init(folder: String, title: String) {
            let parts = folder.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            collection = folder.isEmpty ? Vault.defaultCollection : parts[0]
            name = parts.count == 2 ? parts[1] + "/" + title : title
        }

        /// A record's place.
        package init(collection: String, name: String) {
            self.collection = collection
            self.name = name
        }
    }

    /// Where it is.
    package let id: ID
    /// Bytes of content.
    package let size: UInt64
    /// Milliseconds since 1970 of its first write.
    package let created: Int64
    /// Milliseconds since 1970 of its last write.
    package let modified: Int64
    /// Whether the content lies in an encrypted file of its own.
    package let isFile: Bool
    /// Whether it was written while the vault was locked and its owner has not confirmed it.
    package let isUnconfirmed: Bool
    /// What it is: ``VaultFormat/ItemKind/value`` for a plain value, ``VaultFormat/ItemKind/file`` for one in a file of
    /// its own; nil until that was read.
    package internal(set) var kind: ItemKind?
    /// Whether it is shown first.
    package internal(set) var isFavourite = false
    /// Its tags, sorted.
    package internal(set) var tags: [String] = []
    /// The name of the user that it is for; empty for none, and until that was read.
    package internal(set) var user = ""
    /// Milliseconds since 1970 of the last change that its owner made; of its last write until that was read.
    package internal(set) var changed: Int64
    /// What a list shows as its name: the last part of its path.
    package let title: String
    /// The folder that it is in; empty for none.
    package let folder: String

    /// Its name.
    package var name: String { id.name }
    /// The collection it is in.
    package var collection: String { id.collection }

    /// - Parameter wanted: In lower case.
    func isFound(by wanted: String) -> Bool {
        name.lowercased().contains(wanted) || collection.lowercased().contains(wanted)
            || user.lowercased().contains(wanted)
    }

    init(_ info: Vault.RecordInfo) {
        id = ID(collection: info.collection, name: info.name)
        size = info.size
        created = info.created
        modified = info.modified
        changed = info.modified
        (folder, title) = EntryPath(collection: info.collection, name: info.name).parts
        isFile = info.isFile
        isUnconfirmed = info.origin == .open
    }
}

/// A collection as a list shows it.
package struct VaultCollection: Sendable, Hashable, Identifiable {
    /// Its name.
    package let name: String
    /// How many records are in it.
    package let count: Int

    /// The name is what tells it from others.
    package var id: String { name }
}

/// A file that is on its way into the vault or out of it.
package struct Transfer: Sendable, Hashable {
    /// Which way.
    package enum Direction: Sendable, Hashable {
        /// From the disk into the vault.
        case adding
        /// From the vault to the disk, where it is not protected any more.
        case saving
    }

    /// Which way.
    package let direction: Direction
    /// The record's name.
    package let name: String
    /// Bytes done.
    package internal(set) var done: UInt64
    /// Total bytes; nil if unknown.
    package let total: UInt64?

    /// 0 to 1; nil if the total is unknown.
    package var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(done) / Double(total))
    }
}
