import Cryptography
import SecretMemory
import Testing

@Suite struct PasscodeStrengthTests {
    @Test(arguments: [
        ("", PasscodeStrength.Level.none), ("1234", .veryWeak), ("password", .veryWeak), ("Password", .veryWeak),
        ("aaaaaaaaaaaaaaaa", .veryWeak), ("qwertzuiop", .veryWeak), ("8361", .veryWeak), ("83614729", .weak),
        ("tk4mzp", .weak), ("tk4mzp91", .fair), ("correct horse battery staple", .strong), ("n8#Kx!0vQz", .strong),
        ("0123456789", .veryWeak), ("abcdefgh", .veryWeak),
    ])
    func `a passcode is as strong as what must be guessed of it`(_ passcode: String, _ level: PasscodeStrength.Level)
        throws
    {
        let strength = try SecretBytes(utf8: passcode).withBytes { PasscodeStrength(of: $0) }
        #expect(strength.level == level, "\(passcode) has \(strength.bits) bits")
        #expect(strength.hints.isEmpty == (level == .strong || level == .none))
    }

    @Test func `more of the same character is never weaker`() throws {
        for character in ["x", "7", "ß"] {
            var last = 0
            for count in 1..<40 {
                let text = String(repeating: character, count: count)
                let bits = try SecretBytes(utf8: text).withBytes { PasscodeStrength(of: $0).bits }
                #expect(bits >= last)
                last = bits
            }
        }
    }
}
