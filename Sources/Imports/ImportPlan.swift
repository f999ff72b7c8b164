package import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
package import VaultStorage

/// What an import will do with each item, decided before anything is written.
package struct ImportPlan: Sendable {
    /// What happens to an item of the file.
    package enum Step: Sendable {
        /// It is stored here.
        case add(ImportedItem, as: EntryPath)
        /// The vault has all of it.
        case duplicate(ImportedItem, of: EntryPath)
        /// The vault has another version of it. What differs is taken into it with ``updates``, and is left out
        /// otherwise: labels of fields, and `tags`, `notes`, `favourite`, `attachments`.
        case differs(ImportedItem, from: EntryPath, in: [String])
    }

    package private(set) var steps: [Step] = []
    /// Whether the vault's items take over what differs. Their values before become earlier ones.
    package let updates: Bool

    /// Items that will be stored.
    package private(set) var additions = 0
    /// How many items will be written: those that are new, and those that take over what differs.
    package var writes: Int { additions + (updates ? versions : 0) }
    private var versions = 0

    /// Compares the items of a file with those of the vault at the same path, or at one with a number that an import
    /// put behind it. Each of them is compared with one of the file, so that two of a file never become one.
    /// - Parameters:
    ///   - folder: The folder that everything goes into; empty for none.
    ///   - updates: Whether the vault's items take over what differs.
    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    package init(
        _ imported: Imported, into items: ItemStore, folder: String = "", updates: Bool = false
    ) throws(VaultError) {
        self.updates = updates
        let stored = try StoredItems(items)
        // What a vault of ours had is put where it was, if nothing is there.
        let wanted = imported.items.map { item in
            (folder.isEmpty ? item.origin : nil) ?? ImportedItem.entry(item.name, in: folder)
        }
        var found = [StoredItems.Match?](repeating: nil, count: wanted.count)
        // The same goes first: another version is looked for among what is left.
        let compared = imported.items.indices.filter { stored.hasAnything(at: wanted[$0]) }
        for rule in StoredItems.Rule.allCases {
            var left = compared.filter { found[$0] == nil }
            if rule == .renamed { left = ImportPlan.alone(left, imported.items, wanted) }
            for index in left { found[index] = try stored.match(imported.items[index], at: wanted[index], rule) }
        }
        let before = stored.readings
        var numbers = ImportNumbers(before)
        for (index, item) in imported.items.enumerated() {
            var match = found[index]
            // Without room for the values before, the version becomes an entry of its own.
            if updates, let version = match {
                let hasRoom = try stored.hasRoom(for: item, version)
                if !hasRoom { match = nil }
            }
            if let match {
                if match.difference.isEmpty {
                    steps.append(.duplicate(item, of: match.entry))
                } else {
                    versions += 1
                    steps.append(.differs(item, from: match.entry, in: match.difference))
                }
                continue
            }
            let entry: EntryPath
            // Nothing of the user's gets another name by it, and no reference of hers finds it.
            if let origin = folder.isEmpty ? item.origin : nil, before.isDisjoint(with: origin.readings),
                stored.take(origin)
            {
                entry = origin
                // Both of two that are written the same come back, if the file has both.
                if ImportedItem.isSaid(origin) { numbers.take(origin) }
            } else {
                entry = numbers.entry(wanted[index])
                _ = stored.take(entry)
            }
            additions += 1
            steps.append(.add(item, as: entry))
        }
    }

    /// Those of some items that are the only ones of their path and of the time at which they were made.
    private static func alone(_ indices: [Int], _ items: [ImportedItem], _ wanted: [EntryPath]) -> [Int] {
        struct Making: Hashable {
            let entry: EntryPath
            let time: Int64
        }
        var made: [Making: [Int]] = [:]
        for index in indices {
            guard let time = items[index].created else { continue }
            made[Making(entry: wanted[index], time: time), default: []].append(index)
        }
        return made.values.filter { $0.count == 1 }.flatMap(\.self).sorted()
    }

    /// Stores everything as one transaction: all of it, or nothing.
    /// - Parameter progress: Told how many items are written.
    /// - Throws: As `ItemStore.add`; then nothing was stored.
    package func store(
        in items: ItemStore, progress: (Int) -> Void = { _ in }
    ) throws(VaultError) {
        let vault = items.vault
        var files: [PreparedFile] = []
        let values: [(ImportedItem.Attachment, EntryPath)]
        do throws(VaultError) {
            values = try self.values(in: vault)
            for (value, _) in values where value.isLarge {
                files.append(
                    try value.content.withBytes { content throws(VaultError) in try vault.prepareFile(content) })
            }
        } catch {
            vault.discard(files)
            throw error
        }
        do throws(VaultError) {
            try items.write { session throws(VaultError) in
                // Another program may have taken a place meanwhile. Among themselves they are as in the file.
                for case .add(_, let entry) in steps { try session.requireFree(beside: entry) }
                var done = 0
                for step in steps {
                    switch step {
                    case .add(let item, _) where item.record != nil: break
                    case .add(let item, let entry):
                        try ItemStore.check(entry.name)
                        try item.item.withBytes { bytes throws(VaultError) in
                            try session.put(item: bytes, for: entry.name, in: entry.collection, replacing: false)
                        }
                    case .differs(let item, let entry, _) where updates:
                        do throws(VaultError) {
                            try session.change(entry) { stored throws(VaultError) in try item.update(&stored) }
                        } catch { throw VaultError(error.code, "\(entry.short): \(error.reason)") }
                    default: continue
                    }
                    done += 1
                    progress(done)
                }
                var large = files[...]
                for (value, place) in values {
                    try ItemStore.check(place.name)
                    try session.requireFree(beside: place)
                    if value.isLarge, let file = large.popFirst() {
                        try session.put(file, for: place.name, in: place.collection)
                        continue
                    }
                    try value.content.withBytes { content throws(VaultError) in
                        try session.put(content, for: place.name, in: place.collection)
                    }
                }
            }
        } catch {
            // After a disk error the records may exist still: then the files stay, orphans at worst.
            if error.code != .inputOutput { vault.discard(files) }
            throw error
        }
    }

    /// Values of their own: items that are one, and attachments that are too large for their item.
    private func values(in vault: Vault) throws(VaultError) -> [(ImportedItem.Attachment, EntryPath)] {
        var values: [(ImportedItem.Attachment, EntryPath)] = []
        var attachments: [(ImportedItem.Attachment, EntryPath)] = []
        for step in steps {
            switch step {
            case .add(let item, let entry):
                if let record = item.record { values.append((record, entry)) }
                attachments += item.attachments.map { ($0, entry) }
            case .differs(let item, let entry, let difference) where updates && difference.contains("attachments"):
                attachments += item.attachments.map { ($0, entry) }
            default: continue
            }
        }
        guard !attachments.isEmpty else { return values }
        var taken: Set<String> = []
        for record in try vault.records() {
            taken.formUnion(EntryPath(collection: record.collection, name: record.name).readings)
        }
        for case .add(_, let entry) in steps { taken.formUnion(entry.readings) }
        var numbers = ImportNumbers(taken)
        for (file, entry) in attachments { values.append((file, numbers.entry(file.place(below: entry)))) }
        return values
    }
}
