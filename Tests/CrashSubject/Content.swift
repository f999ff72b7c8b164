import SeededNumbers

/// A value that is told by two numbers, so that a line of text acknowledges a megabyte.
package struct Content: Sendable, Hashable {
    package let seed: UInt64
    /// Bytes.
    package let size: Int

    package init(seed: UInt64, size: Int) {
        self.seed = seed
        self.size = size
    }

    /// The value itself. A block of random bytes is repeated with its number in front, so that no part is like another.
    package func bytes() -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let words = (0..<64).map { _ in generator.next() }
        let block = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + block.count + 4)
        var number: UInt32 = 0
        while bytes.count < size {
            for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * shift))) }
            bytes.append(contentsOf: block)
            number += 1
        }
        bytes.removeLast(bytes.count - size)
        return bytes
    }
}
