/// 32 bytes of a hash, a MAC or a lookup key, held in place so that no read allocates.
@usableFromInline package struct Digest: Hashable, Sendable {
    /// Not one SIMD32: values aligned to more than 16 bytes reach over the frame of an async function (Swift 6.3).
    @usableFromInline struct Words: Hashable, Sendable, BitwiseCopyable {
        @usableFromInline var first = SIMD2<UInt64>()
        @usableFromInline var last = SIMD2<UInt64>()

        @usableFromInline init() {}
    }

    @usableFromInline var storage: Words

    /// All zero.
    package init() { storage = Words() }

    /// Copies 32 bytes; nil for any other size.
    package init?(copying bytes: RawSpan) {
        guard bytes.byteCount == 32 else { return nil }
        storage = unsafe bytes.unsafeLoadUnaligned(as: Words.self)
    }

    /// Lends the bytes.
    @inlinable @inline(__always)
    package func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        var copy = storage
        // MutableRawSpan over a local: the closure cannot keep it.
        return try unsafe withUnsafeMutableBytes(of: &copy) { buffer throws(E) in
            try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(buffer)))
        }
    }

    /// Lends the bytes for writing.
    @inlinable @inline(__always)
    package mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        try unsafe withUnsafeMutableBytes(of: &storage) { buffer throws(E) in
            var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return try body(&span)
        }
    }

    /// The bytes as an array, for formats and display.
    package var bytes: [UInt8] { withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } } }
}
