import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

// The macros of expectations copy what they look at, which an item cannot be.
extension ImportedItem {
    func kind(_ label: String) -> FieldKind? { item.field(label)?.kind }
    func has(_ kind: FieldKind) -> Bool { item.field(kind) != nil }
    func count(_ kind: FieldKind) -> Int { item.fields.count { $0.kind == kind } }
    var notes: String? { item.withNotes { $0.array.text } }
    var tags: [String] { item.tags }
    var isFavourite: Bool { item.isFavourite }
    var replaced: [Int64] { item.history.map(\.replaced) }
    var earlier: [String] { item.history.map(\.label) }
    var times: [Int64] { [item.created, item.modified] }
    var file: [UInt8]? {
        guard let field = item.field(.file) else { return nil }
        return item.withFile(of: field) { $1.array }
    }

    func text(_ label: String) -> String? {
        guard let field = item.field(label) else { return nil }
        return item.withValue(of: field) { $0.array.text }
    }
}

/// Exports of other programs.
@Suite struct FormatTests {
    static let bitwarden = #"""
        {"encrypted": false, "folders": [{"id": "f1", "name": "Work/Team"}], "items": [
        {"id": "1", "folderId": "f1", "type": 1, "name": "Mail", "notes": "n\nm", "favorite": true, "reprompt": 0,
         "fields": [{"name": "PIN", "value": "99", "type": 1}, {"name": "who", "value": "me", "type": 0}],
         "login": {"uris": [{"match": null, "uri": "https://a.example"}, {"uri": "https://b.example"}], "username": "ada",
                   "password": "p\u00e4ss", "totp": "JBSWY3DPEHPK3PXP", "fido2Credentials": [{"x": 1}]},
         "passwordHistory": [{"lastUsedDate": "2023-01-02T00:00:00.000Z", "password": "newer"},
                             {"lastUsedDate": "2022-01-02T00:00:00.000Z", "password": "older"}],
         "creationDate": "2021-01-02T03:04:05.000Z", "revisionDate": "2024-01-02T03:04:05.000Z", "strange": 7},
        {"id": "2", "type": 3, "name": "Card", "card": {"cardholderName": "Ada", "number": "4111", "expMonth": "3",
         "expYear": "2031", "code": "123"}},
        {"id": "3", "type": 77, "name": "x"}]}
        """#

    @Test func `an export of Bitwarden is read, and what is not understood is said with its place`() throws {
        let imported = try BitwardenImport.read(secret(FormatTests.bitwarden), password: nil)
        #expect(imported.items.map(\.name) == ["Work/Team/Mail", "Card", "x"])
        let mail = imported.items[0]
        #expect(mail.text("username") == "ada" && mail.text("password") == "p\u{e4}ss" && mail.text("PIN") == "99")
        #expect(mail.text("code")?.hasPrefix("otpauth://totp/") ?? false)
        #expect(mail.count(.url) == 2 && mail.isFavourite)
        #expect(mail.replaced == [1_641_081_600_000, 1_672_617_600_000])
        #expect(mail.times == [1_609_556_645_000, 1_704_164_645_000])
        #expect(imported.items[1].text("expires") == "2031-03" && imported.items[1].text("number") == "4111")
        #expect(imported.notes.count == 3 && imported.notes.allSatisfy { $0.place.hasPrefix("line ") })
        #expect(imported.notes.map(\.entry).sorted() == ["Work/Team/Mail", "Work/Team/Mail", "x"])
    }

    @Test func `a table of Firefox, Chrome or KeePassXC is known by its columns, any other needs a mapping`() throws {
        let firefox =
            "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeCreated\",\"timeLastUsed\",\"timePasswordChanged\"\n\"https://a.example\",\"ada\",\"p,\"\"q\",\"\",\"\",\"{1}\",\"1600000000000\",\"1\",\"1700000000000\"\n"
        let one = try TableImport.read(secret(firefox))
        #expect(one.items.map(\.name) == ["a.example"] && one.items[0].text("password") == "p,\"q")
        #expect(one.items[0].times == [1_600_000_000_000, 1_700_000_000_000])
        let chrome = try TableImport.read(secret("name,url,username,password,note\nA,https://a,u,p,\"x\ny\"\n"))
        #expect(chrome.items[0].name == "A" && chrome.items[0].notes == "x\ny")
        let keepass =
            "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\",\"TOTP\",\"Icon\",\"Last Modified\",\"Created\"\n\"Root/Web\",\"A\",\"u\",\"p\",\"\",\"\",\"\",\"0\",\"2024-01-01T00:00:00Z\",\"2023-01-01T00:00:00Z\"\n"
        #expect(try TableImport.read(secret(keepass)).items.map(\.name) == ["Web/A"])
        #expect(throws: ImportError.self) { try TableImport.read(secret("service,login,pw\na,b,c\n")) }
        let mapped = try TableImport.read(
            secret("Service,Login,PW,X\na,b,c,d\n"),
            ImportOptions(columns: ["Service": .title, "login": .username, "pw": .password]))
        #expect(mapped.items[0].text("password") == "c" && mapped.notes.map(\.text) == ["line 1: column 4"])
        #expect(throws: ImportError.self) {
            try TableImport.read(secret("a\nb\n"), ImportOptions(columns: ["c": .title]))
        }
    }

    @Test func `our own export is read with earlier values, and what is not known of it is noted`() throws {
        let text = #"""
            {"format":"holdfast-items","version":1,"M001Z":"x","items":[{"collection":"M002Z","name":"M003Z","kind":"login","favourite":true,
            "id":"i","created":"2024-01-02T03:04:05Z","modified":"2024-01-03T03:04:05Z","tags":["M004Z"],"fields":[
            {"label":"M005Z","kind":"secret","size":5,"value":"M006Z","M007Z":1},{"label":"M008Z","kind":"text","size":0,"value":""},
            {"label":"M009Z","kind":"hologram","size":5,"value":"M010Z"},
            {"label":"file","kind":"file","size":3,"file":"M011Z","value":{"base64":"TTAxMlo="}}],"notes":"M013Z",
            "history":[{"label":"M014Z","kind":"secret","replaced":"2023-01-02T03:04:05Z","value":"M015Z"},
            {"label":"M016Z","kind":"text","replaced":"never","value":{"base64":"TTAxN1o="}}],"hasNotes":true,"isRevealed":true,"M018Z":"x"}]}
            """#
        let imported = try HoldfastImport.read(secret(text))
        let noted = ["M007Z": "the member fields.M007Z", "M018Z": "the member M018Z"]
        let markers = text.markers.filter { $0 != "M001Z" } + ["M012Z", "M017Z"]
        #expect(imported.lost(markers, noted: noted) == [])
        let item = try #require(imported.items.first)
        #expect(item.replaced == [1_672_628_645_000, item.times[0]] && item.earlier == ["M014Z", "M016Z"])
        #expect(item.times == [1_704_164_645_000, 1_704_251_045_000] && item.text("M008Z") == "")
        #expect(
            imported.notes.map(\.what).sorted() == [
                "a field of a kind of a newer version, which is a secret now", "a time that is not understood",
                "the member M001Z", "the member M018Z", "the member fields.M007Z",
            ])
    }

    @Test func `a part of our own export that cannot be read is left out, and the rest of the entry is not`() throws {
        let text = #"""
            {"format":"holdfast-items","version":1,"items":[{"collection":"default","name":"a","kind":"login","fields":[
            {"label":"one","kind":"text","value":"1"},{"label":"two","kind":"text","value":{"base64":"!"}},
            {"kind":"text","value":"3"}],"notes":{"base64":"?"},"history":[{"label":"one"},{"label":"one","value":"0"}]}]}
            """#
        let error = #expect(throws: ImportError.self) { try HoldfastImport.read(secret(text)) }
        #expect(error?.entry == "a" && error?.what == "a value is not base 64")
        let read = try HoldfastImport.read(secret(text), ImportOptions(skipsFaulty: true))
        #expect(read.items[0].text("one") == "1" && read.items[0].earlier == ["one"])
        let faults = ["a value is not base 64", "a field has no label", "a value is not base 64"]
        #expect(
            read.notes.filter { $0.what.hasPrefix("a part that cannot be read") }.map(\.what)
                == (faults + ["an earlier value has no label or no value"]).map { "a part that cannot be read: \($0)" })
    }

    @Test func `an entry of pass has its password, fields, a code and notes`() throws {
        var result = Imported()
        try PassImport.read(
            ["web", "mail"],
            secret(
                "s3cret\nlogin: ada\nurl: https://a.example\nrecovery: 11 22\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP\njust text\n"
            ),
            into: &result)
        let item = result.items[0]
        #expect(item.name == "web/mail" && item.text("password") == "s3cret" && item.text("username") == "ada")
        #expect(item.text("recovery") == "11 22" && item.kind("recovery") == .secret)
        #expect(item.has(.oneTimeCode) && item.notes == "just text")
    }

    @Test func `an export of Aegis becomes one-time codes, and other kinds are kept as secrets`() throws {
        let text = #"""
            {"version": 1, "header": {"slots": null, "params": null}, "db": {"version": 2, "entries": [
            {"type": "totp", "uuid": "1", "name": "ada", "issuer": "Ex ample", "note": "n", "favorite": true,
             "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA256", "digits": 8, "period": 60}},
            {"type": "hotp", "name": "b", "issuer": "", "info": {"secret": "JBSWY3DPEHPK3PXP", "algo": "SHA1", "digits": 6, "counter": 4}},
            {"type": "motp", "name": "c", "issuer": "S", "info": {"secret": "JBSWY3DPEHPK3PXP"}}]}}
            """#
        let imported = try AegisImport.read(secret(text), password: nil)
        #expect(imported.items.map(\.name) == ["Ex ample/ada", "b", "S/c"] && imported.notes.count == 1)
        #expect(imported.items[0].text("code")?.contains("SHA256") ?? false)
        #expect(imported.items[1].text("code")?.contains("counter=4") ?? false)
        #expect(imported.items[2].text("key") == "JBSWY3DPEHPK3PXP")
    }

    @Test func `any cut of an export is an error and never a part of it`() throws {
        let bytes = Array(FormatTests.bitwarden.utf8)
        for end in stride(from: 0, to: bytes.count - 1, by: 3) {
            #expect(throws: ImportError.self) { try BitwardenImport.read(secret(Array(bytes[..<end])), password: nil) }
        }
    }
}
