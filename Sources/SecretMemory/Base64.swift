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

    /// Gives the digits of bytes, one after another.
    private static func spell<E: Error>(_ bytes: RawSpan, _ take: (UInt8) throws(E) -> Void) throws(E) {
        for start in stride(from: 0, to: bytes.byteCount, by: 3) {
            let count = min(3, bytes.byteCount - start)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | UInt32(offset < count ? bytes[start + offset] : 0)
            }
            for place in 0..<4 {
                let value = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * place) & 63)
                try take(place <= count ? digit(value) : UInt8(ascii: "="))
            }
        }
    }

    /// Appends the text of bytes.
    /// - Throws: As ``SecretBuffer/append(_:)``.
    package static func append(_ bytes: RawSpan, to buffer: inout SecretBuffer) throws(SecretMemoryError) {
        try spell(bytes) { digit throws(SecretMemoryError) in try buffer.append(digit) }
    }

    /// Appends the text of bytes in lines of 64 digits, as PEM files have them (RFC 7468, section 2).
    /// - Throws: As ``SecretBuffer/append(_:)``.
    private static func appendLines(_ bytes: RawSpan, to buffer: inout SecretBuffer) throws(SecretMemoryError) {
        for start in stride(from: 0, to: bytes.byteCount, by: 48) {
            try append(bytes.extracting(start..<min(start + 48, bytes.byteCount)), to: &buffer)
            try buffer.append(UInt8(ascii: "\n"))
        }
    }

    /// A text of such lines between two of its own.
    /// - Throws: `lockedMemoryExhausted`.
    package static func armour(
        _ bytes: RawSpan, between begin: StaticString, and end: StaticString
    ) throws(SecretMemoryError) -> SecretBytes {
        var text = SecretBuffer()
        try text.append("\(begin)\n")
        try appendLines(bytes, to: &text)
        try text.append("\(end)\n")
        return try text.bytes()
    }

    /// The text of bytes that are no secret.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        unsafe spell(bytes.span.bytes) { text.append($0) }
        return String(decoding: text, as: UTF8.self)
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
    /// - Parameter skipsBlanks: Whether spaces, tabs and line ends are left out, wherever they stand.
    /// - Returns: False for what is no base 64 in its one canonical form; some of it may have been appended.
    /// - Throws: As ``SecretBuffer/append(_:)``.
    package static func decode(
        _ text: RawSpan, skipsBlanks: Bool = false, into buffer: inout SecretBuffer
    ) throws(SecretMemoryError) -> Bool {
        var (group, count, padding) = (UInt32(0), 0, 0)
        for offset in 0..<text.byteCount {
            let byte = text[offset]
            if skipsBlanks, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                group <<= 6
            } else {
                guard padding == 0, let value = value(byte) else { return false }
                group = group << 6 | value
            }
            count += 1
            guard count == 4 else { continue }
            guard padding <= 2, group & (1 << UInt32(8 * padding) - 1) == 0 else { return false }
            for place in 0..<3 - padding {
                try buffer.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * place)))
            }
            (group, count) = (0, 0)
        }
        return count == 0
    }
}

extension RawSpan {
    /// One byte; an offset outside is our own mistake and traps.
    fileprivate subscript(offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
