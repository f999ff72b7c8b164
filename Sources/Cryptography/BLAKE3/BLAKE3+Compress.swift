extension BLAKE3 {
    /// Eight words that stand for everything below a node, or the key.
    // Four integers and not a SIMD8: the scalar compression gets and returns them in registers, which takes a tenth
    // of the time of 64 bytes away.
    struct ChainingValue: BitwiseCopyable, Equatable {
        var w01, w23, w45, w67: UInt64

        @inline(__always)
        init(
            _ w0: UInt32, _ w1: UInt32, _ w2: UInt32, _ w3: UInt32,
            _ w4: UInt32, _ w5: UInt32, _ w6: UInt32, _ w7: UInt32
        ) {
            w01 = UInt64(w0) | UInt64(w1) << 32
            w23 = UInt64(w2) | UInt64(w3) << 32
            w45 = UInt64(w4) | UInt64(w5) << 32
            w67 = UInt64(w6) | UInt64(w7) << 32
        }
    }

    /// The initialisation vector, that of SHA-256 (BLAKE3 paper, section 2.2).
    // Computed, so that no use pays for the once-only start of a global.
    @inline(__always)
    static var initialisationVector: ChainingValue {
        ChainingValue(
            0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19)
    }

    /// Domain separation flags (BLAKE3 paper, section 2.2).
    enum Flag {
        static var chunkStart: UInt32 { 1 }
        static var chunkEnd: UInt32 { 1 << 1 }
        static var parent: UInt32 { 1 << 2 }
        static var root: UInt32 { 1 << 3 }
        static var keyedHash: UInt32 { 1 << 4 }
        static var deriveKeyContext: UInt32 { 1 << 5 }
        static var deriveKeyMaterial: UInt32 { 1 << 6 }
    }

    /// The first eight words of the compression of the 64 bytes at `offset` (BLAKE3 paper, section 2.2).
    /// - Parameter length: Bytes that count; those after them are zero.
    // Out of line: inlined into its callers it makes them slower and the release build several times as long.
    @inline(never)
    static func compress(
        _ value: ChainingValue, _ bytes: RawSpan, at offset: Int, counter: UInt64, length: UInt32, flags: UInt32
    ) -> ChainingValue {
        var state = BLAKE3State(value, counter: counter, length: length, flags: flags)
        state.mixAll(bytes, at: offset)
        return ChainingValue(
            state.v0 ^ state.v8, state.v1 ^ state.v9, state.v2 ^ state.v10, state.v3 ^ state.v11,
            state.v4 ^ state.v12, state.v5 ^ state.v13, state.v6 ^ state.v14, state.v7 ^ state.v15)
    }

    /// All sixteen words of a compression, of which ``compress(_:_:at:counter:length:flags:)`` returns the first eight.
    @inline(never)
    static func compressToBlock(
        _ value: ChainingValue, _ bytes: RawSpan, at offset: Int, counter: UInt64, length: UInt32, flags: UInt32
    ) -> SIMD16<UInt32> {
        var state = BLAKE3State(value, counter: counter, length: length, flags: flags)
        let h = state
        state.mixAll(bytes, at: offset)
        let low = SIMD8(state.v0, state.v1, state.v2, state.v3, state.v4, state.v5, state.v6, state.v7)
        let high = SIMD8(state.v8, state.v9, state.v10, state.v11, state.v12, state.v13, state.v14, state.v15)
        return SIMD16(lowHalf: low ^ high, highHalf: high ^ SIMD8(h.v0, h.v1, h.v2, h.v3, h.v4, h.v5, h.v6, h.v7))
    }
}

/// A word of one compression, or that word of four compressions side by side, one per lane.
protocol BLAKE3Word: BitwiseCopyable {
    static func &+ (left: Self, right: Self) -> Self
    static func ^ (left: Self, right: Self) -> Self
    func rotatedRight(_ bits: UInt32) -> Self
}

