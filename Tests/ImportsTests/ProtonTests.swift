import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Exports of Proton Pass.
@Suite struct ProtonTests {
    /// A marker in every member that says something.
    static let everything = #"""
        {"version": "1.31", "userId": "u", "encrypted": false, "vaults": {"v1=": {"name": "M000Z", "description": "M001Z",
         "display": {"color": 1, "icon": 2}, "items": [
         {"itemId": "i", "shareId": "s", "state": 1, "aliasEmail": null, "contentFormatVersion": 6, "createTime": 1600000000,
          "modifyTime": 1700000000, "pinned": true, "files": ["M002Z"],
          "data": {"metadata": {"name": "M003Z", "note": "M004Z", "itemUuid": "u"}, "platformSpecific": {"android": {"allowedApps": ["M005Z"]}},
           "extraFields": [{"fieldName": "M006Z", "type": "text", "data": {"content": "M007Z"}},
            {"fieldName": "M008Z", "type": "hidden", "data": {"content": "M009Z"}}, {"fieldName": "M010Z", "type": "totp", "data": {"totpUri": "M011Z"}},
            {"fieldName": "M012Z", "type": "timestamp", "data": {"timestamp": "2024-01-02T00:00:00Z"}},
            {"fieldName": "M013Z", "type": "hologram", "data": {"picture": "M014Z"}}],
           "type": "login", "content": {"itemEmail": "M015Z", "itemUsername": "M016Z", "password": "M017Z", "urls": ["M018Z", "M019Z"],
            "totpUri": "M020Z", "passkeys": [{"keyId": "M021Z"}]}}},
         {"state": 1, "data": {"metadata": {"name": "M022Z"}, "type": "creditCard", "content": {"cardholderName": "M023Z", "cardType": 0,
          "number": "M024Z", "verificationNumber": "M025Z", "expirationDate": "2031-03", "pin": "M026Z"}}},
         {"state": 1, "data": {"metadata": {"name": "M027Z"}, "type": "identity", "content": {"fullName": "M028Z", "email": "M029Z",
          "birthdate": "M030Z", "extraPersonalDetails": [{"fieldName": "M031Z", "type": "text", "data": {"content": "M032Z"}}],
          "streetAddress": "M033Z", "socialSecurityNumber": "M034Z", "passportNumber": "M035Z", "licenseNumber": "M036Z",
          "website": "M037Z", "xHandle": "M038Z", "workPhoneNumber": "M039Z", "extraSections": [{"sectionName": "M040Z", "sectionFields": [
          {"fieldName": "M041Z", "type": "hidden", "data": {"content": "M042Z"}}]}]}}},
         {"state": 1, "aliasEmail": "M043Z", "data": {"metadata": {"name": "M044Z"}, "type": "alias", "content": {}}},
         {"state": 1, "data": {"metadata": {"name": "M045Z", "note": "M046Z"}, "type": "note", "content": {}}},
         {"state": 1, "data": {"metadata": {"name": "M047Z"}, "type": "sshKey", "content": {"privateKey": "M048Z", "publicKey": "M049Z",
          "fingerprint": "M050Z", "sections": []}}},
         {"state": 1, "data": {"metadata": {"name": "M051Z"}, "type": "wifi", "content": {"ssid": "M052Z", "password": "M053Z", "security": 2}}},
         {"state": 1, "data": {"metadata": {"name": "M054Z"}, "type": "hologram", "content": {"colour": "M055Z", "deep": {"x": "M056Z"}}}},
         {"state": 2, "data": {"metadata": {"name": "M057Z"}, "type": "login", "content": {"password": "M058Z"}}},
         {"state": 1, "data": {"metadata": {"name": ""}, "type": "login", "content": {"password": "M059Z"}}}]}}}
        """#

    @Test func `every member is in an entry or noted with its entry`() throws {
        let imported = try ProtonImport.read(secret(ProtonTests.everything))
        let noted = [
            "M001Z": "the member description", "M002Z": "the member files",
            "M005Z": "the member data.platformSpecific.android.allowedApps",
            "M013Z": "the field \"M013Z\"",
            "M014Z": "the member data.extraFields.data.picture",
            "M021Z": "a passkey", "M057Z": "an entry in the trash",
            "M058Z": "an entry in the trash",
        ]
        let markers = ProtonTests.everything.markers
        #expect(markers.count == 60 && imported.lost(markers, noted: noted) == [])
        let login = imported.items[0]
        #expect(
            login.name == "M000Z/M003Z" && login.isFavourite && login.times == [1_600_000_000_000, 1_700_000_000_000])
        #expect(login.text("M012Z") == "2024-01-02" && login.kind("M009Z") == nil && login.kind("M008Z") == .secret)
        #expect(imported.items[1].text("expires") == "2031-03" && imported.items[1].item.kind == .card)
        #expect(imported.items[2].text("x handle") == "M038Z" && imported.items[2].text("born") == "M030Z")
        #expect(imported.items.last?.name == "M000Z/unnamed")
        let notes = Set(imported.notes.map(\.what))
        #expect(notes.contains("the member data.content.security") && notes.contains("an entry without a name"))
        #expect(!notes.contains { $0.contains("Id") || $0.contains("Uuid") || $0.contains("state") }, "\(notes)")
    }

    @Test func `the archive is found and read, encrypted ones are refused with words`() throws {
        let archive = storedArchive([
            ("Proton Pass/data.json", Array(ProtonTests.everything.utf8)), ("Proton Pass/files/x.pdf", [1]),
        ])
        #expect(try secret(archive).withBytes(ImportFormat.detected) == .proton)
        let imported = try ProtonImport.read(secret(archive))
        #expect(imported.items.count == 9 && imported.notes.contains { $0.place == "Proton Pass/files/x.pdf" })
        #expect(try secret(ProtonTests.everything).withBytes(ImportFormat.detected) == .proton)
        for file in [
            storedArchive([("Proton Pass/data.pgp", [1])]), Array("-----BEGIN PGP MESSAGE-----\n\nx".utf8),
            Array(#"{"userId": "u", "encrypted": true, "vaults": {}}"#.utf8),
        ] {
            #expect(try secret(file).withBytes(ImportFormat.detected) == .proton)
            let error = #expect(throws: ImportError.self) { try ProtonImport.read(secret(file)) }
            #expect(error?.kind == .unsupported && error?.what.contains("PGP") ?? false)
        }
    }

    @Test func `a file that was cut or changed is an error or is read`() throws {
        let bytes = Array(ProtonTests.everything.utf8)
        for end in stride(from: 0, to: bytes.count - 1, by: 7) {
            #expect(throws: ImportError.self) { try ProtonImport.read(secret(Array(bytes[..<end]))) }
        }
        for index in stride(from: 0, to: bytes.count, by: 5) {
            var changed = bytes
            changed[index] ^= 1
            _ = try? ProtonImport.read(secret(changed))
        }
    }
}
