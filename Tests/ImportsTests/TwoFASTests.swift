import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

@Suite struct TwoFASTests {
    /// A backup in which every field that the format knows has a value of its own.
    static func file(_ services: String, version: Int = 4, more: String = "") -> String {
        #"{"services":[\#(services)],"groups":[{"id":"g1","name":"the-group","isExpanded":true,"updatedAt":1},"#
            + #"{"id":"g2","name":"empty-group","isExpanded":false}],"updatedAt":1644513857707,"#
            + #""schemaVersion":\#(version),"appVersionCode":5000009,"appVersionName":"5.1.0","appOrigin":"ios"\#(more)}"#
    }

    static func service(_ otp: String, more: String = "") -> String {
        #"{"name":"the-name","secret":"JBSWY3DPEHPK3PXP","updatedAt":1644513743278,"type":"Unknown","#
            + #""serviceTypeID":"a","groupId":"g1","order":{"position":3},"badge":{"color":"Red"},"#
            + #""icon":{"selected":"Label","label":{"text":"TH","backgroundColor":"Red"},"iconCollection":{"id":"i"},"#
            + #""brand":{"id":"b"}}\#(more),"otp":{"link":"otpauth://totp/x?secret=AE","label":"the-label","#
            + #""account":"the-account","issuer":"the-issuer","source":"Link",\#(otp)}}"#
    }

    private func read(_ text: String, _ password: String? = nil) throws -> Imported {
        guard let password else { return try TwoFASImport.read(secret(text), password: nil) }
        return try TwoFASImport.read(secret(text), password: secret(password))
    }

    @Test(
        arguments: [
            (
                #""digits":8,"period":50,"algorithm":"SHA512","tokenType":"TOTP""#, "totp",
                "SHA512&digits=8&period=50"
            ),
            (
                #""digits":7,"counter":10300,"algorithm":"SHA256","tokenType":"HOTP""#, "hotp",
                "SHA256&digits=7&counter=10300"
            ),
            (
                #""digits":5,"period":30,"algorithm":"SHA1","tokenType":"STEAM""#, "totp",
                "SHA1&digits=5&period=30&encoder=steam"
            ),
            (#""digits":6,"algorithm":"SHA1""#, "totp", "SHA1&digits=6&period=30"),
        ])
    func `a code keeps its settings, and its entry everything`(
        _ otp: String, _ kind: String, _ settings: String
    ) throws {
        let read = try read(TwoFASTests.file(TwoFASTests.service(otp)))
        let item = try #require(read.items.first)
        #expect(
            item.text("code")
                == "otpauth://\(kind)/the-issuer:the-account?secret=JBSWY3DPEHPK3PXP&algorithm=\(settings)&issuer=the-issuer"
        )
        #expect(
            read.lost(["the-name", "the-account", "the-issuer", "the-label", "the-group", "1644513743278"]) == [])
        #expect(read.notes.map(\.text) == ["empty-group: a group without entries"])
        #expect(item.name == "the-name/the-account" && item.tags == ["the-group"])
    }

    @Test func `a code that cannot be computed keeps all that it is made of, and is noted`() throws {
        let read = try read(
            TwoFASTests.file(
                TwoFASTests.service(
                    #""digits":5,"period":77,"counter":3,"algorithm":"SHA224","tokenType":"OTHER","pin":"marker""#,
                    more: #","stars":"marker""#), more: #","account":"me@example.com""#))
        #expect(read.lost(["JBSWY3DPEHPK3PXP", "SHA224", "other", "5", "77", "3"]) == [])
        #expect(
            read.notes.map(\.what) == [
                ImportedItem.unknownCode, "the member stars", "the member otp.pin", "a group without entries",
                "the member account",
            ])
    }

    @Test func `a backup of the first version is read`() throws {
        let read = try read(
            #"""
            {"appOrigin": "android", "appVersionCode": 300101, "schemaVersion": 1, "services": [{"name": "Deno",
              "order": {"position": 0}, "otp": {"account": "Mason", "issuer": "Deno", "label": "Deno:Mason"},
              "secret": "JBSWY3DPEHPK3PXP", "type": "Unknown", "updatedAt": 1618417205843}]}
            """#)
        #expect(read.items.map(\.name) == ["Deno/Mason"] && read.notes.isEmpty && read.items[0].count(.text) == 0)
    }

    @Test(arguments: [
        "{}", "[]", #"{"services":[]}"#, #"{"services":[],"schemaVersion":5}"#, #"{"services":{},"schemaVersion":4}"#,
        #"{"services":[{"name":"x"}],"schemaVersion":4}"#,
    ])
    func `another file is refused`(_ text: String) throws {
        #expect(throws: ImportError.self) { _ = try read(text) }
    }

    /// Made with Python's hashlib and cryptography by the app's source; the password is `pöw`.
    static let sealed = #"""
        {"services": [], "groups": [{"id": "g1", "name": "Work", "isExpanded": true, "updatedAt": 1}], "updatedAt": 1700000000000, "schemaVersion": 4, "appVersionCode": 5000009, "appVersionName": "5.1.0", "appOrigin": "android", "servicesEncrypted": "OtDAABMDL/ltcd1tQKgvkNdzB/i8kx6WYEIFU7BbhH0ykKt0nDjqgQy3wwWfp2SWtZRvN+90jimEygFZWLmThOfWAgMqm4yw36GyhA40rutC9Urn1MsFHuLVwbfXLWq7fxBJeGIi071rDCdxI4dg0SHC+y7zj47f48nSBZazUo821SXDMrDz1U663RPobijetG1fIThfGlGqMcqR4nsNTr4oOWjthcouCXiTi1ho35ARDbeUC+mnQQ7aJR3/Q0gwalnNuyQzH5JEO1hOa1PO3Y3IAAqMYZ4gRZUhHL/Xmw8VpLr9s5az+t59I1Q2x6rnzkquk+lT:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6ChoqOkpaanqKmqq6ytrq+wsbKztLW2t7i5uru8vb6/wMHCw8TFxsfIycrLzM3Oz9DR0tPU1dbX2Nna29zd3t/g4eLj5OXm5+jp6uvs7e7v8PHy8/T19vf4+fr7/P3+/w==:AAECAwQFBgcICQoL", "reference": "x"}
        """#

    @Test func `an encrypted backup opens with its password only`() throws {
        let read = try read(TwoFASTests.sealed, "p\u{f6}w")
        #expect(read.items.map(\.name) == ["Sealed/ada"] && read.items[0].has(.oneTimeCode) && read.notes.isEmpty)
        #expect(read.items[0].tags == ["Work"])
        for (text, password, kind) in [
            (TwoFASTests.sealed, "pow", ImportError.Kind.wrongPassword), (TwoFASTests.sealed, nil, .passwordNeeded),
            (TwoFASTests.sealed.replacing("\"OtDA", with: "\"OtDB"), "p\u{f6}w", .wrongPassword),
            (TwoFASTests.sealed.replacing(":AAECAwQFBgcICQoL\"", with: "\""), "p\u{f6}w", .malformed),
            (TwoFASTests.sealed.replacing(":AAECAwQFBgcICQoL\"", with: ":AAEC\""), "p\u{f6}w", .malformed),
            (TwoFASTests.sealed.replacing("\"OtDA", with: "\"?"), "p\u{f6}w", .malformed),
        ] as [(String, String?, ImportError.Kind)] {
            let error = #expect(throws: ImportError.self) { _ = try self.read(text, password) }
            #expect(error?.kind == kind)
        }
    }
}