extension UInt32: BLAKE3Word {
    @inline(__always)
    func rotatedRight(_ bits: UInt32) -> UInt32 { (self &>> bits) | (self &<< (32 &- bits)) }
}

extension SIMD4<UInt32>: BLAKE3Word {
    // A multiplication stands for the left shift: written with two shifts, the optimiser sees a rotation, which SSE2
    // does not have for vectors, and takes it apart lane by lane at a fifth of the speed.
    @inline(__always)
    func rotatedRight(_ bits: UInt32) -> SIMD4 {
        (self &>> SIMD4(repeating: bits)) &+ (self &* SIMD4(repeating: 1 &<< (32 &- bits)))
    }
}

extension BLAKE3State<UInt32> {
    @inline(__always)
    init(_ value: BLAKE3.ChainingValue, counter: UInt64, length: UInt32, flags: UInt32) {
        let iv = BLAKE3.initialisationVector
        (v0, v1) = Self.halves(value.w01)
        (v2, v3) = Self.halves(value.w23)
        (v4, v5) = Self.halves(value.w45)
        (v6, v7) = Self.halves(value.w67)
        (v8, v9) = Self.halves(iv.w01)
        (v10, v11) = Self.halves(iv.w23)
        (v12, v13) = Self.halves(counter)
        v14 = length
        v15 = flags
    }

    @inline(__always)
    static func halves(_ pair: UInt64) -> (UInt32, UInt32) {
        (UInt32(truncatingIfNeeded: pair), UInt32(truncatingIfNeeded: pair >> 32))
    }

    /// The seven rounds over the 64 bytes at `offset`.
    @inline(__always)
    mutating func mixAll(_ bytes: RawSpan, at offset: Int) {
        precondition(offset >= 0 && bytes.byteCount - offset >= 64)
        func word(_ index: Int) -> UInt32 {
            unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 4 * index, as: UInt32.self)
        }
        mix(
            word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7),
            word(8), word(9), word(10), word(11), word(12), word(13), word(14), word(15))
    }
}

/// The sixteen state words; `round` mixes columns, then diagonals. All of it is inlined, so that each kind of word has
/// a compression of its own.
struct BLAKE3State<Word: BLAKE3Word> {
    var v0, v1, v2, v3, v4, v5, v6, v7: Word
    var v8, v9, v10, v11, v12, v13, v14, v15: Word

