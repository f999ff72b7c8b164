import Items
import OneTimeCodes
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// One-time codes of KeePass, KeePassXC and plugins.
@Suite struct KeePassCodesTests {
    @Test(arguments: [
        (
            [("TOTP Seed", "JBSWY3DPEHPK3PXP"), ("TOTP Settings", "60;8")],
            "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=8&period=60"
        ),
        (
            [("TOTP Seed", "JBSWY3DPEHPK3PXP"), ("TOTP Settings", "30;6;https://time.example")],
            "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30"
        ),
        (
            [
                ("TimeOtp-Secret-Base32", "JBSWY3DPEHPK3PXP"), ("TimeOtp-Period", "60"), ("TimeOtp-Length", "8"),
                ("TimeOtp-Algorithm", "HMAC-SHA-256"),
            ], "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256&digits=8&period=60"
        ),
        (
            [("TimeOtp-Secret", "Hello!"), ("TimeOtp-Algorithm", "HMAC-SHA-512")],
            "otpauth://totp/?secret=JBSWY3DPEE&algorithm=SHA512&digits=6&period=30"
        ),
        (
            [("TimeOtp-Secret-Hex", "48656c6c6f21")],
            "otpauth://totp/?secret=JBSWY3DPEE&algorithm=SHA1&digits=6&period=30"
        ),
        (
            [("TimeOtp-Secret-Base64", "SGVsbG8h")],
            "otpauth://totp/?secret=JBSWY3DPEE&algorithm=SHA1&digits=6&period=30"
        ),
        (
            [("otp", "key=JBSWY3DPEHPK3PXP&amp;size=8&amp;step=60&amp;type=Totp&amp;otpHashMode=Sha256")],
            "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256&digits=8&period=60"
        ),
        (
            [("otp", "key=JBSW%59%33DPEHPK3PXP%3d%3d")],
            "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30"
        ),
        (
            [("otp", "key=JBSWY3DPEHPK3PXP&amp;type=Hotp&amp;counter=9")],
            "otpauth://hotp/?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&counter=9"
        ),
        (
            [("HmacOtp-Secret-Hex", "48656c6c6f21"), ("HmacOtp-Counter", "7")],
            "otpauth://hotp/?secret=JBSWY3DPEE&algorithm=SHA1&digits=6&counter=7"
        ),
    ])
    func `one-time codes of KeePass keep their settings`(_ fields: [(String, String)], _ address: String) throws {
        let read = try KeePassSample.entry([("Title", "T")] + fields)
        let item = try #require(read.items.first)
        #expect(item.text("code") == address && item.item.fields.count == 1, "\(item.text("code") ?? "none")")
        #expect(read.notes.isEmpty)
    }

    @Test(arguments: [
        [("TOTP Seed", "JBSWY3DPEHPK3PXP"), ("TOTP Settings", "60;S")],
        [("TOTP Seed", "JBSWY3DPEHPK3PXP"), ("TOTP Settings", "soon")],
        [("TimeOtp-Secret", "Hello!"), ("TimeOtp-Algorithm", "HMAC-MD5")],
        [("TimeOtp-Secret-Hex", "4"), ("TimeOtp-Period", "30")],
        [("HmacOtp-Secret", "Hello!"), ("HmacOtp-Counter", "-1")],
        [("otp", "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&amp;digits=6&amp;encoder=other")],
        [("otp", "key=JBSWY3DPEHPK3PXP&amp;otpHashMode=Md5")], [("otp", "key=JBSWY3DPEHPK3PXP&amp;type=Yandex")],
    ])
    func `codes that cannot be computed are no codes, their settings are kept and said`(
        _ fields: [(String, String)]
    ) throws {
        let read = try KeePassSample.entry([("Title", "T")] + fields)
        let item = try #require(read.items.first)
        #expect(!item.has(.oneTimeCode) && read.notes.count == 1, "\(read.notes)")
        #expect(item.item.fields.count == fields.count)
        #expect(
            item.count(.secret) == 1
                && item.item.field(.secret)?.size == (fields[0].1.replacing("&amp;", with: "&")).utf8.count)
    }

    @Test func `an entry with several codes keeps all of them, under labels of their own`() throws {
        let read = try KeePassSample.entry([
            ("Title", "T"), ("otp", "otpauth://totp/?secret=JBSWY3DPEHPK3PXP"), ("TOTP Seed", "JBSWY3DPEE"),
            ("HmacOtp-Secret", "Hello!"), ("backup", "otpauth://totp/?secret=JBSWY3DPEE"), ("TimeOtp-Secret", ""),
        ])
        let item = try #require(read.items.first)
        #expect(
            read.notes.isEmpty
                && item.item.fields.map(\.label) == ["code", "code 2", "code 3", "backup", "TimeOtp-Secret"])
        #expect(item.item.fields.prefix(4).allSatisfy { $0.kind == .oneTimeCode })
    }

    @Test(arguments: [
        [("TOTP Seed", "JBSWY3DPEHPK3PXP"), ("TOTP Settings", "30;S")],
        [("otp", "otpauth://totp/?secret=JBSWY3DPEHPK3PXP&amp;period=30&amp;digits=5&amp;encoder=steam")],
        [("otp", "key=JBSWY3DPEHPK3PXP&amp;type=Steam")],
    ])
    func `codes of Steam are codes`(_ fields: [(String, String)]) throws {
        let read = try KeePassSample.entry([("Title", "T")] + fields)
        let text = try #require(read.items.first?.text("code"))
        #expect(text.contains("encoder=steam") && read.notes.isEmpty)
        #expect(try OneTimeCode(parsing: secret(text)).characters == .steam)
    }
}
