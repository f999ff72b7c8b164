/// A compressed P-256 public key: `1AAI` and 44 characters (protocol.md 2.2; SEC 1, section 2.3.3).
///
/// The x coordinate is below the field's prime. Whether it lies on the curve shows when a verifier imports it.
public struct PublicKeyText: CESRText, CESRValue {
    /// Its code and sizes.
    package static var form: CESRForm { .publicKey }

    private let x: Words4
    /// 02 or 03.
    private let parity: UInt8

    /// Reads a text; nil unless it is the one spelling of a value.
    public init?(text: RawSpan) {
        var buffer = CESRBuffer()
        guard CESRForm.publicKey.decode(text, into: &buffer) else { return nil }
        (parity, x) = unsafe buffer.withBytes(from: CESRForm.publicKey.lead) {
            unsafe ($0.load(as: UInt8.self), Words4($0 + 1))
        }
        guard isInRange else { return nil }
    }

    /// Takes a compressed point; nil for another size, another first byte than 02 or 03, and an x out of range.
    package init?(raw: RawSpan) {
        guard raw.byteCount == Self.rawSize else { return nil }
        let parts = unsafe raw.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe ($0.load(as: UInt8.self), Words4($0 + 1)) }
        }
        guard let parts else { return nil }
        (parity, x) = parts
        guard isInRange else { return nil }
    }

    private var isInRange: Bool {
        guard parity == 2 || parity == 3 else { return false }
        return unsafe x.withBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe P256Bounds.isBelow(P256Bounds.prime, start)
        }
    }

    /// Lends the compressed point.
    package func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        // One byte, then 32: laid out by hand, since a tuple of both would have a gap.
        var point = (Words4(), UInt64())
        return try unsafe withUnsafeMutableBytes(of: &point) { target throws(E) -> R in
            unsafe target[0] = parity
            unsafe x.withBytes { unsafe UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: $0) }
            return try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: target[..<Self.rawSize])))
        }
    }

    /// Lends the text.
    public func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try withRawBytes { raw throws(E) in
            try unsafe raw.withUnsafeBytes { bytes throws(E) in
                try unsafe CESRForm.publicKey.withText(of: bytes, body)
            }
        }
    }
}
