/// 128 random bits: `0A` and 22 characters (protocol.md 2.2).
///
/// The protocol calls three things a nonce: a request's, the session challenge, and the replay key of an access
/// request.
public struct NonceText: CESRText, CESRValue {
    /// Its code and sizes.
    package static var form: CESRForm { .nonce }

    private let storage: SIMD16<UInt8>

    /// Reads a text; nil unless it is the one spelling of a value.
    public init?(text: RawSpan) {
        var buffer = CESRBuffer()
        guard CESRForm.nonce.decode(text, into: &buffer) else { return nil }
        storage = unsafe withUnsafeBytes(of: &buffer) {
            unsafe $0.loadUnaligned(fromByteOffset: CESRForm.nonce.lead, as: SIMD16<UInt8>.self)
        }
    }

    /// Takes a raw value; nil for another size.
    package init?(raw: RawSpan) {
        guard raw.byteCount == Self.rawSize else { return nil }
        storage = unsafe raw.unsafeLoadUnaligned(as: SIMD16<UInt8>.self)
    }

    /// Takes what a source of random bytes writes into 16 bytes.
    /// - Throws: What `fill` throws.
    package init<E: Error>(filling fill: (inout MutableRawSpan) throws(E) -> Void) throws(E) {
        var raw = SIMD16<UInt8>()
        try unsafe withUnsafeMutableBytes(of: &raw) { bytes throws(E) in
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            try fill(&span)
        }
        storage = raw
    }

    /// Lends the raw value.
    package func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes(of: storage) { bytes throws(E) in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
    }

    /// Lends the text.
    public func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes(of: storage) { bytes throws(E) in
            try unsafe CESRForm.nonce.withText(of: bytes, body)
        }
    }

    /// All bytes at once; the generic way would take them one by one.
    public func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes(of: storage) { unsafe hasher.combine(bytes: $0) }
    }
}
