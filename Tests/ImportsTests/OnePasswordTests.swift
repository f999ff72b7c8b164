import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// 1Password's export, and the ZIP archive that it is.
@Suite(.seeded) struct OnePasswordTests {
    /// An archive of Info-ZIP's `zip`: two vaults with four items, one of them in the trash, and an attachment that two
    /// name.
    static let archive: [UInt8] = Array(
        Data(
            base64Encoded: """
                UEsDBBQAAgAIAJF1d13L6b1iTAAAAFcAAAARAAAAZXhwb3J0LmF0dHJpYnV0ZXOrVipLLSrOzM9TslIw1lFQSkktTi7KLCiBiCgZBiQWF5fnF6\
                UohOal5iUXVRaUpKYouFYU5BeVKAGVJxelJgJFHEuAig3NDaCglgsAUEsDBBQAAgAIAJF1d10vyyEUlgMAAIYKAAALAAAAZXhwb3J0LmRhdGGt\
                Vttu2zgQfc9XCHxuG8kXOQlQtGm3u80uNisgLrrF1ihocWwToESBpBy7hv99OaRkU7YSFGifLA7nnLlwLt4RmueyLo0mN9F/O0KNUfi5a+X3tA\
                B7JreMkhcRgYJygWfK6Fv6Cja0qASQvb1a01p4mouQp645Q8A6QXzZ0GWgtCypQJnZVl7maLiBomVpsdxhF3R9VzLYWElij7kCaoDdGjyn8fV4\
                nKajsb2oK3a8mMSjJB35C22s3DmfG74G5MytZCnV9lNjKY6tqYuIMDA2UB+BkEte/s5BsCZJaypqaJKAJB4ahufThD4jbNoE+AElDDRfltRwWa\
                Ks1qAcam/NRlFAXn2t4xhGWvebqB7P+LMe/opq/SgVO+d/sGoRL/vZl/KM/R0+T4Cf428vOJdC1uqMYEr2M3SClNKAzgTlzsPya1mgroYcnW5y\
                bLgRcEqskwOpLxEX0UFVlvDS8AKiQ9AH96b/TLNvDt36b3HSVA5mKlqb1c3lJUouN2+sJwrM6z/fPXz+Mvwt+/Ax+2uY/WvLs83hwWJ2d3+0sR\
                h0+XNZ5kAFuMvra4SH2LlUQfIXwy6Y+VJNxpPJ1VUcp/G5cdudvsgahlGXoZClWX0BquxpEA+TeHjiQFujDXzchbed3nx9o4wp0Jh2sgk632Iq\
                JdecAdopayH2556uZBGUyiLtWjoy72yLKgBsXPKZbiP3YDk3W19/eMCZpNyZOcrv3L1hEpOwwUmPE9KsQAVeTLpeKFiAAvtibuAMTl+rhMcAe9\
                XFrmzBLxUt8O5NT5nonIZPfd1FL7g4frTzlr4yG+P6WeZ1AaW5c1iW+B7P1bayM+6Bf0ft1IY7a5qrrf2PXBvpMhVOLBuGTwL2iRuck0GaTNI4\
                7ja3FOxEb5TEVwnqzTA8Iteg1twm5SYM9O+mpHQ9P8iaIVkrtzdWxlTatlqnguxd0/aCzkG0bf8kxPn6nOr8qDrDIOjS8ZNHmKM21uMlN2SGTx\
                WsmdHJmol/eM2EF4cqNIrqFbD+PTP0D3lcM92puLTDzO3D/kT/4a7dW/Qu20E4NqdAi3DRfuou2p37JDdhJga/NhNU5Su7cZ9IxeBs5f7ALuhu\
                grBT62IeNnqeW8nJZFbAuHlPFbv3ylZtlCTJadPDpuJqG7lZfODzwudnbTJwDflMp6BxP6WCrA9/cdaf+ZuTnuW8HTS3tpr4vLbF+NND6cnyzW\
                hls+5zNNtf/A9QSwMECgAAAAAAkXV3XQAAAAAAAAAAAAAAAAYAAABmaWxlcy9QSwMECgACAAAAkXV3XSAwOjYGAAAABgAAAA8AAABmaWxlcy9k\
                MV9fYS50eHRoZWxsbwpQSwECHgMUAAIACACRdXddy+m9YkwAAABXAAAAEQAAAAAAAAABAAAApIEAAAAAZXhwb3J0LmF0dHJpYnV0ZXNQSwECHg\
                MUAAIACACRdXddL8shFJYDAACGCgAACwAAAAAAAAABAAAApIF7AAAAZXhwb3J0LmRhdGFQSwECHgMKAAAAAACRdXddAAAAAAAAAAAAAAAABgAA\
                AAAAAAAAABAA7UE6BAAAZmlsZXMvUEsBAh4DCgACAAAAkXV3XSAwOjYGAAAABgAAAA8AAAAAAAAAAQAAAKSBXgQAAGZpbGVzL2QxX19hLnR4dF\
                BLBQYAAAAABAAEAOkAAACRBAAAAAA=
                """) ?? Data())

