package import VaultFormat

/// What a device knows of one stream: pure, so that every case can be tested. Only what was signed by the stream's
/// member may come in here, or anybody could make a fork.
package struct StreamReader: Sendable, Hashable {
    /// What an entry is to a reader.
    package enum Step: Sendable, Hashable {
        /// The next one.
        case next
        /// Taken earlier, with this very hash.
        case known
        /// The entry with this number is missing; this one waits.
        case gap(missing: UInt64)
        /// This number is there twice: the stream is frozen before it.
        case fork(at: UInt64)
        /// Behind a fork, or behind the last entry that counts of a removed member: refused.
        case behind(last: UInt64)
    }

    package let stream: StreamID
    /// The last entry that was taken.
    package private(set) var head: StreamHead?
    /// The beginning of the hash of every entry that was taken, from entry 1 on.
    package private(set) var marks: [UInt64] = []
    /// The last entry that counts; nil while the stream is open.
    package private(set) var last: UInt64?
    /// The head that a roster names as the last one that counts of a removed member.
    package private(set) var named: StreamHead?

    package init(_ stream: StreamID) { self.stream = stream }

    /// As it was kept; nil for what no reader is.
    package init?(_ stream: StreamID, head: StreamHead?, marks: [UInt64], last: UInt64?, named: StreamHead? = nil) {
        if let head {
            guard head.stream == stream, head.isPossible, head.number == UInt64(marks.count),
                marks.last == EntryMark.mark(head.hash)
            else { return nil }
        } else if !marks.isEmpty {
            return nil
        }
        if let named, named.stream != stream || !named.isPossible || named.number < last ?? 0 { return nil }
        (self.stream, self.head, self.marks, self.last, self.named) = (stream, head, marks, last, named)
    }

    /// What an entry of this stream is.
    /// - Parameters:
    ///   - number: Its number.
    ///   - before: The hash of the one before it.
    ///   - hash: Its own, 32 bytes.
    package func step(number: UInt64, before: [UInt8], hash: [UInt8]) -> Step {
        let reached = UInt64(marks.count)
        if number <= reached { return isTaken(number, hash) ? .known : .fork(at: number) }
        if let last, number > last { return .behind(last: last) }
        guard number == reached + 1 else { return .gap(missing: reached + 1) }
        // The entry before it is another one than ours: its writer has two with that number.
        guard before == head?.hash ?? [UInt8](repeating: 0, count: EntryFront.hashSize) else {
            return .fork(at: max(reached, 1))
        }
        // It is not the one that the roster counts up to.
        if let named, named.number == number, named.hash != hash { return .fork(at: number) }
        return .next
    }

    /// Takes the next entry; false, and nothing is changed, for any other.
    package mutating func take(number: UInt64, before: [UInt8], hash: [UInt8]) -> Bool {
        let new = StreamHead(stream: stream, number: number, hash: hash)
        guard new.isPossible, step(number: number, before: before, hash: hash) == .next else { return false }
        head = new
        marks.append(EntryMark.mark(hash))
        return true
    }

    /// No entry from `number` on is taken any more. What was taken of it stays: its values are adopted.
    package mutating func freeze(before number: UInt64) { end(at: number > 0 ? number - 1 : 0) }

    /// No entry behind `number` counts; an earlier end stays.
    package mutating func end(at number: UInt64) { last = min(last ?? number, number) }

    /// No entry behind a head counts, which a roster names of a removed member.
    /// - Returns: False where another entry with its number was taken: a fork, and the stream is frozen before it; and
    ///   for what is no head of this stream.
    package mutating func end(at head: StreamHead) -> Bool {
        guard head.stream == stream, head.isPossible else { return false }
        guard head.number <= last ?? .max else { return true }
        end(at: head.number)
        named = head
        guard head.number <= UInt64(marks.count), !isTaken(head.number, head.hash) else { return true }
        freeze(before: head.number)
        return false
    }

    /// Entries that were taken and do not count: what they wrote is to be adopted.
    package var refused: ClosedRange<UInt64>? {
        guard let last, last < UInt64(marks.count) else { return nil }
        return last + 1...UInt64(marks.count)
    }

    /// Whether the entry with this number was taken with this hash; of all but the last its beginning is compared.
    package func isTaken(_ number: UInt64, _ hash: [UInt8]) -> Bool {
        guard hash.count == EntryFront.hashSize, number >= 1, number <= UInt64(marks.count) else { return false }
        if number == head?.number { return hash == head?.hash }
        return marks[Int(number - 1)] == EntryMark.mark(hash)
    }

    /// What a head that another entry names is to this reader. Behind the last entry that counts nothing is waited for:
    /// whoever took such entries writes what they had as their own.
    package func standing(of named: StreamHead) -> NamedHead {
        if let last, named.number > last {
            return UInt64(marks.count) >= last ? .taken : .missing(from: UInt64(marks.count) + 1)
        }
        guard named.number <= UInt64(marks.count) else { return .missing(from: UInt64(marks.count) + 1) }
        return isTaken(named.number, named.hash) ? .taken : .other
    }

    /// What a head is that an entry names.
    package enum NamedHead: Sendable, Hashable {
        case taken
        /// Not yet taken: from this number on.
        case missing(from: UInt64)
        /// Taken with another hash: a fork.
        case other
    }

    /// Takes up the chain behind a snapshot whose entries before it are no longer there.
    ///
    /// - Parameters:
    ///   - marks: The beginnings of the hashes of all entries before the one with the number `marks.count + 1`, out of
    ///     the snapshot's last part.
    ///   - before: The hash in full of the last of them.
    /// - Returns: `next` where the reader was on the same chain and is in front of the snapshot now; `known` where it
    ///   is there or further; `fork` where it was on another chain; `behind` where the stream ends earlier.
    package mutating func resume(marks others: [UInt64], before: [UInt8]) -> Step {
        for (index, mark) in zip(self.marks, others).enumerated() where mark.0 != mark.1 {
            return .fork(at: UInt64(index + 1))
        }
        let reached = UInt64(others.count)
        if let head, head.number == reached, head.hash != before { return .fork(at: reached) }
        if marks.count >= others.count { return .known }
        if let last, reached > last { return .behind(last: last) }
        let new = StreamHead(stream: stream, number: reached, hash: before)
        guard new.isPossible, EntryMark.mark(before) == others.last else { return .fork(at: reached) }
        head = new
        marks = others
        return .next
    }
}

