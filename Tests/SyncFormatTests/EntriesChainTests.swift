import SyncFormat
import TestSupport
import Testing

@Suite struct EntriesChainTests {
    /// Entries 1 to `count`, whose hashes are their numbers.
    private func reader(_ count: UInt8) -> StreamReader {
        var reader = StreamReader(id(2))
        for number in 0..<count {
            let isTaken = reader.take(number: UInt64(number) + 1, before: hash(number), hash: hash(number + 1))
            #expect(isTaken)
        }
        return reader
    }

    @Test func `a chain is taken entry by entry`() {
        let reader = reader(3)
        #expect(reader.head == StreamHead(stream: id(2), number: 3, hash: hash(3)))
        #expect(reader.marks.count == 3)
        #expect(reader.step(number: 4, before: hash(3), hash: hash(4)) == .next)
        #expect(reader.step(number: 3, before: hash(2), hash: hash(3)) == .known)
        #expect(reader.step(number: 1, before: hash(0), hash: hash(1)) == .known)
        #expect(reader.step(number: 6, before: hash(5), hash: hash(6)) == .gap(missing: 4))
        #expect(StreamReader(id(2)).step(number: 2, before: hash(1), hash: hash(2)) == .gap(missing: 1))
        #expect(StreamReader(id(2)).step(number: 1, before: hash(0), hash: hash(1)) == .next)
    }

    @Test func `two entries with one number are a fork, however old`() {
        let reader = reader(3)
        #expect(reader.step(number: 3, before: hash(2), hash: hash(9)) == .fork(at: 3))
        #expect(reader.step(number: 1, before: hash(0), hash: hash(9)) == .fork(at: 1))
        // The next entry of the other branch tells it too.
        #expect(reader.step(number: 4, before: hash(9), hash: hash(4)) == .fork(at: 3))
        // Of the last entry all of the hash is compared.
        #expect(reader.step(number: 3, before: hash(2), hash: repeated(3, 31) + [0]) == .fork(at: 3))
    }

    @Test func `nothing but the next entry is taken`() {
        for (number, before, own) in [
            (UInt64(5), hash(4), hash(5)), (3, hash(2), hash(9)), (3, hash(2), hash(3)), (4, hash(9), hash(4)),
            (4, hash(3), [1]), (4, hash(3), hash(0)),
        ] {
            var other = reader(3)
            let isTaken = other.take(number: number, before: before, hash: own)
            #expect(!isTaken && other == reader(3))
        }
    }

    @Test func `a frozen stream takes nothing from the fork on`() {
        var reader = reader(3)
        reader.freeze(before: 3)
        #expect(reader.refused == 3...3)
        #expect(reader.step(number: 4, before: hash(3), hash: hash(4)) == .behind(last: 2))
        #expect(reader.step(number: 3, before: hash(2), hash: hash(3)) == .known)
        // A later end does not open it again.
        reader.end(at: 8)
        #expect(reader.last == 2)
        reader.freeze(before: 0)
        #expect(reader.last == 0 && reader.refused == 1...3)
    }

    @Test func `of a removed member everything up to the named head is still taken`() {
        var reader = reader(1)
        reader.end(at: 2)
        #expect(reader.step(number: 2, before: hash(1), hash: hash(2)) == .next)
        #expect(reader.step(number: 3, before: hash(2), hash: hash(3)) == .behind(last: 2))
        #expect(reader.refused == nil)
    }

    @Test func `a removed member's other entry with the named number is a fork`() {
        let named = StreamHead(stream: id(2), number: 2, hash: hash(9))
        var taken = reader(3)
        let isSame = taken.end(at: named)
        #expect(!isSame && taken.last == 1 && taken.refused == 2...3)
        var later = reader(1)
        let isOpen = later.end(at: named)
        #expect(isOpen && later.step(number: 2, before: hash(1), hash: hash(2)) == .fork(at: 2))
        #expect(later.step(number: 2, before: hash(1), hash: hash(9)) == .next)
        var right = reader(3)
        let isRight = right.end(at: StreamHead(stream: id(2), number: 2, hash: hash(2)))
        #expect(isRight && right.last == 2 && right.refused == 3...3)
        // A later head does not open it again, and the head of another stream is refused.
        let isOther = right.end(at: StreamHead(stream: id(3), number: 1, hash: hash(1)))
        let isLater = right.end(at: StreamHead(stream: id(2), number: 3, hash: hash(3)))
        #expect(!isOther && isLater && right.last == 2)
        let isHead = right.end(at: StreamHead(stream: id(2), number: 1, hash: hash(0)))
        #expect(!isHead && right.last == 2)
    }

