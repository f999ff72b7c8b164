import SyncFormat
import TestSupport
import Testing
import VaultFormat

@Suite struct KeeperRecordTests {
    /// By the document: roster 2 of three, after 1; one more of its number; 1 is over, and 3 was removed.
    private let layout = KeptLayout(
        [1] + hash(20) + hash(10) + little(UInt16(2)) + hash(20) + hash(21)
            + little(UInt16(2)) + little(UInt32(1)) + hash(10) + hash(0) + repeated(1, 16) + little(UInt16(0))
            + little(UInt32(1)) + hash(11) + hash(0) + repeated(2, 16) + little(UInt16(2)) + repeated(7, 16)
            + repeated(8, 16)
            + little(UInt16(2)) + repeated(3, 16) + hash(20) + repeated(4, 16) + hash(10)
    ) { bytes throws(FormatError) in try KeeperRecord(parsing: bytes).encoded }

    private func roster(
        _ own: [UInt8], _ number: UInt32 = 1, after before: [UInt8] = hash(0), by author: UInt8 = 1,
        _ members: [UInt8] = [1, 2, 3], removed: [UInt8] = [], key: UInt8 = 1
    ) throws(FormatError) -> Roster {
        var records: [MemberRecord] = []
        for member in members { records.append(try record(member)) }
        let body = try RosterBody(
            commitment: hash(key), author: id(author), members: records,
            removed: removed.map { RemovedRecord(id($0), last: nil) })
        return Roster(group: id(1), number: number, before: before, hash: own, body: body)
    }

    private func back(_ keeper: RosterKeeper, _ rosters: [Roster]) throws -> RosterKeeper? {
        let record = KeeperRecord(keeper)
        let parsed = try KeeperRecord(parsing: record.encoded)
        #expect(parsed == record)
        return parsed.keeper(rosters)
    }

    @Test func `what is kept of rosters is as the document has it, in one spelling`() throws {
        let record = try KeeperRecord(parsing: layout.sample)
        #expect(record.current == hash(20) && record.parent == hash(10) && record.siblings == [hash(20), hash(21)])
        #expect(record.rosters == [hash(10), hash(20), hash(21)])
        #expect(record.traces.map(\.hash) == [hash(10), hash(11)] && record.traces[1].gone == [id(7), id(8)])
        #expect(record.removedBy == [id(3): hash(20), id(4): hash(10)])
        #expect(layout.isStrict)
        #expect(KeeperRecord.recordName == "keeper")
        #expect(KeeperRecord.rosterName(hash(0xAB)) == "r" + String(repeating: "ab", count: 32))
        #expect(KeeperRecord.keyName(hash(0xAB)) == "e" + String(repeating: "ab", count: 32))
    }

    @Test func `what no writer writes is refused`() {
        #expect(layout.error { $0[0] = 0 } == .invalid(field: "keeper version"))
        #expect(layout.error { $0.put(hash(0), at: 1) } == .invalid(field: "keeper current"))
        // Those of one number: none, too many, without the current, in another order, twice, the one before them.
        #expect(layout.error { $0.put([65, 0], at: 65) } == .invalid(field: "keeper siblings"))
        #expect(layout.error { $0.put(hash(19), at: 67) } == .invalid(field: "keeper siblings"))
        #expect(layout.error { $0.put(hash(19), at: 99) } == .invalid(field: "keeper siblings"))
        #expect(layout.error { $0.put(hash(20), at: 99) } == .invalid(field: "keeper siblings"))
        #expect(layout.error { $0.put(hash(0), at: 67) } == .invalid(field: "keeper siblings"))
        #expect(layout.error { $0.put(hash(20), at: 33) } == .invalid(field: "keeper siblings"))
        #expect(layout.error { $0.put(hash(0), at: 33) } == nil)
        // Traces: too many, of number 0, number 1 after something, a later one after nothing, in another order, twice,
        // without a hash, who is gone twice or too many of them.
        #expect(layout.error { $0.put([1, 16], at: 131) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put([0], at: 133) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put([1], at: 169) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put([2], at: 133) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put(hash(12), at: 137) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put(hash(11), at: 137) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put(hash(0), at: 137) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put(repeated(8, 16), at: 305) } == .invalid(field: "keeper traces"))
        #expect(layout.error { $0.put([113, 0], at: 217) } == .invalid(field: "keeper traces"))
        // Removed: too many, in another order, twice, by nothing.
        #expect(layout.error { $0.put([145, 0], at: 337) } == .invalid(field: "keeper removed"))
        #expect(layout.error { $0.put(repeated(5, 16), at: 339) } == .invalid(field: "keeper removed"))
        #expect(layout.error { $0.put(repeated(4, 16), at: 339) } == .invalid(field: "keeper removed"))
        #expect(layout.error { $0.put(hash(0), at: 355) } == .invalid(field: "keeper removed"))
    }

