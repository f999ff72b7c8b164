import BetterAuth
import BetterAuthMessages
import Cryptography
import SecretMemory
import TestSupport
import Testing

/// The words of a phrase.
private func text(_ phrase: borrowing IdentityPhrase) -> String {
    phrase.withText { span in
        unsafe span.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

private func refusal(_ entered: String) throws -> RecoveryPhraseError? {
    let entered = try secret(entered)
    do throws(RecoveryPhraseError) {
        _ = try IdentityPhrase(parsing: entered)
        return nil
    } catch { return error }
}

@Suite struct RecoveryTests {
    /// BIP-39's own example of 256 zero bits.
    private static let zeros = String(repeating: "abandon ", count: 23) + "art"

    /// From the protocol's published vectors: phrase, scalar, public key, recovery hash. It takes a second or two.
    @Test(arguments: [
        (
            "ability able about above absence abstract abuse accent accept accident account accuse achieve acid acquire "
                + "across action active actress actual adapt add addict",
            "5e0994af28cd68a69da84916ab81af2086c09232ca89ba02ddffaa8bc4544e1a",
            "1AAIA6SvtFRe1dStYuUdXpHoyTd2Qd6Mwr0uaQaEoi89jwFk", "EHI-04VsQK7Nz1OLih5si8DihRPrTk7cFs6PKZZn7RwD"
        )
    ])
    func theVectors(_ phrase: String, _ seed: String, _ key: String, _ hash: String) throws {
        let phrase = try secret(phrase)
        let derived = try RecoveryDerivation.shipped.seed(of: phrase)
        let bytes = hexBytes(seed)
        let isEqual = unsafe derived.isEqual(to: bytes.span.bytes)
        #expect(isEqual)
        let signing = try SoftwareSigningKey(scalar: derived)
        #expect(signing.publicKey.description == key)
        #expect(Derivations.standard.recoveryHash(of: signing.publicKey).description == hash)
    }

    @Test func theCheapVector() throws {
        let phrase = try secret("a b c")
        let seed = try RecoveryDerivation(passes: 1, memoryKiB: 64).seed(of: phrase)
        let bytes = hexBytes("2f0ca0980044ee51d5271d78efe42f78cb913aa23cdbbaf7b10bfcd5cdbe5acf")
        let isEqual = unsafe seed.isEqual(to: bytes.span.bytes)
        #expect(isEqual)
    }

    @Test func whatIsPastedIsPutRight() throws {
        let expected = RecoveryTests.zeros
        for entered in [
            expected, "  " + expected + "\n", expected.uppercased(), expected.replacing(" ", with: "\t\u{A0} "),
            expected.replacing("abandon", with: "aban"), "\u{FEFF}" + expected.replacing(" ", with: "\r\n"),
        ] {
            let phrase = try IdentityPhrase(parsing: secret(entered))
            let words = text(phrase)
            #expect(words == expected && !phrase.isForeign)
        }
        // The example app's: 23 words, whatever they are.
        let foreign = (1...23).map { "oneteen" + ["a", "b"][$0 % 2] }.joined(separator: " ")
        let phrase = try IdentityPhrase(parsing: secret("\n" + foreign.uppercased().replacing(" ", with: "  ")))
        let words = text(phrase)
        #expect(words == foreign && phrase.isForeign)
        switch try phrase.asRecoveryPhrase() {
        case .none: break
        case .some: Issue.record("a foreign phrase has no checksum")
        }
    }

    @Test func theWrongWordIsNamed() throws {
        let words = RecoveryTests.zeros.split(separator: " ").map(String.init)
        for place in [0, 11, 23] {
            var changed = words
            changed[place] = "holdfast"
            #expect(try refusal(changed.joined(separator: " ")) == .unknownWord(position: place + 1))
        }
        #expect(try refusal(words.dropLast().joined(separator: " ") + " zoo") == .checksumMismatch)
        #expect(try refusal(words.dropLast(2).joined(separator: " ")) == .wrongWordCount(22))
        #expect(try refusal((words + ["art"]).joined(separator: " ")) == .wrongWordCount(25))
        #expect(try refusal("") == .wrongWordCount(0))
        var foreign = (1...23).map { _ in "word" }
        foreign[4] = "w0rd"
        #expect(try refusal(foreign.joined(separator: " ")) == .unknownWord(position: 5))
        #expect(try refusal(String(repeating: "a ", count: 600)) == .tooLong(bytes: 1200))
    }

    @Test func newPhrasesDiffer() throws {
        var seen: Set<String> = []
        for _ in 0..<8 {
            let phrase = try IdentityPhrase.generate()
            let words = text(phrase)
            #expect(words.split(separator: " ").count == 24 && seen.insert(words).inserted)
            let again = try IdentityPhrase(parsing: secret(words))
            let same = text(again)
            #expect(same == words)
        }
    }

    @Test func spotChecksAskForThreeWords() throws {
        let phrase = try IdentityPhrase.generate()
        let words = text(phrase).split(separator: " ").map(String.init)
        let checks: [SpotCheck]
        switch try phrase.asRecoveryPhrase() {
        case .none: preconditionFailure("it is ours")
        case .some(let phrase): checks = try SpotCheck.make(for: phrase)
        }
        #expect(checks.count == 4 && Set(checks.flatMap(\.positions)).count == 12)
        for check in checks.prefix(2) {
            #expect(check.positions == check.positions.sorted() && check.positions.allSatisfy { (1...24).contains($0) })
            let right = check.positions.map { words[Int($0) - 1] }
            #expect(try check.isMet(by: secret(right.joined(separator: " "))))
            #expect(try check.isMet(by: secret("  " + right.map { $0.prefix(4).uppercased() }.joined(separator: "\n"))))
            let swapped = [right[1], right[0], right[2]]
            let isSame = swapped == right
            #expect(try check.isMet(by: secret(swapped.joined(separator: " "))) == isSame)
            #expect(throws: RecoveryPhraseError.wrongWordCount(2)) {
                try check.isMet(by: secret(right.prefix(2).joined(separator: " ")))
            }
            #expect(throws: RecoveryPhraseError.unknownWord(position: 3)) {
                try check.isMet(by: secret("zoo zoo holdfast"))
            }
        }
    }
}
