internal import Cryptography
package import Items
internal import SecretMemory
internal import SyncFormat
package import VaultCore
internal import VaultFormat
package import VaultStorage

/// Brings what another vault has into this one, once: what a second machine had, an old backup, a vault that somebody
/// restored and went on with.
///
/// Nothing here is lost, and nothing there is changed. Items are the same if they have the same id, wherever they are;
/// plain values if they have the same name. Running it twice changes nothing the second time.
package struct VaultMerge: Sendable {
    /// What happens to an entry of the other vault.
    package enum Step: Sendable, Hashable {
        /// It is not here yet.
        case add(EntryPath, as: EntryPath)
        /// It is here in another version: the two become one, and what loses is in the history.
        case change(EntryPath, here: EntryPath)
        /// It is here as it is there.
        case same(EntryPath)
    }

    /// In the order of the names.
    package private(set) var steps: [Step] = []
    private var large: Set<EntryPath> = []
    private let other: Vault

    /// Entries that will be written.
    package var writes: Int {
        steps.count {
            if case .same = $0 { false } else { true }
        }
    }

    /// Compares all entries, and writes nothing. What is in the other's trash, or nobody accepted there, stays there.
    /// - Parameters:
    ///   - other: The other vault, open.
    ///   - items: This one's, open.
    /// - Throws: `locked`, `damaged`, `newerVersion`, `outOfMemory`.
    package init(of other: Vault, into items: ItemStore) throws(VaultError) {
        self.other = other
        let vault = items.vault
        var here = try Inventory(vault)
        for record in try Inventory.all(of: other) where !record.isInTrash {
            if record.isFile { large.insert(record.place) }
            if let id = record.id {
                steps.append(try VaultMerge.step(record.place, id, other, vault, &here))
            } else {
                steps.append(try VaultMerge.step(value: record.place, other, vault, &here))
            }
        }
    }

    private static func step(
        _ place: EntryPath, _ id: SyncItemID, _ other: Vault, _ vault: Vault, _ here: inout Inventory
    ) throws(VaultError) -> Step {
        guard let known = here.place(of: id) else { return .add(place, as: here.take(place, else: "\(id)")) }
        let mine = try record(known, id, of: vault)
        let theirs = try record(place, id, of: other)
        return try merged(mine, theirs) == nil ? .same(place) : .change(place, here: known)
    }

    private static func step(
        value place: EntryPath, _ other: Vault, _ vault: Vault, _ here: inout Inventory
    ) throws(VaultError) -> Step {
        let mark = "\(try other.id)"
        var (candidate, number) = (place, 1)
        // It may be here under its own name, or under one that an earlier merge gave it.
        while here.contains(candidate) {
            if try isSame(place, of: other, candidate, of: vault) { return .same(place) }
            candidate = Inventory.marked(place, mark, number)
            number += 1
        }
        return .add(place, as: here.take(place, else: mark))
    }

    /// Stores what is new and what changed. Entries as one transaction, all of them or none; before it each value that
    /// lies in a file of its own. What was stored is the same when the merge runs again.
    /// - Parameter progress: Told how many entries are written.
    /// - Throws: What writing can throw, and `busy` where another program changed an entry since it was compared.
    package func store(in items: ItemStore, progress: (Int) -> Void = { _ in }) throws(VaultError) {
        var done = 0
        for case .add(let place, let target) in steps where large.contains(place) {
            try copyFile(place, to: target, in: items.vault)
            done += 1
            progress(done)
        }
        try items.write { session throws(VaultError) in
            for step in steps {
                switch step {
                case .add(let place, let target) where !large.contains(place):
                    try add(place, as: target, &session)
                case .change(let place, let known): try change(place, known, &session)
                default: continue
                }
                done += 1
                progress(done)
            }
        }
    }

    private func add(_ place: EntryPath, as target: EntryPath, _ session: inout WriteSession) throws(VaultError) {
        try session.requireFree(beside: target)
        try VaultMerge.withContent(of: place, in: other) { fields, content throws(VaultError) in
            if fields.form == .item {
                try session.put(item: content, for: target.name, in: target.collection, replacing: false)
            } else {
                try session.put(content, for: target.name, in: target.collection)
            }
        }
    }

    private func change(_ place: EntryPath, _ known: EntryPath, _ session: inout WriteSession) throws(VaultError) {
        let mine = try session.withContent(of: known.name, in: known.collection) { fields, content throws(VaultError) in
            try VaultMerge.record(known, fields, content)
        }
        guard let mine else { throw VaultError(.busy, "an entry was removed by another program meanwhile") }
        let theirs = try VaultMerge.record(place, mine.id, of: other)
        guard let merged = try VaultMerge.merged(mine, theirs) else { return }
        try merged.withBytes { item throws(VaultError) in
            try session.put(item: item, for: known.name, in: known.collection, replacing: true)
        }
    }

    private func copyFile(_ place: EntryPath, to target: EntryPath, in vault: Vault) throws(VaultError) {
        do {
            let reader = try other.reader(for: place.name, in: place.collection)
            let writer = try vault.writer(
                for: target.name, in: target.collection, replacing: false,
                besides: target.twins.compactMap(\.record))
            var isOver = false
            while !isOver {
                try reader.next { piece, isLast in
                    try writer.append(piece)
                    isOver = isLast
                }
            }
            _ = try writer.finish()
        } catch let error as VaultError { throw error } catch { throw VaultError(any: error) }
    }

    // Reading

    private static func merged(
        _ mine: borrowing SyncRecord, _ theirs: borrowing SyncRecord
    ) throws(VaultError) -> SecretBytes? {
        do throws(SyncError) {
            return try ItemOnce.merged(mine, with: theirs, wideningTags: [Item.secretServiceTag])
        } catch { throw VaultError(error) }
    }

    private static func withContent<R: ~Copyable>(
        of place: EntryPath, in vault: Vault, _ body: (RecordFields, RawSpan) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        do {
            return try vault.withContent(of: place.name, in: place.collection) { try body($0, $1) }
        } catch let error as VaultError { throw error } catch { throw VaultError(any: error) }
    }

    private static func record(_ place: EntryPath, _ id: SyncItemID, of vault: Vault) throws(VaultError) -> SyncRecord {
        let record = try withContent(of: place, in: vault) { fields, content throws(VaultError) in
            try self.record(place, fields, content)
        }
        guard record.id == id else { throw VaultError(.busy, "an entry was changed by another program meanwhile") }
        return record
    }

    /// What the collection asks for is of no account here.
    private static func record(
        _ place: EntryPath, _ fields: RecordFields, _ content: RawSpan
    ) throws(VaultError) -> SyncRecord {
        let item = try Item(parsing: content)
        guard fields.form == .item, let id = SyncItemID(item.id.bytes) else {
            throw VaultError(.busy, "an entry was changed by another program meanwhile")
        }
        let bytes: SecretBytes
        do throws(SecretMemoryError) { bytes = try SecretBytes(copying: content) } catch { throw VaultError(error) }
        return SyncRecord(
            id: id, form: .item, collection: place.collection, name: item.trash?.name ?? place.name, minimum: 0,
            content: bytes)
    }

    private static func isSame(
        _ place: EntryPath, of other: Vault, _ known: EntryPath, of vault: Vault
    ) throws(VaultError) -> Bool {
        do throws(VaultError) {
            return try other.digest(of: place) == vault.digest(of: known)
        } catch {
            // An item stands there.
            guard error.code == .isItem else { throw error }
            return false
        }
    }
}

extension VaultError {
    init(_ error: SyncError) {
        switch error {
        case .memory(let error): self.init(error)
        case .cryptography(let error): self.init(any: error)
        case .format(.newerVersion): self.init(.newerVersion, "an entry was written by a newer version of Holdfast")
        default: self = .damaged("two versions of an entry cannot be merged")
        }
    }
}
