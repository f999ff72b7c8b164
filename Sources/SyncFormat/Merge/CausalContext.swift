/// A stream, and which life of an item its numbers are of.
///
/// A device that removed an item for good and dropped its content has to count anew when somebody brings the item back:
/// its next number would say that it has seen, and taken away, whatever others still have of its earlier ones.
package struct StreamLife: Sendable, Hashable, Comparable {
    package let stream: StreamID
    /// 0 for an item that was never removed.
    package let life: UInt32

    package init(_ stream: StreamID, life: UInt32 = 0) {
        self.stream = stream
        self.life = life
    }

    package static func < (left: StreamLife, right: StreamLife) -> Bool {
        (left.stream, left.life) < (right.stream, right.life)
    }
}

/// Where a value was written: an entry of a stream.
package struct Dot: Sendable, Hashable, Comparable {
    package let origin: StreamLife
    /// The entry's, from 1.
    package let number: UInt64

    package init(_ stream: StreamID, _ number: UInt64) { self.init(StreamLife(stream), number) }

    package init(_ origin: StreamLife, _ number: UInt64) {
        self.origin = origin
        self.number = number
    }

    package var stream: StreamID { origin.stream }

    package static func < (left: Dot, right: Dot) -> Bool {
        (left.origin, left.number) < (right.origin, right.number)
    }
}

/// A dot, and what the writer's clock said. The time chooses what is shown first and nothing else: it may be wrong, and
/// it belongs to whoever has the device.
package struct Stamp: Sendable, Hashable, Comparable {
    package let dot: Dot
    /// Milliseconds since 1970.
    package let time: Int64

    package init(_ dot: Dot, time: Int64) {
        self.dot = dot
        self.time = time
    }

    /// By the dot. Two times of one dot are of a liar; their order is the same everywhere.
    package static func < (left: Stamp, right: Stamp) -> Bool {
        (left.dot, left.time) < (right.dot, right.time)
    }
}

/// What somebody has seen of one item: for each stream the highest number. All numbers below count as seen.
package struct CausalContext: Sendable, Hashable {
    /// One dot for each stream and life, in ascending order.
    package private(set) var highest: [Dot] = []

    package init() {}

    /// Nil unless the streams are in ascending order, each once, with numbers above zero.
    package init?(ascending dots: [Dot]) {
        for index in dots.indices {
            guard dots[index].number > 0, index == 0 || dots[index - 1].origin < dots[index].origin else { return nil }
        }
        highest = dots
    }

    package var isEmpty: Bool { highest.isEmpty }

    /// The highest number seen of a stream; 0 for none.
    package func number(of origin: StreamLife) -> UInt64 {
        let place = place(of: origin)
        guard place < highest.count, highest[place].origin == origin else { return 0 }
        return highest[place].number
    }

    /// The highest life of a stream; nil where nothing of it was seen.
    package func life(of stream: StreamID) -> UInt32? {
        highest.last { $0.stream == stream }?.origin.life
    }

    package func covers(_ dot: Dot) -> Bool { dot.number <= number(of: dot.origin) }

    /// Whether everything that the other has seen was seen here.
    package func covers(_ other: CausalContext) -> Bool { other.highest.allSatisfy(covers) }

    package mutating func insert(_ dot: Dot) {
        let place = place(of: dot.origin)
        if place < highest.count, highest[place].origin == dot.origin {
            if highest[place].number < dot.number { highest[place] = dot }
        } else {
            highest.insert(dot, at: place)
        }
    }

    package mutating func formUnion(_ other: CausalContext) {
        if highest.isEmpty {
            highest = other.highest
        } else {
            for dot in other.highest { insert(dot) }
        }
    }

    package func union(_ other: CausalContext) -> CausalContext {
        var all = self
        all.formUnion(other)
        return all
    }

    /// Whether it names an entry of a stream behind one.
    package func names(_ stream: StreamID, after last: UInt64) -> Bool {
        highest.contains { $0.stream == stream && $0.number > last }
    }

    /// Forgets what it says of a stream's entries behind one; all of the stream if that is 0.
    package mutating func forget(_ stream: StreamID, after last: UInt64) {
        highest = highest.compactMap { dot in
            guard dot.stream == stream, dot.number > last else { return dot }
            return last > 0 ? Dot(dot.origin, last) : nil
        }
    }

    /// The first that is not before a stream.
    private func place(of origin: StreamLife) -> Int {
        var (low, high) = (0, highest.count)
        while low < high {
            let middle = (low + high) / 2
            if highest[middle].origin < origin { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
