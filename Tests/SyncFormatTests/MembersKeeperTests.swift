import SeededNumbers
import SyncFormat
import Testing

/// Members are single bytes here: each rule of following a roster.
@Suite struct MembersKeeperTests {
    /// Roster n is 1, 2 and 3, its hash is 10.
    private let base = MembersKeeperTests.make(10, after: nil, by: 1, [1, 2, 3])

    private static func make(
        _ own: UInt8, after parent: Roster?, by author: UInt8, _ members: [UInt8], removed: [UInt8] = [],
        key: UInt8 = 1, renames: [UInt8: String] = [:]
    ) -> Roster {
        do {
            let body = try RosterBody(
                commitment: hash(key), author: id(author),
                members: members.map { try record($0, name: renames[$0] ?? "name") },
                removed: removed.map { RemovedRecord(id($0), last: nil) })
            return Roster(
                group: id(1), number: (parent?.number ?? 0) + 1, before: parent?.hash ?? hash(0), hash: hash(own),
                body: body)
        } catch { fatalError("a roster of this test is none: \(error)") }
    }

    private func adding(_ own: UInt8, _ member: UInt8, by author: UInt8, to others: [UInt8] = [1, 2, 3]) -> Roster {
        Self.make(own, after: base, by: author, (others + [member]).sorted())
    }

    private func removing(_ own: UInt8, _ member: UInt8, by author: UInt8) -> Roster {
        Self.make(own, after: base, by: author, [1, 2, 3].filter { $0 != member }, removed: [member], key: own)
    }

    private func following(_ rosters: Roster...) -> RosterKeeper {
        var keeper = RosterKeeper(base)
        for roster in rosters {
            let verdict = keeper.apply(roster)
            #expect(verdict == .take)
        }
        return keeper
    }

    // MARK: - One after another

    @Test func `a member's roster after ours is taken`() {
        for roster in [adding(20, 4, by: 2), removing(20, 3, by: 2), removing(20, 2, by: 2)] {
            let keeper = following(roster)
            #expect(keeper.current == roster && keeper.parent == base)
            #expect(keeper.judge(roster) == .known && keeper.judge(base) == .known)
        }
        #expect(RosterKeeper(base).judge([]) == .known)
    }

    @Test func `a roster of another group, of no member, or after no roster of ours changes nothing`() {
        let keeper = RosterKeeper(base)
        let other = Roster(group: id(9), number: 2, before: hash(10), hash: hash(20), body: base.body)
        #expect(keeper.judge(other) == .refused(.otherGroup))
        #expect(keeper.judge(Self.make(20, after: base, by: 4, [1, 2, 3, 4])) == .refused(.byStranger))
        let stranger = Self.make(11, after: nil, by: 1, [1])
        #expect(keeper.judge(Self.make(20, after: stranger, by: 1, [1])) == .missing(1))
        let later = Self.make(30, after: adding(20, 4, by: 1), by: 1, [1, 2, 3, 4])
        #expect(keeper.judge(later) == .missing(2))
    }

    @Test func `adding keeps the key and a removal draws a new one`() {
        let keeper = RosterKeeper(base)
        let added = Self.make(20, after: base, by: 1, [1, 2, 3, 4], key: 2)
        #expect(keeper.judge(added) == .refused(.wrongKey))
        let removed = Self.make(20, after: base, by: 1, [1, 2], removed: [3], key: 1)
        #expect(keeper.judge(removed) == .refused(.wrongKey))
        let both = Self.make(20, after: base, by: 1, [1, 2, 4], removed: [3], key: 2)
        #expect(keeper.judge(both) == .take)
    }

    @Test func `nobody vanishes without being removed, and nobody removed comes back`() {
        #expect(RosterKeeper(base).judge(Self.make(20, after: base, by: 1, [1, 2])) == .refused(.forgetsRemoved))
        let gone = removing(20, 3, by: 1)
        let keeper = following(gone)
        let back = Self.make(30, after: gone, by: 1, [1, 2, 3], key: 20)
        #expect(keeper.judge(back) == .refused(.forgetsRemoved))
        let forgets = Self.make(30, after: gone, by: 1, [1, 2], key: 20)
        #expect(keeper.judge(forgets) == .refused(.forgetsRemoved))
        // Only a member can be removed.
        let stranger = Self.make(30, after: gone, by: 1, [1, 2], removed: [3, 7], key: 30)
        #expect(keeper.judge(stranger) == .refused(.forgetsRemoved))
    }

