import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing

@Suite(.seeded) struct RecoveryPhraseTests {
    /// Entropy and canonical text of what a text parses to.
    struct Parsed: Equatable {
        var entropy: String
        var text: String
    }

    static func parse(_ text: String) throws -> Parsed { try parse(Array(text.utf8)) }

    static func parse(_ text: [UInt8]) throws -> Parsed {
        try describe(RecoveryPhrase(parsing: secret(text)))
    }

    static func describe(_ phrase: borrowing RecoveryPhrase) -> Parsed {
        Parsed(
            entropy: phrase.withEntropy { hexadecimal(copy($0)) },
            text: String(decoding: phrase.withText { copy($0) }, as: UTF8.self))
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] {
        (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }

    /// A phrase without repeated words.
    static let words = RecoveryPhraseVector.all[5].words.split(separator: " ").map(String.init)
    static var sample: Parsed {
        Parsed(entropy: RecoveryPhraseVector.all[5].entropy, text: RecoveryPhraseVector.all[5].words)
    }

    // MARK: Vectors

    @Test("official vector", arguments: RecoveryPhraseVector.all)
    func vectors(_ vector: RecoveryPhraseVector) throws {
        let expected = Parsed(entropy: vector.entropy, text: vector.words)
        #expect(try Self.parse(vector.words) == expected)
        let encoded = try RecoveryPhrase(entropy: secret(hexBytes(vector.entropy)))
        let described = Self.describe(encoded)
        #expect(described == expected)
    }

    private static let vectorFile = "vectors/bip39/vectors.json"

    @Test(.enabled(if: SharedVectors.has(vectorFile), Comment(rawValue: SharedVectors.missing)))
    func everyOfficialVector() throws {
        let file = try JSONDecoder().decode(
            [String: [[String]]].self, from: #require(SharedVectors.data(Self.vectorFile)))
        var accepted = 0
        for entry in try #require(file["english"]) {
            let (entropy, text) = (entry[0], entry[1])
            if entropy.count == 64 {
                #expect(try Self.parse(text) == Parsed(entropy: entropy, text: text))
                accepted += 1
            } else {
                let count = text.split(separator: " ").count
                #expect(throws: RecoveryPhraseError.wrongWordCount(count)) { try Self.parse(text) }
                #expect(throws: RecoveryPhraseError.invalidEntropySize(entropy.count / 2)) {
                    let phrase = try RecoveryPhrase(entropy: secret(hexBytes(entropy)))
                    _ = Self.describe(phrase)
                }
            }
        }
        #expect(accepted == 8)
        for (language, entries) in file where language != "english" {
            for entry in entries { #expect(throws: RecoveryPhraseError.self) { try Self.parse(entry[1]) } }
        }
    }

    @Test func randomEntropyComesBack() throws {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let entropy = random.bytes(32)
            let text = try Self.describe(RecoveryPhrase(entropy: secret(entropy))).text
            let parsed = try Self.parse(text)
            #expect(parsed == Parsed(entropy: hexadecimal(entropy), text: text))
        }
    }

    // MARK: Mistakes

    @Test(arguments: 0..<24)
    func anUnknownWordIsReportedWithItsPosition(_ position: Int) {
        let right = Self.words[position]
        let wrong = [
            "x\(right)", "\(right)x", String(right.prefix(2)), "\(right)1", "\(right.prefix(3)).", "\(right)é", "1",
            "-",
            "ABANDONED", "zzzz", "aaaa", "........", "zoo.....", "\u{1F512}",
        ]
        for word in wrong {
            var words = Self.words
            words[position] = word
            #expect(throws: RecoveryPhraseError.unknownWord(position: position + 1), "\(word)") {
                try Self.parse(words.joined(separator: " "))
            }
        }
    }

    @Test(arguments: 0..<24)
    func anotherKnownWordFailsTheChecksum(_ position: Int) {
        var words = Self.words
        words[position] = words[position] == "abandon" ? "ability" : "abandon"
        #expect(throws: RecoveryPhraseError.checksumMismatch) { try Self.parse(words.joined(separator: " ")) }
    }

    /// Eight bits let one exchange in 256 through, and with another entropy; none of these 23 neighbours is one.
    @Test(arguments: 0..<23)
    func exchangedWordsFailTheChecksum(_ position: Int) {
        var words = Self.words
        words.swapAt(position, position + 1)
        #expect(throws: RecoveryPhraseError.checksumMismatch) { try Self.parse(words.joined(separator: " ")) }
    }

    @Test(arguments: [0, 1, 12, 15, 18, 21, 23, 25, 48])
    func anotherNumberOfWordsIsRefused(_ count: Int) {
        let text = (0..<count).map { Self.words[$0 % 24] }.joined(separator: " ")
        #expect(throws: RecoveryPhraseError.wrongWordCount(count)) { try Self.parse(text) }
    }

    @Test(arguments: [0, 16, 31, 33, 64])
    func entropyOfAnotherSizeIsRefused(_ size: Int) throws {
        #expect(throws: RecoveryPhraseError.invalidEntropySize(size)) {
            let phrase = try RecoveryPhrase(entropy: secret([UInt8](repeating: 1, count: size)))
            _ = Self.describe(phrase)
        }
    }

    @Test func lengthIsLimited() throws {
        let text = Self.sample.text
        let padding = String(repeating: " ", count: 1024 - text.utf8.count)
        #expect(try Self.parse(padding + text) == Self.sample)
        #expect(throws: RecoveryPhraseError.tooLong(bytes: 1025)) { try Self.parse(padding + text + "\n") }
    }

    @Test(arguments: [0x00, 0x01, 0x08, 0x0E, 0x1B, 0x7F, 0xC0, 0xC1, 0xF5, 0xFF])
    func bytesThatAreNoTextAreRefused(_ byte: UInt8) {
        for text in [[byte], [byte] + Self.sample.text.utf8, Self.sample.text.utf8 + [byte]] {
            #expect(throws: RecoveryPhraseError.notText) { try Self.parse(text) }
        }
    }

    @Test func descriptionsDoNotRepeatTheInput() {
        let errors: [RecoveryPhraseError] = [
            .wrongWordCount(23), .unknownWord(position: 7), .checksumMismatch, .notText, .tooLong(bytes: 2000),
            .invalidEntropySize(16), .memory(.lockedMemoryExhausted(bytes: 64)),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(RecoveryPhraseError.unknownWord(position: 7).description.contains("word 7 "))
        #expect(RecoveryPhraseError.wrongWordCount(23).description.contains("23"))
    }
}
