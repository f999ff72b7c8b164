import Foundation
import SecretMemory

/// Keeps noncopyable secrets in arrays and dictionaries.
final class Held: Sendable {
    let secret: SecretBytes

    init(_ secret: consuming SecretBytes) { self.secret = secret }

    func holds(_ expected: [UInt8]) -> Bool { secret.holds(expected) }

    convenience init(_ pattern: [UInt8], lifetime: SecretLifetime = .transient) throws(SecretMemoryError) {
        self.init(try pattern.secret(lifetime: lifetime))
    }
}

/// SplitMix64: the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

enum TestRun {
    /// `HOLDFAST_SEED`, to repeat a failure; else a new one, which the failing expectation prints.
    static let seed =
        ProcessInfo.processInfo.environment["HOLDFAST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    /// Set by `make soak`.
    static let isSoak = environment["HOLDFAST_SOAK"] != nil
    static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
    private static let environment = ProcessInfo.processInfo.environment
}

extension [UInt8] {
    /// A secret with these bytes.
    func secret(lifetime: SecretLifetime = .transient) throws(SecretMemoryError) -> SecretBytes {
        try unsafe SecretBytes(copying: span.bytes, lifetime: lifetime)
    }
}

extension SecretBytes {
    /// Whether these are the bytes; an expectation on the arrays would print and compare them at length.
    borrowing func holds(_ expected: [UInt8]) -> Bool { exposed() == expected }

    /// A copy in ordinary memory; the secrets of these tests are none.
    borrowing func exposed() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
    }

    /// Where the bytes lie; for looking at the mapping around them.
    borrowing func address() -> UInt {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    }
}

extension RawSpan {
    subscript(offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// Bytes that differ from those of another salt at every place.
func pattern(_ count: Int, salt: UInt8 = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ salt &* 2 | 1 }
}
