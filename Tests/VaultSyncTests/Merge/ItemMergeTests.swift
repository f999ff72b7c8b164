import SecretMemory
import SyncFormat
import Testing
import VaultFormat
import VaultSync

/// Two devices with one item: what each writes, and what both see then.
@Suite struct ItemMergeTests {
    /// Both change the item that a backup had; what they see after they have met.
    private func meet(
        of base: MergeBench = MergeBench(), _ first: (inout MergeBench) -> Void, _ second: (inout MergeBench) -> Void,
        times: (Int64, Int64) = (2_000, 3_000)
    ) throws -> (shown: Shown, state: [UInt8]) {
        let start = try base.first()
        var (left, right) = (base, base)
        first(&left)
        second(&right)
        let one = try left.changed(start, by: 1, 1, time: times.0) ?? start
        let other = try right.changed(start, by: 2, 1, time: times.1) ?? start
        let joined = try join(one, other)
        #expect(try joined == join(other, one))
        return (try Shown(joined), joined)
    }

    @Test func `what was met first is shown as it was`() throws {
        var bench = MergeBench()
        bench.tags = ["work", "secret-service", "ask-each-time"]
        bench.notes = "of the bank"
        bench.history = [(10, "zero"), (20, "half")]
        bench.unknown = [(9, [1, 2, 3]), (77, [])]
        let state = try bench.first()
        let projection = try unsafe ItemProjection(of: state.span.bytes)
        let stored = try bench.content()
        #expect(bytes(projection.record.content) == bytes(stored))
        #expect(try bench.changed(state, by: 1, 1, time: 5) == nil)
    }

    @Test func `two restores of one backup are one state`() throws {
        #expect(try MergeBench().first() == MergeBench().first())
    }

    @Test func `changes of two fields are both there`() throws {
        let shown = try meet({ $0.fields[0].2 = "eve" }, { $0.fields[1].2 = "second" }).shown
        #expect(shown.fields == ["username=eve", "password=second"])
    }

    @Test func `of one field the later is shown and the other is history when somebody writes`() throws {
        var (shown, state) = try meet({ $0.fields[1].2 = "left" }, { $0.fields[1].2 = "right" })
        #expect(shown.fields == ["username=ada", "password=right"])
        var bench = MergeBench()
        bench.fields[1].2 = "third"
        state = try #require(try bench.changed(state, by: 1, 2, time: 4_000))
        shown = try Shown(state)
        #expect(shown.fields == ["username=ada", "password=third"])
        #expect(shown.history == ["password=left"])
    }

    @Test func `a change elsewhere settles no conflict`() throws {
        var (_, state) = try meet({ $0.fields[1].2 = "left" }, { $0.fields[1].2 = "right" })
        var bench = MergeBench()
        bench.fields[1].2 = "right"
        bench.fields[0].2 = "eve"
        state = try #require(try bench.changed(state, by: 1, 2, time: 4_000))
        #expect(try Shown(state).history == [])
        bench.fields[1].2 = "left"
        state = try #require(try bench.changed(state, by: 1, 3, time: 5_000))
        #expect(try Shown(state).fields == ["username=eve", "password=left"])
    }

    @Test func `equal values of both are no conflict`() throws {
        var (_, state) = try meet({ $0.fields[1].2 = "same" }, { $0.fields[1].2 = "same" })
        var bench = MergeBench()
        bench.fields[1].2 = "third"
        state = try #require(try bench.changed(state, by: 1, 2, time: 4_000))
        #expect(try Shown(state).history == [])
    }

    @Test func `a clock that goes back writes no time before what it replaces`() throws {
        var bench = MergeBench()
        bench.fields[1].2 = "future"
        let future = try #require(try bench.changed(MergeBench().first(), by: 1, 1, time: 9_000_000))
        bench.fields[1].2 = "now"
        let now = try #require(try bench.changed(future, by: 2, 1, time: 2_000))
        #expect(try Shown(now).fields[1] == "password=now")
        #expect(try Shown(join(future, now)).fields[1] == "password=now")
    }

    @Test func `a tag that one adds stays though another takes it away`() throws {
        var base = MergeBench()
        base.tags = ["ask-each-time"]
        let shown = try meet(of: base, { $0.tags = [] }, { $0.tags = ["ask-each-time", "work"] }).shown
        #expect(shown.tags == ["work"])
        base.tags = []
        #expect(try meet(of: base, { $0.tags = ["work"] }, { $0.tags = ["home"] }).shown.tags == ["home", "work"])
    }

