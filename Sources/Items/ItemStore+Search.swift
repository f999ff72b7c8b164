internal import SecretMemory
internal import VaultCore
public import VaultFormat
public import VaultStorage

/// What is looked for: words that must all be found, in names, tags or open fields, in any order and any case.
///
/// A word that begins with `#` must be a tag, whole.
public struct ItemQuery: Sendable {
    struct Word: Sendable {
        let text: [UInt8]
        let isTag: Bool
    }

    let words: [Word]
    /// Only in this collection; everywhere when nil.
    package var collection: String?
    /// Only items of this kind; all, and plain values, when nil.
    package var kind: ItemKind?

    /// Words that are looked for, at most; more are left out.
    package static let mostWords = 16

    /// - Parameters:
    ///   - text: What the user typed.
    ///   - collection: Only in this collection; everywhere when nil.
    ///   - kind: Only items of this kind; all, and plain values, when nil.
    public init(_ text: String, in collection: String? = nil, kind: ItemKind? = nil) {
        words = text.lowercased().split(whereSeparator: \.isWhitespace).prefix(ItemQuery.mostWords).map { word in
            let isTag = word.count > 1 && word.first == "#"
            return Word(text: Array(word.utf8.dropFirst(isTag ? 1 : 0)), isTag: isTag)
        }
        self.collection = collection
        self.kind = kind
    }
}

extension ItemStore {
    /// Something that was found.
    public struct Match: Sendable, Hashable {
        /// Its name in the collection.
        public let name: String
        /// The collection it is in.
        package let collection: String
        /// What it is; nil for a plain value.
        package let kind: ItemKind?
        /// Whether it is a value that lies in a file of its own.
        package let isFile: Bool
        /// Whether it is shown first.
        package let isFavourite: Bool
        /// When it was changed last: milliseconds since 1970.
        package let modified: Int64
        /// When it was made; milliseconds since 1970.
        public let created: Int64
        /// Bytes of content.
        package let size: UInt64
        /// The name of the user that it is for, 255 bytes of it at most; empty for none.
        package let user: String
    }

    /// Everything that has all words of a query: what has them at the beginning of its name first, then what has them
    /// in its name, then the rest; favourites first among equals, then by name.
    ///
    /// The first search after an unlock or a change reads every item; the next ones look through an index in locked
    /// memory. Where so much memory cannot be locked, each search reads every item.
    /// - Throws: `locked`, `damaged`, `outOfMemory`.
    public func search(_ query: ItemQuery) throws(VaultError) -> [Match] {
        defer { WorkingMemory.wipe() }
        var found: [(rank: Int, match: Match)] = []
        try index.forEach(vault) { entry, bytes in
            guard let rank = query.rank(entry, bytes) else { return }
            let match = entry.match(bytes)
            if let wanted = query.kind, wanted != match.kind { return }
            if let wanted = query.collection, !wanted.utf8.elementsEqual(match.collection.utf8) { return }
            found.append((rank, match))
        }
        return found.sorted { left, right in
            (left.rank, left.match.isFavourite ? 0 : 1, left.match.name, left.match.collection)
                < (right.rank, right.match.isFavourite ? 0 : 1, right.match.name, right.match.collection)
        }.map(\.match)
    }
}

extension ItemQuery {
    /// 0 where every word begins the name or a part of its path, 1 where every word is in the name, 2 where some are in
    /// tags or fields; nil where a word is not there.
    func rank(_ entry: IndexedEntry, _ bytes: RawSpan) -> Int? {
        var rank = 0
        for word in words {
            if word.isTag {
                guard hasTag(word.text, entry, bytes) else { return nil }
                rank = max(rank, 1)
            } else if let place = bytes.find(word.text, in: entry.foldedName) {
                let isBeginning =
                    place == entry.foldedName.lowerBound
                    || bytes.integer(at: place - 1, as: UInt8.self) == UInt8(ascii: "/")
                rank = max(rank, isBeginning ? 0 : 1)
            } else if bytes.find(word.text, in: entry.tags.lowerBound..<entry.values.upperBound) != nil {
                rank = 2
            } else {
                return nil
            }
        }
        return rank
    }

    private func hasTag(_ tag: [UInt8], _ entry: IndexedEntry, _ bytes: RawSpan) -> Bool {
        var start = entry.tags.lowerBound
        while let place = bytes.find(tag + [0], in: start..<entry.tags.upperBound) {
            if place == entry.tags.lowerBound || bytes.integer(at: place - 1, as: UInt8.self) == 0 { return true }
            start = place + 1
        }
        return false
    }
}
