/// Names one value in a vault: `holdfast://collection/item/field`. It is no secret and may stand in a file, in the
/// environment or in arguments.
///
/// Without a field it names the item's main value: a login's password, the bytes of a plain value. With
/// `?attribute=otp` behind it, it names the present one-time code instead of what the code is computed from. Each part
/// is UTF-8; what is not a letter, a digit or one of `-._~` may, and some characters must, be written as `%` and two
/// hexadecimal digits.
package struct SecretReference: Sendable, Hashable {
    /// What every reference begins with.
    package static let scheme: StaticString = "holdfast://"
    /// Bytes of a reference as it is written, at most.
    package static let longest = 4096

    /// The collection that the record is in.
    package let collection: String
    /// The record's name there.
    package let item: String
    /// What names the field: its label, a file's name, `notes`; nil for the main value.
    package let field: String?
    /// Whether the present code of a one-time code is meant.
    package let isCode: Bool

    /// What stands behind a reference to a code, in the word of other password managers.
    private static let codeMark = "?attribute=otp"

    /// Names a value by its parts.
    /// - Throws: ``ReferenceError`` for a part with a size that none has, or with a zero byte.
    package init(collection: String, item: String, field: String? = nil, isCode: Bool = false) throws(ReferenceError) {
        let parts = [Array(collection.utf8), Array(item.utf8)] + (field.map { [Array($0.utf8)] } ?? [])
        try self.init(parts: parts, isCode: isCode)
    }

    /// Reads a reference, all of the text.
    /// - Throws: ``ReferenceError``.
    package init(parsing text: String) throws(ReferenceError) {
        let bytes = Array(text.utf8)
        try unsafe self.init(parsing: bytes.span.bytes)
    }

    /// As ``init(parsing:)-(String)``, for bytes from anywhere.
    /// - Throws: ``ReferenceError``.
    package init(parsing bytes: RawSpan) throws(ReferenceError) {
        guard SecretReference.begins(bytes) else { throw .otherScheme }
        guard bytes.byteCount <= SecretReference.longest else { throw .tooLong }
        var parts: [[UInt8]] = [[]]
        var (offset, isCode) = (SecretReference.scheme.utf8CodeUnitCount, false)
        while !isCode, let byte = bytes.integer(at: offset, as: UInt8.self) {
            offset += 1
            switch byte {
            case UInt8(ascii: "/"):
                guard parts.count < 3 else { throw .tooManyParts }
                parts.append([])
            case UInt8(ascii: "%"):
                guard let high = bytes.hexDigit(at: offset), let low = bytes.hexDigit(at: offset + 1) else {
                    throw .invalidEscape
                }
                parts[parts.count - 1].append(high << 4 | low)
                offset += 2
            case UInt8(ascii: "?"):
                let rest = (offset - 1..<bytes.byteCount).compactMap { bytes.integer(at: $0, as: UInt8.self) }
                guard rest.elementsEqual(SecretReference.codeMark.utf8) else { throw .unknownAttribute }
                isCode = true
            // The number of a field, as in website#2.
            case UInt8(ascii: "#") where parts.count == 3: parts[2].append(byte)
            case _ where SecretReference.isRefused(byte): throw .invalidCharacter
            default: parts[parts.count - 1].append(byte)
            }
        }
        try self.init(parts: parts, isCode: isCode)
    }

    private init(parts: [[UInt8]], isCode: Bool) throws(ReferenceError) {
        guard parts.count > 1 else { throw .missing(.item) }
        collection = try SecretReference.text(parts[0], .collection)
        item = try SecretReference.text(parts[1], .item)
        field = parts.count > 2 ? try SecretReference.text(parts[2], .field) : nil
        self.isCode = isCode
    }

    private static func text(_ bytes: [UInt8], _ part: ReferenceError.Part) throws(ReferenceError) -> String {
        guard !bytes.isEmpty else { throw .missing(part) }
        guard bytes.count <= part.longest else { throw .partTooLong(part) }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { throw .invalidText(part) }
        return text
    }

    /// Whether these bytes are meant as a reference: they begin as one, and may still be wrong.
    package static func begins(_ bytes: RawSpan) -> Bool { bytes.begins(with: scheme) }

    /// The one way in which Holdfast writes it: what need not be escaped is not, and everything else is.
    package var text: String {
        var text: [UInt8] = []
        for part in [collection, item] + (field.map { [$0] } ?? []) {
            if !text.isEmpty { text.append(UInt8(ascii: "/")) }
            for byte in part.utf8 {
                if SecretReference.isPlain(byte) {
                    text.append(byte)
                } else {
                    text += [UInt8(ascii: "%"), SecretReference.hex(byte >> 4), SecretReference.hex(byte & 15)]
                }
            }
        }
        let mark = isCode ? SecretReference.codeMark : ""
        return "\(SecretReference.scheme)" + String(decoding: text, as: UTF8.self) + mark
    }

    /// By their bytes: what is written is ASCII, and texts that only look alike name different values.
    package static func == (left: SecretReference, right: SecretReference) -> Bool { left.text == right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 48 + digit : 55 + digit }

    /// The unreserved characters of RFC 3986, section 2.3.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// What ends a reference in a shell, a template or an address, and so never stands in one unescaped.
    private static func isRefused(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || [UInt8]("\"'`\\?#{}<>|^$;&()*[]!".utf8).contains(byte)
    }
}

extension RawSpan {
    fileprivate func hexDigit(at offset: Int) -> UInt8? {
        guard let byte = integer(at: offset, as: UInt8.self) else { return nil }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - 48
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte - 55
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte - 87
        default: return nil
        }
    }
}
