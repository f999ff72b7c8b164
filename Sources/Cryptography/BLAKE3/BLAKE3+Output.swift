internal import SecretMemory

#if _endian(big)
#error("BLAKE3 loads its words as they lie in memory, which is right on little-endian machines only")
#endif

extension BLAKE3 {
    /// The last block of a node, kept back because only the end of the input tells whether it is the root. The block and
    /// what it is compressed with lie in the hasher's memory, filled up with zeros behind `length`.
    struct Output {
        var counter: UInt64
        var length: UInt32
        var flags: UInt32
    }

    /// What the parent of a node takes in.
    func nodeValue(_ output: Output) -> ChainingValue {
        memory.withBlock(Memory.nodeBlock) {
            BLAKE3.compress(
                memory.load(Memory.nodeValue), $0, at: 0, counter: output.counter, length: output.length,
                flags: output.flags)
        }
    }

    /// What the digest is made of when a node is the root.
    func rootValue(_ output: Output) -> ChainingValue {
        memory.withBlock(Memory.nodeBlock) {
            BLAKE3.compress(
                memory.load(Memory.nodeValue), $0, at: 0, counter: 0, length: output.length,
                flags: output.flags | Flag.root)
        }
    }

    /// Fills `target` with the extendable output of the root (BLAKE3 paper, section 2.6).
    func write(_ output: Output, into target: inout MutableRawSpan) {
        var offset = 0
        var index: UInt64 = 0
        while offset < target.byteCount {
            let count = min(64, target.byteCount - offset)
            target.withPart(offset..<offset + count) { writeRootBlock(index, output, into: &$0) }
            offset += count
            index += 1
        }
    }

    /// At most 64 bytes. Words one by one: no copy of the block is made.
    private func writeRootBlock(_ index: UInt64, _ output: Output, into target: inout MutableRawSpan) {
        let flags = output.flags | Flag.root
        let words = memory.withBlock(Memory.nodeBlock) {
            BLAKE3.compressToBlock(
                memory.load(Memory.nodeValue), $0, at: 0, counter: index, length: output.length, flags: flags)
        }
        for position in 0..<target.byteCount {
            let byte = UInt8(truncatingIfNeeded: words[position / 4] >> UInt32(8 * (position % 4)))
            target.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
        }
    }
}

extension Digest {
    @inline(__always)
    init(_ value: BLAKE3.ChainingValue) {
        self.init()
        withMutableBytes { $0.storeBytes(of: value, as: BLAKE3.ChainingValue.self) }
    }
}