    @Test func `an export of 1Password is read, and what is not understood is said with its place`() throws {
        let imported = try OnePasswordImport.read(secret(OnePasswordTests.archive))
        #expect(imported.items.map(\.name) == ["Mail", "Team/Card", "Team/Paper"])
        let mail = imported.items[0]
        #expect(mail.text("username") == "ada" && mail.text("password") == "p\u{e4}ss" && mail.text("colour") == "blue")
        #expect(mail.text("go") == nil && mail.count(.url) == 2 && mail.isFavourite && mail.notes == "n\nm")
        #expect(mail.text("one-time password")?.hasPrefix("otpauth://totp/") ?? false)
        #expect(mail.text("PIN") == "99" && mail.kind("PIN") == .secret)
        #expect(mail.text("born") == "2020-01-01" && mail.kind("born") == .date && mail.text("until") == "2031-03")
        #expect(
            mail.text("mail") == "x@a.example" && mail.text("home street") == "Way 1" && mail.text("home state") == nil)
        #expect(mail.file == Array("hello\n".utf8) && mail.tags == ["home/it", "web"])
        #expect(mail.replaced == [1_641_081_600_000, 1_672_617_600_000])
        #expect(mail.times == [1_609_556_645_000, 1_704_164_645_000])
        let card = imported.items[1]
        #expect(
            card.text("number") == "4111" && card.kind("number") == .secret && card.text("expiry date") == "2031-12")
        #expect(card.tags == ["archived"])
        // The link, the field of an unknown kind, the item in the trash, and the attachment that another item has
        // already.
        #expect(imported.items[2].file == nil)
        #expect(
            imported.notes.count == 4 && imported.notes.allSatisfy { $0.place.hasPrefix("export.data, line ") },
            "\(imported.notes)")
    }

    /// A marker in every member that says something.
    static let everything = #"""
        {"accounts": [{"attrs": {"accountName": "a", "name": "n", "avatar": "", "email": "e", "uuid": "u", "domain": "d"}, "vaults": [
        {"attrs": {"uuid": "v", "desc": "M000Z", "avatar": "", "name": "M001Z", "type": "U"}, "items": [
        {"uuid": "i", "favIndex": 2, "createdAt": 1609556645, "updatedAt": 1704164645, "state": "archived", "categoryUuid": "001",
         "details": {"loginFields": [{"value": "M002Z", "id": "", "name": "x", "fieldType": "T", "designation": "username"},
           {"value": "M003Z", "id": "", "name": "x", "fieldType": "P", "designation": "password"},
           {"value": "M004Z", "id": "", "name": "M005Z", "fieldType": "E", "designation": ""}, {"value": "M006Z", "name": "M007Z", "fieldType": "S"}],
          "notesPlain": "M008Z", "password": "M009Z", "htmlForm": {"htmlMethod": "M010Z"}, "passkey": {"x": "M011Z"},
          "sections": [{"title": "M012Z", "name": "s", "fields": [
           {"title": "M013Z", "id": "f", "value": {"concealed": "M014Z"}, "indexAtSource": 1, "guarded": true, "multiline": true,
            "dontGenerate": true, "inputTraits": {"keyboard": "default", "correction": "default", "capitalization": "default"}},
           {"title": "M015Z", "id": "f", "value": {"string": "M016Z"}}, {"title": "M017Z", "id": "f", "value": {"phone": "M018Z"}},
           {"title": "M019Z", "id": "f", "value": {"menu": "M020Z"}}, {"title": "M021Z", "id": "f", "value": {"gender": "M022Z"}},
           {"title": "M023Z", "id": "f", "value": {"creditCardType": "M024Z"}}, {"title": "M025Z", "id": "f", "value": {"creditCardNumber": "M026Z"}},
           {"title": "M027Z", "id": "f", "value": {"url": "M028Z"}}, {"title": "M029Z", "id": "f", "value": {"email": {"email_address": "M030Z", "provider": "M031Z"}}},
           {"title": "M032Z", "id": "f", "value": {"totp": "M033Z"}}, {"title": "M034Z", "id": "f", "value": {"date": 1577880060}},
           {"title": "M035Z", "id": "f", "value": {"date": 9999999999999}}, {"title": "M036Z", "id": "f", "value": {"monthYear": 203113}},
           {"title": "M037Z", "id": "f", "value": {"address": {"street": "M038Z", "city": "M039Z", "country": "M040Z", "zip": "M041Z", "state": "M042Z", "planet": "M043Z"}}},
           {"title": "other", "id": "f", "value": {"reference": "M044Z"}}, {"title": "M045Z", "id": "f", "value": {"hologram": "M046Z"}},
           {"title": "deep", "id": "f", "value": {"hologram": {"x": "M047Z"}}}, {"title": "", "id": "M048Z", "value": {"string": "M049Z"}},
           {"title": "M050Z", "id": "f", "value": {"file": {"fileName": "M051Z", "documentId": "d1", "decryptedSize": 5}}}]}],
          "documentAttributes": {"fileName": "M052Z", "documentId": "d2", "decryptedSize": 5},
          "passwordHistory": [{"value": "M053Z", "time": 1672617600}]},
         "overview": {"title": "M054Z", "subtitle": "made", "ainfo": "made", "url": "https://M055Z", "ps": 80, "pbe": 1.5, "pgrng": true,
          "urls": [{"label": "M056Z", "url": "https://M057Z", "mode": "default"}, {"label": "", "url": "https://M058Z", "mode": "exact"}],
          "tags": ["M059Z"], "icons": {"x": "y"}, "watchtowerExclusions": "M060Z"}},
        {"uuid": "k", "categoryUuid": "114", "details": {"sections": [{"title": "", "fields": [{"title": "private key", "id": "k",
          "value": {"sshKey": {"privateKey": "M061Z", "metadata": {"publicKey": "M062Z", "fingerprint": "made", "keyType": {"t": "Ed25519"}}}}}]}]},
          "overview": {"title": "M063Z"}},
        {"uuid": "b", "categoryUuid": "101", "details": {}, "overview": {"title": "M064Z"}},
        {"uuid": "t", "state": "trashed", "categoryUuid": "006", "details": {"documentAttributes": {"fileName": "M065Z", "documentId": "d3"}},
          "overview": {"title": "M066Z"}}]}]}]}
        """#

    @Test func `every member is in an entry or noted with its entry`() throws {
        let text = OnePasswordTests.everything
        let archive = storedArchive([
            ("export.attributes", []), ("export.data", Array(text.utf8)), ("files/d1__M051Z", Array("M067Z".utf8)),
            ("files/d2__M052Z", Array("M068Z".utf8)), ("files/d3__M065Z", [1]), ("files/d4__lost", [2]),
        ])
        let imported = try OnePasswordImport.read(secret(archive))
        let noted = [
            "M000Z": "the description of a vault", "M010Z": "the member details.htmlForm.htmlMethod",
            "M011Z": "a passkey",
            "M031Z": "the member details.sections.fields.value.email.provider",
            "M044Z": "a link to another entry", "M047Z": "a field of the kind hologram",
            "M060Z": "the member overview.watchtowerExclusions", "M065Z": "an entry in the trash",
            "M066Z": "an entry in the trash",
        ]
        #expect(text.markers.count == 67 && imported.lost(text.markers + ["M067Z", "M068Z"], noted: noted) == [])
        let login = imported.items[0]
        #expect(login.text("M012Z: M034Z") == "2020-01-01" && login.text("M012Z: M035Z") == "9999999999999")
        #expect(login.text("M012Z: M036Z") == "203113" && login.kind("M012Z: M036Z") == .text)
        #expect(login.kind("M012Z: M045Z") == .secret)
        #expect(login.tags == ["M059Z", "archived"] && login.isFavourite && login.kind("M056Z") == .url)
        #expect(imported.items[2].text("category") == "bank account")
        let notes = Set(imported.notes.map(\.what))
        #expect(
            notes.contains("the member overview.urls.mode")
                && !notes.contains { $0.contains("uuid") || $0.contains("Traits") })
        #expect(imported.notes.filter { $0.place.hasPrefix("files/") }.map(\.place) == ["files/d4__lost"])
    }

    @Test func `any cut of an archive is an error`() throws {
        var generator = TestRun.generator("cut archives")
        let ends = Array(OnePasswordTests.archive.indices)
        for end in TestRun.sample(ends, ends.count, using: &generator) {
            #expect(throws: ImportError.self) {
                try OnePasswordImport.read(secret(Array(OnePasswordTests.archive[..<end])))
            }
        }
    }

    /// What the checksums do not cover are times, attributes and what local headers repeat.
    @Test func `a changed byte is an error or changes nothing that is imported`() throws {
        let names = try OnePasswordImport.read(secret(OnePasswordTests.archive)).items.map(\.name)
        var generator = TestRun.generator("changed archives")
        let offsets = Array(OnePasswordTests.archive.indices)
        for offset in TestRun.sample(offsets, offsets.count, using: &generator) {
            var bytes = OnePasswordTests.archive
            bytes[offset] ^= 1 << UInt8(offset & 7)
            do throws(ImportError) {
                let imported = try OnePasswordImport.read(changed(bytes))
                #expect(
                    imported.items.map(\.name) == names && imported.items[0].text("password") == "p\u{e4}ss",
                    "\(offset)")
            } catch {}
        }
    }

    private func changed(_ bytes: [UInt8]) throws(ImportError) -> SecretBytes {
        do { return try secret(bytes) } catch { throw ImportError(.unexpected, "", "") }
    }

    /// Bytes of the directory's entry of a file, by its signature and name.
    private func entry(_ name: String, in bytes: [UInt8]) throws -> Int {
        try #require(
            bytes.indices.last { start in
                bytes[start...].starts(with: [0x50, 0x4B, 1, 2]) && bytes.dropFirst(start + 46).starts(with: name.utf8)
            })
    }

    @Test func `sizes that are not true, files in each other's place and two of one name are refused`() throws {
        let good = OnePasswordTests.archive
        let data = try entry("export.data", in: good)
        let file = try entry("files/d1__a.txt", in: good)
        func expect(_ kind: ImportError.Kind, _ change: (inout [UInt8]) -> Void) throws {
            var bytes = good
            change(&bytes)
            let error = try #require(throws: ImportError.self) { try OnePasswordImport.read(secret(bytes)) }
            #expect(error.kind == kind, "\(error)")
        }
        try expect(.tooLarge) { $0[data + 24] -= 1 }  // more content than it says
        try expect(.malformed) { $0[data + 24] += 1 }
        try expect(.tooLarge) { $0.replaceSubrange(data + 24..<data + 28, with: [0, 0, 0, 0x7F]) }
        try expect(.malformed) { $0.replaceSubrange(file + 42..<file + 46, with: $0[data + 42..<data + 46]) }
        try expect(.malformed) { $0.replaceSubrange(file + 42..<file + 46, with: [255, 255, 255, 255]) }
        try expect(.unsupported) { $0[data + 8] |= 1 }
        try expect(.unsupported) { bytes in
            let local = Int(bytes[data + 42]) + Int(bytes[data + 43]) << 8
            bytes[data + 10] = 12
            bytes[local + 8] = 12
        }
        try expect(.malformed) { bytes in
            let twice = Array(bytes[data..<data + 46 + 11])
            bytes.insert(contentsOf: twice, at: data)
            let end = bytes.count - 22
            let size = Int(bytes[end + 12]) + Int(bytes[end + 13]) << 8 + twice.count
            bytes[end + 8] += 1
            bytes[end + 10] += 1
            bytes[end + 12] = UInt8(size & 0xFF)
            bytes[end + 13] = UInt8(size >> 8)
        }
        #expect(throws: ImportError.self) { _ = try ZipArchive(secret([])) }
        #expect(throws: ImportError.self) {
            try OnePasswordImport.read(secret([0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)))
        }
    }
}
