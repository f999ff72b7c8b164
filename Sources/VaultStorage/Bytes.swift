extension [UInt8] {
    /// Lends the bytes for the time of a closure; for arrays that a class stores.
    @inline(__always)
    package func withRawSpan<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(span.bytes)
    }

    /// Lends the bytes for writing.
    @inline(__always)
    package mutating func withMutableRawSpan<R: ~Copyable, E: Error>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        var elements = mutableSpan
        var bytes = unsafe elements.mutableBytes
        return try body(&bytes)
    }
}

extension String {
    /// Lends the text as UTF-8, where it lies if that is how it is stored.
    @inline(__always)
    func withUTF8Bytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        if let result = unsafe utf8.withContiguousStorageIfAvailable({ unsafe body($0) }) { return result }
        var copy = self
        return copy.withUTF8 { unsafe body($0) }
    }
}

extension MutableRawSpan {
    /// Copies a text as UTF-8 to where the caller has made room.
    /// - Returns: The offset behind it.
    mutating func store(_ text: String, at offset: Int) -> Int {
        unsafe withUnsafeMutableBytes { bytes in
            unsafe text.withUTF8Bytes { text in
                let end = offset + text.count
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<end]).copyBytes(from: text)
                return end
            }
        }
    }
}