    /// The seven rounds over sixteen words of a message.
    @inline(__always)
    mutating func mix(
        _ m0: Word, _ m1: Word, _ m2: Word, _ m3: Word, _ m4: Word, _ m5: Word, _ m6: Word, _ m7: Word,
        _ m8: Word, _ m9: Word, _ m10: Word, _ m11: Word, _ m12: Word, _ m13: Word, _ m14: Word, _ m15: Word
    ) {
        // Each line is the message permuted once more.
        round(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
        round(m2, m6, m3, m10, m7, m0, m4, m13, m1, m11, m12, m5, m9, m14, m15, m8)
        round(m3, m4, m10, m12, m13, m2, m7, m14, m6, m5, m9, m0, m11, m15, m8, m1)
        round(m10, m7, m12, m9, m14, m3, m13, m15, m4, m0, m11, m2, m5, m8, m1, m6)
        round(m12, m13, m9, m11, m15, m10, m14, m8, m7, m2, m5, m3, m0, m1, m6, m4)
        round(m9, m14, m11, m5, m8, m12, m15, m1, m13, m3, m0, m10, m2, m6, m4, m7)
        round(m11, m15, m5, m0, m1, m9, m8, m6, m14, m10, m2, m12, m3, m4, m7, m13)
    }

    @inline(__always)
    private mutating func round(
        _ m0: Word, _ m1: Word, _ m2: Word, _ m3: Word, _ m4: Word, _ m5: Word, _ m6: Word, _ m7: Word,
        _ m8: Word, _ m9: Word, _ m10: Word, _ m11: Word, _ m12: Word, _ m13: Word, _ m14: Word, _ m15: Word
    ) {
        Self.mix(
            &v0, &v1, &v2, &v3, &v4, &v5, &v6, &v7, &v8, &v9, &v10, &v11, &v12, &v13, &v14, &v15,
            m0, m2, m4, m6, 16, 12)
        Self.mix(
            &v0, &v1, &v2, &v3, &v4, &v5, &v6, &v7, &v8, &v9, &v10, &v11, &v12, &v13, &v14, &v15,
            m1, m3, m5, m7, 8, 7)
        Self.mix(
            &v0, &v1, &v2, &v3, &v5, &v6, &v7, &v4, &v10, &v11, &v8, &v9, &v15, &v12, &v13, &v14,
            m8, m10, m12, m14, 16, 12)
        Self.mix(
            &v0, &v1, &v2, &v3, &v5, &v6, &v7, &v4, &v10, &v11, &v8, &v9, &v15, &v12, &v13, &v14,
            m9, m11, m13, m15, 8, 7)
    }

    // Step by step over all four columns and not column by column: fewer words are spilled on the longest path of
    // dependent operations, which saves a tenth of the time.
    @inline(__always)
    private static func mix(
        _ a0: inout Word, _ a1: inout Word, _ a2: inout Word, _ a3: inout Word,
        _ b0: inout Word, _ b1: inout Word, _ b2: inout Word, _ b3: inout Word,
        _ c0: inout Word, _ c1: inout Word, _ c2: inout Word, _ c3: inout Word,
        _ d0: inout Word, _ d1: inout Word, _ d2: inout Word, _ d3: inout Word,
        _ x0: Word, _ x1: Word, _ x2: Word, _ x3: Word, _ first: UInt32, _ second: UInt32
    ) {
        a0 = a0 &+ b0 &+ x0
        a1 = a1 &+ b1 &+ x1
        a2 = a2 &+ b2 &+ x2
        a3 = a3 &+ b3 &+ x3
        d0 = (d0 ^ a0).rotatedRight(first)
        d1 = (d1 ^ a1).rotatedRight(first)
        d2 = (d2 ^ a2).rotatedRight(first)
        d3 = (d3 ^ a3).rotatedRight(first)
        c0 = c0 &+ d0
        c1 = c1 &+ d1
        c2 = c2 &+ d2
        c3 = c3 &+ d3
        b0 = (b0 ^ c0).rotatedRight(second)
        b1 = (b1 ^ c1).rotatedRight(second)
        b2 = (b2 ^ c2).rotatedRight(second)
        b3 = (b3 ^ c3).rotatedRight(second)
    }
}

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

extension BLAKE3 {
    /// What four equally long inputs that are hashed side by side have in common.
    struct LaneInput {
        /// Bytes from one input to the next.
        var stride: Int
        var blocks: Int
        var counter: UInt64
        /// 1 for chunks, which are numbered; 0 for parents.
        var counterStep: UInt64
        var flags: UInt32
        var firstBlockFlags: UInt32
        var lastBlockFlags: UInt32
    }

