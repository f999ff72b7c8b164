internal import Items
internal import SecretMemory
package import SyncFormat
internal import VaultCore
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

/// Taking what other devices wrote.
extension SyncLedger {
    /// Takes states that came, as part of a transaction.
    /// - Parameters:
    ///   - states: As they came; their bytes are hostile until they are read.
    ///   - heads: The last entry that was taken of each stream, that of the states too, and the last of the own one. A
    ///     stream that is cut off has no end there: who had taken more of it names that, and nothing can come of it.
    ///   - comparison: In which nothing differed: what is written here is never overwritten unseen.
    ///   - counting: Of each stream that is cut off, because it is a fork or its writer was removed, the last entry
    ///     that counts: what others said with values of a later one is taken as adopted.
    ///   - stamp: Of an entry of this device, for what it has to say again; never used before.
    ///   - session: The transaction.
    /// - Returns: What this device has to say again.
    /// - Throws: `busy` where something was written since the comparison; `damaged` for bytes that are no state. Then
    ///   nothing of the transaction may be kept.
    package func take(
        _ states: [SyncState], heads: [StreamID: UInt64], after comparison: Comparison,
        counting: [StreamID: UInt64] = [:], at stamp: Stamp, in session: inout WriteSession
    ) throws(VaultError) -> [SyncState] {
        guard comparison.found.isEmpty, session.number == comparison.transaction + 1 else {
            throw VaultError(.busy, "something was written in the vault meanwhile")
        }
        let taking = Taking(counting: counting, stamp: stamp)
        // Of an item that comes more than once the last has all.
        var restated: [SyncItemID: SyncState] = [:]
        for state in states {
            try state.bytes.withBytes { bytes throws(VaultError) in
                let id = try syncCall { () throws(SyncError) in try StateJoin.id(of: bytes, within: heads) }
                if let again = try take(bytes, of: id, heads, taking, &session) { restated[id] = again }
            }
        }
        for id in comparison.displaced { try place(id, in: &session) }
        return restated.sorted { $0.key < $1.key }.map(\.value)
    }

    /// What a transaction takes by.
    private struct Taking {
        let counting: [StreamID: UInt64]
        let stamp: Stamp
    }

    private func take(
        _ bytes: RawSpan, of id: SyncItemID, _ heads: [StreamID: UInt64], _ taking: Taking,
        _ session: inout WriteSession
    ) throws(VaultError) -> SyncState? {
        guard let known = try session.shadow(of: id) else {
            let join = try syncCall { () throws(SyncError) in try StateJoin(first: bytes) }
            try SyncLedger.checkStreams(join, heads)
            return try take(join, of: id, .empty([]), taking, &session)
        }
        let front = known.front
        let join: StateJoin
        if front.flags.contains(.isBehind), let waiting = try session.shadow(of: id, .waiting) {
            let all = try SyncLedger.join(known, waiting)
            join = try all.state.withBytes { own throws(VaultError) in
                try syncCall { () throws(SyncError) in try StateJoin(of: own, with: bytes) }
            }
        } else {
            join = try known.state.withBytes { own throws(VaultError) in
                try syncCall { () throws(SyncError) in try StateJoin(of: own, with: bytes) }
            }
        }
        try SyncLedger.checkStreams(join, heads)
        return try take(join, of: id, front, taking, &session)
    }

    /// A member could invent streams until there is no room for anybody else's.
    private static func checkStreams(
        _ join: borrowing StateJoin, _ heads: [StreamID: UInt64]
    ) throws(VaultError) {
        try join.state.withBytes { state throws(VaultError) in
            try syncCall { () throws(SyncError) in
                if try StateJoin.isCrowded(state, knowing: heads) { throw .format(.invalid(field: "state streams")) }
            }
        }
    }

    private static func join(
        _ known: borrowing Shadow, _ waiting: borrowing Shadow
    ) throws(VaultError) -> StateJoin {
        try known.state.withBytes { own throws(VaultError) in
            try waiting.state.withBytes { late throws(VaultError) in
                try syncCall { () throws(SyncError) in try StateJoin(of: own, with: late) }
            }
        }
    }

    /// Shows what waited for its collection to be reached, as part of a transaction.
    /// - Parameters:
    ///   - id: Of ``Comparison/waiting``, in which nothing else differs.
    ///   - counting: As for ``take(_:heads:after:counting:at:in:)``, like `stamp`.
    /// - Returns: What this device has to say again.
    package func land(
        _ id: SyncItemID, counting: [StreamID: UInt64], at stamp: Stamp, in session: inout WriteSession
    ) throws(VaultError) -> SyncState? {
        guard let known = try session.shadow(of: id) else { return nil }
        var front = known.front
        guard front.flags.contains(.isBehind) else {
            guard front.flags.contains(.waits) else { return nil }
            let isShown = front
            try known.state.withBytes { state throws(VaultError) in
                try show(state, of: id, lives: true, isShown, &session)
            }
            return nil
        }
        front.flags.remove(.isBehind)
        let cleared = front
        guard let waiting = try session.shadow(of: id, .waiting) else {
            try known.state.withBytes { state throws(VaultError) in try session.store(cleared, state, of: id) }
            return nil
        }
        let join = try SyncLedger.join(known, waiting)
        try session.removeWaiting(of: id)
        try known.state.withBytes { state throws(VaultError) in try session.store(cleared, state, of: id) }
        return try take(
            join, of: id, cleared, Taking(counting: counting, stamp: stamp), &session)
    }

