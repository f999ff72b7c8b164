// What the fixed values rest in: words, whose alignment is 8. The wide SIMD types are aligned to their size, and in the
// frame of an async function a value aligned to more than 16 bytes reaches over the frame's end (Swift 6.3; shown by
// the address sanitizer). Messages are handled by such functions everywhere.

/// 32 bytes as they lie in memory.
struct Words4: Sendable, Hashable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init() {}

    /// Copies the bytes at an address.
    @inline(__always)
    init(_ bytes: UnsafeRawPointer) {
        unsafe words = (
            bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
    }

    /// All bytes at once; the generic way would take them one by one.
    func hash(into hasher: inout Hasher) { unsafe withBytes { unsafe hasher.combine(bytes: $0) } }

    @inline(__always)
    static func == (left: Words4, right: Words4) -> Bool { left.words == right.words }

    @inline(__always)
    func withBytes<R: ~Copyable, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes(of: words, body)
    }

    @inline(__always)
    mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe withUnsafeMutableBytes(of: &words, body)
    }
}

/// 64 bytes as they lie in memory.
struct Words8: Sendable, Hashable {
    private var halves = (Words4(), Words4())

    /// Copies the bytes at an address.
    @inline(__always)
    init(_ bytes: UnsafeRawPointer) { unsafe halves = (Words4(bytes), Words4(bytes + 32)) }

    func hash(into hasher: inout Hasher) { unsafe withBytes { unsafe hasher.combine(bytes: $0) } }

    @inline(__always)
    static func == (left: Words8, right: Words8) -> Bool { left.halves == right.halves }

    @inline(__always)
    func withBytes<R: ~Copyable, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes(of: halves, body)
    }
}
