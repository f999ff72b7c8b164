internal import VaultFormat

/// Texts as a search compares them: in lower case, without regard to language.
enum Folding {
    /// Writes a text in lower case, at most to the end of the bytes, and returns the offset behind it.
    ///
    /// Letters beyond ASCII go through a text of one character, which fits into a word and is not allocated; the text
    /// itself stays where it is. What is not UTF-8 ends it.
    static func fold(_ text: RawSpan, into output: inout MutableRawSpan, at start: Int) -> Int {
        var end = start
        unsafe text.withUnsafeBytes { bytes in
            var parser = Unicode.UTF8.ForwardParser()
            var iterator = unsafe bytes.makeIterator()
            while case .valid(let encoded) = unsafe parser.parseScalar(from: &iterator) {
                let scalar = Unicode.UTF8.decode(encoded)
                if scalar.isASCII {
                    let byte = UInt8(scalar.value)
                    guard end < output.byteCount else { return }
                    output.storeBytes(of: isUpper(byte) ? byte | 0x20 : byte, toByteOffset: end, as: UInt8.self)
                    end += 1
                    continue
                }
                let lower = scalar.properties.lowercaseMapping.utf8
                guard end + lower.count <= output.byteCount else { return }
                for byte in lower {
                    output.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
                    end += 1
                }
            }
        }
        return end
    }

    /// A text in lower case.
    static func folded(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { Array($0.properties.lowercaseMapping.utf8) }
    }

    /// Bytes that a folded text may take: a scalar becomes at most three times as long.
    static func room(for count: Int) -> Int { 3 * count }

    private static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}

extension RawSpan {
    /// Where a text is inside of a part, from an offset on; nil where it is not.
    func find(_ text: [UInt8], in range: Range<Int>) -> Int? {
        guard let first = text.first, text.count <= range.count else { return text.isEmpty ? range.lowerBound : nil }
        return unsafe withUnsafeBytes { bytes in
            let last = range.upperBound - text.count
            var offset = range.lowerBound
            while offset <= last {
                if unsafe bytes[offset] == first {
                    var length = 1
                    while length < text.count, unsafe bytes[offset + length] == text[length] { length += 1 }
                    if length == text.count { return offset }
                }
                offset += 1
            }
            return nil
        }
    }
}
