/// An ECDSA signature over P-256, r then s: `0I` and 86 characters (protocol.md 2.2).
///
/// Both r and s are at least 1 and below the order of the curve. A high s is accepted, so one message has many signatures:
/// a signature must never serve as a replay key.
public struct SignatureText: CESRText, CESRValue {
    /// Characters of the text.
    package static let textSize = CESRForm.signature.textSize
    /// Bytes of the raw value.
    package static let rawSize = CESRForm.signature.rawSize

    private let storage: Words8

    /// Reads a text; nil unless it is the one spelling of a value.
    public init?(text: RawSpan) {
        var buffer = CESRBuffer()
        guard CESRForm.signature.decode(text, into: &buffer) else { return nil }
        storage = unsafe buffer.withBytes(from: CESRForm.signature.lead) { unsafe Words8($0) }
        guard isInRange else { return nil }
    }

    /// Takes a raw value; nil for another size, and for numbers out of range.
    package init?(raw: RawSpan) {
        guard raw.byteCount == Self.rawSize else { return nil }
        guard let words = unsafe raw.withUnsafeBytes({ unsafe $0.baseAddress.map { unsafe Words8($0) } }) else {
            return nil
        }
        storage = words
        guard isInRange else { return nil }
    }

    /// Lends the raw value.
    package func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe storage.withBytes { bytes throws(E) in try unsafe body(RawSpan(_unsafeBytes: bytes)) }
    }

    /// Lends the text.
    public func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe storage.withBytes { bytes throws(E) in
            try unsafe CESRForm.signature.withText(of: bytes, body)
        }
    }

    private var isInRange: Bool {
        unsafe storage.withBytes { bytes in
            guard let r = bytes.baseAddress else { return false }
            let s = unsafe r + 32
            return unsafe P256Bounds.isBelow(P256Bounds.order, r) && !P256Bounds.isZero(r)
                && P256Bounds.isBelow(P256Bounds.order, s) && !P256Bounds.isZero(s)
        }
    }
}
