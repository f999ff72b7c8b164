import SyncFormat
import Testing

/// What becomes of a state when entries that it names do not count.
@Suite struct MergeAmendTests {
    private let first = MergeWorld.first
    private let second = MergeWorld.second

    private func dot(_ device: Int, _ number: UInt64) -> Dot { Dot(MergeWorld.stream(device), number) }

    private func stamp(_ device: Int, _ number: UInt64) -> Stamp { Stamp(dot(device, number), time: Int64(number)) }

    private func expectChange(_ isChanged: Bool, at place: SourceLocation = #_sourceLocation) {
        #expect(isChanged, sourceLocation: place)
    }

    /// Written by one device in its entries 3 and 6, of which both lives have all up to 4.
    private func state() -> ItemState {
        var state = ItemState()
        state.write(at: stamp(0, 3), adding: [(first, 1), (second, 2)])
        state.write(at: stamp(0, 6), removing: Set(state.elements(of: first)), adding: [(first, 3)])
        return state
    }

    @Test func `what was removed for good stays removed when its values are adopted`() {
        var state = state()
        let removal = ItemState(
            elements: [], versions: [], context: CausalContext(), removals: state.context)
        state = state.joined(with: removal ?? ItemState())
        #expect(!state.lives && state.hasContent)
        expectChange(state.adopt(where: { $0.number > 4 }, at: stamp(1, 1)))
        #expect(!state.lives && state.elements(of: first).map(\.stamp) == [stamp(1, 1)])
        // Nor is it for who never took the entry.
        #expect(!state.joined(with: ItemState()).lives)
        let isAgain = state.adopt(where: { $0.number > 4 }, at: stamp(1, 2))
        #expect(!isAgain)
    }

    @Test func `what both lives have keeps its stamp, and the rest gets a new one`() {
        var state = state()
        expectChange(state.rebase(MergeWorld.stream(0), after: 4, at: stamp(1, 1)))
        #expect(state.elements(of: first).map(\.stamp) == [stamp(1, 1)])
        #expect(state.elements(of: second).map(\.stamp) == [stamp(0, 3)])
        #expect(state.context.highest == [dot(0, 4), dot(1, 1)] && state.versions == [stamp(1, 1)])
        let once = state
        let isAgain = state.rebase(MergeWorld.stream(0), after: 4, at: stamp(1, 2))
        #expect(!isAgain && state == once)
    }

    @Test func `a removal has seen what both lives have and nothing of the other one`() {
        var removed = state()
        removed.remove()
        expectChange(removed.rebase(MergeWorld.stream(0), after: 4, at: stamp(1, 1)))
        #expect(removed.removals.highest == [dot(0, 4)] && !removed.hasContent)
        var other = ItemState()
        other.write(at: stamp(0, 3), adding: [(first, 1), (second, 2)])
        #expect(!other.joined(with: removed).lives)
        other.write(at: stamp(0, 5))
        #expect(other.joined(with: removed).lives)
    }

    @Test func `of a stream of which both lives have nothing, nothing is named`() {
        var (kept, removed) = (state(), state())
        removed.remove()
        expectChange(kept.rebase(MergeWorld.stream(0), after: 0, at: stamp(1, 1)))
        expectChange(removed.rebase(MergeWorld.stream(0), after: 0, at: stamp(1, 1)))
        #expect(kept.context.highest == [dot(1, 1)] && kept.elements.count == 2)
        #expect(removed == ItemState())
    }
}
