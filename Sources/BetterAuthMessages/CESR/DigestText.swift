/// A BLAKE3-256 digest: `E` and 43 characters (protocol.md 2.2).
///
/// Compared exactly; peers that ignore letter case accept digests of other values.
public struct DigestText: CESRText, CESRValue {
    /// Its code and sizes.
    package static var form: CESRForm { .digest }

    private let storage: Words4

    /// Reads a text; nil unless it is the one spelling of a value.
    public init?(text: RawSpan) {
        var buffer = CESRBuffer()
        guard CESRForm.digest.decode(text, into: &buffer) else { return nil }
        storage = unsafe buffer.withBytes(from: CESRForm.digest.lead) { unsafe Words4($0) }
    }

    /// Takes a raw value; nil for another size.
    package init?(raw: RawSpan) {
        guard raw.byteCount == Self.rawSize else { return nil }
        guard let words = unsafe raw.withUnsafeBytes({ unsafe $0.baseAddress.map { unsafe Words4($0) } }) else {
            return nil
        }
        storage = words
    }

    /// Takes what a hash function writes into 32 bytes.
    /// - Throws: What `fill` throws.
    package init<E: Error>(filling fill: (inout MutableRawSpan) throws(E) -> Void) throws(E) {
        var raw = Words4()
        try unsafe raw.withMutableBytes { bytes throws(E) in
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            try fill(&span)
        }
        storage = raw
    }

    /// Lends the raw value.
    package func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe storage.withBytes { bytes throws(E) in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
    }

    /// Lends the text.
    public func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe storage.withBytes { bytes throws(E) in
            try unsafe CESRForm.digest.withText(of: bytes, body)
        }
    }
}
