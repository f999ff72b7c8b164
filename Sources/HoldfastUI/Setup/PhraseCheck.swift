internal import Holdfast

/// Whether the user wrote the recovery phrase down: asks for three of its words.
///
/// The phrase stays in locked memory; a word that was right stays right.
package struct PhraseCheck: ~Copyable {
    private let phrase: RecoveryPhrase
    /// The places of the words that are asked for, counted from 1, in order.
    package let positions: [Int]
    private var right: Set<Int> = []

    /// Words that are asked for.
    static let asked = 3

    /// - Parameter positions: Which words; chosen at random when nil.
    init(_ phrase: consuming RecoveryPhrase, positions: [Int]? = nil) {
        self.phrase = phrase
        self.positions = positions ?? Array((1...24).shuffled().prefix(PhraseCheck.asked)).sorted()
    }

    /// Whether every word that is asked for was given.
    package var isPassed: Bool { right.count == positions.count }

    /// Compares one word. Upper and lower case are the same; white space around it does not count.
    /// - Parameters:
    ///   - word: UTF-8, as it was typed.
    ///   - position: One of ``positions``.
    /// - Returns: Whether it is the right one.
    @discardableResult
    package mutating func answer(_ word: RawSpan, at position: Int) -> Bool {
        guard positions.contains(position) else { return false }
        let isRight = phrase.withText { text in PhraseCheck.isEqual(word, text, position) }
        if isRight { right.insert(position) } else { right.remove(position) }
        return isRight
    }

    /// Lends the words: whole, in lower case, one space between two.
    package borrowing func withText<R>(_ body: (RawSpan) -> R) -> R { phrase.withText { body($0) } }

    /// Gives the phrase back.
    consuming func end() -> RecoveryPhrase { phrase }

    private static func isEqual(_ typed: RawSpan, _ text: RawSpan, _ position: Int) -> Bool {
        let word = bounds(of: position, in: text)
        var start = 0
        var end = typed.byteCount
        while start < end, isSpace(typed.byte(at: start)) { start += 1 }
        while end > start, isSpace(typed.byte(at: end - 1)) { end -= 1 }
        guard end - start == word.count, !word.isEmpty else { return false }
        var difference: UInt8 = 0
        for offset in 0..<word.count {
            difference |= lower(typed.byte(at: start + offset)) ^ text.byte(at: word.lowerBound + offset)
        }
        return difference == 0
    }

    /// Where word `position`, counted from 1, lies.
    private static func bounds(of position: Int, in text: RawSpan) -> Range<Int> {
        var (word, start) = (1, 0)
        for offset in 0..<text.byteCount where text.byte(at: offset) == UInt8(ascii: " ") {
            if word == position { return start..<offset }
            word += 1
            start = offset + 1
        }
        return word == position ? start..<text.byteCount : 0..<0
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
