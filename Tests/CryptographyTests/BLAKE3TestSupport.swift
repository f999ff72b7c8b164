import Cryptography

/// The input of the official vectors.
func blake3Input(_ length: Int) -> [UInt8] { (0..<length).map { UInt8($0 % 251) } }

/// `count` bytes of the extendable output.
func blake3Output(_ hasher: inout BLAKE3, _ count: Int) -> [UInt8] {
    var output = [UInt8](repeating: 0xEE, count: count)
    var span = output.mutableSpan
    var bytes = unsafe span.mutableBytes
    hasher.finalize(into: &bytes)
    return output
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
