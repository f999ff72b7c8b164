import SecretMemory
import TestSupport
import Testing

@testable import Cryptography

@Suite(.seeded) struct PasswordGeneratorTests {
    private func bytes(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe Array($0) } }

    private func password(_ rules: PasswordRules) throws -> [UInt8] {
        try PasswordGenerator.password(rules).withBytes { bytes($0) }
    }

    private func words(_ rules: WordRules) throws -> String {
        try PasswordGenerator.words(rules).withBytes { String(decoding: bytes($0), as: UTF8.self) }
    }

    private static func kind(_ byte: UInt8) -> PasswordRules.Characters {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): .lower
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): .upper
        case UInt8(ascii: "0")...UInt8(ascii: "9"): .digits
        default: .signs
        }
    }

    @Test func `a password has each kind that was chosen, and no other`() throws {
        for bits in UInt8(1)...15 {
            let characters = PasswordRules.Characters(rawValue: bits)
            for length in [4, 5, 20, 256] {
                let made = try password(PasswordRules(length: length, characters: characters))
                #expect(made.count == length)
                #expect(made.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                let kinds = made.reduce(into: PasswordRules.Characters()) { $0.insert(Self.kind($1)) }
                #expect(kinds == characters)
            }
        }
    }

    @Test func `characters that look alike are left out when that is asked for`() throws {
        for _ in 0..<20 {
            let made = try password(PasswordRules(length: 256, avoidsLookalikes: true))
            #expect(made.allSatisfy { !Array("0Oo1lI|'\"`".utf8).contains($0) })
        }
    }

    @Test func `rules outside of their range are brought into it`() {
        #expect(PasswordRules(length: 0).length == 4 && PasswordRules(length: 9999).length == 256)
        #expect(PasswordRules(characters: []).characters == .all)
        #expect(WordRules(count: 0).count == 3 && WordRules(count: 99).count == 24)
        #expect(WordRules(separator: "123456789").separator == "-" && WordRules(separator: "").separator == "")
    }

    @Test func `no number below a bound is likelier than another`() throws {
        // Every 16-bit number once: what is not drawn again must be spread evenly, to the last one.
        for bound in [1, 2, 3, 10, 26, 94, 255, 2048, 60_000, 65_536] {
            var next: UInt32 = 0
            var counts = [Int](repeating: 0, count: bound)
            var draws = try PasswordGenerator.Draws { bytes in
                for offset in stride(from: 0, to: bytes.byteCount, by: 2) {
                    bytes.storeBytes(of: UInt16(truncatingIfNeeded: next), toByteOffset: offset, as: UInt16.self)
                    next += 1
                }
            }
            let whole = 65_536 / bound * bound
            for _ in 0..<whole { counts[try draws.next(below: bound)] += 1 }
            #expect(counts.allSatisfy { $0 == whole / bound }, "below \(bound)")
        }
    }

    @Test func `entropy is the logarithm of how many there are`() {
        #expect(abs(PasswordRules(length: 10, characters: .digits).entropy - 33.219_280_948_87) < 1e-6)
        // Two kinds in four characters: 36^4 less those of letters alone and of digits alone.
        let both = PasswordRules(length: 4, characters: [.lower, .digits]).entropy
        #expect(abs(both - Logarithm.binary(1_679_616 - 456_976 - 10_000)) < 1e-6)
        #expect(PasswordRules(length: 20).entropy > 128)
        #expect(PasswordRules(length: 20, avoidsLookalikes: true).entropy < PasswordRules(length: 20).entropy)
        #expect(WordRules(count: 6).entropy == 66)
        #expect(abs(WordRules(count: 6, addsDigit: true).entropy - 66 - Logarithm.binary(60)) < 1e-9)
        #expect(abs(Logarithm.binary(10) - 3.321_928_094_887) < 1e-9 && Logarithm.binary(0.25) == -2)
    }

    @Test func `a phrase has words of the list`() throws {
        for _ in 0..<50 {
            let phrase = try words(WordRules(count: 24, separator: " "))
            let parts = phrase.split(separator: " ")
            #expect(parts.count == 24)
            let known = try RecoveryPhrase.words(24, in: SecretBytes(utf8: phrase)).withBytes { bytes($0) }
            #expect(String(decoding: known, as: UTF8.self) == phrase)
        }
        let decorated = try words(WordRules(count: 3, separator: "--", capitalizes: true, addsDigit: true))
        #expect(decorated.wholeMatch(of: /[A-Z][a-z]{2,7}[0-9]?(--[A-Z][a-z]{2,7}[0-9]?){2}/) != nil)
        #expect(decorated.filter(\.isNumber).count == 1)
        #expect(try words(WordRules(count: 3, separator: "")).allSatisfy(\.isLetter))
    }

    @Test func `no two are the same`() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<200 { seen.insert(try password(PasswordRules(length: 20))) }
        #expect(seen.count == 200)
        var phrases: Set<String> = []
        for _ in 0..<200 { phrases.insert(try words(WordRules())) }
        #expect(phrases.count == 200)
    }
}
