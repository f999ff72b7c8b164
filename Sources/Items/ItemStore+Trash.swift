public import VaultCore
package import VaultFormat
public import VaultStorage
internal import SystemCalls

extension ItemStore {
    /// What is known of something in the trash.
    public struct Trashed: Sendable, Hashable {
        /// What it was called.
        public let name: String
        /// The collection it was in, and will be in again.
        package let collection: String
        /// Its id; two items of the same name may be in the trash.
        package let id: ItemID
        /// When it was moved there: milliseconds since 1970.
        package let moved: Int64
        /// From when on it may be removed for good.
        package let expires: Int64
    }

    /// Moves an item or a plain value to the trash, where nothing but its restoring reads it. Its name is free at once.
    ///
    /// What has been in the trash for longer than its lifetime is removed on the way.
    /// - Parameters:
    ///   - name: The item's name.
    ///   - collection: Where it is.
    ///   - lifetime: How long the trash keeps it, by the clock of the machine.
    /// - Throws: `recordNotFound`, `assuranceTooLow`, `unconfirmed`; `tooLarge` for a value stored as a file, which
    ///   only ``VaultCore/Vault/delete(_:in:)`` removes, and for good.
    public func trash(
        _ name: String, in collection: String = Vault.defaultCollection,
        for lifetime: Duration = ItemStore.standardLifetime
    ) throws(VaultError) {
        try trash(name, in: collection, for: lifetime, now: WallClock.milliseconds)
    }

    /// As ``trash(_:in:for:)``; what was written while the vault was locked, and is nothing of the user's yet, is
    /// removed for good.
    /// - Returns: Whether it is in the trash.
    package func discard(_ name: String, in collection: String, for lifetime: Duration) throws(VaultError) -> Bool {
        let now = WallClock.milliseconds
        let old = try expired(now: now)
        var isInTrash = true
        try write { session throws(VaultError) in
            try remove(old, in: &session)
            do throws(VaultError) { try session.trash(name, collection, lifetime, now: now) } catch {
                guard error.code == .unconfirmed else { throw error }
                isInTrash = false
                try session.remove(name, collection)
            }
        }
        return isInTrash
    }

    package func trash(
        _ name: String, in collection: String, for lifetime: Duration, now: Int64
    ) throws(VaultError) {
        let old = try expired(now: now)
        try write { session throws(VaultError) in
            try remove(old, in: &session)
            try session.trash(name, collection, lifetime, now: now)
        }
    }

    /// What is in the trash, the latest first.
    /// - Throws: `locked`, `damaged`.
    public func trashed() throws(VaultError) -> [Trashed] {
        var found: [Trashed] = []
        let visitor = Visitor()
        defer { vault.letGo(of: visitor) }
        _ = try vault.forEachContent(for: visitor) { info, content throws(VaultError) in
            guard info.isItem, Admission.isReservedName(info.name) else { return }
            let item = try Item(parsing: content)
            guard let trash = item.trash else { throw .damagedItem }
            found.append(
                Trashed(
                    name: trash.name, collection: info.collection, id: item.id, moved: trash.moved,
                    expires: trash.expires))
        }
        return found.sorted { ($1.moved, $0.name) < ($0.moved, $1.name) }
    }

    /// Puts something back where it was, or elsewhere. What was a plain value is one again.
    /// - Throws: `recordNotFound` when it is not in the trash, `recordExists` when its name is taken.
    public func restore(_ trashed: Trashed, as path: EntryPath? = nil) throws(VaultError) {
        try restore(trashed, as: path, isChecked: false)
    }

    /// As ``restore(_:as:)``.
    /// - Parameter admit: As for ``rename(_:in:to:into:isChecked:admitting:)``.
    /// - Parameter isChecked: As for ``rename(_:in:to:into:isChecked:admitting:)``.
    package func restore(
        _ trashed: Trashed, as path: EntryPath?, isChecked: Bool,
        admitting admit: (borrowing Item, EntryPath) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) {
        let target = path ?? EntryPath(collection: trashed.collection, name: trashed.name)
        try ItemStore.check(target.name)
        try write { session throws(VaultError) in
            let place = Item.trashName(trashed.id)
            guard var item = try session.item(place, trashed.collection) else { throw .noItem }
            let former = EntryPath(collection: trashed.collection, name: trashed.name)
            try admit(item, former)
            if isChecked { try session.requireFree(beside: target) }
            try item.setTrash(nil)
            if item.isPlain() { try session.checkAbove(former, admit) }
            try session.put(restored: item, for: target.name, in: target.collection)
            try session.delete(place, in: trashed.collection)
        }
    }

