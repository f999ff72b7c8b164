internal import Cryptography
internal import Items
internal import SyncFormat
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What is where in a vault, by name and by id.
struct Inventory {
    struct Record {
        let place: EntryPath
        /// Of an item; nil for a plain value.
        let id: SyncItemID?
        let isFile: Bool
        let size: UInt64
        let isInTrash: Bool
    }

    private var places: Set<EntryPath> = []
    private var ids: [SyncItemID: EntryPath] = [:]
    /// All that places can be read by.
    private var taken: Set<String> = []

    init(_ vault: Vault) throws(VaultError) {
        for record in try Inventory.all(of: vault) {
            places.insert(record.place)
            if let id = record.id { ids[id] = record.place }
        }
        // Those that nobody merges have names, too.
        for record in try vault.records() {
            taken.formUnion(EntryPath(collection: record.collection, name: record.name).readings)
        }
    }

    /// All records that this unlock reaches and that nobody has to accept first, in the order of their places.
    static func all(of vault: Vault) throws(VaultError) -> [Record] {
        var records: [Record] = []
        let visitor = Visitor()
        defer { vault.letGo(of: visitor) }
        _ = try vault.forEachContent(for: visitor) { info, content throws(VaultError) in
            let place = EntryPath(collection: info.collection, name: info.name)
            guard info.origin == .protected else { return }
            var id: SyncItemID?
            if info.isItem {
                id = SyncItemID(try Item(parsing: content).id.bytes)
            }
            records.append(
                Record(
                    place: place, id: id, isFile: info.isFile, size: info.size,
                    isInTrash: info.name.utf8.first == 0))
        }
        return records.sorted { left, right in
            let texts = (left.place.spelled, right.place.spelled)
            return texts.0.utf8.lexicographicallyPrecedes(texts.1.utf8)
        }
    }

    func contains(_ place: EntryPath) -> Bool { places.contains(place) }

    func place(of id: SyncItemID) -> EntryPath? { ids[id] }

    /// A place for something new: the one that is wanted, or one that the first digits of a mark tell apart, with a
    /// number where that is taken too.
    mutating func take(_ wanted: EntryPath, else mark: String, _ id: SyncItemID? = nil) -> EntryPath {
        var (place, number) = (wanted, 1)
        while !taken.isDisjoint(with: place.readings) {
            place = Inventory.marked(wanted, mark, number)
            number += 1
        }
        places.insert(place)
        if let id { ids[id] = place }
        taken.formUnion(place.readings)
        return place
    }

    /// The first place that a mark tells apart and that is free.
    static func marked(
        _ place: EntryPath, _ mark: String, isFree: (EntryPath) throws(VaultError) -> Bool
    ) throws(VaultError) -> EntryPath {
        var number = 1
        while true {
            let candidate = marked(place, mark, number)
            if try isFree(candidate) { return candidate }
            number += 1
        }
    }

    /// The n-th place that a mark tells apart from one, as long as a name may be.
    static func marked(_ place: EntryPath, _ mark: String, _ number: Int) -> EntryPath {
        let end = " (\(mark.prefix(8))\(number > 1 ? " \(number)" : ""))"
        var name = place.name
        while name.utf8.count + end.utf8.count > RecordName.maximumNameSize { name.unicodeScalars.removeLast() }
        return EntryPath(collection: place.collection, name: name + end)
    }
}

extension Vault {
    /// A digest of a plain value of any size, keyed for one comparison.
    func digest(of place: EntryPath) throws(VaultError) -> Digest {
        var hasher = BLAKE3()
        do {
            try read(place.name, in: place.collection) { hasher.update($0) }
        } catch let error as VaultError { throw error } catch { throw VaultError(any: error) }
        return hasher.finalize()
    }
}
