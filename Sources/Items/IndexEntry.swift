internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What goes into the index of one record, before it is written there.
///
/// An entry: size of all (4 bytes), of collection, name and folded name (2 each), of the folded tags (4); the item's
/// kind (1) and flags (1), times of its last change and creation (8 each), the size of its content (8), that of its
/// user's name (1); then collection, name, user's name, folded name, folded tags and folded values. Each tag and each
/// value ends with a zero byte, so that nothing is found across two.
struct IndexEntry {
    static let frontSize = 41
    /// Of each value this much is searched.
    private static let longestValue = 1024
    /// And of all values of an item.
    private static let longestValues = 16 << 10

    static let isFavourite: UInt8 = 1
    static let isFile: UInt8 = 2

    let layout: ItemLayout?
    /// Bytes that it takes at most.
    let size: Int

    init(_ info: Vault.RecordInfo, _ content: RawSpan) throws(VaultError) {
        layout = info.isItem ? try ItemLayout(stored: content) : nil
        let name = info.name.utf8.count
        var size = IndexEntry.frontSize + info.collection.utf8.count + name + Folding.room(for: name)
        if let layout {
            size += layout.user(in: content)?.count ?? 0
            for tag in layout.tags { size += Folding.room(for: tag.count) + 1 }
            size += IndexEntry.values(layout).reduce(0) { $0 + Folding.room(for: $1.count) + 1 }
        }
        self.size = size
    }

    private static func values(_ layout: ItemLayout) -> [Range<Int>] {
        var left = longestValues
        return layout.fields.filter(\.kind.isOpen).map { field in
            let size = min(field.value.count, longestValue, left)
            left -= size
            return field.value.lowerBound..<field.value.lowerBound + size
        }
    }

    /// - Returns: The offset behind the entry.
    func write(
        _ info: Vault.RecordInfo, _ content: RawSpan, into bytes: inout MutableRawSpan, at start: Int
    ) -> Int {
        let (collection, name) = (Array(info.collection.utf8), Array(info.name.utf8))
        var end = start + IndexEntry.frontSize
        unsafe bytes.store(collection.span.bytes, at: end)
        end += collection.count
        unsafe bytes.store(name.span.bytes, at: end)
        end += name.count
        let user = content.extracting(layout?.user(in: content) ?? 0..<0)
        bytes.store(user, at: end)
        end += user.byteCount
        let folded = unsafe Folding.fold(name.span.bytes, into: &bytes, at: end)
        bytes.store(UInt16(collection.count), at: start + 4)
        bytes.store(UInt16(name.count), at: start + 6)
        bytes.store(UInt16(folded - end), at: start + 8)
        end = folded
        for tag in layout?.tags ?? [] { end = add(content.extracting(tag), to: &bytes, at: end) }
        bytes.store(UInt32(end - folded), at: start + 10)
        for value in layout.map(IndexEntry.values) ?? [] { end = add(content.extracting(value), to: &bytes, at: end) }
        let isFavourite = layout?.front.isFavourite ?? false
        let flags = (isFavourite ? IndexEntry.isFavourite : 0) | (info.isFile ? IndexEntry.isFile : 0)
        bytes.store(layout?.front.kind.rawValue ?? 0, at: start + 14)
        bytes.store(flags, at: start + 15)
        bytes.store(layout?.front.modified ?? info.modified, at: start + 16)
        bytes.store(layout?.front.created ?? info.created, at: start + 24)
        bytes.store(info.size, at: start + 32)
        bytes.store(UInt8(user.byteCount), at: start + 40)
        bytes.store(UInt32(end - start), at: start)
        return end
    }

    private func add(_ text: RawSpan, to bytes: inout MutableRawSpan, at offset: Int) -> Int {
        let end = Folding.fold(text, into: &bytes, at: offset)
        bytes.store(UInt8(0), at: end)
        return end + 1
    }
}

/// Where everything is in an entry of the index.
struct IndexedEntry {
    let collection: Range<Int>
    let name: Range<Int>
    let user: Range<Int>
    let foldedName: Range<Int>
    let tags: Range<Int>
    let values: Range<Int>
    private let start: Int

    init(_ bytes: RawSpan, at start: Int) {
        self.start = start
        let front = start + IndexEntry.frontSize
        collection = front..<front + bytes.size(at: start + 4)
        name = collection.upperBound..<collection.upperBound + bytes.size(at: start + 6)
        user = name.upperBound..<name.upperBound + Int(bytes.present(at: start + 40, as: UInt8.self))
        foldedName = user.upperBound..<user.upperBound + bytes.size(at: start + 8)
        tags = foldedName.upperBound..<foldedName.upperBound + bytes.longSize(at: start + 10)
        values = tags.upperBound..<start + bytes.longSize(at: start)
    }

    /// Where the next entry begins.
    var end: Int { values.upperBound }

    /// What is told of a record; its tags are folded, so they are not of it.
    func match(_ bytes: RawSpan) -> ItemStore.Match {
        let kind = bytes.present(at: start + 14, as: UInt8.self)
        let flags = bytes.present(at: start + 15, as: UInt8.self)
        return ItemStore.Match(
            name: bytes.text(name), collection: bytes.text(collection),
            kind: kind == 0 ? nil : ItemKind(rawValue: kind), isFile: flags & IndexEntry.isFile != 0,
            isFavourite: flags & IndexEntry.isFavourite != 0,
            modified: bytes.present(at: start + 16, as: Int64.self),
            created: bytes.present(at: start + 24, as: Int64.self),
            size: bytes.present(at: start + 32, as: UInt64.self), user: bytes.text(user))
    }
}

extension RawSpan {
    fileprivate func size(at offset: Int) -> Int { Int(present(at: offset, as: UInt16.self)) }

    fileprivate func longSize(at offset: Int) -> Int { Int(present(at: offset, as: UInt32.self)) }
}
