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
        /// It is here in another version, and the two do not become one item: it comes in beside it, under a new id.
        case beside(EntryPath, as: EntryPath)
        /// It is here in another version: the two become one, and what loses is in the history.
        case change(EntryPath, here: EntryPath)
        /// It is here as it is there.
        case same(EntryPath, here: EntryPath)
        /// It stays there.
        case leave(EntryPath, Reason)
    }

    /// Why an entry stays where it is.
    package enum Reason: String, Sendable, Hashable {
        /// A program's secret that is too large for its item, of an item that is here in another version.
        case largeSecret = "largeSecret"
        /// Another item of the other vault has its id.
        case sameID = "sameID"
        /// It is in a folder of Holdfast's own.
        case reserved = "reserved"
    }

    /// In the order of the names.
    package private(set) var steps: [Step] = []
    /// Collections of the other vault that its unlock does not reach.
    package let unreached: [String]
    /// Entries that will be written.
    package private(set) var writes = 0
    private var large: Set<EntryPath> = []
    private let other: Vault

    /// Compares all entries, and writes nothing. What is in the other's trash, or nobody accepted there, stays there.
    /// - Parameters:
    ///   - other: The other vault, open.
    ///   - items: This one's, open.
    ///   - progress: Told how many entries are compared, and of how many.
    /// - Throws: `assuranceTooLow` where this unlock does not reach all of this vault; `locked`, `damaged`,
    ///   `newerVersion`, `outOfMemory`.
    package init(
        of other: Vault, into items: ItemStore, progress: (Int, Int) -> Void = { _, _ in }
    ) throws(VaultError) {
        self.other = other
        unreached = other.unreachedCollections
        let vault = items.vault
        // What is not seen would come in a second time.
        guard vault.unreachedCollections.isEmpty else {
            throw VaultError(
                .assuranceTooLow, "a merge needs all of this vault, and this unlock does not reach all of its folders")
        }
        var here = try Inventory(vault)
        var ids: Set<SyncItemID> = []
        // Values below an entry are guarded by it: they go where it went.
        var moved: [(from: String, to: String)] = []
        let all = try Inventory.all(of: other)
        for (index, record) in all.enumerated() {
            progress(index + 1, all.count)
            guard !record.isInTrash else { continue }
            let step = try VaultMerge.step(record, other, vault, moved, &ids, &here)
            if record.isFile { large.insert(record.place) }
            if let target = VaultMerge.target(of: step), record.id != nil, target != record.place {
                moved.append((record.place.spelled + "/", target.spelled + "/"))
            }
            steps.append(step)
        }
        writes = steps.count {
            switch $0 {
            case .add, .beside, .change: true
            case .same, .leave: false
            }
        }
    }

    private static func target(of step: Step) -> EntryPath? {
        switch step {
        case .add(_, let target), .beside(_, let target), .change(_, let target), .same(_, let target): target
        case .leave: nil
        }
    }

    private static func step(
        _ record: Inventory.Record, _ other: Vault, _ vault: Vault, _ moved: [(from: String, to: String)],
        _ ids: inout Set<SyncItemID>, _ here: inout Inventory
    ) throws(VaultError) -> Step {
        let place = record.place
        guard !place.isReserved else { return .leave(place, .reserved) }
        guard let id = record.id else {
            return try step(value: place, wanted: rebased(place, moved), other, vault, &here)
        }
        guard ids.insert(id).inserted else { return .leave(place, .sameID) }
        guard let known = here.place(of: id) else {
            return .add(place, as: here.take(rebased(place, moved), else: "\(id)", id))
        }
        let mine = try self.record(known, id, of: vault)
        let theirs = try self.record(place, id, of: other)
        guard let outcome = try once(mine, theirs) else { return .same(place, here: known) }
        if hasLargeSecret(mine) || hasLargeSecret(theirs) { return .leave(place, .largeSecret) }
        if outcome.merged != nil { return .change(place, here: known) }
        let copy = ItemOnce.copyID(of: theirs.content)
        if let known = here.place(of: copy) { return .same(place, here: known) }
        return .beside(place, as: here.take(place, else: "\(copy)", copy))
    }

    /// Where a value goes whose entry above it goes elsewhere.
    private static func rebased(_ place: EntryPath, _ moved: [(from: String, to: String)]) -> EntryPath {
        let path = place.spelled
        // The nearest is the longest.
        guard let (from, to) = moved.last(where: { path.utf8.starts(with: $0.from.utf8) }) else { return place }
        let text = to + String(decoding: path.utf8.dropFirst(from.utf8.count), as: UTF8.self)
        return EntryPath.places(of: text).first { $0.isPossible } ?? place
    }

    private static func step(
        value place: EntryPath, wanted: EntryPath, _ other: Vault, _ vault: Vault, _ here: inout Inventory
    ) throws(VaultError) -> Step {
        let mark = "\(try other.id)"
        var (candidate, number) = (wanted, 1)
        // It may be here under its own name, or under one that an earlier merge gave it.
        while here.contains(candidate) {
            if try isSame(place, of: other, candidate, of: vault) { return .same(place, here: candidate) }
            candidate = Inventory.marked(wanted, mark, number)
            number += 1
        }
        return .add(place, as: here.take(wanted, else: mark))
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
                case .beside(let place, let target): try copy(place, to: target, &session)
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

    private func copy(_ place: EntryPath, to target: EntryPath, _ session: inout WriteSession) throws(VaultError) {
        try session.requireFree(beside: target)
        var content = try VaultMerge.withContent(of: place, in: other) { _, content throws(VaultError) in
            try VaultMerge.copy(content)
        }
        let id = ItemOnce.copyID(of: content)
        content.withMutableBytes { bytes in
            for (index, byte) in id.bytes.enumerated() { bytes.store(byte, at: 4 + index) }
        }
        try content.withBytes { item throws(VaultError) in
            try session.put(item: item, for: target.name, in: target.collection, replacing: false)
        }
    }

    private func change(_ place: EntryPath, _ known: EntryPath, _ session: inout WriteSession) throws(VaultError) {
        let mine = try session.withContent(of: known.name, in: known.collection) { fields, content throws(VaultError) in
            try VaultMerge.record(known, fields, content)
        }
        guard let mine else { throw VaultMerge.changed }
        let theirs = try VaultMerge.record(place, mine.id, of: other)
        guard let outcome = try VaultMerge.once(mine, theirs) else { return }
        let isStored = try outcome.write { item throws(VaultError) in
            try session.put(item: item, for: known.name, in: known.collection, replacing: true)
        }
        guard isStored else { throw VaultMerge.changed }
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

    private static let changed = VaultError(
        .busy, "an entry was changed by another program meanwhile; merge again")

    /// Items of up to 1 MiB are there several times, which may be more than a user can lock.
    private static func once(
        _ mine: borrowing SyncRecord, _ theirs: borrowing SyncRecord
    ) throws(VaultError) -> ItemOnce? {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        do throws(SyncError) {
            return try ItemOnce.of(mine, with: theirs, wideningTags: [Item.secretServiceTag])
        } catch { throw VaultError(error) }
    }

    private static func hasLargeSecret(_ record: borrowing SyncRecord) -> Bool {
        record.content.withBytes { bytes in
            guard let item = try? Item(parsing: bytes) else { return false }
            return item.field(LargeSecret.label) != nil
        }
    }

    private static func copy(_ content: RawSpan) throws(VaultError) -> SecretBytes {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        do throws(SecretMemoryError) { return try SecretBytes(copying: content) } catch { throw VaultError(error) }
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
        guard record.id == id else { throw changed }
        return record
    }

    /// What the collection asks for is of no account here.
    private static func record(
        _ place: EntryPath, _ fields: RecordFields, _ content: RawSpan
    ) throws(VaultError) -> SyncRecord {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        let item = try Item(parsing: content)
        guard fields.form == .item, let id = SyncItemID(item.id.bytes) else { throw changed }
        return SyncRecord(
            id: id, form: .item, collection: place.collection, name: item.trash?.name ?? place.name, minimum: 0,
            content: try copy(content))
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

extension ItemOnce {
    /// Lends what both become.
    /// - Returns: Whether there is such an item.
    fileprivate borrowing func write(_ body: (RawSpan) throws(VaultError) -> Void) throws(VaultError) -> Bool {
        switch merged {
        case .none: return false
        case .some(let merged):
            try merged.withBytes { item throws(VaultError) in try body(item) }
            return true
        }
    }
}

extension VaultError {
    init(_ error: SyncError) {
        switch error {
        case .vault(let error): self = error
        case .memory(let error): self.init(error)
        case .cryptography(let error): self.init(any: error)
        case .format(.newerVersion): self.init(.newerVersion, "an entry was written by a newer version of Holdfast")
        default: self = .damaged("two versions of an entry cannot be merged")
        }
    }
}
