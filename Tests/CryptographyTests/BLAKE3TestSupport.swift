import Cryptography
import SecretMemory

/// A reproducible generator (SplitMix64) that prints its seed; give that number to `init(seed:)` to run a failure again.
struct PrintedSeed: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(_ test: String = #function, seed: UInt64 = .random(in: 0 ... .max)) {
        self.seed = seed
        state = seed
        print("\(test): seed \(seed)")
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &self) }
    }
}

/// The input of the official vectors.
func blake3Input(_ length: Int) -> [UInt8] { (0..<length).map { UInt8($0 % 251) } }

/// `count` bytes of the extendable output.
func blake3Output(_ hasher: borrowing BLAKE3, _ count: Int) -> [UInt8] {
    var output = [UInt8](repeating: 0xEE, count: count)
    var span = output.mutableSpan
    var bytes = unsafe span.mutableBytes
    hasher.finalize(into: &bytes)
    return output
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

extension BLAKE3 {
    mutating func update(_ bytes: [UInt8]) { unsafe update(bytes.span.bytes) }
    mutating func update(_ bytes: ArraySlice<UInt8>) { unsafe update(bytes.span.bytes) }
    static func hash(_ bytes: ArraySlice<UInt8>) -> Digest { unsafe hash(bytes.span.bytes) }
    static func hash(_ bytes: [UInt8]) -> Digest { unsafe hash(bytes.span.bytes) }

    static func keyedHash(_ bytes: [UInt8], key: [UInt8]) throws(CryptographyError) -> Digest {
        unsafe try keyedHash(bytes.span.bytes, key: key.span.bytes)
    }
}

extension SecretBytes {
    /// A copy of bytes that are no secret outside a test.
    init(forTest bytes: [UInt8]) throws(SecretMemoryError) {
        self = unsafe try SecretBytes(copying: bytes.span.bytes)
    }

    borrowing func array() -> [UInt8] {
        withBytes { bytes in (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) } }
    }
}
