package import VaultFormat

/// What a device keeps of the group's rosters (``RosterKeeper``), but for the rosters that it names: these lie beside
/// it as they are on the road.
package struct KeeperRecord: Sendable, Hashable {
    package static let recordName = "keeper"
    private static let version: UInt8 = 1
    /// Members that somebody removed: each is in the current roster, or among its removed.
    private static let mostRemoved = SyncLimits.members + SyncLimits.removed

    /// The hash of the current roster.
    package let current: [UInt8]
    /// The hash of the one before it; nil where the device joined with the current one.
    package let parent: [UInt8]?
    /// The hashes of all with the current one's number, and of it; ascending.
    package let siblings: [[UInt8]]
    /// Of earlier rosters; ascending.
    package let traces: [RosterTrace]
    /// By which roster a member was removed.
    package let removedBy: [SyncMemberID: [UInt8]]

    package init(_ keeper: RosterKeeper) {
        (current, parent) = (keeper.current.hash, keeper.parent?.hash)
        siblings = keeper.siblings.map(\.hash)
        (traces, removedBy) = (keeper.earlier, keeper.removedBy)
    }

    /// - Throws: ``FormatError/newerVersion(_:)``, ``FormatError/wrongSize``, ``FormatError/invalid(field:)``.
    package init(parsing bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes)
        try reader.version(Self.version, "keeper version")
        let current = try reader.hash("keeper current")
        let parent = try reader.bytes(EntryFront.hashSize)
        let siblings = try reader.list(atMost: SyncLimits.siblings, "keeper siblings") { reader throws(FormatError) in
            try reader.hash("keeper siblings")
        }
        let traces = try reader.list(atMost: SyncLimits.traces, "keeper traces") { reader throws(FormatError) in
            try reader.trace()
        }
        let removed = try reader.list(atMost: Self.mostRemoved, "keeper removed") { reader throws(FormatError) in
            Removal(member: try reader.id(), hash: try reader.hash("keeper removed"))
        }
        try reader.expectEnd()
        guard isAscending(siblings, by: { $0.lexicographicallyPrecedes($1) }),
            siblings.contains(current), !siblings.contains(parent)
        else { throw .invalid(field: "keeper siblings") }
        guard isAscending(traces, by: <) else { throw .invalid(field: "keeper traces") }
        guard isAscending(removed, by: { $0.member < $1.member }) else { throw .invalid(field: "keeper removed") }
        (self.current, self.parent, self.siblings) = (current, parent.isZero ? nil : parent, siblings)
        self.traces = traces
        removedBy = Dictionary(removed.map { ($0.member, $0.hash) }) { first, _ in first }
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.integer(Self.version)
        writer.append(current)
        writer.append(parent ?? [UInt8](repeating: 0, count: EntryFront.hashSize))
        writer.integer(UInt16(clamping: siblings.count))
        for sibling in siblings { writer.append(sibling) }
        writer.integer(UInt16(clamping: traces.count))
        for trace in traces {
            writer.integer(trace.number)
            writer.append(trace.hash)
            writer.append(trace.before)
            writer.append(trace.author.bytes)
            writer.ids(trace.gone.sorted())
        }
        writer.integer(UInt16(clamping: removedBy.count))
        for (member, hash) in removedBy.sorted(by: { $0.key < $1.key }) {
            writer.append(member.bytes)
            writer.append(hash)
        }
        return writer.bytes
    }

    private struct Removal {
        let member: SyncMemberID
        let hash: [UInt8]
    }

    // MARK: - Rosters

    /// The hashes of the rosters whose sealed bytes must be kept; ascending.
    package var rosters: [[UInt8]] {
        (siblings + (parent.map { [$0] } ?? [])).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The keeper with its rosters, in any order and with any others; nil where one is missing, and for what no keeper
    /// is.
    package func keeper(_ rosters: [Roster]) -> RosterKeeper? {
        let byHash = Dictionary(rosters.map { ($0.hash, $0) }) { first, _ in first }
        let kept = siblings.compactMap { byHash[$0] }
        guard let roster = byHash[current], kept.count == siblings.count else { return nil }
        let before = parent.flatMap { byHash[$0] }
        guard (before == nil) == (parent == nil) else { return nil }
        return RosterKeeper(
            current: roster, parent: before, siblings: kept, earlier: traces, removedBy: removedBy)
    }

    /// The record with a roster as it is on the road.
    package static func rosterName(_ hash: [UInt8]) -> String { "r\(Hexadecimal.encode(hash))" }

    /// The record with the key of a roster's epoch.
    package static func keyName(_ hash: [UInt8]) -> String { "e\(Hexadecimal.encode(hash))" }
}

extension ByteReader {
    /// Values behind their number.
    fileprivate mutating func list<Value>(
        atMost most: Int, _ field: StaticField, _ next: (inout ByteReader) throws(FormatError) -> Value
    ) throws(FormatError) -> [Value] {
        let count = Int(try integer(UInt16.self))
        guard count <= most else { throw .invalid(field: field) }
        var values: [Value] = []
        for _ in 0..<count { values.append(try next(&self)) }
        return values
    }

    fileprivate mutating func trace() throws(FormatError) -> RosterTrace {
        let trace = RosterTrace(
            number: try integer(UInt32.self), hash: try bytes(EntryFront.hashSize),
            before: try bytes(EntryFront.hashSize), author: try id(),
            gone: Set(try ids(atMost: SyncLimits.removed, "keeper traces")))
        guard trace.isPossible else { throw .invalid(field: "keeper traces") }
        return trace
    }
}
