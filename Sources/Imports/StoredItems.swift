internal import Cryptography
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// The items of a vault that those of a file are compared with. Only what stands at a path of the file is read.
final class StoredItems {
    /// What of the vault an item of a file is taken for, the surest first.
    enum Rule: CaseIterable {
        /// The same fields and notes.
        case same
        /// One that has all of it, and more.
        case more
        /// Another version of the same account.
        case version
        /// Another version, under another user name: of an item that is the only one of the file that has none yet, of
        /// its path, and of the time at which it was made.
        case renamed

        /// Whether what differs is told.
        fileprivate var tellsDifference: Bool { self == .version || self == .renamed }
    }

    /// An item of the vault that one of the file is, or was.
    struct Match {
        let entry: EntryPath
        /// Labels, and words for what is no field; empty where it has all.
        let difference: [String]
    }

    /// Items at one path, with and without a number.
    private struct Candidates {
        var entries: [EntryPath] = []
        /// Those before it are taken.
        var first = 0
        /// By all that they have; empty until one is looked for.
        var same: [UInt64: [EntryPath]] = [:]
    }

    /// Versions that are compared with one item: thousands may have the same title.
    private static let most = 64

    private let items: ItemStore
    private let comparison: ItemComparison
    /// All that places can be read by.
    private(set) var readings: Set<String> = []
    private(set) var places: Set<EntryPath> = []
    private var candidates: [EntryPath: Candidates] = [:]
    private var contents: [EntryPath: ItemComparison.Content] = [:]
    /// Values of their own by their places, with and without a number.
    private var files: [EntryPath: [(place: EntryPath, size: UInt64)]] = [:]
    private var taken: Set<EntryPath> = []
    /// Plain values, which are the same as an item of a file, or nothing of it.
    private var values: Set<EntryPath> = []

    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    init(_ items: ItemStore) throws(VaultError) {
        self.items = items
        comparison = try ItemComparison()
        for record in try items.vault.records() {
            let entry = EntryPath(collection: record.collection, name: record.name)
            readings.formUnion(entry.readings)
            places.insert(entry)
            if !record.isItem {
                values.insert(entry)
                for place in [entry, ImportNumbers.withoutNumber(entry)].compactMap(\.self) {
                    files[place, default: []].append((entry, record.size))
                }
            }
            if !record.isFile {
                candidates[entry, default: Candidates()].entries.append(entry)
                if let plain = ImportNumbers.withoutNumber(entry) {
                    candidates[plain, default: Candidates()].entries.append(entry)
                }
            }
        }
    }

    /// Whether the vault has an item or a value at a place, with or without a number.
    func hasAnything(at wanted: EntryPath) -> Bool { candidates[wanted] != nil || files[wanted] != nil }

    /// The item of the vault that one of a file is by a rule; no other will be it.
    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    func match(_ item: ImportedItem, at wanted: EntryPath, _ rule: Rule) throws(VaultError) -> Match? {
        if let record = item.record {
            guard rule == .same, let same = try place(of: record, at: wanted, but: []) else { return nil }
            taken.insert(same)
            return Match(entry: same, difference: [])
        }
        guard var there = candidates[wanted] else { return nil }
        let content = try comparison.content(of: item.item, created: item.created, modified: item.modified)
        let found: [EntryPath]
        switch rule {
        case .same:
            if there.same.isEmpty {
                for entry in there.entries {
                    if let whole = try self.content(of: entry)?.whole { there.same[whole, default: []].append(entry) }
                }
                candidates[wanted] = there
            }
            // The last one is taken away first.
            let same = there.same[content.whole] ?? []
            found = same.prefix(1).filter { !taken.contains($0) }
            if !found.isEmpty { candidates[wanted]?.same[content.whole]?.removeFirst() }
        case .more, .version, .renamed:
            while there.first < there.entries.count, taken.contains(there.entries[there.first]) { there.first += 1 }
            candidates[wanted]?.first = there.first
            found = Array(there.entries[there.first...].filter { !taken.contains($0) }.prefix(StoredItems.most))
        }
        for entry in found {
            // A plain value has no versions but plain values.
            guard rule == .same || item.item.kind == .value || !values.contains(entry),
                let known = try self.content(of: entry)
            else { continue }
            guard rule != .version || content.isVersion(of: known) else { continue }
            if rule == .renamed {
                let isAmbiguous = try isAnotherMade(at: known.created, than: entry, found)
                guard content.isRenamed(known), !isAmbiguous else { continue }
            }
            var difference = ItemComparison.difference(of: content, from: known)
            guard rule.tellsDifference || difference.isEmpty else { continue }
            let files = try self.files(of: item, below: entry)
            if files == nil { difference.append("attachments") }
            guard rule.tellsDifference || difference.isEmpty else { continue }
            taken.insert(entry)
            taken.formUnion(files ?? [])
            return Match(entry: entry, difference: difference)
        }
        return nil
    }