    @Test func `what counts of the removed may become less and never more`() throws {
        func roster(_ own: UInt8, after parent: Roster, _ last: [UInt64]) throws -> Roster {
            let records = last.enumerated().map { index, number in
                RemovedRecord(
                    id(3),
                    last: number == 0 ? nil : StreamHead(stream: id(UInt8(50 + index)), number: number, hash: hash(1)))
            }
            let isFirst = parent == base
            let body = try RosterBody(
                commitment: hash(isFirst ? 2 : 2), author: id(1),
                members: [record(1, name: "name"), record(2, name: "name")],
                removed: records)
            return Roster(group: id(1), number: parent.number + 1, before: parent.hash, hash: hash(own), body: body)
        }
        let first = try roster(20, after: base, [5, 6])
        let keeper = following(first)
        #expect(try keeper.judge(roster(30, after: first, [5, 6])) == .take)
        #expect(try keeper.judge(roster(30, after: first, [0])) == .take)
        for more in [[5, 7], [5], [5, 6, 1]] as [[UInt64]] {
            #expect(try keeper.judge(roster(30, after: first, more)) == .refused(.forgetsRemoved))
        }
        let nothing = try roster(30, after: first, [0])
        var less = keeper
        let verdict = less.apply(nothing)
        #expect(verdict == .take)
        #expect(try less.judge(roster(40, after: nothing, [5, 6])) == .refused(.forgetsRemoved))
    }

    @Test func `a member names itself and no other`() {
        let keeper = RosterKeeper(base)
        #expect(keeper.judge(Self.make(20, after: base, by: 2, [1, 2, 3], renames: [2: "new"])) == .take)
        let other = Self.make(20, after: base, by: 2, [1, 2, 3], renames: [1: "new"])
        #expect(keeper.judge(other) == .refused(.changesOther))
    }

    // MARK: - Removed

    @Test func `nothing by a removed member is ever taken again`() {
        let gone = removing(20, 3, by: 1)
        var keeper = following(gone)
        // Beside, after, and of a number that is over.
        #expect(keeper.judge(removing(1, 1, by: 3)) == .refused(.byRemoved))
        #expect(keeper.judge(adding(1, 4, by: 3)) == .refused(.byRemoved))
        let after = Self.make(30, after: gone, by: 3, [1, 2], removed: [3], key: 20)
        #expect(keeper.judge(after) == .refused(.byRemoved))
        let next = Self.make(30, after: gone, by: 1, [1, 2, 4], removed: [3], key: 20)
        let verdict = keeper.apply(next)
        #expect(verdict == .take)
        #expect(keeper.judge(removing(1, 1, by: 3)) == .refused(.byRemoved))
        #expect(keeper.judge(adding(1, 4, by: 3)) == .refused(.byRemoved))
        // Nor where the device came later.
        let later = RosterKeeper(next)
        #expect(later.judge(adding(1, 4, by: 3)) == .refused(.byRemoved))
    }

    @Test func `what was kept is a keeper again`() {
        let gone = removing(20, 3, by: 1)
        let keeper = following(gone)
        func kept(_ removedBy: [SyncMemberID: [UInt8]], _ siblings: [Roster]) -> RosterKeeper? {
            RosterKeeper(
                current: gone, parent: base, siblings: siblings, earlier: keeper.earlier, removedBy: removedBy)
        }
        #expect(kept(keeper.removedBy, [gone]) == keeper)
        #expect(kept([:], [gone]) == nil && kept(keeper.removedBy, []) == nil && kept(keeper.removedBy, [base]) == nil)
        // One twice, and somebody removed whom no roster names.
        #expect(kept(keeper.removedBy, [gone, gone]) == nil)
        #expect(kept(keeper.removedBy.merging([id(9): hash(20)]) { $1 }, [gone]) == nil)
    }

    @Test func `a keeper does not depend on the order in which it was kept`() {
        var keeper = RosterKeeper(base)
        let (high, low) = (removing(30, 3, by: 1), adding(20, 4, by: 3))
        let taken = keeper.apply([high, low, low])
        #expect(taken == .take && keeper.current == high && keeper.siblings == [low, high])
        let beside = keeper.apply([adding(40, 5, by: 2), adding(35, 5, by: 2), adding(40, 5, by: 2)])
        #expect(beside == .void(repeats: id(2)) && keeper.siblings.map { $0.hash[0] } == [20, 30, 35, 40])
        let next = Self.make(50, after: high, by: 1, [1, 2, 6], removed: [3], key: 30)
        let later = keeper.apply(next)
        #expect(later == .take && keeper.earlier.map { $0.hash[0] } == [10, 20, 30, 35, 40])
        // Ours of number 2 has not the lowest hash of those that are remembered: this one would have won.
        #expect(keeper.judge(adding(25, 5, by: 2)) == .ask)
        #expect(keeper.judge(adding(31, 5, by: 2)) == .void(repeats: id(2)))
        let kept = RosterKeeper(
            current: next, parent: high, siblings: [next], earlier: keeper.earlier.reversed(),
            removedBy: keeper.removedBy)
        #expect(kept == keeper)
    }

