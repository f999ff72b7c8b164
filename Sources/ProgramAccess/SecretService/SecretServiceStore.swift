package import ProgramProtocols
package import Items
internal import VaultCore
internal import VaultFormat
package import VaultStorage
internal import SystemCalls

/// What programs store through the Secret Service: items with the tag `secret-service`, the secret in the field
/// `password` and what they are found by in the field `attributes`. Items without the tag are not shown there.
package struct SecretServiceStore: Sendable {
    package static let tag = Item.secretServiceTag
    package static let attributesLabel = "attributes"
    package static let typeLabel = "content type"
    /// The field for what the program calls the item, where that is not the item's name.
    private static let labelLabel = "label"
    private static let secretLabel = "password"
    /// Bytes of a secret and of its content type, at most.
    package static let longest = LargeSecret.longest, longestType = 255
    /// Bytes of a secret that is in the item itself, beside its attributes and earlier values; a larger one is a value
    /// of its own (``LargeSecret``).
    package static let longestInItem = 3 << 18
    /// Items that one answer names, at most.
    package static let most = 1024

    /// Items that programs store together, at most: each costs every search of the user's.
    package static let mostItems = 10_000

    let items: ItemStore
    /// What secrets may take of locked memory; nil for one that is alone.
    let room: SecretServiceRoom?
    private let limit: Int

    package init(_ items: ItemStore, _ room: SecretServiceRoom? = nil, atMost limit: Int = mostItems) {
        (self.items, self.room, self.limit) = (items, room, limit)
    }

    /// What is told of an item without its secret.
    package struct Entry: Sendable {
        package let path: SecretServicePath
        /// What the program calls it.
        package let label: String
        package let attributes: SecretServiceAttributes
        package let contentType: String
        /// Milliseconds since 1970.
        package let created: Int64
        package let modified: Int64
    }

    /// What a program stores.
    package struct Draft: Sendable {
        package let label: String
        package let attributes: SecretServiceAttributes
        package let contentType: String
        /// Whether one with the same attributes is changed instead.
        package let replaces: Bool

        package init(label: String, attributes: SecretServiceAttributes, contentType: String, replaces: Bool) {
            self.label = label
            self.attributes = attributes
            self.contentType = contentType
            self.replaces = replaces
        }
    }

    /// Items that have all attributes of a question, at most ``most``.
    /// - Throws: What a search throws.
    package func search(_ question: SecretServiceAttributes, in collection: String?) throws(VaultError) -> [Entry] {
        var found: [Entry] = []
        for match in try items.search(ItemQuery("#" + SecretServiceStore.tag, in: collection)) {
            guard found.count < SecretServiceStore.most else { break }
            do throws(VaultError) {
                let entry = try entry(match.name, in: match.collection)
                if entry.attributes.answer(question) { found.append(entry) }
            } catch  where error.code == .recordNotFound || error.code == .tooLarge {}
        }
        return found
    }

    /// - Throws: `recordNotFound` also for an item that is not shown here; what reading an item throws.
    package func entry(_ name: String, in collection: String) throws(VaultError) -> Entry {
        try SecretServiceStore.entry(of: try items.item(name, in: collection), name, collection)
    }

    private static func entry(
        of item: borrowing Item, _ name: String, _ collection: String
    ) throws(VaultError) -> Entry {
        guard let attributes = attributes(of: item), !collection.isEmpty else { throw .notShown }
        func text(_ label: String) -> String? {
            guard let field = item.field(label), field.kind.isOpen else { return nil }
            return String(decoding: bytes(of: field, in: item), as: UTF8.self)
        }
        return Entry(
            path: .item(collection: collection, name: name), label: text(labelLabel) ?? name, attributes: attributes,
            contentType: text(typeLabel) ?? "text/plain", created: item.created, modified: item.modified)
    }

    /// The secret.
    /// - Parameter check: Looks at the item before anything of it is given away.
    /// - Throws: As ``entry(_:in:)``, and what `check` throws.
    package func secret(
        _ name: String, in collection: String, _ check: (borrowing Item) throws(VaultError) -> Void
    ) throws(VaultError) -> SecretServiceSecret {
        let item = try items.item(name, in: collection)
        let entry = try SecretServiceStore.entry(of: item, name, collection)
        try check(item)
        guard let field = item.field(SecretServiceStore.secretLabel) else { throw .notShown }
        // What the user has entered since is the secret.
        if field.size == 0, let large = try item.largeSecret() { return try read(large, entry.contentType) }
        return try item.withValue(of: field) { value throws(VaultError) in
            try room?.take(value.byteCount)
            return try SecretServiceSecret(copying: value, contentType: entry.contentType)
        }
    }

    /// Stores an item, or changes one with the same attributes.
    /// - Returns: Its name: the label with `-` in place of slashes, and a number behind it where that name is taken;
    ///   and whether it is new.
    /// - Throws: `tooLarge`, also for one more than ``mostItems``; what storing throws.
    package func create(
        _ draft: Draft, _ secret: RawSpan, in collection: String
    ) throws(VaultError) -> (name: String, isNew: Bool) {
        if draft.replaces,
            let same = try search(draft.attributes, in: collection).first(where: { $0.attributes == draft.attributes }),
            case .item(_, let name) = same.path
        {
            let isSame = draft.label.utf8.elementsEqual(same.label.utf8)
            let label = draft.label.isEmpty || isSame ? nil : draft.label
            try set(name, in: collection, secret, contentType: draft.contentType, label: label)
            return (name, false)
        }
        let label = draft.label.isEmpty ? "secret" : draft.label
        // With a slash, a program's label would be written as an entry of the user's, in a folder of hers.
        let plain = String(decoding: label.utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
        // No entry of the user's gets another name by it.
        guard !EntryPath(collection: collection, name: plain).isReserved,
            !collection.utf8.elementsEqual(LargeSecret.folder.utf8)
        else { throw VaultError(.reservedCollection, "this collection is Holdfast's own") }
        guard try items.search(ItemQuery("#" + SecretServiceStore.tag)).count < limit else {
            throw VaultError(.tooLarge, "programs have stored \(limit) items; remove some of them")
        }
        let names = try items.names()
        let isLarge = secret.byteCount > SecretServiceStore.longestInItem
        var made = try SecretServiceStore.item(draft, isLarge ? secret.extracting(0..<0) : secret)
        let large = isLarge ? try LargeSecret(of: made.id, size: secret.byteCount) : nil
        try made.lead(to: large)
        var stored: String?
        try write(secret, as: large) { session throws(VaultError) in
            for number in 1...1000 where stored == nil {
                let name = number == 1 ? plain : "\(plain) (\(number))"
                let entry = EntryPath(collection: collection, name: name)
                guard names.taking(entry) == nil else { continue }
                var item = try made.duplicate()
                if !name.utf8.elementsEqual(label.utf8), !draft.label.isEmpty {
                    try item.put(SecretServiceStore.labelLabel, Array(label.utf8))
                }
                do throws(VaultError) {
                    try session.add(item, asNew: entry)
                    stored = name
                } catch {
                    guard error.code == .recordExists else { throw error }
                }
            }
            guard stored != nil else { throw VaultError(.recordExists, "too many items have this name") }
        }
        return (stored ?? plain, true)
    }

    /// An item as programs store it.
    /// - Parameter created: Milliseconds since 1970; nil for now.
    /// - Throws: What an item throws that cannot hold it.
    package static func item(
        _ draft: Draft, _ secret: RawSpan, created: Int64? = nil
    ) throws(VaultError) -> Item {
        var item = try Item(.login, now: created ?? WallClock.milliseconds)
        try item.add(.secret, secretLabel, bytes: secret)
        try item.put(typeLabel, Array(draft.contentType.utf8))
        try item.put(attributesLabel, draft.attributes.text)
        try item.addTag(tag)
        return item
    }

    /// Changes the secret of an item, and perhaps its label.
    /// - Throws: As ``entry(_:in:)``, and what storing throws.
    package func set(
        _ name: String, in collection: String, _ secret: RawSpan, contentType: String, label: String? = nil
    ) throws(VaultError) {
        var new: LargeSecret?
        if secret.byteCount > SecretServiceStore.longestInItem {
            let item = try items.item(name, in: collection)
            _ = try SecretServiceStore.entry(of: item, name, collection)
            new = try LargeSecret(of: item.id, size: secret.byteCount)
        }
        try write(secret, as: new) { session throws(VaultError) in
            try session.change(EntryPath(collection: collection, name: name)) { item throws(VaultError) in
                guard SecretServiceStore.attributes(of: item) != nil,
                    let field = item.field(SecretServiceStore.secretLabel),
                    // Another item may have got the name meanwhile.
                    new?.belongs(to: item) != false
                else { throw .notShown }
                try item.set(field, bytes: new == nil ? secret : secret.extracting(0..<0), now: WallClock.milliseconds)
                try item.lead(to: new)
                try item.put(SecretServiceStore.typeLabel, Array(contentType.utf8))
                if let label { try item.put(SecretServiceStore.labelLabel, Array(label.utf8)) }
            }
        }
    }

    /// Changes what a program calls an item. The item's name, and with it its path, stays.
    /// - Throws: As ``entry(_:in:)``, and what storing throws.
    package func set(_ name: String, in collection: String, label: String) throws(VaultError) {
        try change(name, in: collection) { item throws(VaultError) in
            try item.put(SecretServiceStore.labelLabel, Array(label.utf8))
        }
    }

    /// Changes what an item is found by.
    /// - Throws: As ``entry(_:in:)``, and what storing throws.
    package func set(
        _ name: String, in collection: String, attributes: SecretServiceAttributes
    ) throws(VaultError) {
        try change(name, in: collection) { item throws(VaultError) in
            try item.put(SecretServiceStore.attributesLabel, attributes.text)
        }
    }

    private func change(
        _ name: String, in collection: String, _ body: (inout Item) throws(VaultError) -> Void
    ) throws(VaultError) {
        do {
            try items.change(name, in: collection) { item in
                guard SecretServiceStore.attributes(of: item) != nil else { throw VaultError.notShown }
                try body(&item)
            }
        } catch { throw VaultError(any: error) }
    }

    /// Moves an item to the trash. A large secret stays for as long as its item does.
    /// - Throws: As ``entry(_:in:)``, and what the trash throws.
    package func delete(_ name: String, in collection: String) throws(VaultError) {
        _ = try entry(name, in: collection)
        try items.trash(name, in: collection)
    }

    /// Nil for an item that is not shown here.
    private static func attributes(of item: borrowing Item) -> SecretServiceAttributes? {
        guard item.isOfSecretService else { return nil }
        guard let field = item.field(attributesLabel), field.kind.isOpen else { return SecretServiceAttributes() }
        return SecretServiceAttributes(parsing: bytes(of: field, in: item))
    }

    private static func bytes(of field: Item.Field, in item: borrowing Item) -> [UInt8] {
        item.withValue(of: field) { value in unsafe value.withUnsafeBytes { unsafe Array($0) } }
    }
}

extension Item {
    fileprivate mutating func put(_ label: String, _ value: [UInt8]) throws(VaultError) {
        try unsafe put(.text, label, bytes: value.span.bytes)
    }
}

extension VaultError {
    fileprivate static let notShown = VaultError(.recordNotFound, "there is no such item of the Secret Service")
}
