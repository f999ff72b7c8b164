import SeededNumbers
import SyncFormat
import TestSupport
import VaultFormat

extension [UInt8] {
    /// Lends the bytes for writing.
    mutating func lendForWriting<R, E: Error>(_ body: (inout MutableRawSpan) throws(E) -> R) throws(E) -> R {
        var elements = mutableSpan
        var bytes = unsafe elements.mutableBytes
        return try body(&bytes)
    }

    func flipped(_ bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}

/// A little-endian integer, written as the document says and not with the code under test.
func little(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

func id<Named>(_ byte: UInt8) -> SyncID<Named> {
    guard let id = SyncID<Named>(repeated(byte, 16)) else { preconditionFailure("16 bytes") }
    return id
}

func hash(_ byte: UInt8) -> [UInt8] { repeated(byte, 32) }

/// The format error that `body` throws; nil when it throws none.
func formatError(_ body: () throws(FormatError) -> Void) -> FormatError? {
    do throws(FormatError) {
        try body()
        return nil
    } catch {
        return error
    }
}

func front(
    _ kind: EntryFront.Kind = .changes, epoch: UInt32 = 3, number: UInt64 = 2, before: [UInt8] = hash(5)
) throws(FormatError) -> EntryFront {
    try EntryFront(
        kind: kind, group: id(1), epoch: epoch, stream: kind == .roster ? .none : id(2), number: number,
        before: before, salt: hash(6), rosterMark: repeated(kind == .roster ? 0 : 7, 8))
}

/// Every bit of a valid sample flipped, every beginning of it, more behind it, and random bytes: a parser refuses, or
/// what it read is written as the very same bytes.
func checkGarbage(_ sample: [UInt8], _ parse: ([UInt8]) -> [UInt8]?) -> Bool {
    var random = SeededGenerator(seed: 46)
    var inputs = (0..<sample.count * 8).map { sample.flipped($0) }
    inputs += (0..<sample.count).map { Array(sample.prefix($0)) }
    inputs.append(sample + [0])
    inputs += (0..<1000).map { _ in random.bytes(Int.random(in: 0...sample.count * 2, using: &random)) }
    // The beginning is right, so that what is behind it is read.
    inputs += (0..<1000).map { _ in
        let count = Int.random(in: 0...sample.count, using: &random)
        return sample.prefix(count) + random.bytes(sample.count - count)
    }
    return inputs.allSatisfy { input in parse(input).map { $0 == input } ?? true }
}
