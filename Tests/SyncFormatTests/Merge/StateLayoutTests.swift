import SyncFormat
import TestSupport
import Testing
import VaultFormat

/// A state's bytes: one spelling, and nothing else is taken.
@Suite(.seeded) struct StateLayoutTests {
    private static let item = SyncItemID([UInt8](repeating: 5, count: 16))!

    /// A state with a value of every part.
    private func sample() throws -> [UInt8] {
        let field = try #require(FieldID([UInt8](repeating: 6, count: 16)))
        let values: [(ItemPart, [UInt8])] = [
            (.place, [0, 2, 0, 97, 98, 1, 0, 99]), (.kind, [1]), (.flags, [1, 0]),
            (.created, [0, 1, 0, 0, 0, 0, 0, 0]), (.trash, []), (.notes, Array("notes".utf8)), (.order, field.bytes),
            (.field(field), [2, 0, 1, 0, 112, 1, 2, 3]), (.tag, Array("work".utf8)), (.wideningTag, [97, 1]),
            (.history, [9, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 112, 1]), (.unknown, [9, 2, 0, 0, 0, 1, 2]),
        ]
        let first = try #require(StreamID([UInt8](repeating: 1, count: 16)))
        let second = try #require(StreamID([UInt8](repeating: 2, count: 16)))
        var state = ItemState()
        var bytes: [UInt8] = []
        var places: [Range<Int>] = []
        for (_, value) in values {
            places.append(bytes.count..<bytes.count + value.count)
            bytes += value
        }
        let table = unsafe ValueTable(places, in: bytes.span.bytes)
        let added = try zip(values, places).map { (part: $0.0, value: try #require(table.number(of: $1))) }
        state.write(at: Stamp(Dot(first, 3), time: 7), adding: Array(added.dropLast(4)))
        var removed = ItemState()
        removed.write(at: Stamp(Dot(first, 2), time: 0))
        removed.remove()
        state = state.joined(with: removed)
        state.write(at: Stamp(Dot(second, 1), time: -8), adding: Array(added.suffix(4)))
        return try encoded(state, table, bytes)
    }

    private func encoded(_ state: ItemState, _ table: ValueTable, _ values: [UInt8]) throws -> [UInt8] {
        let writer = try StateWriter(state, of: StateLayoutTests.item, form: .item, values: table)
        var output = [UInt8](repeating: 0, count: writer.size)
        var span = output.mutableSpan
        var bytes = unsafe span.mutableBytes
        unsafe writer.write(into: &bytes, values: values.span.bytes)
        return output
    }

    /// What a reader makes of bytes, written again; nil when it refuses them.
    private func again(_ bytes: [UInt8]) throws -> [UInt8]? {
        let layout: StateLayout
        do {
            layout = try unsafe StateLayout(parsing: bytes.span.bytes, in: 0..<bytes.count)
        } catch { return nil }
        let table = unsafe ValueTable(layout.elements.map(\.value), in: bytes.span.bytes)
        let state = try table.state(of: layout)
        let writer = try StateWriter(state, of: layout.id, form: layout.form, values: table)
        var output = [UInt8](repeating: 0, count: writer.size)
        var span = output.mutableSpan
        var target = unsafe span.mutableBytes
        unsafe writer.write(into: &target, values: bytes.span.bytes)
        return output
    }

    @Test func `what is written is read, and written as the same bytes`() throws {
        let sample = try sample()
        #expect(try again(sample) == sample)
        let layout = try unsafe StateLayout(parsing: sample.span.bytes, in: 0..<sample.count)
        #expect(layout.elements.count == 12 && layout.versions.count == 1)
        #expect(!layout.removals.isEmpty && layout.context.highest.count == 2)
    }

    @Test func `every bit that is turned is refused or another state`() throws {
        let sample = try sample()
        for bit in 0..<sample.count * 8 {
            var changed = sample
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            if let read = try again(changed) { #expect(read == changed, "bit \(bit)") }
        }
    }

    @Test func `every shorter or longer run is refused`() throws {
        let sample = try sample()
        for count in 0..<sample.count { #expect(try again(Array(sample.prefix(count))) == nil) }
        #expect(try again(sample + [0]) == nil)
    }

    @Test func `garbage is refused or has one spelling`() throws {
        var random = SeededGenerator(seed: TestRun.seed)
        let sample = try sample()
        for _ in 0..<TestRun.count(test: 2_000, check: 50_000, soak: 500_000) {
            var bytes = Bool.random(using: &random) ? sample : random.bytes(Int.random(in: 0...400, using: &random))
            for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if let read = try again(bytes) { #expect(read == bytes) }
        }
    }

    @Test func `a later version is told apart from damage`() throws {
        var sample = try sample()
        sample[0] = 2
        #expect(throws: FormatError.newerVersion(2)) {
            _ = try unsafe StateLayout(parsing: sample.span.bytes, in: 0..<sample.count)
        }
    }
}
