import Items
import SecretMemory
import SeededNumbers
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Entries of pass and gopass: each line ends in a field, a code or the notes.
@Suite struct PassTests {
    private func read(_ text: String) throws -> ImportedItem {
        var result = Imported()
        try PassImport.read(["web", "mail"], secret(text), into: &result)
        return try #require(result.items.first)
    }

    private func isCode(_ item: ImportedItem, _ label: String = "code") -> Bool {
        item.kind(label) == .oneTimeCode && item.text(label)?.contains("secret=JBSWY3DPEHPK3PXP") ?? false
    }

    @Test func `lines that end as on Windows have no carriage return anywhere`() throws {
        let item = try read(
            "crlfpw\r\nuser: ada\r\nurl: https://x.example.org\r\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP\r\nfree text\r\nmore\r\n"
        )
        #expect(item.text("password") == "crlfpw" && item.text("username") == "ada")
        #expect(item.text("website") == "https://x.example.org" && item.notes == "free text\nmore" && isCode(item))
        #expect(!item.texts.contains { $0.contains("\r") })
    }

    @Test func `a code on the first line is the code, and there is no password`() throws {
        let item = try read("otpauth://totp/Ex:ada?secret=JBSWY3DPEHPK3PXP&issuer=Ex\n")
        #expect(isCode(item) && item.text("password") == nil)
    }

    @Test(arguments: [
        "totp: JBSWY3DPEHPK3PXP", "TOTP: jbsw y3dp ehpk 3pxp", "otp: otpauth://totp/x?secret=JBSWY3DPEHPK3PXP",
        "otpauth: otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "otpauth: //totp/x?secret=JBSWY3DPEHPK3PXP",
    ])
    func `a key or an address behind a word for codes is a code`(line: String) throws {
        let item = try read("pw\n\(line)\n")
        #expect(isCode(item) && item.text("password") == "pw" && item.notes == nil)
    }

    @Test func `an address behind any word is a code of that name`() throws {
        let item = try read(
            "pw\nsecond: otpauth://totp/x?secret=JBSWY3DPEHPK3PXP\notpauth://totp/y?secret=JBSWY3DPEHPK3PXP\n")
        #expect(isCode(item, "second") && isCode(item))
        let other = try read("pw\ntotp: what is this\n")
        #expect(other.text("code") == "what is this" && other.kind("code") == .secret && other.remarks.count == 1)
    }

    @Test func `headers of gopass are fields, and what follows them notes`() throws {
        let item = try read(
            "GOPASS-SECRET-1.0\nPassword: s3cret\nUser: ada\nTotp: JBSWY3DPEHPK3PXP\nno header\n\nbody text\nkey: value\n"
        )
        #expect(item.text("password") == "s3cret" && item.text("username") == "ada" && isCode(item))
        #expect(item.notes == "no header\nbody text" && item.text("key") == "value")
    }

    @Test func `plain pairs of YAML are fields, and everything else of it stays in the notes`() throws {
        let item = try read(
            """
            pw
            free text
            ---
            user: ada
            quoted: "a: b"
            single: 'x'
            pin: 007
            escaped: "a\\nb"
            list:
            - one: 1
            - two
            text: |
              first line
              second: line
            map: {a: b}
            # a comment
            last: value # said
            totp: JBSWY3DPEHPK3PXP

            """)
        #expect(item.text("username") == "ada" && item.text("quoted") == "a: b" && item.text("single") == "x")
        #expect(item.text("pin") == "007" && isCode(item))
        #expect(
            item.notes
                == "free text\n---\nescaped: \"a\\nb\"\nlist:\n- one: 1\n- two\ntext: |\n  first line\n  second: line\n"
                + "map: {a: b}\n# a comment\nlast: value # said")
        #expect(try read("pw\n---\nuser: ada\n").notes == nil)
        #expect(try read("pw\nsome\n---\n").notes == "some\n---")
    }

    @Test(.seeded) func `each line of an entry ends in a field, a code or the notes`() throws {
        var generator = SeededGenerator()
        let forms: [(String) -> String] = [
            { "\($0)" }, { "key: \($0)" }, { "user: \($0)" }, { "\($0):" }, { " \($0): x" }, { "- \($0)" },
            { "url: \($0)" }, { "\($0): \"quoted\"" }, { "k: '\($0)'" }, { "k: |\($0)" }, { "  \($0)" },
            { "totp: \($0)" }, { "otpauth://\($0)" }, { "# \($0)" }, { ": \($0)" }, { "k: \"\($0)\\n\"" },
            { "email: \($0)" }, { "k: {\($0): 1}" }, { "k: \($0) # comment" }, { "password: \($0)" },
        ]
        for round in 0..<400 {
            var lines: [String] = []
            let count = Int.random(in: 1...12, using: &generator)
            let markers = (0..<count).map { "m\(round)x\($0)y9" }
            for marker in markers {
                if Int.random(in: 0..<6, using: &generator) == 0 {
                    lines.append(["---", ""].randomElement(using: &generator)!)
                }
                lines.append(forms.randomElement(using: &generator)!(marker))
            }
            if Bool.random(using: &generator) { lines.insert("GOPASS-SECRET-1.0", at: 0) }
            let text = lines.joined(separator: Bool.random(using: &generator) ? "\n" : "\r\n")
            var result = Imported()
            try PassImport.read(["x"], secret(text), into: &result)
            #expect(result.lost(markers) == [], "\(text)")
        }
    }
}
