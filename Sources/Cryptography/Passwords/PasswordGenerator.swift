public import SecretMemory

/// Draws new passwords and phrases of words; each that the rules allow is as likely as any other.
public enum PasswordGenerator {
    /// A new password.
    /// - Throws: ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)`` without randomness.
    public static func password(_ rules: PasswordRules = PasswordRules()) throws(CryptographyError) -> SecretBytes {
        var draws = try Draws()
        return try password(rules, &draws)
    }

    /// A new phrase of words out of the 2,048 of the recovery phrase's list (BIP-39, English).
    /// - Throws: As ``password(_:)``.
    public static func words(_ rules: WordRules = WordRules()) throws(CryptographyError) -> SecretBytes {
        var draws = try Draws()
        return try words(rules, &draws)
    }

    static func password(_ rules: PasswordRules, _ draws: inout Draws) throws(CryptographyError) -> SecretBytes {
        let kinds = rules.kinds
        // Which kind each character is of, by its place in the alphabet.
        let alphabet = kinds.enumerated().flatMap { kind, characters in
            characters.map { (byte: $0, kind: UInt8(1) << kind) }
        }
        let all = (UInt8(1) << kinds.count) - 1
        var password = try SecretBytes.zeroed(rules.length, lifetime: .transient)
        var seen: UInt8
        repeat {
            // All of it anew when a kind is missing: to put one in afterwards would make some passwords likelier.
            seen = try password.withMutableBytes { password throws(CryptographyError) in
                var seen: UInt8 = 0
                for offset in 0..<password.byteCount {
                    let character = alphabet[try draws.next(below: alphabet.count)]
                    password.storeBytes(of: character.byte, toByteOffset: offset, as: UInt8.self)
                    seen |= character.kind
                }
                return seen
            }
        } while seen != all
        return password
    }

    static func words(_ rules: WordRules, _ draws: inout Draws) throws(CryptographyError) -> SecretBytes {
        let separator = Array(rules.separator.utf8)
        let most = rules.count * (RecoveryPhrase.WordList.paddedLength + separator.count) + 1
        let digitAfter = rules.addsDigit ? try draws.next(below: rules.count) : -1
        var text = try SecretBytes.zeroed(most, lifetime: .transient)
        let length = try text.withMutableBytes { text throws(CryptographyError) in
            var end = 0
            for number in 0..<rules.count {
                if number > 0 { end = PasswordGenerator.append(separator, to: &text, at: end) }
                let start = end
                let index = try draws.next(below: RecoveryPhrase.WordList.count)
                end = RecoveryPhrase.WordList.write(index, into: &text, at: end)
                if rules.capitalizes {
                    let letter = unsafe text.bytes.unsafeLoad(fromByteOffset: start, as: UInt8.self)
                    text.storeBytes(of: letter & ~0x20, toByteOffset: start, as: UInt8.self)
                }
                if number == digitAfter {
                    end = PasswordGenerator.append(
                        [UInt8(ascii: "0") + UInt8(try draws.next(below: 10))], to: &text, at: end)
                }
            }
            return end
        }
        do throws(SecretMemoryError) { return try text.copy(0..<length) } catch { throw .memory(error) }
    }

    private static func append(_ bytes: [UInt8], to text: inout MutableRawSpan, at offset: Int) -> Int {
        for (index, byte) in bytes.enumerated() {
            text.storeBytes(of: byte, toByteOffset: offset + index, as: UInt8.self)
        }
        return offset + bytes.count
    }

    /// Random numbers below a bound, none likelier than another. The randomness waits in locked memory.
    struct Draws: ~Copyable {
        private var pool: SecretBytes
        private var used: Int
        /// Where more comes from.
        private let fill: (inout MutableRawSpan) throws(CryptographyError) -> Void

        init(
            _ fill: @escaping (inout MutableRawSpan) throws(CryptographyError) -> Void = {
                (bytes) throws(CryptographyError) in
                try SecureRandom.fill(&bytes)
            }
        ) throws(CryptographyError) {
            pool = try SecretBytes.zeroed(128, lifetime: .transient)
            used = pool.count
            self.fill = fill
        }

        /// - Parameter bound: 1 to 65,536.
        mutating func next(below bound: Int) throws(CryptographyError) -> Int {
            // What is above the largest multiple of the bound is drawn again; a remainder of it would be biased.
            let end = 65_536 - 65_536 % bound
            while true {
                if used == pool.count {
                    try pool.withMutableBytes(fill)
                    used = 0
                }
                let (place, value) = (
                    used,
                    pool.withBytes { bytes in
                        Int(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: used, as: UInt16.self).littleEndian)
                    }
                )
                pool.withMutableBytes { $0.storeBytes(of: 0, toByteOffset: place, as: UInt16.self) }
                used += 2
                if value < end { return value % bound }
            }
        }
    }
}
