import OneTimeCodes
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

@Suite(.seeded) struct OneTimeListTests {
    private func read(_ text: String, skipsFaulty: Bool = false) throws -> Imported {
        try OneTimeListImport.read(secret(text), ImportOptions(skipsFaulty: skipsFaulty))
    }

    private static let key = "JBSWY3DPEHPK3PXP"

    @Test func `each line is an entry`() throws {
        let read = try read(
            "\u{FEFF}# a comment\r\n\r\n otpauth://totp/One:ada?secret=AE&issuer=One\t\r\n"
                + "OTPAUTH://hotp/Two:bob?secret=AE&counter=3\nsteam://AE\notpauth://steam/S:me?secret=AE")
        #expect(read.items.map(\.name) == ["One/ada", "Two/bob", "unnamed", "S/me"] && read.notes.isEmpty)
        #expect(read.items.map(\.place) == ["line 3", "line 4", "line 5", "line 6"])
        let codes = read.items.map { $0.text("code") ?? "" }
        #expect(codes[1].hasPrefix("otpauth://hotp/Two:bob?secret=AE&algorithm=SHA1&digits=6&counter=3"))
        #expect(codes[2].hasSuffix("encoder=steam") && codes[3].contains("encoder=steam"))
    }

    /// A line as Ente writes it, with a value of its own in every field.
    @Test func `what Ente knows of an entry is kept`() throws {
        let display =
            #"{"pinned":true,"trashed":false,"lastUsedAt":1700,"tapCount":4,"tags":["tag+one","tag-two"],"#
            + #""note":"the note & more","position":3,"iconSrc":"ente","iconID":"x","new":{"deep":"marker"}}"#
        let read = try read(
            "otpauth://totp/Air%20Canada:ada?secret=\(Self.key)&issuer=Air+Canada&algorithm=SHA256&digits=7&period=20"
                + "&codeDisplay=\(form(display))&image=x&lock=marker2&color=&flag")
        let item = try #require(read.items.first)
        #expect(
            read.lost(
                [
                    "Air Canada", "ada", Self.key, "SHA256", "digits=7", "period=20", "tag+one", "tag-two",
                    "the note & more",
                ])
                == [])
        #expect(
            read.lost(
                ["marker", "marker2"], noted: ["marker": "the member new.deep", "marker2": "the parameter lock"]) == [])
        #expect(item.name == "Air Canada/ada" && item.isFavourite && read.notes.count == 3, "\(read.notes)")
    }

    @Test func `Ente's trash is left out, and what is no JSON is listed`() throws {
        let line = "otpauth://totp/A:b?secret=AE&codeDisplay="
        let read = try read("\(line)\(form(#"{"trashed":true}"#))\n\(line)%7B\n\(line)%")
        #expect(
            read.notes.map(\.text) == [
                "A/b (line 1): an entry in the trash", "A/b (line 2): the parameter codeDisplay",
                "A/b (line 3): the parameter codeDisplay",
            ])
        #expect(read.items.count == 2)
    }

    private func form(_ text: String) -> String {
        text.utf8.map { byte in
            if byte == 32 { return "+" }
            let isPlain = (48...57).contains(byte) || (97...122).contains(byte) || (65...90).contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    @Test(arguments: [
        "otpauth://totp/the%20name?secret=\(key)&digits=5", "otpauth://yaotp/the%20name?secret=\(key)&pin=MFRGG",
        "motp://the%20name?secret=00&x=\(key)", "otpauth://totp/the%20name?secret=\(key)&encoder=other",
    ])
    func `a code that cannot be computed is kept as its whole line, and noted`(_ line: String) throws {
        let read = try read(line)
        let item = try #require(read.items.first)
        #expect(item.kind("code") == .secret && item.text("code") == line && item.name == "the name")
        #expect(read.notes.map(\.what) == [ImportedItem.unknownCode])
    }

    @Test func `another line ends the import, or is left out where that is asked for`() throws {
        let text = "otpauth://totp/x?secret=AE\nhunter2\n"
        let error = #expect(throws: ImportError.self) { _ = try read(text) }
        #expect(error?.place == "line 2" && error?.entry != nil && error?.reason.contains("hunter2") == false)
        let skipped = try read(text, skipsFaulty: true)
        #expect(skipped.items.count == 1 && skipped.notes.map(\.place) == ["line 2"])
        #expect(throws: ImportError.self) {
            _ = try read("otpauth://totp/x?secret=AE" + String(repeating: "&a=b", count: 64))
        }
        for empty in ["", "\n\n", "# only a comment\n"] { #expect(throws: ImportError.self) { _ = try read(empty) } }
    }

    @Test func `a long parameter of another program does not matter to the code`() throws {
        let read = try read(
            "otpauth://totp/x?secret=AE&codeDisplay=\(form("{\"note\":\"\(String(repeating: "long ", count: 2000))\"}"))"
        )
        #expect(read.items.first?.has(.oneTimeCode) ?? false && read.items.first?.notes?.utf8.count == 10_000)
    }

    /// What lost its place may be the key or a password: an item's name and a note are shown.
    @Test(arguments: [
        ("otpauth://totp/a?secret=\(key)&HUNTER2", "a", "a parameter"),
        ("otpauth://totp/a?secret=\(key)&foo=1&HUNTER%20TWO", "a", "the parameter foo a parameter"),
        ("otpauth://totp/a?secret=\(key)&HUNTER2HUNTER2=x&\(String(repeating: "h", count: 33))=x", "a", "a parameter"),
        ("steam://HUNTER2HUNTER0", "unnamed", ""), ("otpauth://totp/HUNTER2", "unnamed", ""),
        ("otpauth://totp/HUNTER2?secret=&issuer=Air+One%2B", "Air One+", ""),
        ("otpauth://HUNTER2?secret=x", "unnamed", ""), ("motp://HUNTER2:HUNTER2?", "unnamed", ""),
        ("motp://one:ada?secret=HUNTER2", "one:ada", ""),
    ])
    func `a secret in another place is in no name and in no note`(
        _ line: String, _ name: String, _ what: String
    ) throws {
        let read = try read(line)
        let notes = what.isEmpty ? ImportedItem.unknownCode : what
        #expect(read.items.map(\.name) == [name] && read.notes.map(\.what).joined(separator: " ") == notes)
        #expect(read.notes.allSatisfy { !$0.text.contains("HUNTER") })
    }

    // MARK: Google Authenticator

    /// Made in Python by the format's description. The third one is in the documentation of several programs.
    private static let migrations = [
        "otpauth-migration://offline?data=ChwKCkhlbGxvId6tvu8SA2FkYRoDT25lIAEoATACCh0KCkhlbGxvId6tvu8SB1R3bzpib2IgAigCMAE4KhABGAMgAChN",
        "otpauth-migration://offline?data=CiYKCkhlbGxvId6tvu8SBWNhcm9sGgVUaHJlZSAEKAEwAkICaWRIBRABGAMgAihN",
        "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXBsZTAC",
    ]

    @Test func `an export of Google Authenticator is read`() throws {
        let read = try read(Self.migrations.joined(separator: "\n"))
        #expect(read.items.map(\.name) == ["One/ada", "Two/bob", "Three/carol", "Example/alice@google.com"])
        let codes = read.items.map { $0.text("code") ?? "" }
        #expect(
            codes[0] == "otpauth://totp/One:ada?secret=\(Self.key)&algorithm=SHA1&digits=6&period=30&issuer=One")
        #expect(
            codes[1] == "otpauth://hotp/Two:bob?secret=\(Self.key)&algorithm=SHA256&digits=8&counter=42&issuer=Two")
        #expect(
            codes[3]
                == "otpauth://totp/Example:alice@google.com?secret=\(Self.key)&algorithm=SHA1&digits=6&period=30&issuer=Example"
        )
        // MD5, which is no code here: the key is kept.
        #expect(read.items[2].text("key") == Self.key && read.items[2].text("algorithm") == "MD5")
        #expect(
            read.notes.map(\.text) == [
                "Three/carol (line 2, entry 1): \(ImportedItem.unknownCode)",
                "Three/carol (line 2, entry 1): a field that is not known",
                "part 2 of 3: a part of an export of Google Authenticator that is not in the file",
            ])
    }

    @Test func `an export of Google Authenticator that was cut is an error`() throws {
        let front = "otpauth-migration://offline?data="
        for end in 0..<Self.migrations[0].utf8.count - 1 {
            let cut = String(Self.migrations[0].prefix(end))
            let read = try? read(cut)
            // Behind a whole entry the message may end; only then is there something to import.
            #expect(read == nil || end > front.utf8.count, "\(end)")
        }
        for (text, _) in [
            (front, ""), (front + "AA%3D%3D", "a tag of 0"), (front + "CgU%3D", "cut"), (front + "CgA%3D", "no key"),
            (front + "%%", "percent"), (front + "****", "base 64"),
            (front + "GP%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F%2FwI%3D", "65 bits"),
            (front + "GAIgBQ%3D%3D", "part 6 of 2"), (front + "CwA%3D", "a group"),
            (front + "CgYKAUEKAUE%3D", "two keys"),
            ("otpauth-migration://online?data=CgA%3D", "host"),
        ] {
            #expect(throws: ImportError.self, "\(text)") { _ = try read(text) }
        }
        let skipped = try read(
            front + "CgAKMQoKSGVsbG8h3q2%2B7xIYRXhhbXBsZTphbGljZUBnb29nbGUuY29tGgdFeGFtcGxlMAI%3D", skipsFaulty: true)
        #expect(skipped.items.map(\.name) == ["Example/alice@google.com"])
        #expect(skipped.notes.map(\.place) == ["line 1, entry 1"])
    }

    @Test func `exports that say that they have very many parts are an error`() throws {
        var parts = GoogleMigration.Parts()
        for export in 1...2 as ClosedRange<UInt64> { try parts.add(0, of: 5000, export: export, "line \(export)") }
        let error = #expect(throws: ImportError.self) { try parts.add(0, of: 0, export: 3, "line 3") }
        #expect(error?.kind == .tooLarge && error?.place == "line 3")
        try parts.add(1, of: 5000, export: 1, "line 4")
        var read = Imported()
        parts.noteMissing(&read)
        #expect(read.notes.count == 9997)
    }

    // MARK: Hostile files

    @Test func `a file that was changed anywhere is an error or is read`() throws {
        var generator = SeededGenerator()
        let display = "&codeDisplay=" + form(#"{"tags":["a"],"note":"n","pinned":true}"#)
        let list = "# c\notpauth://totp/A:b?secret=\(Self.key)&issuer=A\(display)\n\(Self.migrations[0])\nsteam://AE\n"
        let backup = TwoFASTests.file(TwoFASTests.service(#""digits":6,"tokenType":"HOTP","counter":1"#))
        for sample in [list, backup].map({ Array($0.utf8) }) {
            for _ in 0..<1500 {
                var bytes = sample
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator) / 8)
                let options = ImportOptions(skipsFaulty: Bool.random(using: &generator))
                do throws(ImportError) {
                    let read =
                        sample.first == UInt8(ascii: "#")
                        ? try OneTimeListImport.read(try! secret(bytes), options)
                        : try TwoFASImport.read(try! secret(bytes), password: try! secret("x"), options)
                    #expect(read.items.allSatisfy { (1...1000).contains($0.name.utf8.count) })
                } catch {
                    #expect(!error.what.isEmpty && error.reason.utf8.count < 1024)
                    #expect(!error.reason.contains(Self.key), "\(error.reason)")
                    #expect(error.kind != .unexpected && error.kind != .outOfMemory, "\(error)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("otpauth://totp/x?secret=AE", .oneTimeList), ("\u{FEFF}\r\n# c\n  OTPAUTH://totp/x", .oneTimeList),
            ("otpauth-migration://offline?data=AA", .oneTimeList), ("steam://AE\n", .oneTimeList),
            ("# only a comment", .csv), ("otpauth,name\n", .csv), ("name,otp\nx,otpauth://totp/x\n", .csv),
            (TwoFASTests.file(""), .twoFAS), (TwoFASTests.sealed, .twoFAS),
            ("{\n  \"services\" : [", .twoFAS), (#"{"items":[{"name":"services"}]}"#, .bitwarden),
            (HostileTests.aegis, .aegis), (FormatTests.bitwarden, .bitwarden),
        ] as [(String, ImportFormat)])
    func `a file is known by what it looks like`(_ text: String, _ format: ImportFormat) throws {
        let detected = try secret(text).withBytes { ImportFormat.detected($0) }
        #expect(detected == format)
    }
}
