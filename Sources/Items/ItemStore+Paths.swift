internal import VaultCore
public import VaultStorage

extension ItemStore {
    /// The entry that a path means, whole; nothing is guessed. Looks once where the path is right as it is.
    /// - Throws: `recordNotFound` where there is none, and where several mean the same as much; `locked`, `damaged`.
    package func resolve(_ path: String) throws(VaultError) -> EntryPath {
        if let place = EntryPath(parsing: path), try vault.contains(place.name, in: place.collection) { return place }
        guard let place = try names().entry(path) else { throw .noItem }
        return place
    }

    /// All entries, the trash left out.
    /// - Throws: `locked`, `damaged`.
    package func names() throws(VaultError) -> EntryNames {
        EntryNames(try vault.records().map { EntryPath(collection: $0.collection, name: $0.name) })
    }

    /// As ``item(_:in:)``.
    package func item(_ path: EntryPath) throws(VaultError) -> Item { try item(path.name, in: path.collection) }

    /// As ``add(_:as:in:)``.
    public func add(_ item: borrowing Item, as path: EntryPath) throws(VaultError) {
        try add(item, as: path.name, in: path.collection)
    }
}
