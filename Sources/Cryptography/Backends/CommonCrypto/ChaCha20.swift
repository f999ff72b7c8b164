#if canImport(CryptoKit)
package import SecretMemory

/// ChaCha20 (RFC 8439) without a tag. CryptoKit has it with one alone, whose block comes off the stream's beginning.
package enum StreamCipher {
    /// Encrypts or decrypts from the beginning of the stream.
    /// - Parameter nonce: 12 bytes.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``.
    package static func chacha20(
        _ content: RawSpan, key: borrowing SecretBytes, nonce: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        // The counter has 32 bits.
        guard nonce.byteCount == 12, key.count == 32, content.byteCount >> 6 < UInt32.max else { throw .invalidSize }
        defer { WorkingMemory.wipe() }
        var output = try SecretBytes.zeroed(content.byteCount, lifetime: .transient)
        key.withBytes { key in
            output.withMutableBytes { output in
                var state = ChaChaState(key, nonce)
                for start in stride(from: 0, to: content.byteCount, by: 64) {
                    state.next()
                    for offset in 0..<min(64, content.byteCount - start) {
                        output.storeBytes(
                            of: content.byte(start + offset) ^ state.byte(offset), toByteOffset: start + offset,
                            as: UInt8.self)
                    }
                }
            }
        }
        return output
    }
}

/// The words of RFC 8439, section 2.3, and the block that was made of them last.
private struct ChaChaState {
    private var words = InlineArray<16, UInt32>(repeating: 0)
    private var block = InlineArray<16, UInt32>(repeating: 0)
    private var counter: UInt32 = 0

    init(_ key: RawSpan, _ nonce: RawSpan) {
        (words[0], words[1], words[2], words[3]) = (0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574)
        for index in 0..<8 { words[4 + index] = key.word(4 * index) }
        for index in 0..<3 { words[13 + index] = nonce.word(4 * index) }
    }

    mutating func next() {
        words[12] = counter
        counter &+= 1
        block = words
        for _ in 0..<10 {
            for column in 0..<4 { quarter(column, 4 + column, 8 + column, 12 + column) }
            for column in 0..<4 {
                quarter(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
            }
        }
        for index in 0..<16 { block[index] &+= words[index] }
    }

    func byte(_ offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: block[offset >> 2] >> UInt32(8 * (offset & 3))) }

    private mutating func quarter(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {
        block[a] &+= block[b]
        block[d] = (block[d] ^ block[a]).rotated(16)
        block[c] &+= block[d]
        block[b] = (block[b] ^ block[c]).rotated(12)
        block[a] &+= block[b]
        block[d] = (block[d] ^ block[a]).rotated(8)
        block[c] &+= block[d]
        block[b] = (block[b] ^ block[c]).rotated(7)
    }
}

extension UInt32 {
    func rotated(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}

extension RawSpan {
    func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Four bytes, the lowest first.
    func word(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
#endif