    /// Removes some of the trash for good; all of it when none is named.
    /// - Throws: What writing can throw; then nothing was removed.
    package func emptyTrash(_ some: [Trashed]? = nil) throws(VaultError) {
        let all = if let some { some } else { try trashed() }
        guard !all.isEmpty else { return }
        try write { session throws(VaultError) in try remove(all, in: &session) }
    }

    /// Removes for good what has been in the trash for longer than its lifetime.
    /// - Returns: How many.
    /// - Throws: As ``emptyTrash(_:)``.
    @discardableResult
    package func removeExpired() throws(VaultError) -> Int {
        let old = try expired(now: WallClock.milliseconds)
        try emptyTrash(old)
        return old.count
    }

    /// Takes a tag from all items that have it, those in the trash too.
    /// - Returns: How many had it.
    /// - Throws: What reading all records and writing can throw; then all have it still.
    package func untag(_ tag: String) throws(VaultError) -> Int {
        var found: [EntryPath] = []
        let visitor = Visitor()
        defer { vault.letGo(of: visitor) }
        _ = try vault.forEachContent(for: visitor) { info, content throws(VaultError) in
            // One that is damaged has no tags, and keeps nothing from the others.
            guard info.isItem, let item = try? Item(parsing: content), item.hasTag(tag) else { return }
            found.append(EntryPath(collection: info.collection, name: info.name))
        }
        guard !found.isEmpty else { return 0 }
        var count = 0
        try write { session throws(VaultError) in
            count = 0
            for entry in found {
                do throws(VaultError) {
                    try session.change(entry) { item throws(VaultError) in try item.removeTag(tag) }
                    count += 1
                } catch {
                    // Another program was faster.
                    if error.code != .recordNotFound { throw error }
                }
            }
        }
        return count
    }

    func expired(now: Int64) throws(VaultError) -> [Trashed] { try trashed().filter { $0.expires <= now } }

    func remove(_ all: [Trashed], in session: inout WriteSession) throws(VaultError) {
        for trashed in all {
            do throws(VaultError) {
                try session.remove(Item.trashName(trashed.id), trashed.collection)
            } catch {
                // Another program was faster.
                if error.code != .recordNotFound { throw error }
            }
        }
    }
}

extension Item {
    /// What an item in the trash is called: no value can be, and no two have the same.
    package static func trashName(_ id: ItemID) -> String { "\u{0}trash/\(id)" }

    fileprivate borrowing func hasTag(_ tag: String) -> Bool { tags.contains { $0.utf8.elementsEqual(tag.utf8) } }

    var trashName: String { Item.trashName(id) }

    /// Whether it holds nothing that a plain value could not, but for earlier values if those do not count.
    func isPlain(withHistory: Bool = false) -> Bool {
        layout.front.kind == .value && !isFavourite && layout.fields.count == 1
            && layout.entries.count == 1 + (withHistory ? layout.history.count : 0)
            && layout.fields[0].kind == .secret && fields[0].label == ItemStore.plainLabel
    }
}

extension WriteSession {
    /// Moves an item or a plain value to the trash, as part of the transaction.
    /// - Returns: Its name there.
    /// - Throws: As ``ItemStore/trash(_:in:for:)``.
    @discardableResult
    package mutating func trash(
        _ name: String, _ collection: String, _ lifetime: Duration, now: Int64
    ) throws(VaultError) -> String {
        guard var item = try item(name, collection) else { throw .noItem }
        let end = now.addingReportingOverflow(
            max(0, lifetime.components.seconds).multipliedReportingOverflow(by: 1000).0)
        try item.setTrash(Item.Trash(moved: now, expires: end.overflow ? .max : end.partialValue, name: name))
        try item.withBytes { bytes throws(VaultError) in
            try put(item: bytes, for: item.trashName, in: collection, replacing: false)
        }
        try delete(name, in: collection)
        return item.trashName
    }

    fileprivate mutating func put(
        restored item: borrowing Item, for name: String, in collection: String
    ) throws(VaultError) {
        guard item.isPlain(), let field = item.fields.first else {
            return try item.withBytes { bytes throws(VaultError) in
                try put(item: bytes, for: name, in: collection, replacing: false)
            }
        }
        try item.withValue(of: field) { value throws(VaultError) in try put(value, for: name, in: collection) }
    }
}

/// Looks at records and keeps nothing of them but numbers and names.
package final class Visitor: KeyHolder {
    package init() {}

    package func dropKeys() {}
}
