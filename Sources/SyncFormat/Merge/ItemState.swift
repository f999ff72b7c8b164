/// What a device knows of an item: the values that are there, what was seen, and what was removed for good.
///
/// The merge decides by contexts and never by clocks. Values are numbers of a ``ValueTable`` here: equal numbers stand
/// for equal bytes, and their order is that of the bytes. So the merge is a pure function without a secret in it.
///
/// For one value the three things that can be known of it, *not seen*, *there* and *gone*, are in this order, and a
/// join takes the higher: that is what makes the join commutative, associative and idempotent.
package struct ItemState: Sendable, Hashable {
    /// A value of a part, with where it was written.
    package struct Element: Sendable, Hashable, Comparable {
        package let part: ItemPart
        package let stamp: Stamp
        package let value: Int

        package init(_ part: ItemPart, _ stamp: Stamp, _ value: Int) {
            self.part = part
            self.stamp = stamp
            self.value = value
        }

        package static func < (left: Self, right: Self) -> Bool {
            if left.part != right.part { return left.part < right.part }
            if left.stamp != right.stamp { return left.stamp < right.stamp }
            return left.value < right.value
        }
    }

    /// In ascending order, each once. Every dot is covered by ``context``.
    package private(set) var elements: [Element] = []
    /// Of the writes that no later one has seen: normally one. In ascending order; covered by ``context``.
    package private(set) var versions: [Stamp] = []
    /// What was seen of the values. Empty where the content was dropped, or was never here.
    package private(set) var context = CausalContext()
    /// What all those had seen who removed the item for good. It takes nothing out of the values: an item lives or dies
    /// as a whole.
    package private(set) var removals = CausalContext()

    package init() {}

    /// Nil unless all is in order and every dot is covered.
    package init?(
        elements: [Element], versions: [Stamp], context: CausalContext, removals: CausalContext
    ) {
        for index in elements.indices {
            guard index == 0 || elements[index - 1] < elements[index], context.covers(elements[index].stamp.dot) else {
                return nil
            }
        }
        for index in versions.indices {
            guard index == 0 || versions[index - 1] < versions[index], context.covers(versions[index].dot) else {
                return nil
            }
        }
        self.elements = elements
        self.versions = versions
        self.context = context
        self.removals = removals
    }

    /// Whether there is a write that no removal has seen.
    package var lives: Bool { versions.contains { !removals.covers($0.dot) } }

    /// Whether there is anything of the content, dead or alive.
    package var hasContent: Bool { !context.isEmpty }

    /// The values of a part, in the order of their dots.
    package func elements(of part: ItemPart) -> [Element] { elements.filter { $0.part == part } }

    /// The fields that have a value.
    package var fields: [FieldID] {
        var ids: [FieldID] = []
        for element in elements {
            if let id = element.part.field, ids.last != id { ids.append(id) }
        }
        return ids
    }
}

extension ItemState {
    /// All that either knows.
    package func joined(with other: ItemState) -> ItemState {
        var all = ItemState()
        all.removals = removals.union(other.removals)
        all.context = context.union(other.context)
        all.elements = ItemState.join(elements, context, other.elements, other.context) { $0.stamp.dot }
        all.versions = ItemState.join(versions, context, other.versions, other.context) { $0.dot }
        return all
    }

    /// A value stays that both have, or that one has and the other has not seen. What one has seen and has not is gone.
    private static func join<Kept: Comparable>(
        _ left: [Kept], _ seenLeft: CausalContext, _ right: [Kept], _ seenRight: CausalContext, _ dot: (Kept) -> Dot
    ) -> [Kept] {
        var all: [Kept] = []
        all.reserveCapacity(max(left.count, right.count))
        var (i, j) = (0, 0)
        while i < left.count || j < right.count {
            if j == right.count || i < left.count && left[i] < right[j] {
                if !seenRight.covers(dot(left[i])) { all.append(left[i]) }
                i += 1
            } else if i == left.count || right[j] < left[i] {
                if !seenLeft.covers(dot(right[j])) { all.append(right[j]) }
                j += 1
            } else {
                all.append(left[i])
                i += 1
                j += 1
            }
        }
        return all
    }

    /// Whether this device must write the item anew as it is after a join.
    ///
    /// Others may have dropped the content of an item that was removed for good. One that lives in spite of it, because
    /// somebody changed it without having seen the removal, comes back to them with what the change had. Whoever still
    /// had content says all of it once more, so that nothing hangs on who was told of what first.
    /// - Parameter before: What this device knew before the join.
    package func mustRestate(after before: ItemState) -> Bool {
        guard before.hasContent, lives, !removals.isEmpty else { return false }
        return before.removals != removals || !before.lives
    }
}