    /// The chaining values, one after the other, of four inputs that start at `offset`.
    @inline(never)
    static func compressFour(
        _ bytes: RawSpan, at offset: Int, _ input: LaneInput, key: ChainingValue
    ) -> SIMD32<UInt32> {
        precondition(offset >= 0 && offset + 3 * input.stride + 64 * input.blocks <= bytes.byteCount)
        let first = BLAKE3State(key, counter: 0, length: 0, flags: 0)
        var (h0, h1) = (SIMD4(repeating: first.v0), SIMD4(repeating: first.v1))
        var (h2, h3) = (SIMD4(repeating: first.v2), SIMD4(repeating: first.v3))
        var (h4, h5) = (SIMD4(repeating: first.v4), SIMD4(repeating: first.v5))
        var (h6, h7) = (SIMD4(repeating: first.v6), SIMD4(repeating: first.v7))
        var (counterLow, counterHigh) = (SIMD4<UInt32>(), SIMD4<UInt32>())
        for lane in 0..<4 {
            let counter = input.counter &+ UInt64(lane) &* input.counterStep
            counterLow[lane] = UInt32(truncatingIfNeeded: counter)
            counterHigh[lane] = UInt32(truncatingIfNeeded: counter >> 32)
        }
        for block in 0..<input.blocks {
            var flags = input.flags
            if block == 0 { flags |= input.firstBlockFlags }
            if block == input.blocks - 1 { flags |= input.lastBlockFlags }
            let start = offset + 64 * block
            let (m0, m1, m2, m3) = loadColumns(bytes, start, input.stride)
            let (m4, m5, m6, m7) = loadColumns(bytes, start + 16, input.stride)
            let (m8, m9, m10, m11) = loadColumns(bytes, start + 32, input.stride)
            let (m12, m13, m14, m15) = loadColumns(bytes, start + 48, input.stride)
            var state = BLAKE3State(
                v0: h0, v1: h1, v2: h2, v3: h3, v4: h4, v5: h5, v6: h6, v7: h7,
                v8: SIMD4(repeating: first.v8), v9: SIMD4(repeating: first.v9),
                v10: SIMD4(repeating: first.v10), v11: SIMD4(repeating: first.v11),
                v12: counterLow, v13: counterHigh, v14: SIMD4(repeating: 64), v15: SIMD4(repeating: flags))
            state.mix(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
            (h0, h1) = (state.v0 ^ state.v8, state.v1 ^ state.v9)
            (h2, h3) = (state.v2 ^ state.v10, state.v3 ^ state.v11)
            (h4, h5) = (state.v4 ^ state.v12, state.v5 ^ state.v13)
            (h6, h7) = (state.v6 ^ state.v14, state.v7 ^ state.v15)
        }
        let low = transpose(h0, h1, h2, h3)
        let high = transpose(h4, h5, h6, h7)
        return SIMD32(
            lowHalf: SIMD16(
                lowHalf: SIMD8(lowHalf: low.0, highHalf: high.0), highHalf: SIMD8(lowHalf: low.1, highHalf: high.1)),
            highHalf: SIMD16(
                lowHalf: SIMD8(lowHalf: low.2, highHalf: high.2), highHalf: SIMD8(lowHalf: low.3, highHalf: high.3)))
    }

    private typealias Columns = (SIMD4<UInt32>, SIMD4<UInt32>, SIMD4<UInt32>, SIMD4<UInt32>)

    /// Four message words of each of the four inputs, turned so that each result holds one word of all four.
    @inline(__always)
    private static func loadColumns(_ bytes: RawSpan, _ offset: Int, _ stride: Int) -> Columns {
        // In bounds: compressFour checked the last byte of the last input.
        unsafe transpose(
            bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: SIMD4<UInt32>.self),
            bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + stride, as: SIMD4<UInt32>.self),
            bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 2 * stride, as: SIMD4<UInt32>.self),
            bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 3 * stride, as: SIMD4<UInt32>.self))
    }

    @inline(__always)
    private static func transpose(
        _ a: SIMD4<UInt32>, _ b: SIMD4<UInt32>, _ c: SIMD4<UInt32>, _ d: SIMD4<UInt32>
    ) -> Columns {
        let (ab01, ab23) = (SIMD4(a.x, b.x, a.y, b.y), SIMD4(a.z, b.z, a.w, b.w))
        let (cd01, cd23) = (SIMD4(c.x, d.x, c.y, d.y), SIMD4(c.z, d.z, c.w, d.w))
        return (
            SIMD4(lowHalf: ab01.lowHalf, highHalf: cd01.lowHalf),
            SIMD4(lowHalf: ab01.highHalf, highHalf: cd01.highHalf),
            SIMD4(lowHalf: ab23.lowHalf, highHalf: cd23.lowHalf),
            SIMD4(lowHalf: ab23.highHalf, highHalf: cd23.highHalf)
        )
    }
}
