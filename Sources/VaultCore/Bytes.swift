extension [UInt8] {
    /// Lends the bytes for the time of a closure; for arrays that a class stores.
    @inline(__always)
    func withRawSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(span.bytes)
    }

    /// Lends the bytes for writing.
    @inline(__always)
    mutating func withMutableRawSpan<R: ~Copyable, E: Error>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        var elements = mutableSpan
        var bytes = unsafe elements.mutableBytes
        return try body(&bytes)
    }
}
