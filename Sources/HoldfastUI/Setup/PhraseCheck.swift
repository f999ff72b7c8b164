internal import Cryptography
internal import Holdfast

/// Whether the user wrote the recovery phrase down: asks for three of its words.
///
/// The phrase stays in locked memory; a word that was right stays right.
package struct PhraseCheck: ~Copyable {
    private let phrase: RecoveryPhrase
    /// The places of the words that are asked for, counted from 1, in order.
    package let positions: [Int]
    private var right: Set<Int> = []

    /// - Parameter positions: Which words; chosen at random when nil.
    init(_ phrase: consuming RecoveryPhrase, positions: [Int]? = nil) {
        self.phrase = phrase
        self.positions = positions ?? WordCheck.positions()
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
        let isRight = phrase.withText { text in WordCheck.isRight(word, at: position, in: text) }
        if isRight { right.insert(position) } else { right.remove(position) }
        return isRight
    }

    /// Lends the words: whole, in lower case, one space between two.
    package borrowing func withText<R>(_ body: (RawSpan) -> R) -> R { phrase.withText { body($0) } }

    /// Gives the phrase back.
    consuming func end() -> RecoveryPhrase { phrase }
}
