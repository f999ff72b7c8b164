import OneTimeCodes
import SecretMemory
import TestSupport
import Testing

extension OneTimeCode {
    func digits(at time: UInt64) throws -> String {
        try code(at: time).withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    var link: String {
        get throws {
            try text().withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    init(_ text: String) throws { try self.init(parsing: SecretBytes(utf8: text)) }
}

@Suite struct OneTimeCodeTests {
    private static let key = "12345678901234567890"

    private func key(_ text: String) throws -> SecretBytes { try SecretBytes(utf8: text) }

    /// RFC 4226, appendix D.
    @Test(
        arguments: zip(
            0..<10,
            [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
            ]))
    func `a counter gives the codes of RFC 4226`(_ count: Int, _ expected: String) throws {
        let code = try OneTimeCode(key: key(Self.key), moment: .counter(UInt64(count)))
        #expect(try code.digits(at: 0) == expected)
        #expect(code.remaining(at: 0) == nil)
    }

    /// RFC 6238, appendix B. The keys are as long as the hash's digests (erratum 2866).
    @Test(
        arguments: [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ] as [(UInt64, String, String, String)])
    func `a time gives the codes of RFC 6238`(
        _ time: UInt64, _ sha1: String, _ sha256: String, _ sha512: String
    ) throws {
        let digits = Self.key + Self.key + Self.key + Self.key
        for (hash, size, expected) in [(OneTimeCode.Hash.sha1, 20, sha1), (.sha256, 32, sha256), (.sha512, 64, sha512)]
        {
            let code = try OneTimeCode(key: key(String(digits.prefix(size))), hash: hash, characters: .digits(8))
            #expect(try code.digits(at: time) == expected)
        }
    }

    /// The numbers of RFC 4226's 31 bits, as Python's hmac gives them.
    @Test(
        arguments: [
            (59, "1094287082"), (1_111_111_109, "0907081804"), (1_111_111_111, "0414050471"),
            (1_234_567_890, "0689005924"), (2_000_000_000, "2069279037"),
        ] as [(UInt64, String)])
    func `fewer digits are the last of ten`(_ time: UInt64, _ all: String) throws {
        for count in 6...10 {
            let digits = try OneTimeCode(key: key(Self.key), characters: .digits(count)).digits(at: time)
            #expect(digits == all.suffix(count))
        }
    }

    /// The first two times and codes are from Steam's own app, as KeePassXC's tests have them; the others were computed
    /// with Python's hmac.
    @Test(
        arguments: [
            ("63BEDWCQZKTQWPESARIERL5DTTQFCJTK", 1_511_200_518, "FR8RV"),
            ("63BEDWCQZKTQWPESARIERL5DTTQFCJTK", 1_511_200_714, "9P3VP"),
            ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59, "PV9M4"),
            ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 1_234_567_890, "VHHQY"),
            ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 20_000_000_000, "R5DMB"),
        ] as [(String, UInt64, String)])
    func `a Steam code has five characters`(_ key: String, _ time: UInt64, _ expected: String) throws {
        for text in [
            "otpauth://totp/x?secret=\(key)&encoder=steam", "otpauth://steam/x?secret=\(key)&digits=5",
            "steam://\(key)",
        ] {
            let code = try OneTimeCode(text)
            #expect(code.characters == .steam && code.characters.count == 5)
            #expect(try code.digits(at: time) == expected)
            #expect(code.remaining(at: time) == 30 - Int(time % 30))
            #expect(try code.link.contains("&digits=5&period=30&encoder=steam"))
            #expect(try OneTimeCode(code.link).digits(at: time) == expected)
        }
    }

    @Test func `a code is good until its step ends`() throws {
        let code = try OneTimeCode(key: key(Self.key))
        #expect([0, 1, 29, 30, 59].map { code.remaining(at: $0) } == [30, 29, 1, 30, 1])
        #expect(try code.digits(at: 30) == code.digits(at: 59))
        #expect(try code.digits(at: 29) != code.digits(at: 30))
    }

    @Test func `a counter goes on, and time does not`() throws {
        let code = try OneTimeCode(key: key(Self.key), moment: .counter(0))
        let next = try code.advanced()
        let digits = try next?.digits(at: 0)
        #expect(digits == "287082")
        let last = try OneTimeCode(key: key(Self.key), moment: .counter(.max)).advanced() == nil
        let none = try OneTimeCode(key: key(Self.key)).advanced() == nil
        #expect(last && none)
    }

    @Test func `settings are within their ranges`() throws {
        for digits in [0, 5, 11, -1] {
            #expect(throws: OneTimeCodeError.invalid(.digits)) {
                _ = try OneTimeCode(key: key("k"), characters: .digits(digits))
            }
        }
        for period in [0, -1, 86_401] {
            #expect(throws: OneTimeCodeError.invalid(.period)) {
                _ = try OneTimeCode(key: key("k"), moment: .time(period: period))
            }
        }
        #expect(throws: OneTimeCodeError.invalid(.secret)) { _ = try OneTimeCode(key: SecretBytes(zeroed: 0)) }
        #expect(throws: OneTimeCodeError.invalid(.secret)) { _ = try OneTimeCode(key: SecretBytes(zeroed: 257)) }
        for name in ["a\nb", "\u{0}", "\u{7F}"] {
            #expect(throws: OneTimeCodeError.invalid(.label)) { _ = try OneTimeCode(key: key("k"), issuer: name) }
            #expect(throws: OneTimeCodeError.invalid(.label)) { _ = try OneTimeCode(key: key("k"), account: name) }
        }
    }

    @Test func `a Steam code has no settings of its own`() throws {
        #expect(throws: OneTimeCodeError.invalid(.algorithm)) {
            _ = try OneTimeCode(key: key("k"), hash: .sha256, characters: .steam)
        }
        #expect(throws: OneTimeCodeError.invalid(.period)) {
            _ = try OneTimeCode(key: key("k"), characters: .steam, moment: .time(period: 60))
        }
        #expect(throws: OneTimeCodeError.invalid(.kind)) {
            _ = try OneTimeCode(key: key("k"), characters: .steam, moment: .counter(1))
        }
    }

    @Test(arguments: ["SHA256", "sha256", "SHA-256", "HmacSHA256", "HMAC-SHA-256", "hmacsha256"])
    func `a hash has more than one name`(_ name: String) { #expect(OneTimeCode.Hash(named: name) == .sha256) }

    @Test(arguments: ["", "MD5", "SHA", "SHA2", "HMAC", "HMACHMACSHA1", "SHA3-256", "SHA1 "])
    func `another hash is not known`(_ name: String) { #expect(OneTimeCode.Hash(named: name) == nil) }
}
