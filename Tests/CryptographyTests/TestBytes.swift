import Cryptography
import SecretMemory

/// Bytes written as hexadecimal digits; spaces are ignored. Test data only: anything else stops the test.
func hexBytes(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.utf8.map { digit -> UInt8 in
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: preconditionFailure("not lower-case hexadecimal: \(text)")
        }
    }
    precondition(digits.count.isMultiple(of: 2), "odd number of digits: \(text)")
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func testSecret(_ bytes: [UInt8]) throws -> SecretBytes { try unsafe SecretBytes(copying: bytes.span.bytes) }

extension Nonce96 {
    init?(_ bytes: [UInt8]) { unsafe self.init(copying: bytes.span.bytes) }

    var array: [UInt8] {
        withBytes { bytes in (0..<12).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) } }
    }
}

extension SecretBytes {
    /// A copy outside locked memory, which only a test may make.
    borrowing func revealed() -> [UInt8] {
        withBytes { bytes in (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) } }
    }
}

/// SplitMix64: a random source that repeats from its seed, which a failing test prints.
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64 = .random(in: 0...UInt64.max)) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }
}