    private func take(
        _ join: borrowing StateJoin, of id: SyncItemID, _ front: ShadowLayout, _ taking: Taking,
        _ session: inout WriteSession
    ) throws(VaultError) -> SyncState? {
        guard join.isNews else { return nil }
        if !taking.counting.isEmpty {
            let amended = try join.state.withBytes { state throws(VaultError) in
                try syncCall { () throws(SyncError) in
                    try StateAmendment(adopting: state, after: taking.counting, at: taking.stamp)
                }
            }
            if amended.isChanged {
                func show(_ state: RawSpan, _ session: inout WriteSession) throws(VaultError) {
                    try self.show(state, of: id, lives: join.lives, front, &session)
                }
                if amended.isReduced {
                    try amended.said.withBytes { state throws(VaultError) in try show(state, &session) }
                } else {
                    try amended.state.withBytes { state throws(VaultError) in try show(state, &session) }
                }
                return SyncState(amended.said)
            }
        }
        guard join.mustRestate else {
            return try join.state.withBytes { state throws(VaultError) in
                // What loses is seen by nobody before it is in the history.
                let settled = try syncCall { () throws(SyncError) in
                    join.lives ? try ItemDifference.settled(state, at: taking.stamp.dot) : nil
                }
                guard let settled else {
                    try show(state, of: id, lives: join.lives, front, &session)
                    return nil
                }
                try settled.withBytes { state throws(VaultError) in
                    try show(state, of: id, lives: true, front, &session)
                }
                return SyncState(settled)
            }
        }
        let again = try join.state.withBytes { state throws(VaultError) in
            try syncCall { () throws(SyncError) in try StateJoin.restated(state, at: taking.stamp) }
        }
        try again.withBytes { state throws(VaultError) in try show(state, of: id, lives: true, front, &session) }
        return SyncState(again)
    }

    /// Makes the record what the state says, and stores both.
    func show(
        _ state: RawSpan, of id: SyncItemID, lives: Bool, _ front: ShadowLayout, _ session: inout WriteSession
    ) throws(VaultError) {
        let before = front.name.isEmpty ? nil : EntryPath(collection: front.collection, name: front.name)
        if let before, session.admission.shut[before.collection] != nil {
            return try wait(state, of: id, front, &session)
        }
        if front.flags.contains(.isBehind) { try session.removeWaiting(of: id) }
        guard lives else { return try bury(state, of: id, before, front, &session) }
        let shown = try syncCall { () throws(SyncError) in try ItemProjection(of: state) }
        let collection = shown.record.collection
        guard !Admission.isReserved(collection), session.admission.shut[collection] == nil else {
            if let before { try session.delete(before.name, in: before.collection) }
            let front = ShadowLayout(flags: [.lives, .waits], sequence: 0, collection: collection, name: "")
            return try session.store(front, state, of: id)
        }
        var wanted = EntryPath(collection: collection, name: shown.record.name)
        if shown.isInTrash { wanted = EntryPath(collection: collection, name: "\u{0}trash/\(id)") }
        if let before, before != wanted { try session.delete(before.name, in: before.collection) }
        let place = before == wanted ? wanted : try free(wanted, for: id, &session)
        try shown.record.content.withBytes { content throws(VaultError) in
            if shown.record.form == .item {
                try session.put(item: content, for: place.name, in: place.collection, replacing: before == place)
            } else {
                try session.put(content, for: place.name, in: place.collection, replacing: before == place)
            }
        }
        try store(state, of: id, at: place, place == wanted ? .lives : [.lives, .isDisplaced], &session)
    }

    /// What came of an item whose record this unlock does not reach lies beside its shadow. The shadow stays: it tells
    /// what this device changes in the record.
    private func wait(
        _ state: RawSpan, of id: SyncItemID, _ front: ShadowLayout, _ session: inout WriteSession
    ) throws(VaultError) {
        try session.store(.empty([]), state, of: id, .waiting)
        guard !front.flags.contains(.isBehind), let known = try session.shadow(of: id) else { return }
        var behind = front
        behind.flags.insert(.isBehind)
        let marked = behind
        try known.state.withBytes { state throws(VaultError) in try session.store(marked, state, of: id) }
    }

    /// An item that others removed for good goes to the own trash; what is there already stays for its time.
    private func bury(
        _ state: RawSpan, of id: SyncItemID, _ before: EntryPath?, _ front: ShadowLayout, _ session: inout WriteSession
    ) throws(VaultError) {
        guard let before else { return try session.store(.empty([]), state, of: id) }
        guard !isInTrash(before) else {
            return try store(state, of: id, at: before, .isTrashedHere, &session)
        }
        let isItem = try session.withContent(of: before.name, in: before.collection) {
            fields, _ throws(VaultError) in fields.form == .item
        }
        let name = try session.trash(
            before.name, before.collection, ItemStore.standardLifetime, now: WallClock.milliseconds)
        guard isItem == true else {
            // A plain value becomes an item there, which is this device's alone.
            try store(local: name, in: before.collection, &session)
            return try session.store(.empty([]), state, of: id)
        }
        let place = EntryPath(collection: before.collection, name: name)
        try store(state, of: id, at: place, .isTrashedHere, &session)
    }

