/// What everybody sees of a state.
extension ItemState {
    /// Of a part's values the one that is shown: the latest by the writers' clocks, and of equal times the one of the
    /// higher dot. The others are a conflict until a write covers them.
    package func shown(_ part: ItemPart) -> Element? {
        elements(of: part).max { left, right in
            if left.stamp.time != right.stamp.time { return left.stamp.time < right.stamp.time }
            return left < right
        }
    }

    /// The values of a part that are not shown and differ from what is. Equal values that two devices wrote are one.
    package func conflicts(in part: ItemPart) -> [Element] {
        guard part.isSingle, let shown = shown(part) else { return [] }
        return elements(of: part).filter { $0.value != shown.value }
    }

    /// The parts that have a conflict.
    package var conflictedParts: [ItemPart] {
        var parts: [ItemPart] = []
        for element in elements where element.part.isSingle && parts.last != element.part {
            if !conflicts(in: element.part).isEmpty { parts.append(element.part) }
        }
        return parts
    }

    /// The values of a set, each once, in ascending order.
    package func members(of part: ItemPart) -> [Int] {
        var values = elements(of: part).map(\.value)
        values.sort()
        return values.enumerated().filter { $0.offset == 0 || values[$0.offset - 1] != $0.element }.map(\.element)
    }

    /// When it was last written, by the clocks of those who wrote: milliseconds since 1970.
    package var modified: Int64 {
        let times = elements.lazy.map(\.stamp.time)
        return times.max() ?? versions.lazy.map(\.time).max() ?? 0
    }

    /// The time of a write that replaces values: never before theirs, whatever the clock says.
    package static func time(replacing gone: some Sequence<Element>, now: Int64) -> Int64 {
        gone.lazy.map(\.stamp.time).max().map { Swift.max($0, now) } ?? now
    }
}
