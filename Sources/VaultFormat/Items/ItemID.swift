/// An item's own 16 random bytes: it keeps them when it is renamed, a copy gets others.
public struct ItemID: Sendable, Hashable, CustomStringConvertible {
    /// Bytes of an id.
    package static let size = 16

    private let first: UInt64
    private let second: UInt64

    /// Nil unless there are 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == ItemID.size else { return nil }
        unsafe self.init(reading: bytes.span.bytes, at: 0)
    }

    /// Nil when it would reach over the end.
    init?(reading bytes: RawSpan, at offset: Int) {
        guard let first = bytes.integer(at: offset, as: UInt64.self),
            let second = bytes.integer(at: offset + 8, as: UInt64.self)
        else { return nil }
        self.first = first
        self.second = second
    }

    func write(into bytes: inout MutableRawSpan, at offset: Int) {
        bytes.store(first, at: offset)
        bytes.store(second, at: offset + 8)
    }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for word in [first, second] {
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * index))) }
        }
        return bytes
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { Hexadecimal.encode(bytes) }
}
