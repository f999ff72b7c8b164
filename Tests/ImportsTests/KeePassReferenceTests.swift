import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// What values of KeePass refer to.
@Suite struct KeePassReferenceTests {
    private static let number = "00000000000000000000000000000001"

    /// The first entry is referred to by the second one.
    private func value(_ text: String, of key: String = "note", _ more: (String, String)...) throws -> (
        ImportedItem, [ImportNote]
    ) {
        let first = KeePassSample.entry(
            1, ("Title", "Mail"), ("UserName", "ada"), ("Password", "s3cret"),
            ("URL", "https://u:p@a.example:81/x/y?q=1#f"),
            ("Notes", "words"), ("PIN", "99"))
        let second = KeePassSample.entry(2, ("Title", "B"), ("URL", "https://b.example"), (key, text), ("own", "mine"))
        let read = try KeePassSample.entries(first + second)
        return (read.items[1], read.notes)
    }

    @Test(arguments: [
        ("{REF:U@I:\(number)}", "ada"), ("{ref:p@i:\(number)}", "s3cret"), ("{REF:T@U:ada}", "Mail"),
        ("{REF:A@T:Mail}", "https://u:p@a.example:81/x/y?q=1#f"), ("{REF:N@T:mail}", "words"),
        ("{REF:U@O:99}", "ada"), ("{REF:U@N:words}", "ada"), ("{REF:U@P:s3cret}", "ada"), ("{REF:I@T:Mail}", number),
        ("x{REF:U@T:Mail}y{REF:U@T:Mail}z", "xadayadaz"), ("{TITLE}/{url}", "B/https://b.example"),
        ("{S:own}!", "mine!"),
        ("{URL:HOST}", "b.example"), ("{URL:RMVSCM}", "//b.example"), ("{URL:SCM}", "https"), ("{USERNAME}-", "-"),
        ("{abc} {} {{TITLE}} {TITLE {", "{abc} {} {B} {TITLE {"), ("}{", "}{"),
    ])
    func `a value has what it refers to`(_ text: String, _ meant: String) throws {
        let (item, notes) = try value(text)
        #expect(item.text("note") == meant && notes.isEmpty, "\(notes)")
    }

