import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader

@testable import Imports

/// Bitwarden's exports: nothing of an entry is lost without a note.
@Suite struct BitwardenTests {
    private func read(_ text: String, _ options: ImportOptions = ImportOptions()) throws(ImportError) -> Imported {
        try BitwardenImport.read(try! secret(text), password: nil, options)
    }

    /// A marker in every member that says something.
    static let everything = #"""
        {"encrypted": false,
         "folders": [{"id": "f1", "name": "M001Z/M002Z"}],
         "collections": [{"id": "c1", "organizationId": "o1", "name": "M003Z/M004Z", "externalId": null}, {"id": "c2", "name": "M005Z"}],
         "items": [
         {"id": "1", "organizationId": "o1", "folderId": null, "collectionIds": ["c1", "c2"], "type": 1, "reprompt": 1, "name": "M006Z",
          "notes": "M007Z", "favorite": true, "key": "k", "archivedDate": "2024-01-02T00:00:00.000Z",
          "fields": [{"name": "M008Z", "value": "M009Z", "type": 0, "linkedId": null}, {"name": "M010Z", "value": "M011Z", "type": 1},
                     {"name": "M012Z", "value": "true", "type": 2}, {"name": "M013Z", "value": null, "type": 3, "linkedId": 100},
                     {"name": "M014Z", "value": null, "type": 0}, {"name": null, "value": "M015Z", "type": 0},
                     {"name": "M016Z", "value": "M017Z", "type": 9}],
          "login": {"uris": [{"match": 3, "uri": "https://M018Z.example"}, {"match": null, "uri": "https://M019Z.example"}],
                    "username": "M020Z", "password": "M021Z", "totp": "M022Z", "autofillOnPageLoad": "M023Z",
                    "fido2Credentials": [{"credentialId": "M024Z", "keyValue": "M024Z"}]},
          "passwordHistory": [{"lastUsedDate": "2023-01-02T00:00:00.000Z", "password": "M025Z"}],
          "creationDate": "2021-01-02T03:04:05.000Z", "revisionDate": "2024-01-02T03:04:05.000Z", "deletedDate": null},
         {"id": "2", "type": 2, "folderId": "f1", "name": "M026Z", "notes": "M027Z", "secureNote": {"type": 0}, "collectionIds": null},
         {"id": "3", "type": 3, "name": "M028Z", "card": {"cardholderName": "M029Z", "brand": "M030Z", "number": "M031Z",
          "expMonth": "M032Z", "expYear": "M033Z", "code": "M034Z"}},
         {"id": "4", "type": 4, "name": "M035Z", "identity": {"title": "M036Z", "firstName": "M037Z", "middleName": "M038Z",
          "lastName": "M039Z", "address1": "M040Z", "address2": "M041Z", "address3": "M042Z", "city": "M043Z", "state": "M044Z",
          "postalCode": "M045Z", "country": "M046Z", "company": "M047Z", "email": "M048Z", "phone": "M049Z", "ssn": "M050Z",
          "username": "M051Z", "passportNumber": "M052Z", "licenseNumber": "M053Z"}},
         {"id": "5", "type": 5, "name": "M054Z", "sshKey": {"privateKey": "M055Z", "publicKey": "M056Z", "keyFingerprint": "M057Z"}},
         {"id": "6", "type": 6, "name": "M058Z", "bankAccount": {"bankName": "M059Z", "nameOnAccount": "M060Z", "accountType": "M061Z",
          "accountNumber": "M062Z", "routingNumber": "M063Z", "branchNumber": "M064Z", "pin": "M065Z", "swiftCode": "M066Z",
          "iban": "M067Z", "bankContactPhone": "M068Z"}},
         {"id": "7", "type": 7, "name": "M069Z", "driversLicense": {"firstName": "M070Z", "middleName": "M071Z", "lastName": "M072Z",
          "dateOfBirth": "M073Z", "licenseNumber": "M074Z", "issuingCountry": "M075Z", "issuingState": "M076Z", "issueDate": "M077Z",
          "expirationDate": "M078Z", "issuingAuthority": "M079Z", "licenseClass": "M080Z"}},
         {"id": "8", "type": 8, "name": "M081Z", "passport": {"surname": "M082Z", "givenName": "M083Z", "dateOfBirth": "M084Z",
          "sex": "M085Z", "birthPlace": "M086Z", "nationality": "M087Z", "passportNumber": "M088Z", "passportType": "M089Z",
          "nationalIdentificationNumber": "M090Z", "issuingCountry": "M091Z", "issuingAuthority": "M092Z", "issueDate": "M093Z",
          "expirationDate": "M094Z"}},
         {"id": "9", "type": 99, "name": "M095Z", "notes": "M096Z", "hologram": {"colour": "M097Z", "size": 98, "list": ["M099Z"]}},
         {"id": "10", "type": 1, "name": "M100Z", "deletedDate": "2024-01-02T00:00:00.000Z", "login": {"password": "M101Z"}}]}
        """#

    @Test func `every member is in an entry or noted with its entry`() throws {
        let imported = try read(BitwardenTests.everything)
        let markers = BitwardenTests.everything.markers
        #expect(markers.count == 100)
        let noted = [
            "M013Z": "the linked field \"M013Z\"", "M023Z": "the member login.autofillOnPageLoad", "M024Z": "a passkey",
            "M100Z": "an entry in the trash", "M101Z": "an entry in the trash",
        ]
        #expect(imported.lost(markers, noted: noted) == [])
        let login = imported.items[0]
        #expect(login.name == "M003Z/M004Z/M006Z" && login.tags == ["M005Z", "archived", "ask-each-time"])
        #expect(login.times == [1_609_556_645_000, 1_704_164_645_000] && login.isFavourite)
        #expect(login.kind("M010Z") == .secret && login.kind("M016Z") == .secret && login.text("M012Z") == "true")
        #expect(login.text("M014Z") == "")
        let notes = Set(imported.notes.map(\.what))
        for what in [
            "the member login.uris.match",
            "more than one folder or collection: the first is its folder, the others are tags",
            "an entry of a kind that is not known, which is a note now",
        ] { #expect(notes.contains(what), "\(what)") }
        // The numbers of things, and the one kind of note.
        for word in ["Id", "id", "key", "secureNote"] {
            #expect(!notes.contains { $0.hasPrefix("the member") && $0.hasSuffix(word) }, "\(notes)")
        }
        #expect(imported.items.allSatisfy { $0.name != "M100Z" } && imported.notes.allSatisfy { !$0.entry.isEmpty })
        #expect(imported.items[8].text("hologram.size") == "98" && imported.items[8].kind("hologram.colour") == .secret)
    }

    @Test func `a long name of a folder is cut once and noted, and an entry has few other folders`() throws {
        let long = String(repeating: "é", count: 501)
        let ids = (0..<70).map { "\"c\($0)\"" }
        let collections = ids.map { #"{"id": \#($0), "name": \#($0)}"# } + [#"{"id": "l", "name": "\#(long)"}"#]
        let all = (["\"l\"", "\"l\"", "\"c0\"", "\"c0\""] + ids).joined(separator: ",")
        let imported = try read(
            """
            {"encrypted": false, "collections": [\(collections.joined(separator: ","))],
             "folders": [{"id": "e", "name": "\(long)"}], "items": [
             {"id": "1", "type": 2, "name": "many", "collectionIds": [\(all)]},
             {"id": "2", "type": 2, "name": "twice", "folderId": "c1", "collectionIds": ["c1", "l", "l"]}]}
            """)
        #expect(imported.items[0].tags == (0..<64).map { "c\($0)" }.sorted() && imported.items[1].tags == [])
        #expect(imported.items[1].name == "c1/twice")
        let notes = imported.notes.filter { $0.entry != imported.items[0].name }
        #expect(notes.map(\.what).contains("a name of more than 1000 bytes, which was cut"))
        #expect(notes.count { $0.what == "a tag that no entry can have" } == 1)
        let more = imported.notes.filter { $0.what == "more than 64 further folders or collections" }
        #expect(more.map(\.entry) == [imported.items[0].name])
        let unused = imported.notes.filter { $0.what == "a folder without entries" }
        #expect(unused.map(\.entry.utf8.count) == [1000])
    }

    @Test func `an organisation's collections are paths`() throws {
        let text = #"""
            {"encrypted":false,"collections":[{"id":"c1","organizationId":"o1","name":"Servers/Linux","externalId":null},
            {"id":"c2","name":"Nobody"}],
            "items":[{"passwordHistory":null,"id":"i1","organizationId":"o1","folderId":null,"type":1,"name":"web1","notes":null,
            "login":{"uris":[{"match":null,"uri":null}],"username":null,"password":"pw"},"collectionIds":["c1"]},
            {"type":1,"name":"web2","login":null,"collectionIds":["c1","c9"]}]}
            """#
        let imported = try read(text)
        #expect(imported.items.map(\.name) == ["Servers/Linux/web1", "Servers/Linux/web2"])
        #expect(
            imported.notes.map(\.text).sorted() == [
                "Nobody: a folder without entries",
                "Servers/Linux/web2 (line 5, item 2): a folder or collection that the file does not name",
            ])
    }

    @Test(arguments: [
        (#""expMonth":"3","expYear":"2031""#, "2031-03", FieldKind.date),
        (#""expMonth":"12","expYear":"31""#, "2031-12", .date),
        (#""expMonth":null,"expYear":"2031""#, "2031", .text), (#""expMonth":"3","expYear":null"#, "3", .text),
        (#""expMonth":"13","expYear":"2031""#, "13/2031", .text),
        (#""expMonth":"3","expYear":"soon""#, "3/soon", .text),
    ])
    func `a card keeps what it says of its end`(_ members: String, _ value: String, _ kind: FieldKind) throws {
        let imported = try read(#"{"items":[{"type":3,"name":"c","card":{"number":"4111",\#(members)}}]}"#)
        #expect(imported.items[0].text("expires") == value && imported.items[0].kind("expires") == kind)
        #expect(imported.notes.isEmpty)
    }

    @Test(arguments: ["null", "\"\"", "7"])
    func `an entry without a name is there and noted`(_ name: String) throws {
        let imported = try read(
            #"{"items":[{"type":1,"name":"good"},{"type":1,"name":\#(name),"login":{"username":"u2","password":"p2"}}]}"#
        )
        #expect(imported.items.map(\.name) == ["good", "unnamed"] && imported.items[1].text("password") == "p2")
        #expect(imported.notes.contains { $0.entry == "unnamed" && $0.what == "an entry without a name" })
    }

    @Test func `an archive has the attachments of entries`() throws {
        let text = #"{"items":[{"id":"1","type":1,"name":"a"},{"id":"2","type":1,"name":"b"}]}"#
        let archive = storedArchive([
            ("data.json", Array(text.utf8)), ("attachments/1/x.txt", [7, 8]), ("attachments/1/y/z.txt", [9]),
            ("attachments/3/lost.txt", [1]),
            ("attachments/2/large.bin", [UInt8](repeating: 1, count: ItemLimits.size + 1)),
        ])
        #expect(try secret(archive).withBytes(ImportFormat.detected) == .bitwarden)
        let imported = try BitwardenImport.read(secret(archive), password: nil)
        #expect(imported.items[0].file == [7, 8] && imported.items[0].count(.file) == 2)
        #expect(imported.items[0].texts.contains { $0.hasPrefix("y_z.txt ") })
        #expect(imported.items[1].attachments.map { $0.content.count } == [ItemLimits.size + 1])
        #expect(
            imported.notes.map(\.text) == [
                "b (line 1, item 2): an attachment that an entry cannot hold, which is a value of its own below it",
                "attachments/3/lost.txt: a file that no entry has",
            ])
    }

    @Test func `a time that is not understood is noted`() throws {
        let imported = try read(
            #"{"items":[{"type":1,"name":"a","creationDate":"once","login":{"password":"p"},"passwordHistory":[{"password":"o","lastUsedDate":"upon"}]}]}"#
        )
        #expect(imported.notes.map(\.what) == ["a time that is not understood"] && imported.items[0].earlier.count == 1)
    }

    @Test func `earlier values beyond what an entry holds are noted`() throws {
        let history = (0..<ItemLimits.history + 1).map { #"{"password":"p\#($0)"}"# }.joined(separator: ",")
        let imported = try read(#"{"items":[{"type":1,"name":"a","passwordHistory":[\#(history)]}]}"#)
        #expect(imported.items[0].earlier.count == ItemLimits.history)
        #expect(imported.notes.map(\.what) == ["earlier values for which an entry has no room"])
    }

    private func fields(_ count: Int) -> String {
        (0..<count).map { #"{"name":"f/\#($0)","value":"v\#($0)","type":0}"# }.joined(separator: ",")
    }

    @Test func `notes that an entry cannot hold are a value of their own below it`() throws {
        let home = try ImportHome()
        let long = String(repeating: "n", count: ItemLimits.size)
        let text = #"{"items":[{"type":1,"name":"big","reprompt":1,"login":{"password":"p"},"notes":"\#(long)"}]}"#
        let imported = try read(text)
        let notes = imported.notes.map(\.what)
        #expect(notes.contains("notes that an entry cannot hold, which are a value of their own below it"))
        let plan = try ImportPlan(imported, into: home.items)
        try plan.store(in: home.items)
        let names = try home.items.vault.records().map(\.name)
        #expect(names.sorted() == ["big", "big/notes.txt"], "\(names)")
        // It is the same entry afterwards.
        #expect(try ImportPlan(read(text), into: home.items).additions == 0)
    }

    @Test func `a field for which there is no room ends the import, or is left out and named`() throws {
        let text =
            #"{"items":[{"type":1,"name":"big","login":{"username":"u","password":"p"},"fields":[\#(fields(600))]},"#
            + #"{"type":1,"name":"small"}]}"#
        let error = #expect(throws: ImportError.self) { try read(text) }
        #expect(error?.entry == "big")
        let imported = try read(text, ImportOptions(skipsFaulty: true))
        #expect(imported.items.map(\.name) == ["big", "small"] && imported.items[0].text("password") == "p")
        let faults = imported.notes.filter { $0.kind == .leftOut && $0.entry == "big" }.map(\.what)
        let whole = "there is no room for the field \"f/254\": an entry has at most 256 fields and 1 MiB"
        #expect(faults.count == 257 && faults.first == "a part that cannot be read: \(whole)", "\(faults)")
        #expect(faults.last == "a part that cannot be read: this and what follows of the entry is not listed")
    }

    @Test func `a guard has room among the tags`() throws {
        let names = (0..<70).map { #"{"id":"c\#($0)","name":"C\#($0)"}"# }.joined(separator: ",")
        let ids = (0..<70).map { "\"c\($0)\"" }.joined(separator: ",")
        let imported = try read(
            #"{"collections":[\#(names)],"items":[{"type":1,"name":"a","reprompt":1,"collectionIds":[\#(ids)]}]}"#)
        #expect(imported.items[0].item.tags.contains("ask-each-time") && imported.items[0].item.tags.count == 64)
        #expect(imported.notes.contains { $0.what == "a tag that no entry can have" })
    }

    @Test func `JSON of no known program gets a message that lists what is read`() throws {
        for text in ["{}", #"{"accounts": []}"#, #"{"encrypted": false}"#] {
            let format = try secret(text).withBytes(ImportFormat.detected)
            let error = #expect(throws: ImportError.self) {
                try format?.read(secret(text), password: nil, keyFile: nil)
            }
            #expect(error?.what.contains("Bitwarden, Holdfast") ?? false, "\(text)")
        }
    }
}
