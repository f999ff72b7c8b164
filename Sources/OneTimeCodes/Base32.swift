package import SecretMemory

/// Base 32 (RFC 4648, section 6) as services write keys: upper or lower case, with or without spaces, hyphens and
/// padding.
package enum Base32 {
    /// The bytes of a text; an error for any other character.
    ///
    /// Keys of services may end in the middle of a byte (52 or 26 characters). The bits that make no byte are dropped,
    /// as other authenticators do; five or more of them mean that a character is missing.
    static func decode(_ text: RawSpan) throws(OneTimeCodeError) -> SecretBytes {
        var output = try memory { () throws(SecretMemoryError) in try SecretBytes(zeroed: text.byteCount * 5 / 8 + 1) }
        let size: Int = try output.withMutableBytes { output throws(OneTimeCodeError) in
            var (bits, count, end, isPadded) = (UInt32(0), 0, 0, false)
            for offset in 0..<text.byteCount {
                let byte = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") { continue }
                if byte == UInt8(ascii: "=") {
                    isPadded = true
                    continue
                }
                guard !isPadded, let value = value(byte) else { throw .invalid(.secret) }
                bits = bits << 5 | UInt32(value)
                count += 5
                if count >= 8 {
                    count -= 8
                    output.storeBytes(
                        of: UInt8(truncatingIfNeeded: bits >> UInt32(count)), toByteOffset: end, as: UInt8.self)
                    bits &= 1 << UInt32(count) - 1
                    end += 1
                }
            }
            guard count < 5 else { throw .invalid(.secret) }
            return end
        }
        return try memory { () throws(SecretMemoryError) in try output.copy(0..<size) }
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): byte - UInt8(ascii: "2") + 26
        default: nil
        }
    }

    /// Characters that bytes take, without padding.
    static func size(of count: Int) -> Int { (count * 8 + 4) / 5 }

    /// The text of bytes: upper case, without padding.
    /// - Throws: ``OneTimeCodeError/memory(_:)``.
    package static func text(_ bytes: RawSpan) throws(OneTimeCodeError) -> SecretBytes {
        var text = try memory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: size(of: bytes.byteCount))
        }
        text.withMutableBytes { encode(bytes, into: &$0, at: 0) }
        return text
    }

    /// Writes upper-case characters without padding; the caller has made room.
    static func encode(_ bytes: RawSpan, into text: inout MutableRawSpan, at offset: Int) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        for place in 0..<size(of: bytes.byteCount) {
            var value = 0
            for bit in place * 5..<place * 5 + 5 {
                let byte =
                    bit / 8 < bytes.byteCount ? unsafe bytes.unsafeLoad(fromByteOffset: bit / 8, as: UInt8.self) : 0
                value = value << 1 | Int(byte >> UInt8(7 - bit % 8) & 1)
            }
            text.storeBytes(of: alphabet[value], toByteOffset: offset + place, as: UInt8.self)
        }
    }
}
