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
    /// The name of the user that it is for, 255 bytes of it at most; empty for none.
    package let user: String
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
            modified: layout?.front.modified ?? info.modified,
            user: layout?.user(in: content).map { content.text($0) } ?? "")
    }
}

extension ItemLayout {
    /// Of a user's name this much is told in lists and by the index, whose entries have one byte for its size.
    private static let longestUser = 255

    /// Where the user's name of an item is, whole scalars of it.
    func user(in content: RawSpan) -> Range<Int>? {
        let field = fields.first { $0.kind == .text && content.text($0.label) == Item.userLabel }
        guard let value = field?.value else { return nil }
        var end = min(value.upperBound, value.lowerBound + ItemLayout.longestUser)
        while end < value.upperBound, end > value.lowerBound, content.present(at: end, as: UInt8.self) & 0xC0 == 0x80 {
            end -= 1
        }
        return value.lowerBound..<end
    }

    /// Reads what a vault has stored.
    init(stored content: RawSpan) throws(VaultError) {
        do throws(FormatError) {
            try self.init(parsing: content)
        } catch .newerVersion {
            throw VaultError(.newerVersion, "this entry was written by a newer version of Holdfast")
        } catch { throw .damagedItem }
    }
}
