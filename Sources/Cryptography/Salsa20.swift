package import SecretMemory

/// Salsa20: the stream cipher (the eSTREAM submission), and the function that it and scrypt mix with.
package enum Salsa20 {
    /// The stream of a key of 32 bytes, from its beginning.
    /// - Parameters:
    ///   - count: Bytes of the stream.
    ///   - nonce: 8 bytes.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``.
    package static func stream(
        _ count: Int, key: borrowing SecretBytes, nonce: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard key.count == 32, nonce.byteCount == 8 else { throw .invalidSize }
        defer { WorkingMemory.wipe() }
        var output = try SecretBytes.zeroed(count, lifetime: .transient)
        key.withBytes { key in
            output.withMutableBytes { output in
                var state = InlineArray<16, UInt32>(repeating: 0)
                (state[0], state[5], state[10], state[15]) = (0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574)
                for index in 0..<4 {
                    state[1 + index] = word(key, 4 * index)
                    state[11 + index] = word(key, 16 + 4 * index)
                }
                (state[6], state[7]) = (word(nonce, 0), word(nonce, 4))
                for start in stride(from: 0, to: count, by: 64) {
                    state[8] = UInt32(truncatingIfNeeded: start / 64)
                    state[9] = UInt32(truncatingIfNeeded: (start / 64) >> 32)
                    var block = state
                    mix(&block, doubleRounds: 10)
                    for offset in 0..<min(64, count - start) {
                        let byte = UInt8(truncatingIfNeeded: block[offset / 4] >> UInt32(8 * (offset % 4)))
                        output.storeBytes(of: byte, toByteOffset: start + offset, as: UInt8.self)
                    }
                }
            }
        }
        return output
    }

    /// One block: ten double rounds for the cipher, four for Salsa20/8 (RFC 7914, section 3).
    static func mix(_ state: inout InlineArray<16, UInt32>, doubleRounds: Int) {
        var mixed = state
        func quarter(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {
            mixed[b] ^= rotated(mixed[a] &+ mixed[d], 7)
            mixed[c] ^= rotated(mixed[b] &+ mixed[a], 9)
            mixed[d] ^= rotated(mixed[c] &+ mixed[b], 13)
            mixed[a] ^= rotated(mixed[d] &+ mixed[c], 18)
        }
        for _ in 0..<doubleRounds {
            quarter(0, 4, 8, 12)
            quarter(5, 9, 13, 1)
            quarter(10, 14, 2, 6)
            quarter(15, 3, 7, 11)
            quarter(0, 1, 2, 3)
            quarter(5, 6, 7, 4)
            quarter(10, 11, 8, 9)
            quarter(15, 12, 13, 14)
        }
        for index in 0..<16 { state[index] &+= mixed[index] }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

    private static func word(_ bytes: RawSpan, _ offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
