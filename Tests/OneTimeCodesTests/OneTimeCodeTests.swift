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
            let code = try OneTimeCode(key: key(String(digits.prefix(size))), hash: hash, digits: 8)
            #expect(try code.digits(at: time) == expected)
        }
    }

    @Test func `six and seven digits are the last of eight`() throws {
        #expect(try OneTimeCode(key: key(Self.key), digits: 8).digits(at: 59) == "94287082")
        #expect(try OneTimeCode(key: key(Self.key), digits: 7).digits(at: 59) == "4287082")
        #expect(try OneTimeCode(key: key(Self.key), digits: 6).digits(at: 59) == "287082")
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
        for digits in [0, 5, 9, -1] {
            #expect(throws: OneTimeCodeError.self) { _ = try OneTimeCode(key: key("k"), digits: digits) }
        }
        for period in [0, -1, 3601] {
            #expect(throws: OneTimeCodeError.invalid(.period)) {
                _ = try OneTimeCode(key: key("k"), moment: .time(period: period))
            }
        }
        #expect(throws: OneTimeCodeError.invalid(.secret)) { _ = try OneTimeCode(key: SecretBytes(zeroed: 0)) }
        #expect(throws: OneTimeCodeError.invalid(.secret)) { _ = try OneTimeCode(key: SecretBytes(zeroed: 257)) }
    }
}
