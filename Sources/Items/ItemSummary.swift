internal import VaultCore
public import VaultFormat
public import VaultStorage

/// What is known of a record without its values.
public struct ItemSummary: Sendable, Hashable {
    /// Its name in the collection.
    public let name: String
    /// The collection it is in.
    public let collection: String
    /// What it is; nil for a plain value, and for a file that is one.
    public let kind: ItemKind?
    /// Whether it is a plain value that lies in a file of its own.
    package let isFile: Bool
    /// Whether it is shown first.
    package let isFavourite: Bool
    /// Its tags, in ascending order.
    package let tags: [String]
    /// When it was changed last: milliseconds since 1970.
    package let modified: Int64
}

extension ItemStore {
    /// Everything but the trash, sorted by collection and name.
    /// - Throws: `locked`, `damaged`.
    public func list() throws(VaultError) -> [ItemSummary] {
        var found: [ItemSummary] = []
        let visitor = Visitor()
        defer { vault.letGo(of: visitor) }
        _ = try vault.forEachContent(for: visitor) { info, content throws(VaultError) in
            if info.isItem, Admission.isReservedName(info.name) { return }
            found.append(try ItemSummary(info, content))
        }
        return found.sorted { ($0.collection, $0.name) < ($1.collection, $1.name) }
    }

    /// The tags in use, each once, sorted.
    /// - Throws: As ``list()``.
    package func tags() throws(VaultError) -> [String] { Set(try list().flatMap(\.tags)).sorted() }
}

extension ItemSummary {
    init(_ info: Vault.RecordInfo, _ content: RawSpan) throws(VaultError) {
        let layout = info.isItem ? try ItemLayout(stored: content) : nil
        self.init(
            name: info.name, collection: info.collection, kind: layout?.front.kind, isFile: info.isFile,
            isFavourite: layout?.front.isFavourite ?? false, tags: layout?.tags.map { content.text($0) } ?? [],
            modified: layout?.front.modified ?? info.modified)
    }
}

extension ItemLayout {
    /// Reads what a vault has stored.
    init(stored content: RawSpan) throws(VaultError) {
        do throws(FormatError) {
            try self.init(parsing: content)
        } catch .newerVersion {
            throw VaultError(.newerVersion, "this entry was written by a newer version of Holdfast")
        } catch { throw .damagedItem }
    }
}
