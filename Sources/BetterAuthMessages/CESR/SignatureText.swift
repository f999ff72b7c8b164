/// An ECDSA signature over P-256, r then s: `0I` and 86 characters (protocol.md 2.2).
///
/// Both r and s are at least 1 and below the order of the curve. A high s is accepted, so one message has many
/// signatures: a signature must never serve as a replay key.
public struct SignatureText: CESRText, CESRValue {
    /// Its code and sizes.
    package static var form: CESRForm { .signature }

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

/// Numbers of NIST P-256 (FIPS 186-5; SP 800-186, section 3.2.1.3), as big-endian words, the highest first.
enum P256Bounds {
    typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// The order of the base point.
    static let order: Words = (
        0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0xbce6_faad_a717_9e84, 0xf3b9_cac2_fc63_2551
    )
    /// The prime of the field.
    static let prime: Words = (
        0xffff_ffff_0000_0001, 0x0000_0000_0000_0000, 0x0000_0000_ffff_ffff, 0xffff_ffff_ffff_ffff
    )

    /// Whether the 32 bytes at an offset are below the bound. The caller knows that they are there.
    @inline(__always)
    static func isBelow(_ bound: Words, _ bytes: UnsafeRawPointer) -> Bool {
        unsafe words(bytes) < bound
    }

    @inline(__always)
    static func isZero(_ bytes: UnsafeRawPointer) -> Bool {
        let value = unsafe words(bytes)
        return value.0 | value.1 | value.2 | value.3 == 0
    }

    @inline(__always)
    private static func words(_ bytes: UnsafeRawPointer) -> Words {
        unsafe (word(bytes), word(bytes + 8), word(bytes + 16), word(bytes + 24))
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer) -> UInt64 {
        unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
    }
}
