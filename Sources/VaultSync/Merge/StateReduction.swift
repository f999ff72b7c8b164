internal import SyncFormat
internal import VaultFormat

// What a device says is never more than an entry may have, whatever others made of the item.
extension MergeSpace {
    /// A state as it is said. Where it is more than an entry may have, what is not shown is left out of it.
    /// - Parameter stamp: Of the write that says it.
    /// - Throws: ``SyncError/format(_:)``.
    borrowing func said(
        _ state: ItemState, at stamp: Stamp, of id: SyncItemID, form: StateLayout.Form, values table: ValueTable
    ) throws(SyncError) -> ItemState {
        if !state.lives || (try? StateWriter(state, of: id, form: form, values: table))?.fitsEntry == true {
            return state
        }
        var shown = state
        try shown.checkWrite(at: stamp)
        shown.write(at: stamp, removing: hidden(of: state, table))
        return shown
    }

    /// All values that nobody sees: conflicts, what is equal to another one, and what an item has no room for.
    private borrowing func hidden(of state: ItemState, _ table: ValueTable) -> Set<ItemState.Element> {
        let shown = ShownItem(state, table, in: self)
        var wanted: [ItemPart: Set<Int>] = shown.single.mapValues { [$0] }
        for (id, value) in shown.fields { wanted[.field(id)] = [value] }
        if let order = state.shown(.order) { wanted[.order] = [order.value] }
        (wanted[.tag], wanted[.history]) = (Set(shown.tags), Set(shown.history))
        wanted[.unknown] = Set(shown.unknown)
        // Every no counts, shown or not.
        wanted[.wideningTag] = Set(state.members(of: .wideningTag).prefix(2 * ItemLimits.tags))
        var hidden: Set<ItemState.Element> = []
        for element in state.elements where wanted[element.part]?.remove(element.value) == nil {
            hidden.insert(element)
        }
        return hidden
    }
}

extension ItemState {
    /// Whether it can be written at a stamp.
    /// - Throws: ``SyncError/format(_:)`` for a number that it has seen already: what others wrote, or a home that was
    ///   put back, must not end the process.
    func checkWrite(at stamp: Stamp) throws(SyncError) {
        guard canWrite(at: stamp) else { throw .format(.invalid(field: "state stamp")) }
    }
}
