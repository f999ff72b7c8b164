import OneTimeCodes
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

@Suite struct AegisTests {
    /// A file in which every field that the format knows has a value of its own.
    static func file(_ entries: String) throws -> SecretBytes {
        try secret(
            #"{"version":1,"header":{"slots":null,"params":null},"db":{"version":3,"icons_optimized":true,"entries":["#
                + entries + #"],"groups":[{"uuid":"g1","name":"group-one"},{"uuid":"g2","name":"group-two"}]}}"#)
    }

    static func entry(_ type: String, _ info: String, more: String = "") -> String {
        #"{"type":"\#(type)","uuid":"u1","name":"the-name","issuer":"the-issuer","note":"the-note","favorite":true,"#
            + #""icon":"aWNvbg==","icon_mime":"image/png","icon_hash":"00","groups":["g1","g2"]\#(more),"#
            + #""info":{"secret":"JBSWY3DPEHPK3PXP",\#(info)}}"#
    }

    private func read(_ entries: String) throws -> Imported {
        try AegisImport.read(AegisTests.file(entries), password: nil)
    }

    private static let markers = ["the-name", "the-issuer", "the-note", "group-one", "group-two", "JBSWY3DPEHPK3PXP"]

    @Test(
        arguments: [
            (
                "totp", #""algo":"SHA256","digits":10,"period":60"#,
                "otpauth://totp/the-issuer:the-name?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256&digits=10&period=60"
            ),
            (
                "hotp", #""algo":"SHA1","digits":6,"counter":7"#,
                "otpauth://hotp/the-issuer:the-name?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&counter=7"
            ),
            (
                "steam", #""algo":"SHA1","digits":5,"period":30"#,
                "otpauth://totp/the-issuer:the-name?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=5&period=30&encoder=steam"
            ),
            (
                "totp", #""algo":"MD5","digits":6,"period":30"#,
                "otpauth://totp/the-issuer:the-name?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30"
            ),
        ])
    func `a code keeps its settings, and its entry everything`(
        _ type: String, _ info: String, _ link: String
    ) throws {
        let read = try read(AegisTests.entry(type, info))
        let item = try #require(read.items.first)
        #expect(read.lost(AegisTests.markers) == [])
        #expect(item.text("code") == link + "&issuer=the-issuer")
        #expect(item.isFavourite && read.notes.isEmpty, "\(read.notes)")
    }

    @Test(
        arguments: [
            ("yandex", #""algo":"SHA256","digits":8,"period":30,"pin":"pin-1234""#, ["SHA256", "8", "30", "pin-1234"]),
            ("motp", #""algo":"MD5","digits":6,"period":10,"pin":"pin-1234""#, ["MD5", "6", "10", "pin-1234"]),
            ("totp", #""algo":"SHA1","digits":5,"period":77"#, ["SHA1", "5", "77"]),
            ("steam", #""algo":"SHA256","digits":5,"period":77"#, ["SHA256", "5", "77"]),
            ("hotp", #""algo":"SHA1","digits":6,"counter":-4"#, ["SHA1", "6", "-4"]),
            ("new", #""algo":"SHA1","digits":6,"period":31"#, ["SHA1", "6", "31"]),
        ])
    func `a code that cannot be computed keeps all that it is made of, and is noted`(
        _ type: String, _ info: String, _ values: [String]
    ) throws {
        let read = try read(AegisTests.entry(type, info))
        let item = try #require(read.items.first)
        #expect(read.lost(AegisTests.markers + [type] + values) == [])
        #expect(!item.has(.oneTimeCode) && item.isFavourite)
        #expect(item.kind("key") == .secret && [nil, .secret].contains(item.kind("pin")))
        #expect(read.notes.map(\.what) == [ImportedItem.unknownCode])
        #expect(read.notes.allSatisfy { $0.kind == .changed && $0.entry == "the-issuer/the-name" })
    }

    @Test func `what the format has not today is listed`() throws {
        let read = try read(
            AegisTests.entry(
                "totp", #""algo":"SHA1","digits":6,"period":30,"salt":"marker-1""#,
                more: #","usage":"marker-2","group":"old-group","note2":null"#))
        #expect(read.lost(AegisTests.markers + ["old-group"]) == [])
        #expect(
            read.lost(
                ["marker-1", "marker-2"], noted: ["marker-1": "the member info.salt", "marker-2": "the member usage"])
                == [])
        #expect(read.notes.count == 2)
    }

    @Test func `groups that no entry is in, and those that are nowhere, are listed`() throws {
        let read = try read(
            #"{"type":"totp","name":"a","issuer":"","groups":["g1","g9"],"info":{"secret":"AE","algo":"SHA1","digits":6}}"#
        )
        #expect(
            read.notes.map(\.text) == [
                "a (line 1, entry 1): a group that is not in the file", "group-two: a group without entries",
            ])
    }

    @Test func `an entry without a key ends the import, or is left out where that is asked for`() throws {
        let entries =
            #"{"type":"totp","name":"broken","issuer":"I","info":{"algo":"SHA1"}},"#
            + AegisTests.entry("totp", #""algo":"SHA1","digits":6,"period":30"#)
        let error = #expect(throws: ImportError.self) { _ = try read(entries) }
        #expect(error?.entry == "broken" && error?.place == "line 1, entry 1")
        let skipped = try AegisImport.read(
            AegisTests.file(entries), password: nil, ImportOptions(skipsFaulty: true))
        #expect(skipped.items.count == 1 && skipped.notes.map(\.entry) == ["broken"])
    }

    @Test func `names with colons are those of the entry`() throws {
        let read = try read(
            #"{"type":"totp","name":"c: d","issuer":"A: B","info":{"secret":"AE","algo":"SHA1","digits":6,"period":30}}"#
        )
        let link = try #require(read.items.first?.text("code"))
        let code = try OneTimeCode(parsing: secret(link))
        #expect(code.issuer == "A: B" && code.account == "c: d")
    }
}
