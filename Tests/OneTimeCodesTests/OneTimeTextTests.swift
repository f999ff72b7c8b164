import OneTimeCodes
import SecretMemory
import TestSupport
import Testing

@Suite(.seeded) struct OneTimeTextTests {
    private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    private func error(_ text: String) -> OneTimeCodeError? {
        thrown(OneTimeCodeError.self) { _ = try OneTimeCode(text) }
    }

    @Test func `a text of a service is read`() throws {
        let code = try OneTimeCode(
            "otpauth://totp/ACME%20Co:john@example.com?secret=\(Self.secret)&issuer=ACME%20Co&algorithm=SHA1&digits=8&period=30"
        )
        #expect(code.issuer == "ACME Co" && code.account == "john@example.com")
        #expect(code.hash == .sha1 && code.characters == .digits(8) && code.moment == .time(period: 30))
        #expect(try code.digits(at: 59) == "94287082")
    }

    @Test func `what is left out is what nearly everybody has`() throws {
        let code = try OneTimeCode("otpauth://totp/?secret=\(Self.secret)")
        #expect(code.hash == .sha1 && code.characters == .digits(6) && code.moment == .time(period: 30))
        #expect(code.issuer == "" && code.account == "")
        #expect(try code.digits(at: 59) == "287082")
        let counter = try OneTimeCode("otpauth://hotp/x?secret=\(Self.secret)")
        #expect(counter.moment == .counter(0))
        #expect(try counter.digits(at: 0) == "755224")
    }

    @Test func `an empty parameter is as if it was not there`() throws {
        let code = try OneTimeCode(
            "otpauth://totp/A:b?secret=\(Self.secret)&digits=&period=&algorithm=&issuer=&encoder=&counter=&image=")
        #expect(code.characters == .digits(6) && code.moment == .time(period: 30) && code.hash == .sha1)
        #expect(code.issuer == "A" && code.account == "b")
        #expect(try OneTimeCode("otpauth://hotp/x?secret=\(Self.secret)&counter=").moment == .counter(0))
    }

    /// What Python's hmac gives for the bytes that are whole.
    @Test(arguments: [
        (String(repeating: "X", count: 52), "546366"), ("JBSWY3DPEHPK3PXPJBSWY3DPE7", "226413"), ("AB", "712049"),
    ])
    func `bits that make no byte are dropped`(_ key: String, _ expected: String) throws {
        let code = try OneTimeCode("otpauth://totp/x?secret=\(key)")
        #expect(try code.digits(at: 1_234_567_890) == expected)
        #expect(try OneTimeCode(code.link).digits(at: 1_234_567_890) == expected)
        #expect(try OneTimeCode(entered: SecretBytes(utf8: key)).digits(at: 1_234_567_890) == expected)
    }

    @Test func `a key that lacks a character is refused`() throws {
        for size in 1...32 {
            let isWhole = ![1, 3, 6].contains(size % 8)
            let text = "otpauth://totp/x?secret=" + Self.secret.prefix(size)
            #expect((error(text) == nil) == isWhole, "\(size)")
        }
    }

    @Test(arguments: [
        "OTPAUTH://TOTP/x?SECRET=gezdgnbvgy3tqojqgezdgnbvgy3tqojq&DIGITS=6",
        "otpauth://totp/x?secret=GEZD%20GNBV%20GY3T%20QOJQ%20GEZD%20GNBV%20GY3T%20QOJQ",
        "otpauth://totp/x?secret=GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ%3D%3D",
        "otpauth://totp/x?image=https%3A%2F%2Fx&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&&color=red",
    ])
    func `a key is read as services write it`(_ text: String) throws {
        #expect(try OneTimeCode(text).digits(at: 59) == "287082")
    }

