/// Reads a public structure field by field; every read is bounds-checked and a short input is an error.
package struct ByteReader {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    package init(_ bytes: [UInt8], _ range: Range<Int>? = nil) {
        self.bytes = bytes
        let range = range ?? 0..<bytes.count
        position = min(max(range.lowerBound, 0), bytes.count)
        end = min(max(range.upperBound, position), bytes.count)
    }

    /// Reads from `start` up to the checksum of everything before it, which are the last 32 bytes.
    /// - Throws: `checksumMismatch`.
    init(
        checking bytes: [UInt8], from start: Int = 0, _ checksum: (RawSpan) -> [UInt8]
    ) throws(FormatError) {
        let covered = bytes.count - 32
        guard covered >= start else { throw .wrongSize }
        guard unsafe checksum(bytes.span.bytes.extracting(0..<covered)) == Array(bytes[covered...]) else {
            throw .checksumMismatch
        }
        self.init(bytes, start..<covered)
    }

    package var remaining: Int { end - position }

    package mutating func integer<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type) throws(FormatError) -> T {
        let size = T.bitWidth / 8
        guard remaining >= size else { throw .wrongSize }
        var value: T = 0
        for index in (0..<size).reversed() { value = value << 8 | T(bytes[position + index]) }
        position += size
        return value
    }

    package mutating func bytes(_ count: Int) throws(FormatError) -> [UInt8] {
        guard count >= 0, remaining >= count else { throw .wrongSize }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func vaultID() throws(FormatError) -> VaultID {
        guard let id = VaultID(bytes: try bytes(16)) else { throw .wrongSize }
        return id
    }

    /// Bytes behind a 16-bit length.
    package mutating func counted(limit: Int, _ field: StaticField) throws(FormatError) -> [UInt8] {
        let count = Int(try integer(UInt16.self))
        guard count <= limit else { throw .invalid(field: field) }
        return try bytes(count)
    }

    /// Everything left must be zero: what no version writes, no version ignores.
    package mutating func expectZeros(_ field: StaticField) throws(FormatError) {
        for index in position..<end where bytes[index] != 0 { throw .invalid(field: field) }
        position = end
    }

    package func expectEnd() throws(FormatError) {
        guard remaining == 0 else { throw .wrongSize }
    }
}

/// Integers are little-endian in every structure.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func integer<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        for index in 0..<(T.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: value >> T(8 * index))) }
    }

    package mutating func append(_ more: [UInt8]) { bytes += more }

    package mutating func counted(_ more: [UInt8]) {
        integer(UInt16(clamping: more.count))
        bytes += more
    }

    package mutating func pad(to count: Int) {
        bytes += [UInt8](repeating: 0, count: max(0, count - bytes.count))
    }

    /// The bytes, filled up with zeros, and behind them the checksum that ``ByteReader/init(checking:from:_:)`` checks.
    /// - Parameter size: Bytes of all of it.
    consuming func checked(to size: Int, _ checksum: (RawSpan) -> [UInt8]) -> [UInt8] {
        pad(to: size - 32)
        return unsafe bytes + checksum(bytes.span.bytes)
    }
}

extension RawSpan {
    /// A little-endian integer at a byte offset; nil when it would reach over the end.
    @inlinable
    package func integer<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T? {
        guard offset >= 0, byteCount - offset >= MemoryLayout<T>.size else { return nil }
        return unsafe T(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
    }
}

extension RawSpan {
    /// A little-endian integer that is known to be there, because the length was checked or is the type's: a key, nonce
    /// or id that is too short ends the process, and is never filled with zeros.
    @inlinable
    package func present<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
        guard let value = integer(at: offset, as: type) else { preconditionFailure("bytes are missing") }
        return value
    }

    /// The bytes of a range, which is in it: a byte that is missing is never a zero.
    package func copied(_ range: Range<Int>) -> [UInt8] {
        let part = extracting(range)
        return unsafe part.withUnsafeBytes { unsafe Array($0) }
    }
}

extension MutableRawSpan {
    /// Copies bytes to an offset; the caller has made room for all of them.
    package mutating func store(copying bytes: RawSpan, at offset: Int) {
        precondition(offset >= 0 && byteCount - offset >= bytes.byteCount, "bytes do not fit")
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: source)
            }
        }
    }

    /// Writes a little-endian integer; the caller has made room.
    @inlinable
    package mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }
}

/// Why bytes are not a valid part of a vault. Names the place, never the contents.
package enum FormatError: Error, Sendable, Hashable {
    /// Not the kind of file that was expected: the magic bytes differ.
    case wrongMagic
    /// Written by a newer Holdfast, which must be used to open it.
    case newerVersion(UInt32)
    /// Written by a build from before the first release, whose layout was another one.
    case unreleased
    /// The checksum does not match: the bytes were changed or only partly written.
    case checksumMismatch
    /// Shorter or longer than it must be.
    case wrongSize
    /// A field holds what no writer writes; the text names the field.
    case invalid(field: StaticField)
    /// Costs below the compiled-in floor, or above the ceiling; refused before any work is done.
    case derivationCostOutOfRange
    /// More slots, keys or settings than the fixed-size header holds.
    case headerFull
}

/// The name of a field in a format; a fixed set, so that no content can slip into an error.
package struct StaticField: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    package let description: String
    package init(stringLiteral value: StaticString) { description = value.description }
}
