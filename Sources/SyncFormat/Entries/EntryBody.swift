package import VaultFormat

/// What an entry of a stream says besides its changes.
package struct EntryContents: Sendable, Hashable {
    /// Whose the stream is: in entry 1 and in no other.
    package var member: SyncMemberID?
    /// When it was written, by the writer's clock: milliseconds since 1970.
    package var time: Int64
    /// In a part of a snapshot and in no other entry.
    package var snapshot: SnapshotPart?
    /// Heads of other streams that changed since the last entry; ascending, each stream once.
    package var heads: [StreamHead] = []
    package var wants: [SyncWant] = []

    package init(time: Int64) { self.time = time }
}

/// Which part of which snapshot an entry is.
package struct SnapshotPart: Sendable, Hashable {
    /// The number of the first part.
    package var first: UInt64
    /// Whether all items are in it, and not the writer's own alone.
    package var isFull: Bool
    /// Whether it is the last part, which makes all of them count. It has a ``PieceList``, unless entry 1 is the first.
    package var isLast: Bool

    package init(first: UInt64, isFull: Bool, isLast: Bool) {
        (self.first, self.isFull, self.isLast) = (first, isFull, isLast)
    }
}

/// Where everything is in the plaintext of an entry (vault-format.md 24). The bytes stay with the caller, in memory for
/// secrets; what a change is made of is not known here.
package struct EntryBody: Sendable, Hashable {
    package let contents: EntryContents
    /// In the last part of a snapshot: the list of the pieces that have the beginnings of the stream's hashes.
    package let hashList: Range<Int>?
    /// Where the changes are.
    package let changes: [Range<Int>]

    /// - Throws: ``FormatError`` for what no writer writes.
    package init(parsing bytes: RawSpan, of front: EntryFront) throws(FormatError) {
        guard bytes.byteCount <= EntrySize.longestPlaintext else { throw .wrongSize }
        guard front.isOfStream else { throw .invalid(field: "entry kind") }
        var offset = 0
        let member = front.number == 1 ? try bytes.nextID(SyncMember.self, &offset) : nil
        var contents = EntryContents(time: try bytes.next(Int64.self, &offset))
        contents.member = member
        var hashList: Range<Int>?
        if front.kind == .snapshot {
            let part = try SnapshotPart(parsing: bytes, &offset)
            contents.snapshot = part
            if part.isLast {
                let place = try bytes.next(Int(try bytes.next(UInt16.self, &offset)), &offset)
                hashList = place.isEmpty ? nil : place
            }
        }
        for _ in 0..<(try EntryBody.count(bytes, &offset, SyncLimits.streams, "entry heads")) {
            contents.heads.append(try bytes.nextHead(&offset))
        }
        for _ in 0..<(try EntryBody.count(bytes, &offset, SyncLimits.wants, "entry wants")) {
            contents.wants.append(try SyncWant(parsing: bytes, &offset))
        }
        var changes: [Range<Int>] = []
        for _ in 0..<(try EntryBody.count(bytes, &offset, SyncLimits.changes, "entry changes")) {
            changes.append(try bytes.next(Int(try bytes.next(UInt32.self, &offset)), &offset))
        }
        try bytes.expectZeros(from: offset, "entry padding")
        (self.contents, self.hashList, self.changes) = (contents, hashList, changes)
        try check(of: front)
        if let hashList { _ = try PieceList(parsing: bytes.extracting(hashList)) }
    }

    /// Writes everything but the hash list and the changes, whose places the result tells.
    /// - Parameters:
    ///   - hashList: Bytes of the list; only in the last part of a snapshot.
    ///   - changes: Bytes of each change.
    ///   - bytes: At least ``size(_:hashList:changes:)``; what is behind becomes zeros.
    /// - Throws: ``FormatError`` for what would not be read again.
    package init(
        writing contents: EntryContents, hashList: Int? = nil, changes sizes: [Int], of front: EntryFront,
        into bytes: inout MutableRawSpan
    ) throws(FormatError) {
        let size = EntryBody.size(contents, hashList: hashList, changes: sizes)
        guard size <= bytes.byteCount, bytes.byteCount <= EntrySize.longestPlaintext, sizes.allSatisfy({ $0 > 0 })
        else { throw .wrongSize }
        var offset = 0
        if let member = contents.member { bytes.put(member.bytes, &offset) }
        bytes.put(contents.time, &offset)
        var listPlace: Range<Int>?
        if let part = contents.snapshot {
            part.write(into: &bytes, &offset)
            if part.isLast { bytes.put(UInt16(clamping: hashList ?? 0), &offset) }
            if let hashList {
                listPlace = offset..<offset + hashList
                offset += hashList
            }
        }
        bytes.put(UInt16(clamping: contents.heads.count), &offset)
        for head in contents.heads { bytes.put(head, &offset) }
        bytes.put(UInt16(clamping: contents.wants.count), &offset)
        for want in contents.wants { want.write(into: &bytes, &offset) }
        bytes.put(UInt16(clamping: sizes.count), &offset)
        var changes: [Range<Int>] = []
        for size in sizes {
            bytes.put(UInt32(clamping: size), &offset)
            changes.append(offset..<offset + size)
            offset += size
        }
        bytes.zeros(from: offset)
        (self.contents, self.hashList, self.changes) = (contents, listPlace, changes)
        try check(of: front)
    }

    /// Bytes without padding.
    package static func size(_ contents: EntryContents, hashList: Int? = nil, changes: [Int]) -> Int {
        (contents.member == nil ? 0 : SyncMemberID.size) + 8
            + (contents.snapshot.map { SnapshotPart.size + ($0.isLast ? 2 : 0) } ?? 0) + (hashList ?? 0)
            + 2 + StreamHead.size * contents.heads.count + 2 + SyncWant.size * contents.wants.count
            + 2 + changes.reduce(0) { $0 + 4 + $1 }
    }

    private func check(of front: EntryFront) throws(FormatError) {
        guard front.isOfStream, (front.kind == .snapshot) == (contents.snapshot != nil) else {
            throw .invalid(field: "entry kind")
        }
        guard (contents.member != nil) == (front.number == 1) else { throw .invalid(field: "entry member") }
        if let part = contents.snapshot {
            guard (1...front.number).contains(part.first) else { throw .invalid(field: "entry snapshot") }
        }
        // In front of entry 1 there is nothing to list.
        let hasList = contents.snapshot.map { $0.isLast && $0.first > 1 } ?? false
        guard hasList == (hashList != nil) else { throw .invalid(field: "entry snapshot") }
        guard contents.heads.count <= SyncLimits.streams else { throw .invalid(field: "entry heads") }
        var last: StreamID?
        for head in contents.heads {
            guard head.isPossible, head.stream != front.stream, last.map({ $0 < head.stream }) ?? true else {
                throw .invalid(field: "entry heads")
            }
            last = head.stream
        }
        guard contents.wants.count <= SyncLimits.wants, contents.wants.allSatisfy(\.isPossible) else {
            throw .invalid(field: "entry wants")
        }
        guard changes.count <= SyncLimits.changes, changes.allSatisfy({ !$0.isEmpty }) else {
            throw .invalid(field: "entry changes")
        }
    }

    private static func count(
        _ bytes: RawSpan, _ offset: inout Int, _ limit: Int, _ field: StaticField
    ) throws(FormatError) -> Int {
        let count = Int(try bytes.next(UInt16.self, &offset))
        guard count <= limit else { throw .invalid(field: field) }
        return count
    }
}

extension SnapshotPart {
    static let size = 1 + 8

    init(parsing bytes: RawSpan, _ offset: inout Int) throws(FormatError) {
        let flags = try bytes.next(UInt8.self, &offset)
        guard flags <= 3 else { throw .invalid(field: "entry snapshot") }
        self.init(first: try bytes.next(UInt64.self, &offset), isFull: flags & 1 != 0, isLast: flags & 2 != 0)
    }

    func write(into bytes: inout MutableRawSpan, _ offset: inout Int) {
        bytes.put(UInt8(isFull ? 1 : 0) | UInt8(isLast ? 2 : 0), &offset)
        bytes.put(first, &offset)
    }
}
