import Foundation
import SecretMemory
import TestSupport
import Testing

@testable import Cryptography

@Suite(.seeded) struct RecoveryPhraseInputTests {
    private static let words = RecoveryPhraseTests.words
    private static let sample = RecoveryPhraseTests.sample

    @Test(
        "white space",
        arguments: [
            "\t", "\n", "\r\n", "  ", " \n \t ", "\u{B}", "\u{C}", "\u{85}", "\u{A0}", "\u{1680}", "\u{2000}",
            "\u{200A}",
            "\u{200B}", "\u{2028}", "\u{2029}", "\u{202F}", "\u{205F}", "\u{3000}", "\u{FEFF}",
        ])
    func whiteSpace(_ space: String) throws {
        let text = Self.words.joined(separator: space)
        #expect(try RecoveryPhraseTests.parse(text) == Self.sample)
        #expect(try RecoveryPhraseTests.parse(space + text + space) == Self.sample)
    }

    @Test func everyScalarThatUnicodeCallsWhiteSpaceSeparates() throws {
        for scalar in (0...0x10FFFF).compactMap(Unicode.Scalar.init) where scalar.properties.isWhitespace {
            let text = Self.words.joined(separator: String(Character(scalar)))
            #expect(try RecoveryPhraseTests.parse(text) == Self.sample, "U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test func letterCaseDoesNotMatter() throws {
        #expect(try RecoveryPhraseTests.parse(Self.sample.text.uppercased()) == Self.sample)
        #expect(try RecoveryPhraseTests.parse(Self.sample.text.capitalized) == Self.sample)
    }

    @Test(arguments: 4...8)
    func wordsMayBeCutAfterTheFourthLetter(_ length: Int) throws {
        for vector in RecoveryPhraseVector.all {
            let cut = vector.words.split(separator: " ").map { $0.prefix(length) }.joined(separator: " ")
            let expected = RecoveryPhraseTests.Parsed(entropy: vector.entropy, text: vector.words)
            #expect(try RecoveryPhraseTests.parse(cut) == expected)
        }
    }

    // MARK: Word list

    @Test func theListIsTheStandardOne() {
        let list = "\(RecoveryPhrase.WordList.padded)"
        #expect(list.utf8.count == 2048 * 8)
        let words = Self.words(of: list)
        #expect(words.count == 2048)
        let file = Array((words.joined(separator: "\n") + "\n").utf8)
        let digest = unsafe SHA256.hash(file.span.bytes)
        #expect(
            hexadecimal(digest.bytes) == "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda")
    }

    /// What the search and the short forms rely on.
    @Test func theListIsSortedAndFourLettersTellEveryWord() {
        let words = Self.words(of: "\(RecoveryPhrase.WordList.padded)")
        #expect(words == words.sorted())
        #expect(Set(words.map { $0.prefix(4) }).count == 2048)
        #expect(words.allSatisfy { (3...8).contains($0.count) })
    }

    @Test func everyWordIsFoundInEveryForm() {
        for (number, word) in Self.words(of: "\(RecoveryPhrase.WordList.padded)").enumerated() {
            for length in 1...word.count {
                let letters = Array(word.utf8.prefix(length))
                let found = unsafe RecoveryPhrase.WordList.index(of: letters.span.bytes)
                if length == word.count || length >= 4 {
                    #expect(found == number, "\(word) cut to \(length)")
                } else {
                    #expect(found != number, "\(word) cut to \(length)")
                }
            }
        }
    }

    private static func words(of list: String) -> [String] {
        let bytes = Array(list.utf8)
        return stride(from: 0, to: bytes.count, by: 8).map { offset in
            String(
                decoding: bytes[offset..<min(offset + 8, bytes.count)].prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self
            )
        }
    }

    // MARK: Garbage

    /// Bytes of any kind, damaged phrases, and phrases cut anywhere: an answer or an error, never a trap.
    @Test func garbageNeverTraps() throws {
        var random = SeededGenerator()
        let text = Array(Self.sample.text.utf8)
        var accepted = 0
        for _ in 0..<2_000 {
            var input = text
            switch Int.random(in: 0..<4, using: &random) {
            case 0: input = random.bytes(.random(in: 0...1_100, using: &random))
            case 1: input = Array(input.prefix(.random(in: 0...input.count, using: &random)))
            case 2:
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    input[.random(in: input.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
                }
            default:
                let pieces: [[UInt8]] = [
                    [0xE2], [0xE2, 0x80], [0xC2], [0xE3, 0x80], [0xEF, 0xBB], [0xF0, 0x9F], [0x20],
                ]
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let position = Int.random(in: 0...input.count, using: &random)
                    input.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: position)
                }
            }
            do {
                let parsed = try RecoveryPhraseTests.parse(input)
                #expect(try RecoveryPhraseTests.parse(parsed.text) == parsed)
                accepted += 1
            } catch is RecoveryPhraseError {
            }
        }
        #expect(accepted < 2_000)
    }

    @Test func everyTruncationIsRefused() {
        let text = Array(Self.sample.text.utf8)
        // The last word may lose letters down to four.
        let shortest = text.count - (Self.words[23].utf8.count - 4)
        for length in 0..<text.count where length < shortest {
            #expect(throws: RecoveryPhraseError.self, "\(length) bytes") {
                try RecoveryPhraseTests.parse(Array(text.prefix(length)))
            }
        }
    }
}