    @Test func `a device that can remember no more rosters asks`() throws {
        let traces = (0..<4096).map { number in
            RosterTrace(
                number: 1, hash: [2, UInt8(number >> 8), UInt8(number & 255)] + repeated(1, 29), before: hash(0),
                author: id(1), gone: [])
        }
        let before = Self.make(10, after: nil, by: 1, [1, 2, 3])
        let current = Self.make(20, after: before, by: 1, [1, 2, 3, 4])
        let next = Self.make(30, after: current, by: 1, [1, 2, 3, 4, 5])
        func keeper(_ count: Int) throws -> RosterKeeper {
            try #require(
                RosterKeeper(
                    current: current, parent: before, siblings: [current], earlier: Array(traces.prefix(count)),
                    removedBy: [:]))
        }
        var (full, last) = (try keeper(4096), try keeper(4095))
        let (refused, taken) = (full.apply(next), last.apply(next))
        #expect(refused == .ask && taken == .take && last.earlier.count == 4096)
        let isChosen = full.choose(next)
        let same = try keeper(4096)
        #expect(!isChosen && full == same)
    }

    // MARK: - Two after one

    @Test func `the lower hash wins, and the other's author repeats its change`() {
        let (low, high) = (adding(20, 4, by: 1), adding(21, 5, by: 2))
        var keeper = following(high)
        let replaced = keeper.apply(low)
        #expect(replaced == .replace(repeats: [id(2)]) && keeper.current == low && keeper.parent == base)
        #expect(keeper.judge(high) == .known && keeper.judge(low) == .known)
        var other = following(low)
        let void = other.apply(high)
        #expect(void == .void(repeats: id(2)) && other.current == low)
        let again = Self.make(30, after: low, by: 2, [1, 2, 3, 4, 5])
        #expect(keeper.judge(again) == .take && other.judge(again) == .take)
    }

    @Test func `a roster that removes the other's author wins, whatever the hashes are`() {
        for (own, other) in [(UInt8(20), UInt8(21)), (21, 20)] {
            let (removal, grinded) = (removing(own, 3, by: 1), adding(other, 4, by: 3))
            var late = following(grinded)
            let replaced = late.apply(removal)
            #expect(replaced == .replace(repeats: []) && late.current == removal)
            var early = following(removal)
            let refused = early.apply(grinded)
            #expect(refused == .refused(.byRemoved) && early.current == removal)
            var both = RosterKeeper(base)
            let taken = both.apply([grinded, removal])
            #expect(taken == .take && both.current == removal)
        }
    }

    @Test func `two that remove each other's authors are for the user to decide`() {
        let (one, other) = (removing(20, 2, by: 1), removing(21, 1, by: 2))
        for both in [[one, other], [other, one]] {
            var keeper = RosterKeeper(base)
            let verdict = keeper.apply(both)
            #expect(verdict == .ask && keeper == RosterKeeper(base))
            let isChosen = keeper.choose(other)
            #expect(isChosen && keeper.current == other)
            #expect(keeper.judge(one) == .refused(.byRemoved))
        }
        // Who applied one stays with it.
        #expect(following(one).judge(other) == .refused(.byRemoved))
        #expect(following(other).judge(one) == .refused(.byRemoved))
        // A third one beside them does not settle it.
        #expect(RosterKeeper(base).judge([one, other, adding(1, 4, by: 3)]) == .ask)
        // One that removes both does.
        let all = Self.make(22, after: base, by: 3, [3], removed: [1, 2], key: 2)
        var keeper = RosterKeeper(base)
        let verdict = keeper.apply([one, all, other])
        #expect(verdict == .take && keeper.current == all)
    }

    @Test func `what a void roster removed is removed no longer, and what is repeated stays removed`() {
        // 3 is stolen and removes 2, which a device applies; 1 removes 3.
        let (theft, removal) = (removing(20, 2, by: 3), removing(21, 3, by: 1))
        var keeper = following(theft)
        let replaced = keeper.apply(removal)
        #expect(replaced == .replace(repeats: []))
        #expect(keeper.judge(Self.make(30, after: removal, by: 2, [1, 2, 4], removed: [3], key: 21)) == .take)
        #expect(keeper.removedBy.keys.sorted() == [id(3)])
        // By hash alone the removal of 2 loses; its author repeats it, and 2 waits.
        var other = following(removing(21, 2, by: 3))
        let low = adding(20, 4, by: 1)
        let lost = other.apply(low)
        #expect(lost == .replace(repeats: [id(3)]))
        #expect(other.judge(Self.make(30, after: low, by: 2, [1, 2, 3, 4])) == .refused(.byRemoved))
    }

    @Test func `three in a row are decided alike in every order`() {
        // 1 removes 2, and 2 removes 3; 3 adds: with 2's void, 3's stands.
        let rosters = [removing(22, 2, by: 1), removing(21, 3, by: 2), adding(20, 4, by: 3)]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var keeper = RosterKeeper(base)
            _ = keeper.apply(order.map { rosters[$0] })
            #expect(keeper.current == rosters[2])
        }
        // In a circle nobody stands.
        let circle = [removing(20, 2, by: 1), removing(21, 3, by: 2), removing(22, 1, by: 3)]
        #expect(RosterKeeper(base).judge(circle) == .ask)
    }

    /// Each device gets the same rosters one by one, in an order of its own, until nothing changes any more.
    @Test func `devices that got rosters in any order have the same one`() throws {
        var random = SeededGenerator(seed: 46)
        var (decided, asked) = (0, 0)
        let cases = TestExtent.isCheck ? 10_000 : 1000
        for _ in 0..<cases {
            let hashes = (UInt8(20)..<200).shuffled(using: &random)
            let rosters = (0..<Int.random(in: 2...5, using: &random)).map { index in
                let author = UInt8.random(in: 1...3, using: &random)
                return Bool.random(using: &random)
                    ? adding(hashes[index], UInt8.random(in: 4...6, using: &random), by: author)
                    : removing(hashes[index], UInt8.random(in: 1...3, using: &random), by: author)
            }
            var together = RosterKeeper(base)
            guard together.apply(rosters) == .take else {
                asked += 1
                continue
            }
            decided += 1
            for _ in 0..<4 {
                let order = rosters.shuffled(using: &random)
                var (keeper, last) = (RosterKeeper(base), nil as RosterKeeper?)
                while last != keeper {
                    last = keeper
                    for roster in order { _ = keeper.apply(roster) }
                }
                let (found, wanted) = (keeper.current.hash[0], together.current.hash[0])
                let what = order.map { "\($0.hash[0]): \($0.author.bytes[0]) -\($0.gone.map { $0.bytes[0] })" }
                #expect(found == wanted, "\(what)")
                #expect(keeper.current.gone.isSubset(of: keeper.removedBy.keys))
                let kept = try KeeperRecord(parsing: KeeperRecord(keeper).encoded)
                #expect(kept.keeper([base] + rosters) == keeper)
            }
        }
        #expect(decided > cases / 3 && asked > cases / 30)
    }

    @Test func `one that is repeated, or many of one number, are bounded`() {
        var keeper = following(adding(0x10, 4, by: 1))
        for own in UInt8(0x20)..<0x5F {
            let verdict = keeper.apply(adding(own, 5, by: 2))
            #expect(verdict == .void(repeats: id(2)))
        }
        #expect(keeper.siblings.count == 64)
        #expect(keeper.judge(adding(0x60, 5, by: 2)) == .ask)
        #expect(keeper.judge(adding(0x20, 5, by: 2)) == .known)
    }

    // MARK: - Numbers never go back

    @Test func `a number that is over changes nothing`() {
        let (ours, next) = (adding(20, 4, by: 1), UInt8(30))
        let later = Self.make(next, after: ours, by: 1, [1, 2, 3, 4])
        let keeper = following(ours, later)
        #expect(keeper.judge(base) == .known && keeper.judge(ours) == .known)
        // It lost to ours of that number.
        #expect(keeper.judge(adding(21, 5, by: 2)) == .void(repeats: id(2)))
        // It would have won: the group went on in two parts, and the user is asked.
        #expect(keeper.judge(adding(19, 5, by: 2)) == .ask)
        #expect(keeper.judge(removing(21, 1, by: 2)) == .ask)
        var same = keeper
        for roster in [adding(21, 5, by: 2), adding(19, 5, by: 2), base] { _ = same.apply(roster) }
        #expect(same == keeper)
    }

    @Test func `what is after a void roster is for the user to decide`() {
        let (low, high) = (adding(20, 4, by: 1), adding(21, 5, by: 2))
        var keeper = following(low)
        _ = keeper.apply(high)
        #expect(keeper.judge(Self.make(30, after: high, by: 2, [1, 2, 3, 5])) == .ask)
        #expect(keeper.judge(Self.make(30, after: adding(22, 6, by: 2), by: 2, [1, 2, 3, 6])) == .missing(2))
    }

    @Test func `who joined with a roster cannot judge another one of its number`() {
        let keeper = RosterKeeper(adding(20, 4, by: 1))
        #expect(keeper.judge(adding(21, 5, by: 2)) == .ask)
        var same = keeper
        let isChosen = same.choose(adding(21, 5, by: 2))
        #expect(!isChosen && same == keeper)
    }
}
