package import Cryptography
package import SecretMemory

extension SpotCheck {
    /// How many there are of a phrase, and how many words each asks for: together half of the phrase.
    static let count = 4
    static let words = 3

    /// Costs of one check: 3 passes over 64 MiB, a tenth of a second.
    private static let passes = 3
    private static let memoryKiB = 65_536

    /// Commitments to words of a phrase at places that are drawn now, none of them twice.
    /// - Throws: ``Cryptography/CryptographyError``, ``Cryptography/RecoveryPhraseError``.
    package static func make(for phrase: borrowing RecoveryPhrase) throws -> [SpotCheck] {
        var places = Array(1...UInt8(24))
        var random = SystemRandomNumberGenerator()
        places.shuffle(using: &random)
        var checks: [SpotCheck] = []
        for number in 0..<count {
            let positions = places[number * words..<(number + 1) * words].sorted()
            let salt = try SecureRandom.bytes(Argon2id.saltSize)
            let digest = try digest(phrase.words(at: positions), salt)
            checks.append(SpotCheck(positions: positions, salt: salt, digest: digest))
        }
        return checks
    }

    /// Whether these are the words.
    /// - Parameter text: As they were entered, in the order of the positions.
    /// - Throws: ``Cryptography/RecoveryPhraseError`` for what is no three words of the list,
    ///   ``Cryptography/CryptographyError``.
    package func isMet(by text: borrowing SecretBytes) throws -> Bool {
        let words = try RecoveryPhrase.words(positions.count, in: text)
        let found = try SpotCheck.digest(words, salt)
        return unsafe constantTimeEquals(found.span.bytes, digest.span.bytes)
    }

    private static func digest(_ words: borrowing SecretBytes, _ salt: [UInt8]) throws -> [UInt8] {
        let digest = try unsafe Argon2id.derive(
            words, salt: salt.span.bytes, passes: passes, memoryKiB: memoryKiB, count: 32)
        return digest.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }
}
