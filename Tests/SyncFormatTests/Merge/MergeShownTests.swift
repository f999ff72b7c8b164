import SyncFormat
import Testing

/// What a state shows, and what it says is in conflict.
@Suite struct MergeShownTests {
    private static let left = StreamID([UInt8](repeating: 1, count: 16))!
    private static let right = StreamID([UInt8](repeating: 2, count: 16))!

    /// Two devices that wrote notes without having seen each other.
    private func apart(_ one: (value: Int, time: Int64), _ other: (value: Int, time: Int64)) -> ItemState {
        var (left, right) = (ItemState(), ItemState())
        left.write(at: Stamp(Dot(Self.left, 1), time: one.time), adding: [(.notes, one.value)])
        right.write(at: Stamp(Dot(Self.right, 1), time: other.time), adding: [(.notes, other.value)])
        return left.joined(with: right)
    }

    @Test func `the later of two is shown, and of equal times that of the higher stream`() {
        #expect(apart((7, 20), (8, 10)).shown(.notes)?.value == 7)
        #expect(apart((7, 10), (8, 20)).shown(.notes)?.value == 8)
        #expect(apart((9, 10), (8, 10)).shown(.notes)?.value == 8)
    }

    @Test func `what is not shown is a conflict, unless it is equal`() {
        let state = apart((7, 20), (8, 10))
        #expect(state.conflicts(in: .notes).map(\.value) == [8] && state.conflictedParts == [.notes])
        #expect(apart((7, 20), (7, 10)).conflictedParts.isEmpty)
    }

    @Test func `a write takes the place of what it saw, at no time before it`() {
        var state = apart((7, 20), (8, 10))
        let gone = state.elements(of: .notes)
        #expect(ItemState.time(replacing: gone, now: 5) == 20 && ItemState.time(replacing: gone, now: 25) == 25)
        state.write(at: Stamp(Dot(Self.left, 2), time: 20), removing: Set(gone), adding: [(.notes, 9)])
        #expect(state.shown(.notes)?.value == 9 && state.conflictedParts.isEmpty)
        #expect(state.versions.count == 1 && state.modified == 20)
        #expect(state.context.covers(Dot(Self.left, 2)) && !state.context.covers(Dot(Self.left, 3)))
    }

    @Test func `a member of a set is one, whoever added it`() {
        var (left, right) = (ItemState(), ItemState())
        left.write(at: Stamp(Dot(Self.left, 1), time: 0), adding: [(.tag, 5), (.tag, 3)])
        right.write(at: Stamp(Dot(Self.right, 1), time: 0), adding: [(.tag, 5)])
        #expect(left.joined(with: right).members(of: .tag) == [3, 5])
    }

    @Test func `who had a dead item says it again when it lives`() {
        var removed = apart((7, 20), (8, 10))
        let before = removed
        removed.remove()
        let dead = before.joined(with: removed)
        #expect(!dead.lives && dead.hasContent)
        var edited = ItemState()
        edited.write(at: Stamp(Dot(Self.left, 2), time: 0), adding: [(.notes, 9)])
        let alive = dead.joined(with: edited)
        #expect(alive.lives && alive.mustRestate(after: dead))
        #expect(!alive.joined(with: edited).mustRestate(after: alive), "it was said")
        #expect(!before.joined(with: edited).mustRestate(after: before), "nobody removed it")
    }

    @Test func `a write behind a removal says nothing of what was dropped`() {
        var item = ItemState()
        item.write(at: Stamp(Dot(Self.left, 1), time: 0), adding: [(.notes, 7)])
        let others = item
        item.remove()
        var edited = others
        edited.write(at: Stamp(Dot(Self.right, 1), time: 0), adding: [(.flags, 1)])
        item = item.joined(with: edited)
        item.write(at: Stamp(Dot(Self.left, 2), time: 0), adding: [(.tag, 2)])
        #expect(item.joined(with: edited).shown(.notes)?.value == 7)
        #expect(item.versions.map(\.dot.origin.life) == [1])
    }

    @Test func `a state out of order, or with a dot that nobody saw, is none`() {
        let stamp = Stamp(Dot(Self.left, 1), time: 0)
        let element = ItemState.Element(.notes, stamp, 1)
        var context = CausalContext()
        #expect(ItemState(elements: [element], versions: [], context: context, removals: context) == nil)
        context.insert(stamp.dot)
        #expect(ItemState(elements: [element], versions: [stamp], context: context, removals: context) != nil)
        #expect(ItemState(elements: [element, element], versions: [], context: context, removals: context) == nil)
        #expect(CausalContext(ascending: [Dot(Self.right, 1), Dot(Self.left, 1)]) == nil)
        #expect(CausalContext(ascending: [Dot(Self.left, 0)]) == nil)
    }
}
