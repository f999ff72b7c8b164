internal import Items
package import SecretMemory
internal import SystemCalls
internal import VaultFormat

/// JSON (RFC 8259) that may have secrets in it, written into locked memory.
package struct SecretJSON: ~Copyable {
    private var buffer = SecretBuffer()

    /// Nothing yet.
    package init() {}

    /// Text that is JSON already.
    package mutating func raw(_ text: String) throws(SecretMemoryError) { try buffer.append(text) }

    /// A text that is no secret, as a string.
    mutating func text(_ text: String) throws(SecretMemoryError) {
        try unsafe value(Array(text.utf8).span.bytes)
    }

    /// A value as a string, with what could act on a terminal escaped. What is not UTF-8 is written as the member
    /// `base64` of an object.
    package mutating func value(_ bytes: RawSpan) throws(SecretMemoryError) {
        guard bytes.isUTF8 else { return try base64(bytes) }
        try buffer.append(UInt8(ascii: "\""))
        var offset = 0
        while offset < bytes.byteCount {
            let first = bytes[offset]
            let size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
            let piece = bytes.extracting(offset..<min(offset + size, bytes.byteCount))
            offset += size
            try append(piece)
        }
        try buffer.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ character: RawSpan) throws(SecretMemoryError) {
        var scalar = UInt32(character[0])
        if character.byteCount > 1 {
            scalar &= character.byteCount == 2 ? 0x1F : character.byteCount == 3 ? 0x0F : 0x07
            for offset in 1..<character.byteCount { scalar = scalar << 6 | UInt32(character[offset] & 0x3F) }
        }
        switch scalar {
        case 0x22, 0x5C:
            try buffer.append(UInt8(ascii: "\\"))
            try buffer.append(character)
        default:
            guard let unicode = Unicode.Scalar(scalar), unicode != " ", unicode.isUnsafeToShow else {
                return try buffer.append(character)
            }
            for unit in scalar > 0xFFFF ? [0xD800 + (scalar - 0x10000) >> 10, 0xDC00 + (scalar & 0x3FF)] : [scalar] {
                try buffer.append(UInt8(ascii: "\\"))
                try buffer.append(UInt8(ascii: "u"))
                for shift in [12, 8, 4, 0] as [UInt32] {
                    let digit = UInt8(truncatingIfNeeded: unit >> shift & 15)
                    try buffer.append(digit < 10 ? 48 + digit : 87 + digit)
                }
            }
        }
    }

    /// `{"base64":"..."}`
    mutating func base64(_ bytes: RawSpan) throws(SecretMemoryError) {
        try buffer.append("{\"base64\":\"")
        try Base64.append(bytes, to: &buffer)
        try buffer.append("\"}")
    }

    /// All of it.
    package borrowing func bytes() throws(SecretMemoryError) -> SecretBytes { try buffer.bytes() }

    /// Lends all of it.
    package borrowing func withBytes<E: Error>(_ body: (RawSpan) throws(E) -> Void) throws(E) {
        try buffer.withBytes(body)
    }
}
