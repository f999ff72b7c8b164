/// A fixed-size value in the text form of CESR (protocol.md 2.1): zero bytes in front of the raw value up to a
/// multiple of three, all of it in base64url, and the leading characters, which hold only zero bits, replaced by a
/// code.
///
/// Every value has one text. Peers accept several, because they drop the lead bytes unread; we refuse the others.
public protocol CESRText: Sendable, Hashable, CustomStringConvertible {
    /// Reads a text; nil unless it is the one spelling of a value.
    init?(text: RawSpan)
    /// Lends the text.
    func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R
}

/// A ``CESRText`` with its sizes and its raw value.
package protocol CESRValue: CESRText, MemberValue {
    /// Its code and sizes.
    static var form: CESRForm { get }
    /// Takes a raw value; nil for another size, and for values that no such thing has.
    init?(raw: RawSpan)
    /// Lends the raw value.
    func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R
}

extension CESRText {
    /// Reads a text; nil unless it is the one spelling of a value.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        unsafe self.init(text: bytes.span.bytes)
    }

    /// The text.
    public var description: String {
        withText { text in unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
    }
}

extension CESRValue {
    /// Characters of the text.
    package static var textSize: Int { form.textSize }
    /// Bytes of the raw value.
    package static var rawSize: Int { form.rawSize }

    /// The raw value as an array.
    package var rawBytes: [UInt8] { withRawBytes { $0.copied } }

    /// The text as an array.
    package var textBytes: [UInt8] { withText { $0.copied } }
}

/// Room for the largest text, in whole blocks, and the byte that the encoder reads behind its input.
struct CESRBuffer {
    private var texts = (Words4(), Words4(), Words4())
    private var rest: (UInt64, UInt64) = (0, 0)

    /// Lends what lies behind an offset that is inside.
    @inline(__always)
    mutating func withBytes<R>(from offset: Int, _ body: (UnsafeRawPointer) -> R) -> R {
        unsafe withUnsafePointer(to: &self) { unsafe body(UnsafeRawPointer($0) + offset) }
    }
}

/// The four codes, each with the sizes that follow from it.
package struct CESRForm: Sendable {
    let code: StaticString
    let textSize: Int
    let rawSize: Int
    /// Zero bytes in front of the raw value.
    let lead: Int

    static let publicKey = CESRForm(code: "1AAI", textSize: 48, rawSize: 33, lead: 3)
    static let signature = CESRForm(code: "0I", textSize: 88, rawSize: 64, lead: 2)
    static let digest = CESRForm(code: "E", textSize: 44, rawSize: 32, lead: 1)
    static let nonce = CESRForm(code: "0A", textSize: 24, rawSize: 16, lead: 2)

    @inline(__always)
    private var blocks: Int { (textSize + 15) / 16 }

    /// Decodes into `buffer`, where the raw value then begins behind the lead bytes; false unless the text is exact.
    @inline(__always)
    func decode(_ text: RawSpan, into buffer: inout CESRBuffer) -> Bool {
        guard text.byteCount == textSize else { return false }
        let codeSize = code.utf8CodeUnitCount
        return unsafe withUnsafeMutableBytes(of: &buffer) { target in
            guard let base = target.baseAddress else { return false }
            for block in 0..<blocks {
                let zeros = SIMD16<UInt8>(repeating: UInt8(ascii: "A"))
                unsafe base.storeBytes(of: zeros, toByteOffset: 16 * block, as: SIMD16<UInt8>.self)
            }
            unsafe text.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            for index in 0..<codeSize {
                guard unsafe target[index] == code.utf8Start[index] else { return false }
                unsafe target[index] = UInt8(ascii: "A")
            }
            guard unsafe Base64URL.decode(blocks: blocks, in: base) else { return false }
            var leadBits: UInt8 = 0
            for index in 0..<lead { unsafe leadBits |= target[index] }
            return leadBits == 0
        }
    }

    /// The text of a raw value, in the first bytes of the buffer that is lent.
    @inline(__always)
    func withText<R: ~Copyable, E: Error>(
        of raw: UnsafeRawBufferPointer, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let codeSize = code.utf8CodeUnitCount
        var padded = CESRBuffer()
        var text = CESRBuffer()
        unsafe withUnsafeMutableBytes(of: &padded) { target in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[lead...]).copyMemory(from: raw)
        }
        return try unsafe withUnsafeMutableBytes(of: &text) { target throws(E) -> R in
            unsafe withUnsafeBytes(of: &padded) { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe Base64URL.encode(blocks: blocks, from, into: to)
            }
            for index in 0..<codeSize { unsafe target[index] = code.utf8Start[index] }
            return try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: target[..<textSize])))
        }
    }
}
