/// Base 64 (RFC 4648, section 4) from and into locked memory.
package enum Base64 {
    private static func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    /// Appends the text of bytes.
    /// - Throws: As ``SecretBuffer/append(_:)``.
    package static func append(_ bytes: RawSpan, to buffer: inout SecretBuffer) throws(SecretMemoryError) {
        for start in stride(from: 0, to: bytes.byteCount, by: 3) {
            let count = min(3, bytes.byteCount - start)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | UInt32(offset < count ? bytes[start + offset] : 0)
            }
            for place in 0..<4 {
                let value = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * place) & 63)
                try buffer.append(place <= count ? digit(value) : UInt8(ascii: "="))
            }
        }
    }

    /// The value of a digit; nil for any other character.
    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - 71)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    /// Appends what a text stands for.
    /// - Returns: False for what is no base 64 in its one canonical form; some of it may have been appended.
    /// - Throws: As ``SecretBuffer/append(_:)``.
    package static func decode(_ text: RawSpan, into buffer: inout SecretBuffer) throws(SecretMemoryError) -> Bool {
        guard text.byteCount % 4 == 0 else { return false }
        for start in stride(from: 0, to: text.byteCount, by: 4) {
            let isLast = start + 4 == text.byteCount
            var padding = 0
            if isLast {
                if text[start + 3] == UInt8(ascii: "=") { padding = 1 }
                if padding == 1, text[start + 2] == UInt8(ascii: "=") { padding = 2 }
            }
            var group: UInt32 = 0
            for offset in 0..<4 {
                guard offset < 4 - padding else {
                    group <<= 6
                    continue
                }
                guard let value = value(text[start + offset]) else { return false }
                group = group << 6 | value
            }
            for offset in 0..<3 - padding {
                try buffer.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * offset)))
            }
            guard group & (padding == 0 ? 0 : padding == 1 ? 0xFF : 0xFFFF) == 0 else { return false }
        }
        return true
    }
}

extension RawSpan {
    /// One byte; an offset outside is our own mistake and traps.
    fileprivate subscript(offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