/// The first 8 bytes of an entry's hash, of which a snapshot has one for each entry of its stream.
package enum EntryMark {
    package static let size = 8

    package static func mark(_ hash: [UInt8]) -> UInt64 {
        hash.prefix(size).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// What the last part of a snapshot lists, in pieces.
    package static func bytes(_ marks: some Sequence<UInt64>) -> [UInt8] {
        var writer = ByteWriter()
        for mark in marks { writer.integer(mark) }
        return writer.bytes
    }

    /// - Throws: ``FormatError/wrongSize``.
    package static func marks(in bytes: RawSpan) throws(FormatError) -> [UInt64] {
        let count = bytes.byteCount / size
        guard bytes.byteCount == count * size, count <= Int(SyncLimits.entries) else { throw .wrongSize }
        return (0..<count).map { bytes.present(at: $0 * size, as: UInt64.self) }
    }
}

/// Whether an entry may be taken: every head that it names must have been taken, with that hash.
package enum Delivery: Sendable, Hashable {
    case ready
    /// These streams lack entries, from the numbers on.
    case waits([StreamHead: UInt64])
    /// These heads are of other entries than ours: forks. Nothing is taken before they are dealt with.
    case contradicts([StreamHead])

    /// - Parameters:
    ///   - heads: The heads that the entry names.
    ///   - readers: What is known of each stream.
    package init(_ heads: [StreamHead], _ readers: [StreamID: StreamReader]) {
        var missing: [StreamHead: UInt64] = [:]
        var others: [StreamHead] = []
        for head in heads {
            switch readers[head.stream]?.standing(of: head) ?? .missing(from: 1) {
            case .taken: continue
            case .missing(let number): missing[head] = number
            case .other: others.append(head)
            }
        }
        self = !others.isEmpty ? .contradicts(others) : missing.isEmpty ? .ready : .waits(missing)
    }
}

/// The parts of a snapshot that were read while it is not known yet whether they are of the chain that is known.
package struct SnapshotRun: Sendable, Hashable {
    package let stream: StreamID
    /// Of the first part.
    package let first: UInt64
    /// The hash of the entry in front of it.
    package let before: [UInt8]
    /// Of each part that was read, in their order.
    package private(set) var hashes: [[UInt8]] = []

    /// - Parameters:
    ///   - first: The number of the first part.
    ///   - before: What its front names as the hash before.
    package init(_ stream: StreamID, first: UInt64, before: [UInt8]) {
        (self.stream, self.first, self.before) = (stream, first, before)
    }

    /// The number of the next part.
    package var next: UInt64 { first + UInt64(hashes.count) }

    /// What a part is; parts in front of the first are a gap.
    package func step(number: UInt64, before: [UInt8], hash: [UInt8]) -> StreamReader.Step {
        guard number >= first else { return .gap(missing: next) }
        if number < next { return hashes[Int(number - first)] == hash ? .known : .fork(at: number) }
        guard number == next else { return .gap(missing: next) }
        return before == hashes.last ?? self.before ? .next : .fork(at: max(number - 1, 1))
    }

    /// Takes the next part; false for any other.
    package mutating func take(number: UInt64, before: [UInt8], hash: [UInt8]) -> Bool {
        guard step(number: number, before: before, hash: hash) == .next else { return false }
        hashes.append(hash)
        return true
    }
}
