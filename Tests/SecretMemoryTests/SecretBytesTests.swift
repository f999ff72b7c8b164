import SecretMemory
import TestSupport
import Testing

// That a secret cannot be printed, compared with `==` or copied by assignment is a fact of its type: SecretBytes is
// noncopyable and conforms to nothing, so `"\(secret)"` and `String(describing: secret)` do not compile.

/// Around every border of the slab arena's size classes, of a page, and far beyond.
private let sizes = [
    0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048,
    2049, 4095, 4096, 4097, 8191, 8192, 8193, 65_536, 1 << 20,
]

// One at a time: the tests of an ordinary user share the 8 MiB that it may lock.
@Suite(.serialized) struct SecretBytesTests {
    @Test("holds what was written", arguments: sizes, [SecretLifetime.transient, .longLived])
    func roundTrip(_ count: Int, _ lifetime: SecretLifetime) throws {
        let expected = filler(count)
        let filled = try SecretBytes(count: count, lifetime: lifetime) { bytes in
            for offset in 0..<bytes.byteCount {
                bytes.storeBytes(of: expected[offset], toByteOffset: offset, as: UInt8.self)
            }
        }
        let first = filled.holds(expected)
        #expect(first)
        #expect(filled.count == count)
        let copied = try filled.copy(lifetime: lifetime)
        let second = copied.holds(expected)
        #expect(second)
    }

    @Test("holds what was copied from ordinary memory", arguments: sizes)
    func copied(_ count: Int) throws {
        let secret = try filler(count).secret()
        let intact = secret.holds(filler(count))
        #expect(intact)
    }

    @Test("starts as zeros", arguments: sizes, [SecretLifetime.transient, .longLived])
    func zeroed(_ count: Int, _ lifetime: SecretLifetime) throws {
        let secret = try SecretBytes(zeroed: count, lifetime: lifetime)
        let zero = secret.holds(zeros(count))
        #expect(zero)
    }

    @Test func `is changed in place`() throws {
        var secret = try filler(40).secret()
        let before = secret.address()
        secret.withMutableBytes { $0.storeBytes(of: 0xAB, toByteOffset: 39, as: UInt8.self) }
        let (after, bytes) = (secret.address(), secret.revealed())
        #expect(before == after)
        #expect(bytes == filler(39) + [0xAB])
    }

    @Test func `a copy has bytes of its own`() throws {
        var secret = try filler(40).secret()
        let copy = try secret.copy()
        secret.withMutableBytes { $0.wipe() }
        let (original, copied) = (secret.revealed(), copy.revealed())
        #expect(original == zeros(40))
        #expect(copied == filler(40))
    }

    @Test func `lends a part, and keeps it`() throws {
        let secret = try filler(64).secret()
        let start = secret.address()
        let (lent, bytes) = secret.withPart(8..<40) { part in (part.address(), part.revealed()) }
        #expect(lent == start + 8 && bytes == Array(filler(64)[8..<40]))
        // Neither wiped nor given to the next secret.
        let next = try SecretBytes(zeroed: 32)
        let (after, whole) = (next.address(), secret.revealed())
        #expect(after != lent && whole == filler(64))
    }

    @Test("copies a part", arguments: [0..<0, 0..<1, 0..<64, 1..<2, 31..<64, 63..<64, 64..<64])
    func part(_ range: Range<Int>) throws {
        let secret = try filler(64).secret()
        let part = try secret.copy(range)
        let bytes = part.revealed()
        #expect(bytes == Array(filler(64)[range]))
    }

    @Test("refuses a part that is not there", arguments: [0..<65, 64..<65, -1..<1, 65..<65, 0..<Int.max])
    func outside(_ range: Range<Int>) throws {
        let secret = try filler(64).secret()
        #expect(throws: SecretMemoryError.invalidSize(range.upperBound)) { _ = try secret.copy(range) }
    }

    @Test(
        "refuses impossible sizes", arguments: [-1, .min, (1 << 30) + 1, .max], [SecretLifetime.transient, .longLived])
    func impossible(_ count: Int, _ lifetime: SecretLifetime) {
        #expect(throws: SecretMemoryError.invalidSize(count)) { _ = try SecretBytes(zeroed: count, lifetime: lifetime) }
    }

    @Test func `an error of the closure passes through and leaves the secret as it was`() throws {
        struct Stop: Error {}
        var secret = try filler(8).secret()
        #expect(throws: Stop.self) { try secret.withBytes { _ in throw Stop() } }
        #expect(throws: Stop.self) { try secret.withMutableBytes { _ in throw Stop() } }
        let bytes = secret.revealed()
        #expect(bytes == filler(8))
    }
}

@Suite struct ConstantTimeEqualityTests {
    @Test("sees each single bit", arguments: [1, 2, 31, 32, 33, 64, 100])
    func singleBits(_ count: Int) throws {
        let secret = try filler(count).secret()
        let same = try secret.copy(lifetime: .longLived)
        let equal = secret.isEqual(to: same)
        #expect(equal)
        var unseen: [Int] = []
        for bit in 0..<count * 8 {
            var other = filler(count)
            other[bit / 8] ^= 1 << (bit % 8)
            if unsafe secret.isEqual(to: other.span.bytes) { unseen.append(bit) }
        }
        #expect(unseen == [])
    }

    @Test func `differences do not cancel out`() throws {
        let left = try ([0x0F, 0xF0, 0, 0xFF] as [UInt8]).secret()
        let right = try ([0xF0, 0x0F, 0, 0xFF] as [UInt8]).secret()
        let equal = left.isEqual(to: right)
        #expect(!equal)
    }

    @Test("another size is never equal", arguments: [0, 1, 31, 33, 4096])
    func sizes(_ count: Int) throws {
        let secret = try SecretBytes(zeroed: 32)
        let other = try SecretBytes(zeroed: count)
        let (one, two) = (secret.isEqual(to: other), other.isEqual(to: secret))
        #expect(!one)
        #expect(!two)
    }

    @Test func `nothing equals nothing`() throws {
        let secret = try SecretBytes(zeroed: 0)
        let other = try SecretBytes(zeroed: 0, lifetime: .longLived)
        let equal = secret.isEqual(to: other)
        #expect(equal)
    }

    @Test func `wiping clears every byte`() throws {
        for count in [0, 1, 15, 16, 17, 4097] {
            var secret = try filler(count).secret()
            secret.withMutableBytes { $0.wipe() }
            let zero = secret.holds(zeros(count))
            #expect(zero, "\(count) bytes")
        }
    }
}
