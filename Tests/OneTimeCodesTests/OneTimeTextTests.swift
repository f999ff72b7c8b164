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
        #expect(code.hash == .sha1 && code.digits == 8 && code.moment == .time(period: 30))
        #expect(try code.digits(at: 59) == "94287082")
    }

    @Test func `what is left out is what nearly everybody has`() throws {
        let code = try OneTimeCode("otpauth://totp/?secret=\(Self.secret)")
        #expect(code.hash == .sha1 && code.digits == 6 && code.moment == .time(period: 30))
        #expect(code.issuer == "" && code.account == "")
        #expect(try code.digits(at: 59) == "287082")
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
            ("otpauth://totp/x?secret=A", .secret), ("otpauth://totp/x?secret=AB", .secret),
            ("otpauth://totp/x?secret=A%", .secret), ("otpauth://totp/x?secret=A%4", .secret),
            ("otpauth://totp/x?secret=AE%3DAE", .secret), ("otpauth://totp/x?secret=AE&secret=AE", .parameters),
            ("otpauth://totp/x?secret=AE&digits=6&DIGITS=7", .parameters), ("otpauth://totp/x?secret", .parameters),
            ("otpauth://totp/x?secret=AE#x", .parameters), ("otpauth://totp/x?secret=AE&algorithm=MD5", .algorithm),
            ("otpauth://totp/x?secret=AE&algorithm=", .algorithm), ("otpauth://totp/x?secret=AE&digits=5", .digits),
            ("otpauth://totp/x?secret=AE&digits=", .digits), ("otpauth://totp/x?secret=AE&digits=6a", .digits),
            ("otpauth://totp/x?secret=AE&digits=-6", .digits),
            ("otpauth://totp/x?secret=AE&digits=99999999999999999999", .digits),
            ("otpauth://totp/x?secret=AE&period=0", .period),
            ("otpauth://totp/x?secret=AE&period=9223372036854775808", .period),
            ("otpauth://hotp/x?secret=AE", .counter), ("otpauth://hotp/x?secret=AE&counter=", .counter),
            ("otpauth://hotp/x?secret=AE&counter=18446744073709551616", .counter),
            ("otpauth://totp/%FF?secret=AE", .label), ("otpauth://totp/a%0Ab?secret=AE", .label),
        ] as [(String, OneTimeCodeError.Part)])
    func `what is not one is refused by its part`(_ text: String, _ part: OneTimeCodeError.Part) throws {
        #expect(error(text) == .invalid(part), "\(text)")
    }

    @Test func `a text has an end`() throws {
        let front = "otpauth://totp/x?secret=AE&note="
        let longest = front + String(repeating: "a", count: 4096 - front.utf8.count)
        #expect(try OneTimeCode(longest).digits == 6)
        #expect(error(longest + "a") == .tooLong)
        #expect(error("otpauth://totp/x?secret=AE" + String(repeating: "&a=1", count: 40)) == .invalid(.parameters))
    }

    @Test func `a text that is written gives the same codes when it is read`() throws {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let size = Int.random(in: 1...70, using: &generator)
            var key = generator.bytes(size)
            let hash = OneTimeCode.Hash.allCases.randomElement(using: &generator)!
            let digits = Int.random(in: 6...8, using: &generator)
            let moment =
                Bool.random(using: &generator)
                ? OneTimeCode.Moment.time(period: Int.random(in: 1...3600, using: &generator))
                : .counter(UInt64.random(in: 0...UInt64.max, using: &generator))
            let names = ["", "a", "ü ö", "100%", "x:y", "a&b=c#d?e/f"]
            let code = try OneTimeCode(
                key: SecretBytes(wiping: &key), hash: hash, digits: digits, moment: moment,
                issuer: ["", "ACME & Co", "é"].randomElement(using: &generator)!,
                account: names.randomElement(using: &generator)!)
            let again = try OneTimeCode(code.link)
            #expect(try again.digits(at: 1_234_567_890) == code.digits(at: 1_234_567_890))
            #expect(again.hash == code.hash && again.digits == code.digits && again.moment == code.moment)
            #expect(again.issuer == code.issuer && again.account == code.account)
            #expect(try again.link == code.link)
        }
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
            #expect(try code.digits(at: 0).utf8.count == code.digits)
        }
    }
}
