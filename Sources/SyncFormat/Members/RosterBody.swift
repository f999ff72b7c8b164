package import VaultFormat

/// What a roster says: its plaintext.
package struct RosterBody: Sendable, Hashable {
    /// What commits to the roster's key, 32 bytes.
    package let commitment: [UInt8]
    /// Who wrote it: a member of the roster before.
    package let author: SyncMemberID
    /// Ascending by id, each once.
    package let members: [MemberRecord]
    /// Ascending; of a member either one without a head, or some with heads.
    package let removed: [RemovedRecord]

    /// - Throws: ``FormatError`` for what no writer writes.
    package init(
        commitment: [UInt8], author: SyncMemberID, members: [MemberRecord], removed: [RemovedRecord]
    ) throws(FormatError) {
        (self.commitment, self.author, self.members, self.removed) = (commitment, author, members, removed)
        try check()
    }

    package init(parsing bytes: RawSpan) throws(FormatError) {
        var offset = 0
        commitment = try bytes.nextCopy(EntryFront.hashSize, &offset)
        author = try bytes.nextID(SyncMember.self, &offset)
        let count = Int(try bytes.next(UInt8.self, &offset))
        let removedCount = Int(try bytes.next(UInt8.self, &offset))
        guard (1...SyncLimits.members).contains(count) else { throw .invalid(field: "roster members") }
        guard removedCount <= SyncLimits.removed else { throw .invalid(field: "roster removed") }
        var members: [MemberRecord] = []
        for _ in 0..<count { members.append(try MemberRecord(parsing: bytes, &offset)) }
        var removed: [RemovedRecord] = []
        for _ in 0..<removedCount { removed.append(try RemovedRecord(parsing: bytes, &offset)) }
        (self.members, self.removed) = (members, removed)
        try bytes.expectZeros(from: offset, "roster padding")
        try check()
    }

    /// Writes it; what is behind becomes zeros. The caller has made room for ``size``.
    package func write(into bytes: inout MutableRawSpan) {
        var offset = 0
        bytes.put(commitment, &offset)
        bytes.put(author.bytes, &offset)
        bytes.put(UInt8(members.count), &offset)
        bytes.put(UInt8(removed.count), &offset)
        for member in members { member.write(into: &bytes, &offset) }
        for record in removed { record.write(into: &bytes, &offset) }
        bytes.zeros(from: offset)
    }

    /// Bytes without padding.
    package var size: Int {
        EntryFront.hashSize + SyncMemberID.size + 2 + MemberRecord.size * members.count
            + RemovedRecord.size * removed.count
    }

    private func check() throws(FormatError) {
        guard commitment.count == EntryFront.hashSize else { throw .wrongSize }
        guard (1...SyncLimits.members).contains(members.count), isAscending(members.map(\.id), by: <) else {
            throw .invalid(field: "roster members")
        }
        guard removed.count <= SyncLimits.removed, isAscending(removed, by: <) else {
            throw .invalid(field: "roster removed")
        }
        for (record, next) in zip(removed, removed.dropFirst())
        where record.last == nil && record.member == next.member {
            throw .invalid(field: "roster removed")
        }
        let (ids, gone) = (Set(members.map(\.id)), Set(removed.map(\.member)))
        guard ids.isDisjoint(with: gone) else { throw .invalid(field: "roster removed") }
        // Who leaves writes the roster that it is not in.
        guard ids.contains(author) || gone.contains(author) else { throw .invalid(field: "roster author") }
    }
}

/// How large a roster is on the road: with room for 8, 16 or 32 members.
package enum RosterSize {
    /// A box has the epoch's key for one member.
    package static let box = 33 + 32 + EntrySize.tag
    private static let boxesBySize = [4096: 8, 8192: 16, 16_384: 32]

    /// Boxes in a roster of so many bytes; nil where none is that large.
    package static func boxes(in size: Int) -> Int? { boxesBySize[size] }

    /// Bytes of the plaintext in a roster of so many bytes.
    package static func plaintext(in size: Int) -> Int? {
        boxes(in: size).map { size - EntrySize.overhead - $0 * box }
    }

    /// The smallest size for a body.
    package static func fitting(_ body: RosterBody) -> Int? {
        boxesBySize.keys.sorted().first { size in
            body.members.count <= boxes(in: size) ?? 0 && body.size <= plaintext(in: size) ?? 0
        }
    }
}

/// A roster that was verified and opened.
package struct Roster: Sendable, Hashable {
    package let group: SyncGroupID
    /// n, the epoch; from 1.
    package let number: UInt32
    /// The hash of the roster before; zeros in the first.
    package let before: [UInt8]
    /// Of all its bytes on the road.
    package let hash: [UInt8]
    package let body: RosterBody

    package init(group: SyncGroupID, number: UInt32, before: [UInt8], hash: [UInt8], body: RosterBody) {
        (self.group, self.number, self.before, self.hash, self.body) = (group, number, before, hash, body)
    }

    package var author: SyncMemberID { body.author }
    package var ids: Set<SyncMemberID> { Set(body.members.map(\.id)) }
    package var gone: Set<SyncMemberID> { Set(body.removed.map(\.member)) }

    package func member(_ id: SyncMemberID) -> MemberRecord? { body.members.first { $0.id == id } }

    /// The last entry that counts of a removed member's stream: nil for a member that was not removed, 0 for nothing.
    package func lastCounted(of member: SyncMemberID, _ stream: StreamID) -> UInt64? {
        guard gone.contains(member) else { return nil }
        return body.removed.first { $0.member == member && $0.last?.stream == stream }?.last?.number ?? 0
    }
}
