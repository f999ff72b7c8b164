internal import VaultCore
internal import VaultFormat
package import VaultStorage

// What guards an entry guards the values below it too: an attachment that the entry could not hold lies there, and a
// value has no tags of its own. The same holds for a program's secret that its item could not hold.

extension EntryPath {
    /// The entries that it is below, the nearest first; each also where it would be written the same.
    var above: [EntryPath] {
        var found: [EntryPath] = []
        var front = name[...]
        while let slash = front.lastIndex(of: "/") {
            front = front[..<slash]
            let place = EntryPath(collection: collection, name: String(front))
            found += [place] + (place.other.map { [$0] } ?? [])
        }
        if collection != Vault.defaultCollection { found.append(EntryPath(name: collection)) }
        return found.filter(\.isPossible)
    }
}

extension ItemStore {
    /// Looks at what guards a value: the nearest entry above it that asks, or the item whose large secret it is.
    /// - Parameter check: Told that item and where it is.
    /// - Throws: What reading and `check` throw.
    package func checkAbove(
        _ entry: EntryPath, _ check: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) {
        if LargeSecret.isPlace(entry), let owner = try owner(of: entry) {
            let item = try item(owner)
            return try check(item, item.trash.map { EntryPath(collection: owner.collection, name: $0.name) } ?? owner)
        }
        for place in entry.above {
            let item: Item
            do throws(VaultError) { item = try self.item(place) } catch {
                guard error.isOfNoItem else { throw error }
                continue
            }
            if item.askRule != .never { return try check(item, place) }
        }
    }

    /// The item that leads to a large secret, also in the trash.
    private func owner(of entry: EntryPath) throws(VaultError) -> EntryPath? {
        var found: EntryPath?
        let visitor = Visitor()
        defer { vault.letGo(of: visitor) }
        _ = try vault.forEachContent(for: visitor) { info, content throws(VaultError) in
            guard found == nil, info.isItem, let item = try? Item(parsing: content),
                let large = try? item.largeSecret(), large.name.utf8.elementsEqual(entry.name.utf8)
            else { return }
            found = EntryPath(collection: info.collection, name: info.name)
        }
        return found
    }
}

extension WriteSession {
    /// As ``ItemStore/checkAbove(_:_:)``, in the transaction that gives a value another name.
    mutating func checkAbove(
        _ entry: EntryPath, _ check: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) {
        for place in entry.above {
            let item: Item?
            do throws(VaultError) { item = try self.item(place.name, place.collection) } catch {
                guard error.isOfNoItem else { throw error }
                continue
            }
            if let item, item.askRule != .never { return try check(item, place) }
        }
    }
}

extension VaultError {
    /// Whether there is nothing that could have tags: no record, or a value that is a file.
    fileprivate var isOfNoItem: Bool {
        code == .recordNotFound || code == .tooLarge || code == .invalidName || code == .unconfirmed
    }
}