    @Test(arguments: [
        ("otpauth://totp/ACME:john?secret=AE", "ACME", "john"),
        ("otpauth://totp/ACME%3Ajohn?secret=AE", "ACME", "john"),
        ("otpauth://totp/ACME:%20john?secret=AE", "ACME", "john"),
        ("otpauth://totp/john?secret=AE&issuer=B", "B", "john"),
        ("otpauth://totp/A:john?secret=AE&issuer=B", "B", "john"), ("otpauth://totp/%C3%BC?secret=AE", "", "ü"),
        ("otpauth://totp/Some%3A%20Text:john?secret=AE&issuer=Some%3A%20Text", "Some: Text", "john"),
        ("otpauth://totp/Some%3A%20Text%3Ajohn?secret=AE&issuer=Some%3A%20Text", "Some: Text", "john"),
        ("otpauth://totp/Some: Text:john?secret=AE&issuer=Some: Text", "Some: Text", "john"),
        ("otpauth://totp/Some%3AText:john?secret=AE", "Some:Text", "john"),
        ("otpauth://totp/Air%20Canada:john?secret=AE&issuer=Air+Canada", "Air Canada", "john"),
        ("otpauth://totp/A+B:john?secret=AE&issuer=A+B", "A+B", "john"),
        ("otpauth://totp/Some%3aText:john?secret=AE&issuer=B", "B", "john"),
        ("otpauth://totp/A:b%3Ac?secret=AE", "A", "b:c"), ("otpauth://totp/A%3ab%3ac?secret=AE", "A", "b:c"),
        ("otpauth://totp/A:A%3Ax?secret=AE&issuer=A", "A", "A:x"), ("otpauth://totp/:b%3Ac?secret=AE", "", "b:c"),
        ("otpauth://totp/%20A%20:%20%20b%20?secret=AE&issuer=%20A", "A", "b"),
    ])
    func `names are those of label and issuer`(_ text: String, _ issuer: String, _ account: String) throws {
        let code = try OneTimeCode(text)
        #expect(code.issuer == issuer && code.account == account)
    }

    @Test(
        arguments: [
            ("", .scheme), ("https://totp/x?secret=AE", .scheme), ("otpauth:/totp/x?secret=AE", .scheme),
            ("otpauth://", .kind), ("otpauth://totp", .kind), ("otpauth://motp/x?secret=AE", .kind),
            ("otpauth://totp/x", .secret), ("otpauth://totp/x?secret=", .secret),
            ("otpauth://totp/x?secret=1", .secret),
            ("otpauth://totp/x?secret=A", .secret), ("otpauth://totp/x?secret=ABC", .secret),
            ("otpauth://totp/x?secret=A%", .secret), ("otpauth://totp/x?secret=A%4", .secret),
            ("otpauth://totp/x?secret=AE%3DAE", .secret), ("otpauth://totp/x?secret=AE&secret=AE", .parameters),
            ("otpauth://totp/x?secret=AE&digits=6&DIGITS=7", .parameters), ("otpauth://totp/x?secret", .parameters),
            ("otpauth://totp/x?secret=AE#x", .parameters), ("otpauth://totp/x?secret=AE&algorithm=MD5", .algorithm),
            ("otpauth://totp/x?secret=AE&algorithm=%FF", .algorithm), ("otpauth://totp/x?secret=AE&digits=5", .digits),
            ("otpauth://totp/x?secret=AE&digits=11", .digits), ("otpauth://totp/x?secret=AE&digits=6a", .digits),
            ("otpauth://totp/x?secret=AE&digits=-6", .digits),
            ("otpauth://totp/x?secret=AE&digits=99999999999999999999", .digits),
            ("otpauth://totp/x?secret=AE&period=0", .period),
            ("otpauth://totp/x?secret=AE&period=9223372036854775808", .period),
            ("otpauth://totp/x?secret=AE&encoder=other", .encoder), ("otpauth://steam/x?secret=AE&encoder=5", .encoder),
            ("otpauth://totp/x?secret=AE&encoder=steam&encoder=steam", .parameters),
            ("otpauth://totp/x?secret=AE&encoder=steam&digits=6", .digits),
            ("otpauth://steam/x?secret=AE&period=60", .period),
            ("otpauth://steam/x?secret=AE&algorithm=SHA256", .algorithm),
            ("otpauth://hotp/x?secret=AE&encoder=steam", .kind), ("steam://", .secret), ("steam://1", .secret),
            ("steam://AE?digits=5", .secret), ("steam:AE", .scheme),
            ("otpauth://hotp/x?secret=AE&counter=18446744073709551616", .counter),
            ("otpauth://totp/%FF?secret=AE", .label), ("otpauth://totp/a%0Ab?secret=AE", .label),
        ] as [(String, OneTimeCodeError.Part)])
    func `what is not one is refused by its part`(_ text: String, _ part: OneTimeCodeError.Part) throws {
        #expect(error(text) == .invalid(part), "\(text)")
    }

    @Test func `a text has an end`() throws {
        let front = "otpauth://totp/x?secret=AE&note="
        let longest = front + String(repeating: "a", count: 4096 - front.utf8.count)
        #expect(try OneTimeCode(longest).characters == .digits(6))
        #expect(error(longest + "a") == .tooLong)
        #expect(error("otpauth://totp/x?secret=AE" + String(repeating: "&a=1", count: 40)) == .invalid(.parameters))
    }

