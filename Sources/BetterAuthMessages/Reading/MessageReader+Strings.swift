/// A string inside application data, which has passed every check of ``MessageReader/string(_:)``.
struct JSONString {
    /// Between the quotation marks.
    let range: Range<Int>
    let hasEscapes: Bool
}

extension MessageReader {
    /// Moves past a string: UTF-8, no control characters, JSON's escapes, surrogates in pairs.
    mutating func string(_ place: String) throws(MessageError) -> JSONString {
        try expect(UInt8(ascii: "\""), place)
        let start = position
        var hasEscapes = false
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return JSONString(range: start..<position - 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                _ = try escape(place)
            case 0..<0x20: throw failure(.controlCharacter, place)
            case 0x80...: try scalar(place)
            default: position += 1
            }
        }
        throw failure(.truncated, place)
    }

    /// Moves past one scalar of two to four bytes (RFC 3629, section 4, the table).
    private mutating func scalar(_ place: String) throws(MessageError) {
        let first = bytes[position]
        let rest: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: rest = 1
        case 0xE0: (rest, second) = (2, 0xA0...0xBF)
        case 0xED: (rest, second) = (2, 0x80...0x9F)
        case 0xE1...0xEF: rest = 2
        case 0xF0: (rest, second) = (3, 0x90...0xBF)
        case 0xF1...0xF3: rest = 3
        case 0xF4: (rest, second) = (3, 0x80...0x8F)
        default: throw failure(.invalidUTF8, place)
        }
        position += 1
        for index in 0..<rest {
            guard let byte = next, (index == 0 ? second : 0x80...0xBF).contains(byte) else {
                throw failure(.invalidUTF8, place)
            }
            position += 1
        }
    }

    /// Moves past one escape and returns what it stands for.
    private mutating func escape(_ place: String) throws(MessageError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let kind = next else { throw failure(.truncated, place) }
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw MessageError(.invalidEscape, place, at: start)
        }
        let unit = try hexadecimal(place)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // A surrogate: only the high one may come first, and the low one must follow at once.
        guard (0xD800..<0xDC00).contains(unit) else { throw MessageError(.loneSurrogate, place, at: start) }
        guard skip("\\u") else {
            if end - position < 2, bytes[position..<end].allSatisfy({ $0 == UInt8(ascii: "\\") }) {
                throw MessageError(.truncated, place, at: end)
            }
            throw MessageError(.loneSurrogate, place, at: start)
        }
        let low = try hexadecimal(place)
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x1_0000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw MessageError(.loneSurrogate, place, at: start) }
        return scalar
    }

    private mutating func hexadecimal(_ place: String) throws(MessageError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = hexadecimalDigit(byte) else { throw failure(.invalidEscape, place) }
            value = value << 4 | digit
            position += 1
        }
        return value
    }

    private func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// The UTF-8 that a string stands for.
    func unescaped(_ string: JSONString) throws(MessageError) -> [UInt8] {
        guard string.hasEscapes else { return Array(bytes[string.range]) }
        var text: [UInt8] = []
        text.reserveCapacity(string.range.count)
        var reader = self
        reader.position = string.range.lowerBound
        while reader.position < string.range.upperBound, let byte = reader.next {
            if byte == UInt8(ascii: "\\") {
                text += Unicode.UTF8.encode(try reader.escape("string")).map(Array.init) ?? []
            } else {
                text.append(byte)
                reader.position += 1
            }
        }
        return text
    }
}