    @Test func `a keeper comes back with its rosters, in any order`() throws {
        let base = try roster(hash(10))
        let high = try roster(hash(30), 2, after: base.hash, by: 1, [1, 2], removed: [3], key: 2)
        let low = try roster(hash(20), 2, after: base.hash, by: 3, [1, 2, 3, 4])
        let other = try roster(hash(40), 2, after: base.hash, by: 2, [1, 2, 3, 5])
        let next = try roster(hash(15), 3, after: high.hash, by: 1, [1, 2, 6], removed: [3], key: 2)
        var keeper = RosterKeeper(base)
        #expect(try back(keeper, [base]) == keeper)
        let taken = keeper.apply([other, high, low])
        #expect(taken == .take && keeper.current == high)
        #expect(try back(keeper, [low, other, next, high, base]) == keeper)
        for missing in [base, high, low, other] {
            #expect(try back(keeper, [base, high, low, other].filter { $0 != missing }) == nil)
        }
        let later = keeper.apply(next)
        #expect(later == .take && keeper.earlier.count == 4)
        #expect(KeeperRecord(keeper).rosters == [next.hash, high.hash])
        #expect(try back(keeper, [high, next]) == keeper)
        // Who joined with a roster has none before it.
        let joined = RosterKeeper(next)
        #expect(try back(joined, [next, high]) == joined && KeeperRecord(joined).parent == nil)
    }

    @Test func `the most that is kept has room, and more is no keeper`() throws {
        let parent = try roster(numbered(1), 4096, after: numbered(2))
        let siblings = try (10..<74).map { number in
            try roster(
                numbered(number), 4097, after: parent.hash, by: 1, [1, 2], removed: [3] + [UInt8](100..<211),
                key: UInt8(number))
        }
        let gone = Set((0..<112).map { number in numbered(number).lend { SyncMemberID(truncating: $0) } })
        let few = Set(gone.sorted().prefix(2))
        var traces = (1...4096).map { number in
            RosterTrace(
                number: UInt32(number), hash: numbered(number), before: number == 1 ? hash(0) : numbered(number - 1),
                author: id(1), gone: number == 1 ? gone : few)
        }
        var removedBy: [SyncMemberID: [UInt8]] = [:]
        for member in (siblings[0].gone).union(siblings[0].ids) { removedBy[member] = hash(1) }
        func kept(_ siblings: [Roster], _ traces: [RosterTrace]) -> RosterKeeper? {
            RosterKeeper(
                current: siblings[5], parent: parent, siblings: siblings, earlier: traces, removedBy: removedBy)
        }
        let keeper = try #require(kept(siblings.reversed(), traces.reversed()))
        #expect(try back(keeper, siblings + [parent]) == keeper)
        let more = try roster(numbered(80), 4097, after: parent.hash, by: 1, [1, 2], removed: [3], key: 99)
        #expect(kept(siblings + [more], traces) == nil)
        traces.append(
            RosterTrace(number: 4096, hash: hash(1), before: hash(2), author: id(1), gone: []))
        #expect(kept(siblings, traces) == nil)
        traces.removeFirst(2)
        #expect(kept(siblings, traces) != nil)
        traces[0] = RosterTrace(number: 4097, hash: hash(1), before: hash(2), author: id(1), gone: [])
        #expect(kept(siblings, traces) == nil)
    }
}
