/// Whether somebody has a recovery phrase on paper: three of its words are asked for.
package enum WordCheck {
    /// Words that are asked for.
    package static let asked = 3

    /// The places of the words that are asked for, counted from 1, in order; drawn at random.
    package static func positions() -> [Int] { Array((1...24).shuffled().prefix(asked)).sorted() }

    /// Compares a word. Upper and lower case are the same; white space around it does not count.
    /// - Parameters:
    ///   - typed: UTF-8.
    ///   - position: Counted from 1.
    ///   - text: The phrase: whole words in lower case, one space between two.
    package static func isRight(_ typed: RawSpan, at position: Int, in text: RawSpan) -> Bool {
        let word = bounds(of: position, in: text)
        var start = 0
        var end = typed.byteCount
        while start < end, isSpace(byte(typed, start)) { start += 1 }
        while end > start, isSpace(byte(typed, end - 1)) { end -= 1 }
        guard end - start == word.count, !word.isEmpty else { return false }
        var difference: UInt8 = 0
        for offset in 0..<word.count {
            difference |= lower(byte(typed, start + offset)) ^ byte(text, word.lowerBound + offset)
        }
        return difference == 0
    }

    /// Where word `position` lies.
    private static func bounds(of position: Int, in text: RawSpan) -> Range<Int> {
        var (word, start) = (1, 0)
        for offset in 0..<text.byteCount where byte(text, offset) == UInt8(ascii: " ") {
            if word == position { return start..<offset }
            word += 1
            start = offset + 1
        }
        return word == position ? start..<text.byteCount : 0..<0
    }

    private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
