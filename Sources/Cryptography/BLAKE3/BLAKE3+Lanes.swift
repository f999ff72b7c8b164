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
        let first = BLAKE3Words(key, counter: 0, length: 0, flags: 0)
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
            var state = BLAKE3Lanes(
                v0: h0, v1: h1, v2: h2, v3: h3, v4: h4, v5: h5, v6: h6, v7: h7,
                v8: SIMD4(repeating: first.v8), v9: SIMD4(repeating: first.v9),
                v10: SIMD4(repeating: first.v10), v11: SIMD4(repeating: first.v11),
                v12: counterLow, v13: counterHigh, v14: SIMD4(repeating: 64), v15: SIMD4(repeating: flags))
            // Each line is the message permuted once more.
            state.round(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
            state.round(m2, m6, m3, m10, m7, m0, m4, m13, m1, m11, m12, m5, m9, m14, m15, m8)
            state.round(m3, m4, m10, m12, m13, m2, m7, m14, m6, m5, m9, m0, m11, m15, m8, m1)
            state.round(m10, m7, m12, m9, m14, m3, m13, m15, m4, m0, m11, m2, m5, m8, m1, m6)
            state.round(m12, m13, m9, m11, m15, m10, m14, m8, m7, m2, m5, m3, m0, m1, m6, m4)
            state.round(m9, m14, m11, m5, m8, m12, m15, m1, m13, m3, m0, m10, m2, m6, m4, m7)
            state.round(m11, m15, m5, m0, m1, m9, m8, m6, m14, m10, m2, m12, m3, m4, m7, m13)
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

/// The state words of four compressions side by side, one per lane.
struct BLAKE3Lanes {
    typealias Vector = SIMD4<UInt32>
    var v0, v1, v2, v3, v4, v5, v6, v7: Vector
    var v8, v9, v10, v11, v12, v13, v14, v15: Vector

    // A multiplication stands for the left shift: written with two shifts, the optimiser sees a rotation, which SSE2
    // does not have for vectors, and takes it apart lane by lane at a fifth of the speed.
    @inline(__always)
    private static func rotate(_ x: Vector, _ bits: UInt32) -> Vector {
        (x &>> SIMD4(repeating: bits)) &+ (x &* SIMD4(repeating: 1 &<< (32 &- bits)))
    }

    @inline(__always)
    mutating func round(
        _ m0: Vector, _ m1: Vector, _ m2: Vector, _ m3: Vector,
        _ m4: Vector, _ m5: Vector, _ m6: Vector, _ m7: Vector,
        _ m8: Vector, _ m9: Vector, _ m10: Vector, _ m11: Vector,
        _ m12: Vector, _ m13: Vector, _ m14: Vector, _ m15: Vector
    ) {
        mixColumns(m0, m2, m4, m6, 16, 12)
        mixColumns(m1, m3, m5, m7, 8, 7)
        mixDiagonals(m8, m10, m12, m14, 16, 12)
        mixDiagonals(m9, m11, m13, m15, 8, 7)
    }

    // Step by step over all four columns and not column by column: fewer words are spilled on the longest path of
    // dependent operations, which saves a tenth of the time.
    @inline(__always)
    private mutating func mixColumns(
        _ x0: Vector, _ x1: Vector, _ x2: Vector, _ x3: Vector, _ first: UInt32, _ second: UInt32
    ) {
        v0 = v0 &+ v4 &+ x0
        v1 = v1 &+ v5 &+ x1
        v2 = v2 &+ v6 &+ x2
        v3 = v3 &+ v7 &+ x3
        v12 = Self.rotate(v12 ^ v0, first)
        v13 = Self.rotate(v13 ^ v1, first)
        v14 = Self.rotate(v14 ^ v2, first)
        v15 = Self.rotate(v15 ^ v3, first)
        v8 = v8 &+ v12
        v9 = v9 &+ v13
        v10 = v10 &+ v14
        v11 = v11 &+ v15
        v4 = Self.rotate(v4 ^ v8, second)
        v5 = Self.rotate(v5 ^ v9, second)
        v6 = Self.rotate(v6 ^ v10, second)
        v7 = Self.rotate(v7 ^ v11, second)
    }

    @inline(__always)
    private mutating func mixDiagonals(
        _ x0: Vector, _ x1: Vector, _ x2: Vector, _ x3: Vector, _ first: UInt32, _ second: UInt32
    ) {
        v0 = v0 &+ v5 &+ x0
        v1 = v1 &+ v6 &+ x1
        v2 = v2 &+ v7 &+ x2
        v3 = v3 &+ v4 &+ x3
        v15 = Self.rotate(v15 ^ v0, first)
        v12 = Self.rotate(v12 ^ v1, first)
        v13 = Self.rotate(v13 ^ v2, first)
        v14 = Self.rotate(v14 ^ v3, first)
        v10 = v10 &+ v15
        v11 = v11 &+ v12
        v8 = v8 &+ v13
        v9 = v9 &+ v14
        v5 = Self.rotate(v5 ^ v10, second)
        v6 = Self.rotate(v6 ^ v11, second)
        v7 = Self.rotate(v7 ^ v8, second)
        v4 = Self.rotate(v4 ^ v9, second)
    }
}
