/// The record that tells which records there must be: their number and a keyed sum over them.
///
/// Its key in the database is one zero byte, so no lookup key can be it. It is sealed like any record, its lookup key
/// taken as 32 zero bytes.
package struct RootRecord: Sendable, Hashable {
    private static let plainSize = 8 + 8 + 32 + 8 + 8
    private static let markedSize = plainSize + 8 + 32
    package static let databaseKey: [UInt8] = [0]

    /// Whether an entry of the database with this key is the root record.
    package static func isDatabaseKey(_ key: RawSpan) -> Bool {
        key.byteCount == databaseKey.count && key.integer(at: 0, as: UInt8.self) == databaseKey[0]
    }

    /// Number of records.
    package var count: UInt64 = 0
    /// The sequence number that the next write takes.
    package var nextSequence: UInt64 = 1
    /// Sum modulo 2^256 of the keyed hash of (lookup key, sequence) of every record; least significant word first.
    package var sum = Sum256()
    /// The database transaction that wrote this record: an older state of the database under a newer number is found.
    package var transaction: UInt64 = 0
    /// Values sealed under the keys of this record's epoch, this one included.
    package var seals: UInt64 = 0
    /// What was taken in from the open compartment last; nil in vaults that never took anything in, which keep the
    /// shorter record.
    package var mark: OpenMark?

    package init() {}

    /// Bytes of the plaintext.
    package var size: Int { mark == nil ? RootRecord.plainSize : RootRecord.markedSize }
    package static let maximumSize = markedSize
    static let sizes = [plainSize, markedSize]

    package init(parsing bytes: RawSpan) throws(FormatError) {
        guard RootRecord.sizes.contains(bytes.byteCount), let count = bytes.integer(at: 0, as: UInt64.self),
            let next = bytes.integer(at: 8, as: UInt64.self)
        else { throw .invalid(field: "root record") }
        self.count = count
        nextSequence = next
        sum = Sum256(bytes, at: 16)
        transaction = bytes.present(at: 48, as: UInt64.self)
        seals = bytes.present(at: 56, as: UInt64.self)
        // The open compartment's can be written by anyone with its key; absurd numbers must not overflow ours.
        guard count < 1 << 62, next < 1 << 62, seals < 1 << 62 else { throw .invalid(field: "root record") }
        guard bytes.byteCount == RootRecord.markedSize else { return }
        mark = OpenMark(
            sequence: bytes.present(at: RootRecord.plainSize, as: UInt64.self),
            sum: Sum256(bytes, at: RootRecord.plainSize + 8))
    }

    package func write(into bytes: inout MutableRawSpan) {
        bytes.store(count, at: 0)
        bytes.store(nextSequence, at: 8)
        for index in 0..<4 { bytes.store(sum.words[index], at: 16 + 8 * index) }
        bytes.store(transaction, at: 48)
        bytes.store(seals, at: 56)
        guard let mark else { return }
        bytes.store(mark.sequence, at: RootRecord.plainSize)
        for index in 0..<4 { bytes.store(mark.sum.words[index], at: RootRecord.plainSize + 8 + 8 * index) }
    }
}

/// How far the open compartment was taken in: written in the transaction that stores its items, so that after a kill
/// before they are removed there they are known again.
package struct OpenMark: Sendable, Hashable {
    /// Items up to this sequence number are in the inbox, if they are the ones that the sum is of.
    package var sequence: UInt64
    /// Sum of a hash of each of them.
    package var sum: Sum256

    package init(sequence: UInt64, sum: Sum256) {
        self.sequence = sequence
        self.sum = sum
    }
}

/// The root record's value in the database: a sealed record, and behind it the transaction's number in clear, for the
/// check of the file that needs no key. The sealed number is the one that counts.
package enum SealedRoot {
    package static let numberSize = 8

    /// Size of the value of a root record of this plaintext's size.
    package static func size(of plaintext: Int) -> Int { plaintext + SealedRecord.overhead + numberSize }

    /// Whether a root record's value can have this size.
    package static func isSize(_ size: Int) -> Bool { RootRecord.sizes.contains { Self.size(of: $0) == size } }

    /// The number in clear of a value that lies in a page; nil where no root record can be.
    package static func transaction(ofValueAt offset: Int, size: Int, in page: RawSpan) -> UInt64? {
        guard isSize(size), page.byteCount - offset >= size else { return nil }
        return page.integer(at: offset + size - numberSize, as: UInt64.self)
    }
}

/// A 256-bit integer that is added to and subtracted from, wrapping: order of the operands does not matter, so neither
/// does the order of writes.
package struct Sum256: Sendable, Hashable {
    package private(set) var words: SIMD4<UInt64>

    package init() { words = .zero }

    /// Reads 32 little-endian bytes, which are there.
    package init(_ bytes: RawSpan, at offset: Int = 0) {
        words = SIMD4(
            bytes.present(at: offset, as: UInt64.self), bytes.present(at: offset + 8, as: UInt64.self),
            bytes.present(at: offset + 16, as: UInt64.self), bytes.present(at: offset + 24, as: UInt64.self))
    }

    package mutating func add(_ other: Sum256) {
        var carry: UInt64 = 0
        for index in 0..<4 {
            let (partial, first) = words[index].addingReportingOverflow(other.words[index])
            let (total, second) = partial.addingReportingOverflow(carry)
            words[index] = total
            carry = (first ? 1 : 0) + (second ? 1 : 0)
        }
    }

    package mutating func subtract(_ other: Sum256) {
        var borrow: UInt64 = 0
        for index in 0..<4 {
            let (partial, first) = words[index].subtractingReportingOverflow(other.words[index])
            let (total, second) = partial.subtractingReportingOverflow(borrow)
            words[index] = total
            borrow = (first ? 1 : 0) + (second ? 1 : 0)
        }
    }
}
