#if _endian(big)
#error("BLAKE3 loads its words as they lie in memory, which is right on little-endian machines only")
#endif

extension BLAKE3 {
    /// The last block of a node, kept back because only the end of the input tells whether it is the root.
    struct Output {
        var chainingValue: ChainingValue
        /// Filled up with zeros behind `length`.
        var block: SIMD16<UInt32>
        var counter: UInt64
        var length: UInt32
        var flags: UInt32

        static func parent(
            _ left: ChainingValue, _ right: ChainingValue, key: ChainingValue, flags: UInt32
        ) -> Output {
            let block = SIMD8(left.w01, left.w23, left.w45, left.w67, right.w01, right.w23, right.w45, right.w67)
            return Output(
                chainingValue: key, block: unsafe unsafeBitCast(block, to: SIMD16<UInt32>.self), counter: 0, length: 64,
                flags: flags | Flag.parent)
        }

        /// What the parent of this node takes in.
        var nodeValue: ChainingValue {
            withBlock { BLAKE3.compress(chainingValue, $0, at: 0, counter: counter, length: length, flags: flags) }
        }

        /// What the digest is made of when this node is the root.
        var rootValue: ChainingValue {
            withBlock {
                BLAKE3.compress(chainingValue, $0, at: 0, counter: 0, length: length, flags: flags | Flag.root)
            }
        }

        /// Fills `output` with the extendable output of the root (BLAKE3 paper, section 2.6).
        func write(into output: inout MutableRawSpan) {
            var offset = 0
            var index: UInt64 = 0
            while output.byteCount - offset >= 64 {
                output.storeBytes(of: rootBlock(index), toByteOffset: offset, as: SIMD16<UInt32>.self)
                offset += 64
                index += 1
            }
            guard offset < output.byteCount else { return }
            let last = rootBlock(index)
            for position in 0..<(output.byteCount - offset) {
                let byte = UInt8(truncatingIfNeeded: last[position / 4] >> UInt32(8 * (position % 4)))
                output.storeBytes(of: byte, toByteOffset: offset + position, as: UInt8.self)
            }
        }

        private func rootBlock(_ index: UInt64) -> SIMD16<UInt32> {
            let flags = flags | Flag.root
            return withBlock {
                BLAKE3.compressToBlock(chainingValue, $0, at: 0, counter: index, length: length, flags: flags)
            }
        }

        @inline(__always)
        private func withBlock<R>(_ body: (RawSpan) -> R) -> R {
            unsafe withUnsafeBytes(of: block) { bytes in unsafe body(RawSpan(_unsafeBytes: bytes)) }
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
