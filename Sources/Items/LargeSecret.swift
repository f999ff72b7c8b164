internal import VaultCore
package import VaultFormat
package import VaultStorage

/// Where a program's secret is that is larger than an item can be: a value in the folder `secret-service`, whose name
/// begins with the item's id, so that no item leads to another's. It is stored, changed and removed in one transaction
/// with its item, so that nothing is left in the folder that no item leads to.
package struct LargeSecret: Hashable, Sendable {
    package static let folder = "secret-service"
    /// The field that says so.
    package static let label = "large secret"
    /// Bytes of it, at most.
    package static let longest = 4 << 20

    private let id: ItemID
    package let size: Int
    /// Random: each is written beside the earlier one.
    private let part: String

    package var name: String { "\(id)-\(part)" }
    /// As the item's field has it.
    package var text: String { "\(size) bytes in \(LargeSecret.folder)/\(name)" }

    /// Whether one can be there.
    static func isPlace(_ entry: EntryPath) -> Bool {
        let parts = entry.name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return entry.collection.utf8.elementsEqual(folder.utf8) && parts.count == 2
            && parts.allSatisfy { $0.count == 2 * ItemID.size }
    }

    package func belongs(to item: borrowing Item) -> Bool { item.id == id }

    /// A new one of an item.
    package init(of id: ItemID, size: Int) throws(VaultError) {
        (self.id, self.size, part) = (id, size, "\(try Item.newID())")
    }

    /// - Returns: Nil for anything but what ``text`` is for this item.
    fileprivate init?(parsing bytes: [UInt8], of id: ItemID) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let size = text.split(separator: " ").first.flatMap({ Int($0) }),
            (0...LargeSecret.longest).contains(size),
            let part = text.split(separator: "-").last, part.utf8.count == 2 * ItemID.size
        else { return nil }
        (self.id, self.size, self.part) = (id, size, String(part))
        guard self.text.utf8.elementsEqual(bytes) else { return nil }
    }
}

extension Item {
    /// The secret that is a value of its own; nil where it is in the item.
    /// - Throws: `damaged` where the item leads anywhere but to its own, as a copy does.
    package borrowing func largeSecret() throws(VaultError) -> LargeSecret? {
        guard let field = field(LargeSecret.label) else { return nil }
        guard field.kind.isOpen else { throw .anotherSecret }
        let text = withValue(of: field) { value in unsafe value.withUnsafeBytes { unsafe Array($0) } }
        guard let large = LargeSecret(parsing: text, of: id) else { throw .anotherSecret }
        return large
    }

    /// Where its secret is; nil for in the item. No earlier value tells of a place where nothing is any more.
    package mutating func lead(to large: LargeSecret?) throws(VaultError) {
        let text = large.map { Array($0.text.utf8) } ?? []
        switch (field(LargeSecret.label), large) {
        case (nil, nil): return
        case (nil, _): try unsafe add(.text, LargeSecret.label, bytes: text.span.bytes)
        case (let field?, nil): try removeEntry(layout.entries(ItemLayout.Tag.field)[field.index])
        case (let field?, _): try unsafe set(field, bytes: text.span.bytes, keepsEarlier: false)
        }
    }

    /// Nobody gets an empty value for a secret that is elsewhere.
    /// - Throws: `invalidItem` for the main value of an item whose secret is a value of its own, with its place;
    ///   `damaged` where the place is another item's.
    package borrowing func requireHere(_ part: Part) throws(VaultError) {
        guard case .field(let field) = part, field.size == 0, field == mainField, let large = try largeSecret()
        else { return }
        throw VaultError(
            .invalidItem,
            "a program's secret of more than 768 KiB is not in its entry; it is the value \(LargeSecret.folder)/\(large.name)"
        )
    }

    /// Whether the main value was changed, or removed, since it was the large secret to which the item still leads.
    borrowing func hasEndedLargeSecret() -> Bool {
        guard mainField?.size != 0, field(LargeSecret.label) != nil else { return false }
        return (try? largeSecret()) != nil
    }
}

extension ItemStore {
    /// Removes an item for good, and its secret where that is a value of its own; or a value.
    /// - Throws: As ``VaultCore/Vault/delete(_:in:)``.
    package func remove(_ entry: EntryPath) throws(VaultError) {
        try write { session throws(VaultError) in try session.remove(entry.name, entry.collection) }
    }
}

extension WriteSession {
    /// As ``ItemStore/remove(_:)``, as part of the transaction.
    mutating func remove(_ name: String, _ collection: String) throws(VaultError) {
        // What cannot be read, such as a value that is a file, leads nowhere.
        var large: LargeSecret?
        _ = try? withContent(of: name, in: collection) { fields, content throws(VaultError) in
            if fields.form == .item { large = try Item(parsing: content).largeSecret() }
        }
        try delete(name, in: collection)
        if let large { try forget(large) }
    }

    /// Removes a secret to which its item does not lead any more.
    package mutating func forget(_ large: LargeSecret) throws(VaultError) {
        do throws(VaultError) { try delete(large.name, in: LargeSecret.folder) } catch {
            guard error.code == .recordNotFound else { throw error }
        }
    }
}

extension VaultError {
    package static let anotherSecret = VaultError(
        .damaged, "a large secret is not where its entry says; it may be a copy, or have been changed meanwhile")
}
