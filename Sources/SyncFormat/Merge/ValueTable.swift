package import VaultFormat

/// The values of one or more states, each once, in the order of their bytes. A value's number is its place in it: equal
/// numbers are equal bytes, and the order of the numbers is that of the bytes, so that a merge needs no value itself.
package struct ValueTable: Sendable {
    /// Where each value lies, in one run of bytes.
    package private(set) var places: [Range<Int>] = []
    private var numbers: [Range<Int>: Int] = [:]

    /// Sorts values that lie in `bytes`.
    package init(_ values: some Sequence<Range<Int>>, in bytes: RawSpan) {
        let all = Set(values).sorted { left, right in
            let (first, second) = (bytes.extracting(left), bytes.extracting(right))
            if first.isBefore(second) { return true }
            return !second.isBefore(first) && (left.lowerBound, left.count) < (right.lowerBound, right.count)
        }
        numbers.reserveCapacity(all.count)
        for place in all {
            if places.last.map({ !bytes.extracting($0).isBefore(bytes.extracting(place)) }) != true {
                places.append(place)
            }
            numbers[place] = places.count - 1
        }
    }

    /// The number of a value that the table was made of.
    package func number(of place: Range<Int>) -> Int? { numbers[place] }

    /// A state with numbers for its values.
    /// - Throws: ``FormatError/invalid(field:)`` for values that the table was not made of.
    package func state(of layout: StateLayout) throws(FormatError) -> ItemState {
        var elements: [ItemState.Element] = []
        elements.reserveCapacity(layout.elements.count)
        for element in layout.elements {
            guard let number = numbers[element.value] else { throw .invalid(field: "state value") }
            elements.append(ItemState.Element(element.part, element.stamp, number))
        }
        guard
            let state = ItemState(
                elements: elements, versions: layout.versions, context: layout.context, removals: layout.removals)
        else { throw .invalid(field: "state order") }
        return state
    }
}

/// Writes a state as ``StateLayout`` reads it.
package struct StateWriter: Sendable {
    private let id: SyncItemID
    private let form: StateLayout.Form
    private let state: ItemState
    private let places: [Range<Int>]
    private let streams: [StreamLife]
    private let stamps: [Stamp]
    /// Bytes of all of it.
    package let size: Int

    /// - Throws: ``FormatError/wrongSize`` for a state that no reader takes.
    package init(
        _ state: ItemState, of id: SyncItemID, form: StateLayout.Form, values table: ValueTable
    ) throws(FormatError) {
        self.id = id
        self.form = form
        self.state = state
        places = table.places
        var streams = Set(state.removals.highest.map(\.origin))
        for dot in state.context.highest { streams.insert(dot.origin) }
        self.streams = streams.sorted()
        var stamps = Set(state.versions)
        for element in state.elements { stamps.insert(element.stamp) }
        self.stamps = stamps.sorted()
        var size = 18 + 2 + 20 * streams.count + 10 + 10 * (state.removals.highest.count + state.context.highest.count)
        size += 18 * stamps.count + 2 * state.versions.count
        for element in state.elements {
            size += 7 + (element.part.field == nil ? 0 : 16) + places[element.value].count
        }
        self.size = size
        guard size <= StateLimits.size, streams.count <= StateLimits.streams, stamps.count <= StateLimits.stamps,
            state.elements.count <= StateLimits.elements
        else { throw .wrongSize }
    }

    /// Whether an entry may have it.
    package var fitsEntry: Bool {
        size <= StateLimits.InEntry.size && streams.count <= StateLimits.InEntry.streams
            && stamps.count <= StateLimits.InEntry.stamps && state.elements.count <= StateLimits.InEntry.elements
    }

    /// Writes all of it; there is room for ``size`` bytes.
    /// - Parameter values: The bytes that the table's places are in.
    package func write(into output: inout MutableRawSpan, values: RawSpan) {
        var position = 0
        func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, _ output: inout MutableRawSpan) {
            output.store(value, at: position)
            position += MemoryLayout<T>.size
        }
        func put(_ bytes: [UInt8], _ output: inout MutableRawSpan) {
            for byte in bytes { put(byte, &output) }
        }
        let stream = Dictionary(uniqueKeysWithValues: streams.enumerated().map { ($0.element, UInt16($0.offset)) })
        let stamp = Dictionary(uniqueKeysWithValues: stamps.enumerated().map { ($0.element, UInt16($0.offset)) })
        put(StateLayout.version, &output)
        put(form.rawValue, &output)
        put(id.bytes, &output)
        put(UInt16(streams.count), &output)
        for stream in streams {
            put(stream.stream.bytes, &output)
            put(stream.life, &output)
        }
        for context in [state.removals, state.context] {
            put(UInt16(context.highest.count), &output)
            for dot in context.highest {
                put(stream[dot.origin] ?? 0, &output)
                put(dot.number, &output)
            }
        }
        put(UInt16(stamps.count), &output)
        for one in stamps {
            put(stream[one.dot.origin] ?? 0, &output)
            put(one.dot.number, &output)
            put(one.time, &output)
        }
        put(UInt16(state.versions.count), &output)
        for version in state.versions { put(stamp[version] ?? 0, &output) }
        put(UInt16(state.elements.count), &output)
        for element in state.elements {
            put(element.part.kind.rawValue, &output)
            if let field = element.part.field { put(field.bytes, &output) }
            put(stamp[element.stamp] ?? 0, &output)
            let place = places[element.value]
            put(UInt32(place.count), &output)
            output.store(copying: values.extracting(place), at: position)
            position += place.count
        }
    }
}
