/// What a generated password is made of.
public struct PasswordRules: Sendable, Hashable {
    /// Characters that it may have; from each chosen kind it has at least one.
    public struct Characters: OptionSet, Sendable, Hashable {
        /// One bit for each kind.
        public let rawValue: UInt8

        /// Kinds by their bits; others mean nothing.
        public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

        /// `a` to `z`.
        package static let lower = Characters(rawValue: 1)
        /// `A` to `Z`.
        package static let upper = Characters(rawValue: 2)
        /// `0` to `9`.
        package static let digits = Characters(rawValue: 4)
        /// The signs of ASCII that nothing but a space is left out of.
        package static let signs = Characters(rawValue: 8)
        /// All of them.
        public static let all: Characters = [.lower, .upper, .digits, .signs]
    }

    /// Lengths that are possible, in characters.
    package static let lengths = 4...256

    /// Characters of it; 4 to 256.
    package let length: Int
    /// Kinds of characters; never empty.
    package let characters: Characters
    /// Whether it has none of the characters that are taken for others: `0 O o 1 l I |` and quotes.
    package let avoidsLookalikes: Bool

    /// - Parameters:
    ///   - length: Clamped to 4 to 256.
    ///   - characters: ``Characters/all`` where it is empty.
    ///   - avoidsLookalikes: Whether characters that are taken for others are left out.
    public init(length: Int = 20, characters: Characters = .all, avoidsLookalikes: Bool = false) {
        self.length = min(max(length, PasswordRules.lengths.lowerBound), PasswordRules.lengths.upperBound)
        self.characters = characters.isEmpty ? .all : characters
        self.avoidsLookalikes = avoidsLookalikes
    }

    private static let lookalikes = Array("0Oo1lI|'\"`".utf8)

    /// Each kind's characters.
    var kinds: [[UInt8]] {
        let all: [(Characters, [UInt8])] = [
            (.lower, Array(UInt8(ascii: "a")...UInt8(ascii: "z"))),
            (.upper, Array(UInt8(ascii: "A")...UInt8(ascii: "Z"))),
            (.digits, Array(UInt8(ascii: "0")...UInt8(ascii: "9"))),
            (.signs, Array("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".utf8)),
        ]
        return all.filter { characters.contains($0.0) }.map { _, characters in
            avoidsLookalikes ? characters.filter { !PasswordRules.lookalikes.contains($0) } : characters
        }
    }

    /// How much a guesser who knows the rules does not know, in bits: the logarithm of how many passwords there are.
    package var entropy: Double {
        let sizes = kinds.map { Double($0.count) }
        let alphabet = sizes.reduce(0, +)
        // Those that lack a kind are never given: inclusion and exclusion.
        var share = 0.0
        for choice in 0..<(1 << sizes.count) {
            var (lacking, sign) = (0.0, 1.0)
            for (index, size) in sizes.enumerated() where choice >> index & 1 == 1 {
                lacking += size
                sign = -sign
            }
            share += sign * Logarithm.power((alphabet - lacking) / alphabet, length)
        }
        return Double(length) * Logarithm.binary(alphabet) + Logarithm.binary(share)
    }
}

/// What a generated phrase of words is made of.
public struct WordRules: Sendable, Hashable {
    /// Numbers of words that are possible.
    package static let counts = 3...24
    /// Bytes of a separator, at most.
    package static let longestSeparator = 8

    /// Words: 3 to 24.
    public let count: Int
    /// What is between two words.
    public let separator: String
    /// Whether each word begins with a capital letter.
    package let capitalizes: Bool
    /// Whether one of the words, no one knows which, is followed by a digit.
    package let addsDigit: Bool

    /// - Parameters:
    ///   - count: Clamped to 3 to 24.
    ///   - separator: A hyphen where it is longer than 8 bytes.
    ///   - capitalizes: Whether each word begins with a capital letter.
    ///   - addsDigit: Whether a digit follows one of the words.
    public init(count: Int = 6, separator: String = "-", capitalizes: Bool = false, addsDigit: Bool = false) {
        self.count = min(max(count, WordRules.counts.lowerBound), WordRules.counts.upperBound)
        self.separator = separator.utf8.count <= WordRules.longestSeparator ? separator : "-"
        self.capitalizes = capitalizes
        self.addsDigit = addsDigit
    }

    /// As ``PasswordRules/entropy``. Without a separator two phrases may have the same letters: then it is a little
    /// less.
    package var entropy: Double {
        Double(count) * 11 + (addsDigit ? Logarithm.binary(Double(10 * count)) : 0)
    }
}

/// Logarithms without the C library, which not every target of ours may import.
enum Logarithm {
    /// To the base of 2, right to 40 binary places; of a number above zero.
    static func binary(_ number: Double) -> Double {
        var (result, rest, place) = (Double(number.exponent), number.significand, 0.5)
        for _ in 0..<40 {
            rest *= rest
            if rest >= 2 {
                rest /= 2
                result += place
            }
            place /= 2
        }
        return result
    }

    static func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        for _ in 0..<exponent { result *= base }
        return result
    }
}