    /// Whether a version can be taken over without losing a value that the vault has, now or before.
    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    func hasRoom(for item: ImportedItem, _ match: Match) throws(VaultError) -> Bool {
        guard item.record == nil, !match.difference.isEmpty else { return true }
        var trial = try items.item(match.entry)
        do throws(VaultError) { try item.update(&trial) } catch {
            guard [.tooLarge, .invalidItem].contains(error.code) else { throw error }
            return false
        }
        return true
    }

    /// Takes a place for a new item.
    /// - Returns: False if it is taken.
    func take(_ place: EntryPath) -> Bool { places.insert(place).inserted }

    /// Nil for a value that is too large to be an item.
    private func content(of entry: EntryPath) throws(VaultError) -> ItemComparison.Content? {
        if let known = contents[entry] { return known }
        let item: Item
        do throws(VaultError) { item = try items.item(entry) } catch {
            guard error.code == .tooLarge else { throw error }
            return nil
        }
        let content = try comparison.content(of: item, created: item.created, modified: item.modified)
        contents[entry] = content
        return content
    }

    /// Whether one of some other items of the vault was made at the same time.
    private func isAnotherMade(
        at created: Int64?, than entry: EntryPath, _ others: [EntryPath]
    ) throws(VaultError) -> Bool {
        for other in others where other != entry {
            if let content = try content(of: other), content.created == created { return true }
        }
        return false
    }

    /// Where the vault has the large attachments of an item, each at a place of its own; nil where it has not all.
    private func files(of item: ImportedItem, below entry: EntryPath) throws(VaultError) -> Set<EntryPath>? {
        var places: Set<EntryPath> = []
        for file in item.attachments {
            let found = try place(of: file, at: file.place(below: entry), but: places)
            guard let place = found else { return nil }
            places.insert(place)
        }
        return places
    }

    /// Where the vault has a value at a place, with or without a number.
    private func place(
        of file: ImportedItem.Attachment, at wanted: EntryPath, but others: Set<EntryPath>
    ) throws(VaultError) -> EntryPath? {
        for (place, size) in files[wanted] ?? []
        where size == UInt64(file.content.count) && !taken.contains(place) && !others.contains(place) {
            if try isSame(file, place) { return place }
        }
        return nil
    }

    private func isSame(_ file: ImportedItem.Attachment, _ place: EntryPath) throws(VaultError) -> Bool {
        var (isSame, start) = (true, 0)
        do {
            try items.vault.read(place.name, in: place.collection) { piece in
                let end = min(start + piece.byteCount, file.content.count)
                isSame = isSame && file.content.withBytes { constantTimeEquals(piece, $0.extracting(start..<end)) }
                start = end
            }
        } catch { throw VaultError(any: error) }
        return isSame
    }
}

extension ImportedItem.Attachment {
    /// Bytes of an entry's name that are in the name of what is below it: so much that a file's name and a number have
    /// room behind it, whichever number it is.
    private static let longestFront = 700

    /// Where it is stored, for an item at a place.
    func place(below entry: EntryPath) -> EntryPath {
        var front = entry.name
        while front.utf8.count > ImportedItem.Attachment.longestFront { front.unicodeScalars.removeLast() }
        return EntryPath(collection: entry.collection, name: front + "/" + name)
    }

    /// Whether no record can hold it, so that it lies in a file of its own.
    var isLarge: Bool { content.count > Vault.largestInlineValue }
}
