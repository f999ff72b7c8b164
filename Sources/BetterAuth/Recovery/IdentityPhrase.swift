public import Cryptography
public import SecretMemory

/// The recovery phrase of an identity: 24 words (BIP-39), from which its recovery key is derived. Never the phrase of
/// the vault, which opens files on this device; this one speaks to the server, and each recovery replaces it.
///
/// The example app's phrases, 23 words of a list of its own without a checksum, are taken for recovering accounts that
/// were made there; no new ones are made.
public struct IdentityPhrase: ~Copyable {
    private let text: SecretBytes
    /// Whether it has the example app's form.
    package let isForeign: Bool

    /// Words of the example app's phrases.
    static let foreignWordCount = 23

    init(text: consuming SecretBytes, isForeign: Bool) {
        self.text = text
        self.isForeign = isForeign
    }

    /// A fresh phrase.
    /// - Throws: ``Cryptography/RecoveryPhraseError``, ``Cryptography/CryptographyError``.
    public static func generate() throws -> IdentityPhrase {
        let phrase = try RecoveryPhrase(entropy: SecureRandom.secret(32))
        return IdentityPhrase(text: try phrase.withText { try SecretBytes(copying: $0) }, isForeign: false)
    }

    /// Reads what a person has entered or pasted. White space around and between the words, letter case, and words that
    /// were cut after four letters are put right.
    /// - Throws: ``Cryptography/RecoveryPhraseError``, which names the word that is wrong by its position.
    public init(parsing text: borrowing SecretBytes) throws(RecoveryPhraseError) {
        guard try IdentityPhrase.wordCount(text) == IdentityPhrase.foreignWordCount else {
            let phrase = try RecoveryPhrase(parsing: text)
            self.init(text: try IdentityPhrase.copy(of: phrase), isForeign: false)
            return
        }
        self.init(text: try IdentityPhrase.plainWords(text), isForeign: true)
    }

    /// Lends the words, with one space between two: what the key is derived from.
    public borrowing func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try text.withBytes(body)
    }

    /// The phrase as the vault's own type, to be compared with the vault's; nil for a foreign one.
    package borrowing func asRecoveryPhrase() throws(RecoveryPhraseError) -> RecoveryPhrase? {
        isForeign ? nil : try RecoveryPhrase(parsing: text)
    }

    /// Derives the recovery key: 1.6 s and 256 MiB on a laptop of 2020.
    /// - Throws: ``Cryptography/CryptographyError``; `scalarOutOfRange` for a phrase that has no key, one of 2^32.
    public borrowing func recoveryKey() throws(CryptographyError) -> SoftwareSigningKey {
        try recoveryKey(.standard)
    }

    /// As ``recoveryKey()``, at costs that only tests may name.
    package borrowing func recoveryKey(_ derivation: RecoveryDerivation) throws(CryptographyError) -> SoftwareSigningKey
    {
        try SoftwareSigningKey(scalar: derivation.seed(of: text))
    }
}

/// How a recovery key follows from a phrase (protocol.md 11.1): the salt is BLAKE3-256 of the text and `salt`, the
/// scalar Argon2id over the text with it.
package struct RecoveryDerivation: Sendable, Hashable {
    package let passes: Int
    package let memoryKiB: Int

    /// What every peer uses: 9 passes over 256 MiB in one lane.
    package static let shipped = RecoveryDerivation(passes: 9, memoryKiB: 262_144)

    /// What this executable uses; cheap in the builds of `make test` alone, whose keys are nobody's elsewhere.
    package static let standard: RecoveryDerivation = {
        #if HOLDFAST_TEST_COSTS
        RecoveryDerivation(passes: 1, memoryKiB: 64)
        #else
        shipped
        #endif
    }()

    package init(passes: Int, memoryKiB: Int) {
        self.passes = passes
        self.memoryKiB = memoryKiB
    }

    /// The 32 bytes that are the private scalar.
    /// - Parameter phrase: UTF-8, taken byte for byte.
    /// - Throws: ``Cryptography/CryptographyError``.
    package func seed(of phrase: borrowing SecretBytes) throws(CryptographyError) -> SecretBytes {
        var hasher = try BLAKE3.ofSecret()
        phrase.withBytes { hasher.update($0) }
        let suffix: StaticString = "salt"
        unsafe hasher.update(
            RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: suffix.utf8Start, count: suffix.utf8CodeUnitCount)))
        // Says nothing of a phrase of 256 bits, and is not stored.
        return try hasher.finalize().withBytes { salt throws(CryptographyError) in
            try Argon2id.deriveWithLongSalt(
                phrase, salt: salt, passes: passes, memoryKiB: memoryKiB, lanes: 1, count: 32)
        }
    }
}

extension IdentityPhrase {
    private static func copy(of phrase: borrowing RecoveryPhrase) throws(RecoveryPhraseError) -> SecretBytes {
        do throws(SecretMemoryError) {
            return try phrase.withText { text throws(SecretMemoryError) in try SecretBytes(copying: text) }
        } catch { throw .memory(error) }
    }

    private static func wordCount(_ text: borrowing SecretBytes) throws(RecoveryPhraseError) -> Int {
        guard text.count <= 1024 else { throw .tooLong(bytes: text.count) }
        return try text.withBytes { text throws(RecoveryPhraseError) in
            var (count, offset) = (0, 0)
            while try RecoveryPhrase.nextWord(text, &offset) != nil { count += 1 }
            return count
        }
    }

    /// Words that are in no list of ours: letters, in lower case, one space between two.
    private static func plainWords(_ text: borrowing SecretBytes) throws(RecoveryPhraseError) -> SecretBytes {
        var output: SecretBytes
        do throws(SecretMemoryError) { output = try SecretBytes(zeroed: text.count + 1) } catch { throw .memory(error) }
        let length = try text.withBytes { text throws(RecoveryPhraseError) in
            try output.withMutableBytes { output throws(RecoveryPhraseError) in
                try copyWords(text, to: &output)
            }
        }
        do throws(SecretMemoryError) { return try output.copy(0..<length) } catch { throw .memory(error) }
    }

    private static func copyWords(_ text: RawSpan, to output: inout MutableRawSpan) throws(RecoveryPhraseError) -> Int {
        var (number, offset, end) = (0, 0, 0)
        while let word = try RecoveryPhrase.nextWord(text, &offset) {
            number += 1
            if end > 0 {
                output.storeBytes(of: UInt8(ascii: " "), toByteOffset: end, as: UInt8.self)
                end += 1
            }
            for position in word {
                let letter = unsafe text.unsafeLoad(fromByteOffset: position, as: UInt8.self) | 0x20
                guard letter &- UInt8(ascii: "a") < 26 else { throw .unknownWord(position: number) }
                output.storeBytes(of: letter, toByteOffset: end, as: UInt8.self)
                end += 1
            }
        }
        return end
    }
}