    /// Stores a shadow of a record that was just written.
    private func store(
        _ state: RawSpan, of id: SyncItemID, at place: EntryPath, _ flags: ShadowLayout.Flags,
        _ session: inout WriteSession
    ) throws(VaultError) {
        let sequence = try session.withContent(of: place.name, in: place.collection) { fields, _ throws(VaultError) in
            fields.sequence
        }
        guard let sequence else { throw .damaged("a record that was written is not there") }
        try session.store(
            ShadowLayout(flags: flags, sequence: sequence, collection: place.collection, name: place.name), state,
            of: id)
    }

    /// The shadow of an item in the trash that no other device is told of.
    private func store(
        local name: String, in collection: String, _ session: inout WriteSession
    ) throws(VaultError) {
        let id = try session.withContent(of: name, in: collection) { _, content throws(VaultError) in
            SyncItemID(try Item(parsing: content).id.bytes)
        }
        guard let id = id.flatMap(\.self) else { throw .damaged("a record that was written is not there") }
        let nothing = try syncCall { () throws(SyncError) in try StateRemoval.nothing(of: id) }
        try nothing.withBytes { state throws(VaultError) in
            try store(state, of: id, at: EntryPath(collection: collection, name: name), .isTrashedHere, &session)
        }
    }

    // Names

    /// The place that an item gets: the one that it wants, if nothing has it or only an item of a higher id, which then
    /// moves aside; else one that the first digits of its id tell apart.
    private func free(
        _ wanted: EntryPath, for id: SyncItemID, _ session: inout WriteSession
    ) throws(VaultError) -> EntryPath {
        guard let holder = try holder(of: wanted, &session) else { return wanted }
        if case .item(let other) = holder, id < other, !isInTrash(wanted), let shadow = try session.shadow(of: other) {
            let aside = try Inventory.marked(wanted, "\(other)") { place throws(VaultError) in
                try self.holder(of: place, &session) == nil
            }
            try session.rename(
                wanted.name, in: wanted.collection, to: aside.name, in: aside.collection, replacing: false)
            let flags = shadow.front.flags.union(.isDisplaced)
            try shadow.state.withBytes { state throws(VaultError) in
                try store(state, of: other, at: aside, flags, &session)
            }
            return wanted
        }
        return try Inventory.marked(wanted, "\(id)") { place throws(VaultError) in
            try self.holder(of: place, &session) == nil
        }
    }

    private enum Occupant: Equatable {
        case item(SyncItemID)
        /// What the sync does not move.
        case other
    }

    private func holder(of place: EntryPath, _ session: inout WriteSession) throws(VaultError) -> Occupant? {
        do throws(VaultError) {
            let found = try session.withContent(of: place.name, in: place.collection) {
                fields, content throws(VaultError) -> Occupant in
                guard fields.form == .item else { return .item(try id(of: place)) }
                return SyncItemID(try Item(parsing: content).id.bytes).map(Occupant.item) ?? .other
            }
            guard case .item(let id) = found else { return found }
            // One that was moved aside itself, or that was never met, is not moved.
            let shadow = try session.shadow(of: id)
            switch shadow {
            case .none: return .other
            case .some(let shadow):
                let isHere = EntryPath(collection: shadow.front.collection, name: shadow.front.name) == place
                return isHere ? found : .other
            }
        } catch {
            guard error.code == .tooLarge || error.code == .unconfirmed else { throw error }
            return .other
        }
    }

    /// Moves an item to where it wants to be, if that is possible by now.
    func place(_ id: SyncItemID, in session: inout WriteSession) throws(VaultError) {
        guard let shadow = try session.shadow(of: id), shadow.front.flags.contains(.isDisplaced),
            !shadow.front.flags.contains(.isBehind), session.admission.shut[shadow.front.collection] == nil
        else { return }
        let state = try shadow.state.withBytes { state throws(VaultError) in
            try syncCall { () throws(SyncError) in try StatePlace(of: state) }
        }
        let wanted = EntryPath(collection: state.collection, name: state.name)
        guard session.admission.shut[wanted.collection] == nil else { return }
        switch try holder(of: wanted, &session) {
        case .none: break
        // The lower id has the name, whichever came first.
        case .item(let other) where id < other && !isInTrash(wanted): _ = try free(wanted, for: id, &session)
        case .item, .other: return
        }
        try session.rename(
            shadow.front.name, in: shadow.front.collection, to: wanted.name, in: wanted.collection, replacing: false)
        let flags = shadow.front.flags.subtracting(.isDisplaced)
        try shadow.state.withBytes { bytes throws(VaultError) in try store(bytes, of: id, at: wanted, flags, &session) }
    }
}