    @Test func `what was kept is a reader again`() {
        let reader = reader(3)
        let same = StreamReader(id(2), head: reader.head, marks: reader.marks, last: nil)
        #expect(same == reader)
        #expect(StreamReader(id(2), head: nil, marks: [], last: nil) == StreamReader(id(2)))
        var frozen = reader
        frozen.freeze(before: 2)
        #expect(StreamReader(id(2), head: frozen.head, marks: frozen.marks, last: frozen.last) == frozen)
        #expect(StreamReader(id(2), head: reader.head, marks: reader.marks.dropLast(), last: nil) == nil)
        #expect(StreamReader(id(2), head: nil, marks: reader.marks, last: nil) == nil)
        #expect(StreamReader(id(3), head: reader.head, marks: reader.marks, last: nil) == nil)
    }

    @Test func `a snapshot takes a reader up that stood on the same chain`() {
        let marks = reader(5).marks
        var behind = reader(2)
        let step = behind.resume(marks: marks, before: hash(5))
        #expect(step == .next && behind.head?.number == 5)
        #expect(behind.step(number: 6, before: hash(5), hash: hash(6)) == .next)
        var fresh = StreamReader(id(2))
        let first = fresh.resume(marks: marks, before: hash(5))
        #expect(first == .next && fresh == behind)
        var further = reader(6)
        let known = further.resume(marks: marks, before: hash(5))
        #expect(known == .known && further == reader(6))
    }

    @Test func `what a snapshot lists are eight bytes of each hash`() throws {
        let marks = reader(5).marks
        let bytes = EntryMark.bytes(marks)
        #expect(bytes == (1...5).flatMap { repeated($0, 8) })
        #expect(try bytes.lend { try EntryMark.marks(in: $0) } == marks)
        for count in [1, 7, 39, Int(SyncLimits.entries) * 8 + 8] {
            #expect(repeated(1, count).lend { try? EntryMark.marks(in: $0) } == nil)
        }
    }

    @Test func `a snapshot of another chain is a fork`() {
        var other = reader(2)
        let isTaken = other.take(number: 3, before: hash(2), hash: hash(9))
        #expect(isTaken)
        let step = other.resume(marks: reader(5).marks, before: hash(5))
        #expect(step == .fork(at: 3) && other.head?.number == 3)
        var same = reader(5)
        let full = same.resume(marks: reader(5).marks, before: repeated(5, 31) + [0])
        #expect(full == .fork(at: 5))
        var lying = reader(2)
        let lie = lying.resume(marks: reader(5).marks, before: hash(9))
        #expect(lie == .fork(at: 5) && lying == reader(2))
        var ended = reader(2)
        ended.end(at: 4)
        let late = ended.resume(marks: reader(5).marks, before: hash(5))
        #expect(late == .behind(last: 4))
    }

    @Test func `an entry waits for the heads that it names`() {
        let readers = [id(2) as StreamID: reader(3)]
        let (taken, old) = (
            StreamHead(stream: id(2), number: 3, hash: hash(3)), StreamHead(stream: id(2), number: 1, hash: hash(1))
        )
        let (later, stranger) = (
            StreamHead(stream: id(2), number: 5, hash: hash(5)), StreamHead(stream: id(3), number: 2, hash: hash(2))
        )
        #expect(Delivery([], readers) == .ready)
        #expect(Delivery([taken], readers) == .ready && Delivery([old], readers) == .ready)
        #expect(Delivery([later, stranger], readers) == .waits([later: 4, stranger: 1]))
        let other = StreamHead(stream: id(2), number: 2, hash: hash(9))
        #expect(Delivery([other, stranger], readers) == .contradicts([other]))
    }
}
