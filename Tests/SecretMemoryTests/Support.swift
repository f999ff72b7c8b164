import Foundation
import SecretMemory
import TestSupport

/// Keeps noncopyable secrets in arrays and dictionaries.
final class Held: Sendable {
    let secret: SecretBytes

    init(_ secret: consuming SecretBytes) { self.secret = secret }

    func holds(_ expected: [UInt8]) -> Bool { secret.holds(expected) }

    convenience init(_ pattern: [UInt8], lifetime: SecretLifetime = .transient) throws(SecretMemoryError) {
        self.init(try pattern.secret(lifetime: lifetime))
    }
}

extension [UInt8] {
    /// A secret with these bytes.
    func secret(lifetime: SecretLifetime = .transient) throws(SecretMemoryError) -> SecretBytes {
        try unsafe SecretBytes(copying: span.bytes, lifetime: lifetime)
    }
}

extension SecretBytes {
    /// Whether these are the bytes; an expectation on the arrays would print and compare them at length.
    borrowing func holds(_ expected: [UInt8]) -> Bool { revealed() == expected }

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
func filler(_ count: Int, salt: UInt8 = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ salt &* 2 | 1 }
}
