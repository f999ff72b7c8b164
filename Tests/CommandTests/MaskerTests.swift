import Holdfast
import HoldfastCommand
import TestSupport
import Testing

/// The masking of values in what passes through.
@Suite(.seeded) struct MaskerTests {
    private func masker(_ values: [String]) throws -> Masker {
        try Masker(values.map { Masker.RawValue(try secret($0)) })
    }

    /// What comes out, in the pieces in which it comes.
    private func masked(_ pieces: [String], _ values: [String]) throws -> [String] {
        var masker = try masker(values)
        var out: [String] = []
        for piece in pieces {
            var now: [UInt8] = []
            let bytes = Array(piece.utf8)
            unsafe masker.mask(bytes.span.bytes) { now += $0.array }
            out.append(String(decoding: now, as: UTF8.self))
        }
        var rest: [UInt8] = []
        masker.finish { rest += $0.array }
        return out + [String(decoding: rest, as: UTF8.self)]
    }

    private func all(_ text: String, _ values: String...) throws -> String {
        try masked([text], values).joined()
    }

    @Test func `a value is replaced wherever it is, and nothing else`() throws {
        #expect(try all("a secret, a Secret, secre", "secret") == "a <masked>, a Secret, secre")
        #expect(try all("secretsecret secret", "secret") == "<masked><masked> <masked>")
        #expect(try all("nothing here", "secret") == "nothing here")
        #expect(try all("", "secret") == "")
        #expect(try all("abc", "abc") == "abc", "too short to be masked")
    }

    @Test func `values that overlap are replaced together`() throws {
        #expect(try all("xababababy", "abab") == "x<masked>y")
        #expect(try all("-abcdefgh-", "abcdef", "defgh") == "-<masked>-")
        #expect(try all("-abcdefgh-abcd-", "abcdefgh", "abcd") == "-<masked>-<masked>-")
    }

    @Test func `line ends behind a value do not matter, and long lines are replaced alone`() throws {
        let key = "-----BEGIN-----\nAAAABBBBCCCC\nDD\n"
        #expect(try all("x \(key)", key) == "x <masked>\n")
        #expect(try all("AAAABBBBCCCC and DD", key) == "<masked> and DD")
    }

    @Test func `a value is replaced without the blanks at its ends, too, which a shell takes away`() throws {
        #expect(try all("say s3cret word!", " \ts3cret word  \n") == "say <masked>!")
        #expect(try all("[  s3cret  ]", "  s3cret  ") == "[<masked>]")
        #expect(try all("say s3cret!", "\n s3cret") == "say <masked>!")
        #expect(try all("abc, abc  ", "abc  ") == "abc, <masked>", "too short without its blanks")
        #expect(try all("x AAAABBBB y", "one\n\tAAAABBBB \nDD") == "x <masked> y")
        #expect(try all("x DDDD y", "one\n  DDDD  \nDD") == "x DDDD y", "a line too short without its blanks")
    }

    @Test func `what cannot become a value is passed on at once, and the rest at the end`() throws {
        let out = try masked(["password: se", "c", "ond", "sec", "ret!", "secr"], ["secret"])
        #expect(out == ["password: ", "", "second", "", "<masked>!", "", "secr"])
    }

    @Test func `a value that is cut into single bytes is replaced`() throws {
        let text = "one secret and another: sesecretcretsecret"
        let out = try masked(text.map(String.init), ["secret", "another"]).joined()
        #expect(out == "one <masked> and <masked>: se<masked>cret<masked>")
    }

    @Test func `random cuts give what one piece gives`() throws {
        var generator = SeededGenerator()
        for _ in 0..<(TestRun.isSoak ? 5000 : 200) {
            let letters = (0..<Int.random(in: 0...400, using: &generator)).map { _ in
                "ab".randomElement(using: &generator)!
            }
            let values = (0..<3).map { _ in
                String(
                    (0..<Int.random(in: 4...9, using: &generator)).map { _ in "ab".randomElement(using: &generator)! })
            }
            var pieces: [String] = [""]
            for letter in letters {
                if Int.random(in: 0..<5, using: &generator) == 0 { pieces.append("") }
                pieces[pieces.count - 1].append(letter)
            }
            let whole = try masked([String(letters)], values).joined()
            #expect(try masked(pieces, values).joined() == whole)
            #expect(whole == naive(String(letters), values))
        }
    }

    /// By joining every occurrence with those that it overlaps.
    private func naive(_ text: String, _ values: [String]) -> String {
        let letters = Array(text)
        var found = values.map(Array.init).flatMap { value in
            letters.indices.filter { letters[$0...].starts(with: value) }.map { $0..<$0 + value.count }
        }
        found.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        var (out, end) = ("", 0)
        for range in found {
            if range.lowerBound >= end || end == 0 {
                out += String(letters[end..<range.lowerBound]) + "<masked>"
            }
            end = max(end, range.upperBound)
        }
        return out + String(letters[end...])
    }

    @Test func `output made to be slow is masked in linear time`() throws {
        let value = String(repeating: "a", count: 60_000) + "b"
        let text = String(repeating: "a", count: 200_000)
        #expect(try masked([text, "b"], [value]).joined() == String(repeating: "a", count: 140_000) + "<masked>")
    }
}
