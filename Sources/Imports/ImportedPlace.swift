internal import Items
internal import VaultCore
internal import VaultFormat

extension ImportedItem {
    /// Collections that no folder of another program's becomes: what lies there is taken for more than an entry.
    private static let reserved: Set = [Vault.defaultCollection, Vault.inboxCollection, EntryPath.settingsCollection]

    /// Where something of a foreign file goes: its first folder is the collection.
    /// - Parameters:
    ///   - name: Folders and title, with slashes between.
    ///   - folder: Is put in front; empty for none.
    static func entry(_ name: String, in folder: String) -> EntryPath {
        let path = folder.isEmpty ? name : folder + "/" + name
        guard let slash = path.utf8.firstIndex(of: UInt8(ascii: "/")) else { return EntryPath(name: path) }
        var collection = String(path[..<slash])
        if reserved.contains(collection) || collection.isEmpty { collection += " (folder)" }
        while collection.utf8.count > RecordName.maximumCollectionSize { collection.unicodeScalars.removeLast() }
        return EntryPath(collection: collection, name: String(path[path.utf8.index(after: slash)...]))
    }

    /// Takes a place that the file says it had in a vault. Whoever wrote the file may have written anything there: it
    /// is believed only if the item stands in the file where one of this place is written, and another name would be
    /// made of that.
    func keep(origin text: String) {
        guard let entry = EntryPath(parsing: text), entry.isPossible, !entry.name.utf8.starts(with: [0]),
            ImportedItem.parts(of: entry).elementsEqual(path, by: { $0.utf8.elementsEqual($1.utf8) })
        else { return }
        let isReserved = entry.collection != Vault.defaultCollection && ImportedItem.reserved.contains(entry.collection)
        if !isReserved { origin = entry }
    }

    /// Parts of a name that become groups and a title, at most.
    private static let deepest = 32

    /// The groups and the title by which an entry is written into a file.
    static func parts(of entry: EntryPath) -> [String] {
        let group = entry.collection == Vault.defaultCollection ? [] : [entry.collection]
        // An address is one title.
        if entry.name.utf8.contains(UInt8(ascii: ":")), entry.name.contains("://") { return group + [entry.name] }
        let parts = entry.name.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        return group + ((1...deepest).contains(parts.count) ? parts : [entry.name])
    }

    /// Whether an entry gets its name back from its groups and title alone.
    static func isSaid(_ entry: EntryPath) -> Bool {
        let path = parts(of: entry)
        return self.entry(name(path).name, in: "") == entry
    }
}
