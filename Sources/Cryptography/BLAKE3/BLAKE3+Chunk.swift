extension BLAKE3 {
    static var chunkSize: Int { 1024 }

    /// The value of one chunk, the 0...1,024 bytes at `offset` (BLAKE3 paper, section 2.4).
    /// - Parameter endFlags: For the last block only, as ``Flag/root`` when there is no other chunk.
    @inline(__always)
    static func chunk(
        _ bytes: RawSpan, at offset: Int, count: Int, counter: UInt64, key: ChainingValue, flags: UInt32,
        endFlags: UInt32 = 0
    ) -> ChainingValue {
        var value = key
        var flags = flags | Flag.chunkStart
        var offset = offset
        var rest = count
        while rest > 64 {
            value = compress(value, bytes, at: offset, counter: counter, length: 64, flags: flags)
            flags &= ~Flag.chunkStart
            offset += 64
            rest -= 64
        }
        flags |= Flag.chunkEnd | endFlags
        if rest == 64 { return compress(value, bytes, at: offset, counter: counter, length: 64, flags: flags) }
        let block = paddedBlock(bytes, at: offset, count: rest)
        return unsafe withUnsafeBytes(of: block) { padded in
            unsafe compress(
                value, RawSpan(_unsafeBytes: padded), at: 0, counter: counter, length: UInt32(rest), flags: flags)
        }
    }

    /// The 0...64 bytes at `offset`, filled up with zeros.
    @inline(__always)
    static func paddedBlock(_ bytes: RawSpan, at offset: Int, count: Int) -> SIMD16<UInt32> {
        var block = SIMD16<UInt32>()
        unsafe withUnsafeMutableBytes(of: &block) { target in
            unsafe bytes.extracting(offset..<(offset + count)).withUnsafeBytes { source in
                unsafe target.copyMemory(from: source)
            }
        }
        return block
    }
}
