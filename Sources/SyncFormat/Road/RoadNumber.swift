/// 64 bits as they stand in a file's name: 16 lower-case hexadecimal digits.
package struct RoadNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let value: UInt64

    package init(_ value: UInt64) { self.value = value }

    /// The first 8 of a hash's bytes; nil when there are fewer.
    package init?(hash: some Collection<UInt8>) {
        guard hash.count >= 8 else { return nil }
        value = hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Nil unless there are 16 lower-case digits.
    init?(digits: some Collection<UInt8>) {
        guard digits.count == 16 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        self.value = value
    }

    package static func < (left: RoadNumber, right: RoadNumber) -> Bool { left.value < right.value }

    package var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
