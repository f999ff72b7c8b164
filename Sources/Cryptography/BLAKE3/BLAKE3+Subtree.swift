extension BLAKE3 {
    /// Chunks of the largest subtree hashed at once: its chaining values fill 1 KiB, which still lies on the stack.
    static var subtreeLimit: Int { 32 }

    /// The two children of the node above `chunks` (2, 4, 8, 16 or 32) complete chunks.
    static func subtree(
        _ bytes: RawSpan, at offset: Int, chunks: Int, counter: UInt64, key: ChainingValue, flags: UInt32
    ) -> (left: ChainingValue, right: ChainingValue) {
        guard chunks >= 4 else {
            let second = offset + chunkSize
            return (
                chunk(bytes, at: offset, count: chunkSize, counter: counter, key: key, flags: flags),
                chunk(bytes, at: second, count: chunkSize, counter: counter + 1, key: key, flags: flags)
            )
        }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 32 * subtreeLimit, alignment: 16) { nodes in
            var input = LaneInput(
                stride: chunkSize, blocks: chunkSize / 64, counter: counter, counterStep: 1, flags: flags,
                firstBlockFlags: Flag.chunkStart, lastBlockFlags: Flag.chunkEnd)
            for first in stride(from: 0, to: chunks, by: 4) {
                input.counter = counter + UInt64(first)
                let four = compressFour(bytes, at: offset + first * chunkSize, input, key: key)
                unsafe nodes.storeBytes(of: four, toByteOffset: 32 * first, as: SIMD32<UInt32>.self)
            }
            input = LaneInput(
                stride: 64, blocks: 1, counter: 0, counterStep: 0, flags: flags | Flag.parent, firstBlockFlags: 0,
                lastBlockFlags: 0)
            var count = chunks
            while count > 4 {
                count /= 2
                for first in stride(from: 0, to: count, by: 4) {
                    let four = unsafe compressFour(RawSpan(_unsafeBytes: nodes), at: 64 * first, input, key: key)
                    unsafe nodes.storeBytes(of: four, toByteOffset: 32 * first, as: SIMD32<UInt32>.self)
                }
            }
            let four = unsafe RawSpan(_unsafeBytes: nodes)
            let parent = flags | Flag.parent
            return (
                compress(key, four, at: 0, counter: 0, length: 64, flags: parent),
                compress(key, four, at: 64, counter: 0, length: 64, flags: parent)
            )
        }
    }
}
