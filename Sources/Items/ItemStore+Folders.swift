internal import SystemCalls
internal import VaultCore
internal import VaultFormat
public import VaultStorage

extension ItemStore {
    /// Does something with all entries of a folder, or with all records from earlier versions, in one transaction: all
    /// or nothing.
    /// - Parameters:
    ///   - digest: Of the plan that the user has seen (``FolderPlan/digest``).
    ///   - admit: Told each item that gets another name or is copied, and where it is, in the transaction, and what
    ///     guards a value (``checkAbove(_:_:)``); what it throws ends that.
    /// - Returns: How many entries it was done with.
    /// - Throws: `busy` where the entries are others by now, and then nothing is done; `assuranceTooLow` for a folder
    ///   or a target that this unlock does not reach; what `admit` and writing can throw.
    package func change(
        _ action: FolderAction, seen digest: [UInt8],
        admitting admit: (borrowing Item, EntryPath) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) -> Int {
        for folder in [action.source, action.target] {
            if let folder { try vault.admit(folder.first) }
        }
        for _ in 0..<ItemStore.tries {
            // Read before the names: a change in between is noticed in the transaction.
            let change = try vault.lastChange()
            let plan = FolderPlan(action, try vault.records())
            guard plan.isPossible, plan.digest == digest else { throw .changedFolder }
            if try apply(plan, action, since: change, admit) { return plan.changes.count }
        }
        throw .changedFolder
    }

    private static let tries = 16

    /// Does what was planned.
    /// - Parameter change: The vault's last change before the names were read.
    /// - Returns: False where another program wrote since; then nothing was done.
    package func apply(
        _ plan: FolderPlan, _ action: FolderAction, since change: UInt64,
        _ admit: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) -> Bool {
        let now = WallClock.milliseconds
        var old: [Trashed] = []
        if case .discard = action { old = try expired(now: now) }
        var isDone = false
        do {
            try vault.write(isRepeatable: true) { session in
                isDone = session.lastChange == change
                guard isDone else { return }
                try remove(old, in: &session)
                for change in plan.changes {
                    do throws(VaultError) { try session.apply(change, action, now: now, admit) } catch {
                        throw error.naming(change)
                    }
                }
            }
        } catch { throw VaultError(any: error) }
        return isDone
    }
}

extension WriteSession {
    fileprivate mutating func apply(
        _ change: FolderPlan.Change, _ action: FolderAction, now: Int64,
        _ admit: (borrowing Item, EntryPath) throws(VaultError) -> Void
    ) throws(VaultError) {
        let entry = change.entry
        switch (action, change.target) {
        case (.move, let target?), (.adopt, let target?):
            try self.admit(entry, admit)
            try rename(entry.name, in: entry.collection, to: target.name, in: target.collection, replacing: false)
        case (.copy, let target?):
            try self.admit(entry, admit)
            try copy(entry, to: target)
        case (.discard(_, let lifetime), _): try trash(entry.name, entry.collection, lifetime, now: now)
        case (.remove, _): try remove(entry.name, entry.collection)
        case (.move, nil), (.copy, nil), (.adopt, nil): break
        }
    }
}

extension VaultError {
    /// Of many entries, the one that it is about.
    fileprivate func naming(_ change: FolderPlan.Change) -> VaultError {
        guard [.assuranceTooLow, .damaged, .tooLarge].contains(code) else { return self }
        return VaultError(code, "\(change.entry.text): \(reason)")
    }

    static let changedFolder = VaultError(
        .busy, "the entries were changed meanwhile by another program; look again, nothing was done")
}

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