    @Test func `a text that is written gives the same codes when it is read`() throws {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let size = Int.random(in: 1...70, using: &generator)
            var key = generator.bytes(size)
            let hash = OneTimeCode.Hash.allCases.randomElement(using: &generator)!
            let digits = Int.random(in: 6...10, using: &generator)
            let moment =
                Bool.random(using: &generator)
                ? OneTimeCode.Moment.time(period: Int.random(in: 1...86_400, using: &generator))
                : .counter(UInt64.random(in: 0...UInt64.max, using: &generator))
            let code = try OneTimeCode(
                key: SecretBytes(wiping: &key), hash: hash, characters: .digits(digits), moment: moment,
                issuer: name(&generator), account: name(&generator))
            try expectSame(code)
        }
    }

    @Test func `a Steam code that is written is one when it is read`() throws {
        var generator = SeededGenerator()
        for _ in 0..<100 {
            var key = generator.bytes(Int.random(in: 1...70, using: &generator))
            let code = try OneTimeCode(
                key: SecretBytes(wiping: &key), characters: .steam, issuer: name(&generator), account: name(&generator))
            try expectSame(code)
            let shown = try code.digits(at: generator.next() >> 20)
            #expect(shown.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) } && shown.count == 5)
        }
    }

    /// A name out of pieces that mean something in a text, or that are easily written wrong.
    private func name(_ generator: inout SeededGenerator) -> String {
        let parts = [
            ":", "%3A", "%", " ", "  ", "A", "b", "ü", "e\u{301}", "\u{301}", "+", "&", "=", "#", "?", "/", "%25",
        ]
        return (0..<Int.random(in: 0...5, using: &generator)).map { _ in parts.randomElement(using: &generator)! }
            .joined()
    }

    private func expectSame(_ code: borrowing OneTimeCode) throws {
        let text = try code.link
        let again = try OneTimeCode(text)
        #expect(try again.digits(at: 1_234_567_890) == code.digits(at: 1_234_567_890), "\(text)")
        let isSame = again.hash == code.hash && again.characters == code.characters && again.moment == code.moment
        #expect(isSame, "\(text)")
        let areSameNames =
            Array(again.issuer.utf8) == Array(code.issuer.utf8)
            && Array(again.account.utf8) == Array(code.account.utf8)
        #expect(areSameNames, "\(text)")
        #expect(try again.link == text)
    }

    @Test func `two rounds change nothing`() throws {
        let text = "otpauth://totp/Some%3A%20More%20Text:Secret?secret=AE&issuer=Some%3A%20More%20Text"
        let once = try OneTimeCode(text).link
        #expect(try OneTimeCode(once).link == once)
        #expect(try OneTimeCode(once).account == "Secret")
    }

    @Test func `what is entered is an address or a key`() throws {
        for (text, expected) in [
            ("OTPAUTH://totp/x?secret=\(Self.secret)", "287082"), (Self.secret, "287082"),
            ("steam://\(Self.secret)", "PV9M4"), ("STEAM://\(Self.secret)", "PV9M4"),
        ] {
            #expect(try OneTimeCode(entered: SecretBytes(utf8: text)).digits(at: 59) == expected)
        }
        #expect(throws: OneTimeCodeError.invalid(.scheme)) {
            _ = try OneTimeCode(entered: SecretBytes(utf8: "https://x.example"))
        }
        #expect(throws: OneTimeCodeError.invalid(.secret)) { _ = try OneTimeCode(entered: SecretBytes(utf8: "")) }
    }

    @Test func `a key alone is read, and nothing else`() throws {
        #expect(
            try OneTimeCode(base32: SecretBytes(utf8: " gezd gnbv GY3T qojq gezd gnbv gy3t qojq ")).digits(at: 59)
                == "287082")
        for text in ["", "otpauth://totp/x?secret=AE", "A", "1234"] {
            #expect(throws: OneTimeCodeError.invalid(.secret)) { _ = try OneTimeCode(base32: SecretBytes(utf8: text)) }
        }
        #expect(throws: OneTimeCodeError.tooLong) { _ = try OneTimeCode(base32: SecretBytes(zeroed: 4097)) }
    }

    @Test func `garbage never traps`() throws {
        var generator = SeededGenerator()
        let sample = Array("otpauth://hotp/A:b?secret=GEZDGNBV&issuer=A&algorithm=SHA256&digits=8&counter=9".utf8)
        for _ in 0..<3000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator) / 4)
            guard let code = try? OneTimeCode(parsing: SecretBytes(wiping: &bytes)) else { continue }
            #expect(try code.digits(at: 0).utf8.count == code.characters.count)
        }
    }
}