    @Test func `a no of two wins over a yes of a tag that lets programs in`() throws {
        var base = MergeBench()
        base.tags = ["secret-service"]
        // One takes it away; the other takes it away and adds it again, without having seen the first.
        let start = try base.first()
        var without = base
        without.tags = []
        let left = try #require(try without.changed(start, by: 1, 1, time: 2_000))
        let taken = try #require(try without.changed(start, by: 2, 1, time: 2_000))
        let right = try #require(try base.changed(taken, by: 2, 2, time: 9_000))
        #expect(try Shown(right).tags == ["secret-service"])
        let joined = try join(left, right)
        #expect(try Shown(joined).tags == [])
        // Who has seen the no may say yes.
        let again = try #require(try base.changed(joined, by: 2, 3, time: 9_500))
        #expect(try Shown(again).tags == ["secret-service"])
    }

    @Test func `a label that is changed keeps the field`() throws {
        let shown = try meet({ $0.fields[0].1 = "login" }, { $0.fields[0].2 = "eve" }).shown
        #expect(shown.fields.count == 2)
        #expect(shown.fields[0] == "username=eve")
    }

    @Test func `fields that both add are both there, and so is what one takes away alone`() throws {
        let shown = try meet(
            { $0.fields.append((.url, "site", "a.example")) },
            { bench in
                bench.fields.remove(at: 0)
                bench.fields.append((.url, "site", "b.example"))
            }
        ).shown
        #expect(Set(shown.fields) == ["password=first", "site=a.example", "site=b.example"])
    }

    @Test func `of two fields of one label the other keeps its id`() throws {
        var base = MergeBench()
        base.fields = [(.url, "site", "a.example"), (.url, "site", "b.example")]
        let shown = try meet(of: base, { $0.fields.remove(at: 0) }, { $0.fields[1].2 = "c.example" }).shown
        #expect(shown.fields == ["site=c.example"])
    }

    @Test func `an order, a name and notes are values of their own`() throws {
        var base = MergeBench()
        base.notes = "old"
        let (shown, _) = try meet(
            of: base, { $0.fields.swapAt(0, 1) },
            { bench in
                bench.name = "post"
                bench.notes = "new"
            })
        #expect(shown.fields == ["password=first", "username=ada"])
        #expect(shown.name == "post" && shown.notes == "new")
    }

    @Test func `notes that lose are in the history`() throws {
        var (_, state) = try meet({ $0.notes = "left" }, { $0.notes = "right" })
        var bench = MergeBench()
        bench.notes = "third"
        state = try #require(try bench.changed(state, by: 1, 2, time: 4_000))
        let shown = try Shown(state)
        #expect(shown.notes == "third" && shown.history == ["notes=left"])
    }

    @Test func `the trash travels as a value, and an edit stays in it`() throws {
        let (shown, _) = try meet({ $0.trash = (2_000, 9_000) }, { $0.fields[1].2 = "second" })
        #expect(shown.isInTrash && shown.fields[1] == "password=second" && shown.name == "mail")
    }

    @Test func `an earlier value that is forgotten stays forgotten`() throws {
        var base = MergeBench()
        base.history = [(10, "zero"), (20, "half")]
        let shown = try meet(of: base, { $0.history.remove(at: 0) }, { $0.history.append((30, "first")) }).shown
        #expect(shown.history == ["password=half", "password=first"])
    }

    @Test func `more earlier values than an item can hold stay in the state`() throws {
        var base = MergeBench()
        base.history = (0..<200).map { (Int64($0), "v\($0)") }
        let (shown, state) = try meet(
            of: base, { $0.history += (0..<50).map { (Int64(1000 + $0), "l\($0)") } },
            { $0.history += (0..<50).map { (Int64(2000 + $0), "r\($0)") } })
        #expect(shown.history.count == ItemLimits.history && shown.isPartial)
        #expect(shown.history.first == "password=v44" && shown.history.last == "password=r49")
        // What is not shown was not taken away.
        base.history = Array(
            (base.history + (0..<50).map { (Int64(1000 + $0), "l\($0)") }
                + (0..<50).map { (Int64(2000 + $0), "r\($0)") }).suffix(ItemLimits.history))
        #expect(try base.changed(state, by: 1, 2, time: 9_000) == nil)
    }

    @Test func `what a later version wrote is kept`() throws {
        var base = MergeBench()
        base.unknown = [(9, [1]), (9, [2]), (200, [])]
        let shown = try meet(of: base, { $0.unknown[0].1 = [3] }, { $0.unknown.append((201, [7])) }).shown
        #expect(shown.unknown.map { [$0[0]] + $0.dropFirst(5) } == [[9, 2], [9, 3], [200], [201, 7]])
    }
}