/// Changes of one's own: each has a stamp that was never used, of the own stream.
extension ItemState {
    /// Whether ``write(at:removing:adding:)`` may be called with a stamp.
    package func canWrite(at stamp: Stamp) -> Bool {
        let dot = Dot(origin(of: stamp.dot.stream), stamp.dot.number)
        return !context.covers(dot) || versions.contains { $0.dot == dot }
    }

    /// Takes values out and puts values in.
    /// - Parameters:
    ///   - stamp: Of this write; its dot is above all of its stream that the item has seen, or that of the entry which
    ///     is being made. Its life follows from the removals.
    ///   - gone: Values that the writer has seen and replaces or removes.
    ///   - added: What is new.
    package mutating func write(
        at stamp: Stamp, removing gone: Set<Element> = [], adding added: [(part: ItemPart, value: Int)] = []
    ) {
        let stamp = Stamp(Dot(origin(of: stamp.dot.stream), stamp.dot.number), time: stamp.time)
        // What comes twice in one transaction is written twice for one entry, which has the last of it.
        precondition(canWrite(at: stamp), "a dot is used once")
        if !gone.isEmpty { elements.removeAll { gone.contains($0) } }
        elements += added.map { Element($0.part, stamp, $0.value) }
        elements.sort()
        versions = [stamp]
        context.insert(stamp.dot)
    }

    /// What the numbers of a stream count in: a life that no removal has seen.
    private func origin(of stream: StreamID) -> StreamLife {
        StreamLife(stream, life: removals.life(of: stream).map { min($0 + 1, StateLimits.life) } ?? 0)
    }

    /// Removes the item for good: what was seen of it is dead, and its content is dropped.
    package mutating func remove() {
        removals.formUnion(context)
        dropContent()
    }

    /// Lets go of a dead item's content, with what was seen of it. That it was removed stays known.
    package mutating func dropContent() {
        elements = []
        versions = []
        context = CausalContext()
    }
}

/// Values under dots that others do not take, written as one's own.
extension ItemState {
    /// Writes the values of refused entries as one's own: they stay, under dots that everybody takes. An item that was
    /// removed for good stays removed.
    ///
    /// What such an entry removed for good is not told from other removals. Whoever took one says the removals of all
    /// items once more.
    /// - Parameters:
    ///   - isRefused: Whether nobody else will take the entry with this dot.
    ///   - stamp: Of this write.
    /// - Returns: Whether there was anything to adopt.
    @discardableResult
    package mutating func adopt(where isRefused: (Dot) -> Bool, at stamp: Stamp) -> Bool {
        let refused = elements.filter { isRefused($0.stamp.dot) }
        guard !refused.isEmpty || versions.contains(where: { isRefused($0.dot) }) else { return false }
        let lived = lives
        write(at: stamp, removing: Set(refused), adding: refused.map { ($0.part, $0.value) })
        if !lived { for version in versions { removals.insert(version.dot) } }
        return true
    }

    /// Takes back the numbers of a stream that its writer used in this life without publishing them: its vault was put
    /// back, and on the road the stream continues behind an entry with what the other life wrote.
    ///
    /// Values and versions move to the new stream. What was seen, and what a removal has seen, ends at the last entry
    /// that both lives have: nobody else has what this one wrote behind it, and what the other life wrote there was not
    /// seen here. An item that was removed for good stays removed: the removal still has seen all that others can have
    /// of what it removed.
    /// - Parameters:
    ///   - last: The last entry that both lives have; 0 for none.
    ///   - stamp: Of this write, of the new stream.
    /// - Returns: Whether there was anything to take back; then the state is said to others, with the removals in it.
    ///   An unpublished entry may also have had a state that names none of its stream's numbers: an item that was first
    ///   met, or a removal. So its writer says all items of these entries once more.
    @discardableResult
    package mutating func rebase(_ stream: StreamID, after last: UInt64, at stamp: Stamp) -> Bool {
        guard context.names(stream, after: last) || removals.names(stream, after: last) else { return false }
        precondition(stamp.dot.stream != stream, "what is taken back goes into a new stream")
        adopt(where: { $0.stream == stream && $0.number > last }, at: stamp)
        context.forget(stream, after: last)
        removals.forget(stream, after: last)
        return true
    }
}