    @Test(arguments: [
        "{REF:P@T:nobody}", "{REF:P@I:F0000000000000000000000000000001}", "{REF:X@T:Mail}", "{REF:P@T:}", "{S:none}",
        "a{S:note}b", "{TOTP}", "{DT_YEAR}", "{CMD:/date/}",
    ])
    func `what leads nowhere or in a circle is the text that it is, and said`(_ text: String) throws {
        let (item, notes) = try value(text)
        #expect(
            item.text("note") == text && notes.count == 1 && notes.first?.entry == "B" && notes.first?.kind == .changed)
    }

    @Test func `what several entries have leads nowhere`() throws {
        let read = try KeePassSample.entries(
            KeePassSample.entry(1, ("Title", "A"), ("Password", "1"))
                + KeePassSample.entry(2, ("Title", "A"), ("Password", "2"))
                + KeePassSample.entry(3, ("Title", "C"), ("Password", "{REF:P@T:A}")))
        #expect(read.items[2].text("password") == "{REF:P@T:A}" && read.notes.count == 1)
    }

    @Test func `an open field that refers to a secret becomes one, and a title does not say it`() throws {
        #expect(try value("{REF:P@T:Mail}").0.kind("note") == .secret)
        #expect(try value("user {REF:U@T:Mail}").0.kind("note") == .text)
        #expect(try value("{REF:P@T:Mail}", of: "UserName").0.kind("username") == .secret)
        let (item, notes) = try value("{S:key}{PASSWORD}", of: "key")
        #expect(item.text("key") == "{S:key}{PASSWORD}" && notes.count == 1)
        let read = try KeePassSample.entries(
            KeePassSample.entry(1, ("Title", "{USERNAME} {PASSWORD}"), ("Password", "s3cret")))
        #expect(read.items[0].name == "{USERNAME} {PASSWORD}" && read.notes.count == 1)
    }

    @Test(arguments: [
        "{NOTES}", "{URL:PASSWORD}", "{URL:USERINFO}", "{S:otp}", "{S:TOTP Seed}", "{S:HmacOtp-Secret-Hex}",
        "{S:codes}", "{REF:N@T:\u{24}}", "{URL}", "{URL:RMVSCM}", "{S:URL}",
    ])
    func `notes, keys of codes and passwords of addresses are in no title and no open field`(_ text: String) throws {
        let others = KeePassSample.entry(1, ("Title", "$"), ("Notes", "n"))
        func read(_ title: String, _ user: String) throws -> ImportedItem {
            try #require(
                try KeePassSample.entries(
                    others
                        + KeePassSample.entry(
                            2, ("Title", title), ("UserName", user), ("URL", "https://u:p@a.example"), ("Notes", "n"),
                            ("otp", "JBSWY3DPEHPK3PXP"), ("TOTP Seed", "JBSWY3DPEHPK3PXP"),
                            ("HmacOtp-Secret-Hex", "00"), ("codes", "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"))
                ).items.last)
        }
        let item = try read(text, text)
        #expect(item.name == ImportedItem.name([text]).name && item.kind("username") == .secret)
        #expect(item.text("username") != text)
    }

    private func references(_ text: String) throws -> (KeePassReferences, XMLNode) {
        let group = try secret("<Group><Entry>\(text)</Entry></Group>").withBytes { try XMLReader.parse($0) }
        return (KeePassReferences([group]), group.children[0])
    }

    @Test func `an entry's keys are read once for all references to them`() throws {
        let key = String(repeating: "K", count: 10_000)
        let text = String(repeating: "{S:a}", count: 2000)
        let (references, entry) = try references(
            KeePassSample.string(key, "") + String(repeating: "<Novel/>", count: 1000) + KeePassSample.string("a", "")
                + KeePassSample.string("b", text))
        let value = try #require(entry.children.last?["Value"])
        for _ in 0..<3 { _ = try references.resolve(value, of: entry) }
        // The keys, the elements, and thrice the text with its references.
        #expect((3 * 10_000..<1_000_000).contains(references.work), "\(references.work)")
    }

    @Test func `what is read again and again for nothing is counted`() throws {
        let (references, entry) = try references(
            KeePassSample.string("URL", String(repeating: "x", count: 1 << 20))
                + KeePassSample.string("b", "{URL:PORT}"))
        let value = try #require(entry.children.last?["Value"])
        _ = try references.resolve(value, of: entry)
        #expect(references.work >= 1 << 20)
        let (others, other) = try self.references(
            String(repeating: KeePassSample.string("Title", String(repeating: "y", count: 1000)), count: 100)
                + KeePassSample.string("b", "{REF:U@T:\(String(repeating: "x", count: 1000))}"))
        _ = try others.resolve(try #require(other.children.last?["Value"]), of: other)
        #expect(others.work >= 200_000)
    }

    @Test func `references lead on to others`() throws {
        let read = try KeePassSample.entries(
            KeePassSample.entry(1, ("Title", "ldap"), ("UserName", "ada"), ("Password", "the-real-password"))
                + KeePassSample.entry(
                    2, ("Title", "wiki"), ("UserName", "{REF:U@I:\(KeePassReferenceTests.number)}"),
                    ("Password", "{REF:P@I:\(KeePassReferenceTests.number)}"))
                + KeePassSample.entry(
                    3, ("Title", "far"), ("Password", "<{REF:P@T:wiki}>".replacing("<", with: "&lt;"))))
        #expect(read.notes.isEmpty && read.items[1].text("username") == "ada")
        #expect(read.items[1].text("password") == "the-real-password")
        #expect(read.items[2].text("password") == "<the-real-password>")
    }

    @Test func `addresses that run programs are text, and said`() throws {
        let (item, notes) = try value("cmd://ssh {PASSWORD}", of: "KP2A_URL")
        #expect(item.text("KP2A_URL") == "cmd://ssh {PASSWORD}" && item.kind("KP2A_URL") == .text && notes.count == 1)
    }

    /// Each value is twenty times the one before it, or a thousand times an empty one.
    @Test func `values that grow without end are the texts that they are`() throws {
        var fields = [("Title", "T"), ("f0", String(repeating: "x", count: 300)), ("e0", "")]
        for level in 1...9 {
            fields.append(("f\(level)", String(repeating: "{S:f\(level - 1)}", count: 20)))
            fields.append(("e\(level)", String(repeating: "{S:e\(level - 1)}", count: 1000)))
        }
        let read = try KeePassSample.entry(fields)
        let item = try #require(read.items.first)
        #expect(item.text("f9")?.hasPrefix("{S:f8}") ?? false)
        #expect(item.text("e9")?.hasPrefix("{S:e8}") ?? false)
        #expect(read.notes.count == 1)
    }
}
