import Foundation
import Items
import OneTimeCodes
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Files of public reports, rebuilt by hand (Tests/ImportCases), and what must come of each.
@Suite struct CasesTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ImportCases")

    private func file(_ name: String) throws -> SecretBytes {
        try secret(Array(try Data(contentsOf: CasesTests.folder.appending(path: name))))
    }

    private func read(_ name: String) throws -> Imported {
        let bytes = try file(name)
        let found = bytes.withBytes { ImportFormat.detected($0) }
        let format = try #require(found)
        return try format.read(bytes, password: nil, keyFile: nil)
    }

    /// The code of 2005-03-18 01:58:29 UTC.
    private func code(_ item: ImportedItem) throws -> String? {
        guard let field = item.item.field(.oneTimeCode) else { return nil }
        let code = try item.item.withValue(of: field) { try OneTimeCode(parsing: $0) }
        return try code.code(at: 1_111_111_109).withBytes { $0.array.text }
    }

    @Test func `an empty attachment is an empty file`() throws {
        let read = try read("01-empty-attachment.xml")
        #expect(read.items.count == 1 && read.items[0].text("password") == "pw" && read.notes.isEmpty)
    }

    @Test func `settings of codes belong to their codes`() throws {
        let read = try read("02-otp-settings.xml")
        #expect(try read.items.map { try code($0) } == ["19360094", "PY4YB", "69648066"] && read.notes.isEmpty)
    }

    @Test func `a reference is what it refers to`() throws {
        let wiki = try #require(try read("03-field-reference.xml").items.last)
        #expect(wiki.text("password") == "the-real-password" && wiki.text("username") == "ada")
    }

    @Test func `a table of Bitwarden keeps notes, fields, addresses and kinds`() throws {
        let read = try read("04-bitwarden-notes-fields.csv")
        let router = read.items[0]
        #expect(router.notes == "my note line 1\nline 2" && router.text("pin") == "1234" && router.text("door") == "99")
        #expect(router.count(.url) == 2 && router.name == "Work/Router")
        #expect(read.items[1].item.kind == .note && read.items[1].notes == "the text of the note")
    }

    @Test func `an organisation's collections are folders`() throws {
        let read = try read("05-bitwarden-organisation.json")
        #expect(read.items.map(\.name) == ["Servers/Linux/web1"])
        #expect(read.items[0].text("agree") == "true" && read.items[0].count(.url) == 1)
        #expect(try code(read.items[0])?.utf8.count == 5)
        #expect(read.notes.contains { $0.entry == "Servers/Linux/web1" && $0.what.contains("match") })
    }

    @Test func `Bitwarden's trash is told, and cards keep a year alone`() throws {
        let read = try read("08-bitwarden-trash.json")
        #expect(read.notes.contains { $0.entry == "deleted one" && $0.what.contains("trash") })
        #expect(read.items.first { $0.name == "card" }?.texts.contains { $0.contains("2031") } ?? false)
        #expect(read.items.first { $0.name == "card2" }?.text("expires") == "2031-03")
        #expect(read.notes.contains { $0.entry == "passkey" && $0.what.contains("passkey") })
    }

    @Test func `an entry without a name does not refuse a file`() throws {
        let read = try read("09-null-name.json")
        #expect(read.items.contains { $0.name == "good" })
        #expect(read.items.count == 2 || read.notes.count == 1)
        if read.items.count == 2 { #expect(read.items[1].text("username") == "u2") }
    }

    @Test func `Aegis keeps notes, groups and PINs of codes that are not computed here`() throws {
        let read = try read("10-aegis-pin-note.json")
        #expect(read.items.count == 7)
        let steam = read.items[0]
        #expect(try code(steam)?.utf8.count == 5)
        #expect(steam.notes == "recovery R12345" && steam.tags == ["Games"] && steam.isFavourite)
        for (index, pin) in [(2, "5239"), (3, "1234")] {
            #expect(read.items[index].texts.contains(pin))
            #expect(read.notes.contains { $0.entry == read.items[index].name })
        }
        #expect(read.items[6].notes == "keep")
        #expect(try code(read.items[6]) != nil)
    }

    @Test func `SSH keys of RSA and Ed25519 come as they are`() throws {
        let read = try read("11-bitwarden-ssh-rsa.json")
        #expect(read.items.map(\.name) == ["bw rsa", "bw ed"])
        #expect(!read.notes.contains { $0.entry == "bw rsa" || $0.what.contains("offer") })
    }

    @Test func `keys with left-over bits give the codes of other programs`() throws {
        let read = try read("14-base32-leftover.uri")
        #expect(try read.items.map { try code($0) } == ["232233", "896111"])
    }

    @Test func `an entry of pass from another system has no carriage return`() throws {
        var imported = Imported()
        let text = try file("16-pass-crlf.txt")
        try PassImport.read(["x"], text, into: &imported)
        let item = imported.items[0]
        #expect(item.text("password") == "crlfpw" && item.text("username") == "ada" && item.notes == "free text")
        #expect(try code(item) == "071271")
        #expect(item.texts.allSatisfy { !$0.contains("\r") })
    }

    @Test func `gopass' way to write a code is a code`() throws {
        var imported = Imported()
        let text = try file("18-gopass-totp.txt")
        try PassImport.read(["x"], text, into: &imported)
        #expect(try code(imported.items[0]) == "071271" && imported.items[0].text("password") == "pw")
    }

    @Test func `a code by counter without one begins with 0`() throws {
        #expect(try read("20-hotp-without-counter.uri").items.map { try code($0) } == ["282760"])
    }

    @Test func `entries of one title in two groups are two`() throws {
        #expect(try read("22-same-title-two-groups.xml").items.map(\.name) == ["Production/admin", "Staging/admin"])
    }
}
