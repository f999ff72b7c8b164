package import Items
package import SecretMemory
package import SyncFormat
package import VaultCore
internal import VaultFormat
package import VaultStorage

/// What the sync knows of a vault's records beside them, and what it makes of both.
///
/// Nobody tells it of a write. It compares all records with what it showed last, and a change of this device is what
/// differs, whoever wrote it.
package final class SyncLedger: Sendable {
    /// What is not as it was shown.
    package enum Difference: Sendable, Hashable {
        /// A record that was never met, or that differs.
        case record(EntryPath, SyncItemID)
        /// A record that is gone.
        case gone(SyncItemID)
    }

    /// How all records and all shadows compare.
    package struct Comparison: Sendable {
        /// In the order of the places.
        package let found: [Difference]
        /// Items that are not where they want to be.
        package let displaced: [SyncItemID]
        /// Items of which something waited for a collection that is reached by now.
        package let waiting: [SyncItemID]
        /// The last transaction that was seen. While no other was committed, nothing else differs.
        package let transaction: UInt64

        /// The same behind a transaction of the caller, who committed it and knows that nothing else was written: what
        /// ``take(_:heads:after:at:in:)`` wrote does not differ.
        package func following(_ transaction: UInt64) -> Comparison {
            Comparison(found: [], displaced: displaced, waiting: waiting, transaction: transaction)
        }
    }

    package let vault: Vault
    /// What plain values' ids are made with.
    let nameKey: HeldKey<NameKey>
    /// Tags that let more programs in.
    let wideningTags: Set<String> = [Item.secretServiceTag]
    /// Told of a lock from the first comparison on.
    var holder: any KeyHolder { nameKey }

    /// - Parameter nameKey: The group's.
    package init(_ vault: Vault, nameKey: consuming NameKey) {
        self.vault = vault
        self.nameKey = HeldKey(nameKey)
    }

    deinit { vault.letGo(of: nameKey) }

    /// The id of a plain value, which has none of its own.
    package func id(of value: EntryPath) throws(VaultError) -> SyncItemID {
        try syncCall { () throws(SyncError) in
            try nameKey.with { key throws(SyncError) in
                try key.itemID(collection: value.collection, name: value.name)
            }
        }
    }

    // Differences

    /// Where a record is, and which write it is of.
    private struct Seen {
        let place: EntryPath
        let sequence: UInt64
    }

    /// Compares all records with all shadows; reads each once and writes nothing.
    /// - Returns: What differs, in the order of the places.
    /// - Throws: `locked`, `damaged` for a record that cannot be read: it is an error and never a removal.
    package func differences() throws(VaultError) -> Comparison {
        var records: [SyncItemID: Seen] = [:]
        var values: [EntryPath: UInt64] = [:]
        var shadows: [SyncItemID: ShadowLayout] = [:]
        let transaction = try vault.forEachRecord(for: holder) { visit, sequence, content throws(VaultError) in
            switch visit {
            case .own(let name):
                guard let id = Shadow.id(ofName: name) else { return }
                shadows[id] = try Shadow.layout(content)
            case .record(let info):
                let place = EntryPath(collection: info.collection, name: info.name)
                guard !info.isFile, !place.isReserved else { return }
                guard info.isItem else {
                    values[place] = sequence
                    return
                }
                guard let id = SyncItemID(try Item(parsing: content).id.bytes) else { return }
                // Of two items of one id the first by name is the item.
                if let other = records[id], other.place.spelled.utf8.lexicographicallyPrecedes(place.spelled.utf8) {
                    return
                }
                records[id] = Seen(place: place, sequence: sequence)
            }
        }
        var shown: [EntryPath: SyncItemID] = [:]
        for (id, shadow) in shadows { shown[EntryPath(collection: shadow.collection, name: shadow.name)] = id }
        for (place, sequence) in values {
            // One that was moved aside has the id of the name that it wants.
            let id: SyncItemID
            if let known = shown[place] { id = known } else { id = try self.id(of: place) }
            records[id] = Seen(place: place, sequence: sequence)
        }
        var found: [(String, Difference)] = []
        for (id, record) in records {
            let shadow = shadows[id]
            let isShown = shadow.map { shadow in
                shadow.sequence == record.sequence
                    && EntryPath(collection: shadow.collection, name: shadow.name) == record.place
            }
            if isShown != true { found.append((record.place.spelled, .record(record.place, id))) }
        }
        for (id, shadow) in shadows where !shadow.name.isEmpty && records[id] == nil && vault.reaches(shadow.collection)
        {
            let place = EntryPath(collection: shadow.collection, name: shadow.name)
            found.append((place.spelled, .gone(id)))
        }
        let order = found.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        let waiting = shadows.filter { _, shadow in
            !shadow.flags.isDisjoint(with: [.waits, .isBehind]) && vault.reaches(shadow.collection)
        }
        return Comparison(
            found: order.map(\.1), displaced: shadows.filter { $0.value.flags.contains(.isDisplaced) }.keys.sorted(),
            waiting: waiting.keys.sorted(), transaction: transaction)
    }

    // Changes of this device

    /// Writes what differs as changes of this device.
    /// - Parameters:
    ///   - differences: As they were found; what is as it was shown by now is left out.
    ///   - displaced: Items that may have the place that they want by now.
    ///   - stamp: Of the entry that will have them, never used before.
    ///   - session: The transaction. What the entry becomes is written in it, too.
    /// - Returns: The states that the entry has.
    /// - Throws: What reading and writing throws; then nothing of the transaction may be kept.
    package func write(
        _ differences: some Sequence<Difference>, displaced: [SyncItemID] = [], at stamp: Stamp,
        in session: inout WriteSession
    ) throws(VaultError) -> [SyncState] {
        var states: [SyncState] = []
        for difference in differences {
            let state: SecretBytes?
            switch difference {
            case .record(let place, let id): state = try write(place, id, stamp, &session)
            case .gone(let id): state = try remove(id, &session)
            }
            if let state { states.append(SyncState(state)) }
        }
        for id in displaced { try place(id, in: &session) }
        return states
    }

    private func write(
        _ place: EntryPath, _ id: SyncItemID, _ stamp: Stamp, _ session: inout WriteSession
    ) throws(VaultError) -> SecretBytes? {
        let shadow = try session.shadow(of: id)
        var sequence: UInt64 = 0
        let known: SyncRecord? = try session.withContent(of: place.name, in: place.collection) {
            fields, content throws(VaultError) in
            sequence = fields.sequence
            return try record(place, id, fields, content, shadow)
        }
        guard let known else { return nil }
        var front = ShadowLayout(
            flags: .lives, sequence: sequence, collection: place.collection, name: place.name)
        var settlesConflict = false
        let next: SecretBytes?
        switch shadow {
        case .none:
            next = try syncCall { () throws(SyncError) in
                try ItemDifference.first(known, wideningTags: wideningTags)
            }
        case .some(let shadow):
            let isBack = !shadow.front.flags.contains(.lives) && !isInTrash(place)
            if !isBack {
                front.flags = shadow.front.flags
                if place != EntryPath(collection: shadow.front.collection, name: shadow.front.name) {
                    front.flags.subtract([.isDisplaced, .waits])
                }
            }
            if shadow.front.flags.contains(.isBehind) { front.flags.insert(.isBehind) }
            next = try shadow.state.withBytes { state throws(VaultError) in
                try syncCall { () throws(SyncError) in
                    settlesConflict = try ItemDifference.hasConflict(state)
                    return try ItemDifference.change(
                        known, from: state, at: stamp, wideningTags: wideningTags, isRevived: isBack)
                }
            }
            if next == nil {
                try shadow.state.withBytes { state throws(VaultError) in try session.store(front, state, of: id) }
            }
        }
        guard let next else { return nil }
        let settled = front
        try next.withBytes { state throws(VaultError) in
            // The losers of a conflict are history by now. A record without them would say that the user forgot them.
            if settlesConflict && !isInTrash(place) && !settled.flags.contains(.isBehind) {
                try show(state, of: id, lives: true, settled, &session)
            } else {
                try session.store(settled, state, of: id)
            }
        }
        return next
    }

    /// A record that the user removed for good, or whose time in the trash is over.
    private func remove(_ id: SyncItemID, _ session: inout WriteSession) throws(VaultError) -> SecretBytes? {
        guard let shadow = try session.shadow(of: id) else { return nil }
        // What waits for it was not seen by who removed it.
        let isBehind = shadow.front.flags.contains(.isBehind)
        let front = ShadowLayout(
            flags: isBehind ? .isBehind : [], sequence: 0, collection: isBehind ? shadow.front.collection : "", name: ""
        )
        // Others removed it: nobody has to be told.
        let isToldAlready = !shadow.front.flags.contains(.lives)
        let state = try shadow.state.withBytes { state throws(VaultError) in
            try syncCall { () throws(SyncError) in try StateRemoval.removed(state) }
        }
        try state.withBytes { state throws(VaultError) in try session.store(front, state, of: id) }
        if isToldAlready { return nil }
        return state
    }

    /// A record as the sync sees it: its name is the one that was wished for, where another item has that.
    private func record(
        _ place: EntryPath, _ id: SyncItemID, _ fields: RecordFields, _ content: RawSpan, _ shadow: borrowing Shadow?
    ) throws(VaultError) -> SyncRecord {
        var wanted = place
        if fields.form == .item, let trash = try Item(parsing: content).trash {
            wanted = EntryPath(collection: place.collection, name: trash.name)
        }
        switch shadow {
        case .none: break
        case .some(let shadow):
            // Where the sync put it, and moved to the trash from there, it was not renamed by anybody else.
            let shown = EntryPath(collection: shadow.front.collection, name: shadow.front.name)
            if shown == place || shown == wanted {
                let state = try shadow.state.withBytes { state throws(VaultError) in
                    try syncCall { () throws(SyncError) in try StatePlace(of: state) }
                }
                wanted = EntryPath(collection: state.collection, name: state.name)
            }
        }
        let bytes: SecretBytes
        do throws(SecretMemoryError) { bytes = try SecretBytes(copying: content) } catch { throw VaultError(error) }
        return SyncRecord(
            id: id, form: fields.form == .item ? .item : .value, collection: wanted.collection, name: wanted.name,
            minimum: 0, content: bytes)
    }

    func isInTrash(_ place: EntryPath) -> Bool { Admission.isReservedName(place.name) }
}

/// A state that travels.
package final class SyncState: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

func syncCall<R: ~Copyable>(_ body: () throws(SyncError) -> R) throws(VaultError) -> R {
    do throws(SyncError) { return try body() } catch { throw VaultError(error) }
}
