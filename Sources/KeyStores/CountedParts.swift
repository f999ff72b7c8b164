/// Several byte strings in one, each behind its 16-bit length, little endian.
enum CountedParts {
    static func encode(_ parts: [[UInt8]]) -> [UInt8] {
        parts.flatMap { [UInt8($0.count & 0xff), UInt8($0.count >> 8 & 0xff)] + $0 }
    }

    /// Exactly `count` of them from a place to the end; nil for anything else.
    static func parse(_ bytes: [UInt8], from start: Int, count: Int) -> [[UInt8]]? {
        var parts: [[UInt8]] = []
        var place = start
        for _ in 0..<count {
            guard place + 2 <= bytes.count else { return nil }
            let size = Int(bytes[place]) | Int(bytes[place + 1]) << 8
            place += 2
            guard place + size <= bytes.count else { return nil }
            parts.append(Array(bytes[place..<place + size]))
            place += size
        }
        return place == bytes.count ? parts : nil
    }
}
