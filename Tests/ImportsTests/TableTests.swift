import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Tables of programs: what each cell says is in an entry, or noted.
@Suite struct TableTests {
    private func read(_ text: String, skips: Bool = false) throws(ImportError) -> Imported {
        try TableImport.read(try! secret(text), ImportOptions(skipsFaulty: skips))
    }

    /// A program's columns, and those that say nothing outside of it.
    static let headers: [(String, Set<String>)] = [
        (
            "url,username,password,httpRealm,formActionOrigin,guid,timeCreated,timeLastUsed,timePasswordChanged",
            ["formActionOrigin", "guid", "timeLastUsed"]
        ), ("name,url,username,password,note", []), ("name,url,username,password", []),
        ("Title,URL,Username,Password,Notes,OTPAuth", []),
        ("Group,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created", ["Group", "Icon"]),
        ("folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp", []),
        (
            "folder,favorite,type,name,notes,fields,reprompt,archivedDate,login_uri,login_username,login_password,login_totp",
            ["archivedDate"]
        ), ("collections,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp", []),
        ("url,username,password,totp,extra,name,grouping,fav", []),
        ("Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes", ["Archived"]),
        ("type,name,url,email,username,password,note,totp,createTime,modifyTime,vault", []),
        (
            "name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,full_name,phone_number,email,address1,address2,city,country,state,type",
            []
        ), ("username,username2,username3,title,password,note,url,category,otpSecret", []),
        (
            "type,account_name,account_holder,cc_number,code,expiration_month,expiration_year,routing_number,account_number,country,issuing_bank",
            []
        ), ("type,number,name,issue_date,expiration_date,place_of_issue,state", []),
        (
            "type,title,first_name,middle_name,last_name,login,date_of_birth,place_of_birth,email,email_type,item_name,phone_number,address,country,state,city,zip,address_recipient,address_building,address_apartment,address_floor,address_door_code,job_title,url",
            []
        ), ("title,note", []),
    ]

    @Test(arguments: headers)
    func `every cell of a known program's table is in the entry`(_ header: String, _ meaningless: Set<String>) throws {
        let columns = header.split(separator: ",").map(String.init) + ["Of tomorrow"]
        let cells = columns.indices.map { "M\(100 + $0)Z" }
        let imported = try read((columns.joined(separator: ",") + "\n" + cells.joined(separator: ",") + "\n"))
        let expected = zip(columns, cells).filter { !meaningless.contains($0.0) }.map(\.1)
        #expect(imported.items.count == 1 && imported.lost(expected) == [])
        let item = try #require(imported.items.first)
        #expect(item.kind("Of tomorrow") == .secret)
        let unknown = imported.notes.filter { $0.what.contains("of tomorrow") }
        #expect(unknown.count == 1 && unknown[0].place == "line 1")
        // Nothing but the unknown column, and markers in place of one-time codes.
        #expect(
            imported.notes.allSatisfy { $0.what.contains("of tomorrow") || $0.what.contains("code") },
            "\(imported.notes)")
    }

    @Test func `a table of Bitwarden keeps notes, fields, two addresses and kinds`() throws {
        let imported = try read(
            """
            folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp
            Work,1,login,Router,"my note line 1
            line 2","pin: 1234
            door: 99
            open: it: is
            next line",0,"https://a.example.org,https://b.example.org/?a=1,,2",ada,pw1,
            ,,note,Just a note,"the text of the note",,0,,,,

            """)
        let router = imported.items[0]
        #expect(router.name == "Work/Router" && router.isFavourite && router.notes == "my note line 1\nline 2")
        #expect(
            router.text("pin") == "1234" && router.text("door") == "99" && router.text("open") == "it: is\nnext line")
        let addresses = router.item.fields.filter { $0.kind == .url }.map {
            router.item.withValue(of: $0) { $0.array.text }
        }
        #expect(addresses == ["https://a.example.org", "https://b.example.org/?a=1,,2"])
        #expect(imported.items[1].item.kind == .note && imported.items[1].notes == "the text of the note")
        #expect(imported.notes.isEmpty)
    }

    @Test func `a table of an organisation has paths, further collections are tags`() throws {
        let imported = try read(
            "collections,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
                + "\"Servers/Linux,Other\",login,web,,,,\"a.example,b.example\",,pw,\n")
        #expect(imported.items[0].name == "Servers/Linux/web" && imported.items[0].tags == ["Other"])
        #expect(imported.items[0].count(.url) == 2 && imported.notes.count == 1)
    }

    @Test func `groups, notes and times are what their programs mean by them`() throws {
        let lastPass = try read(
            "url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,text,N,Work\\Dev,1\nhttps://a,u,p,,,L,,0\n"
        )
        #expect(lastPass.items.map(\.name) == ["Work/Dev/N", "L"] && lastPass.notes.isEmpty)
        #expect(
            lastPass.items[0].item.kind == .note && lastPass.items[0].count(.url) == 0 && lastPass.items[0].isFavourite)
        let proton = try read(
            "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
                + "login,P,\"https://a,https://b\",e,u,p,n,,1700000000,1700000001,V\n")
        #expect(proton.items[0].name == "V/P" && proton.items[0].times == [1_700_000_000_000, 1_700_000_001_000])
        #expect(proton.items[0].count(.url) == 2)
        let keepass = try read(
            "Group,Title,Username,Password,URL,Notes\nMeine/Web,A,,p,,\nMeine/Recycle Bin,B,,p,,\nMeine,C,,p,,\nMeine/Recycle Bin/x,D,,p,,\n"
        )
        #expect(keepass.items.map(\.name) == ["Web/A", "Recycle Bin/B", "C", "Recycle Bin/x/D"])
        #expect(keepass.notes.map(\.place) == ["line 3"] && keepass.notes[0].entry == "Recycle Bin")
    }

    @Test func `blank lines and rows of nothing are no entries`() throws {
        let imported = try read("\u{FEFF}\n  \nname,url,username,password\n\nA,,,p\n \t \r\n,,,\n\n")
        #expect(imported.items.map(\.place) == ["line 5"] && imported.notes.isEmpty)
    }

    @Test(arguments: [
        ("B,https://b,u", "3 cells"), ("B,https://b,u,hunter2,x", "5 cells"), ("hunter2,b\"c,u,p", "a quote"),
        ("\"B\"x,,,hunter2", "closing quote"),
    ])
    func `a faulty row ends the import, or is left out with its line alone`(_ row: String, _ words: String) throws {
        let text = "name,url,username,password\nA,,,p\n\(row)\nC,,,p\n"
        let error = #expect(throws: ImportError.self) { try read(text) }
        #expect(error?.place == "line 3" && error?.what.contains(words) ?? false && error?.entry != nil)
        let imported = try read(text, skips: true)
        #expect(imported.items.map(\.name) == ["A", "C"] && imported.notes.count == 1)
        #expect(imported.notes[0].place == "line 3" && imported.notes[0].what.contains(words))
        #expect(!imported.notes[0].text.contains("hunter2"))
    }

    @Test func `what was lost with a row is listed by its lines, and no title is made of it`() throws {
        let text = "name,url,username,password\nA,,\"u,hunter2\nB,,u,\"hunter3\nhunter4,,x,y\n\"\nC,,,p\n"
        let error = #expect(throws: ImportError.self) { try read(text) }
        #expect(error?.place == "lines 2 to 5" && error?.entry != nil)
        let imported = try read(text, skips: true)
        #expect(imported.items.map(\.name) == ["C"] && imported.notes.map(\.place) == ["lines 2 to 5"])
        #expect(!imported.notes[0].text.contains("hunter"))
        let open = try read("name,url,username,password\nA,,\"u,hunter2\nB,,,p\n", skips: true)
        #expect(open.items.map(\.name) == ["B"] && open.notes.map(\.place) == ["line 2"])
    }

    @Test func `semicolons and tabs are found from the columns`() throws {
        for separator in [";", "\t"] {
            func file(_ rows: [String]...) -> String { rows.map { $0.joined(separator: separator) + "\n" }.joined() }
            let known = try read(
                file(["\"name\"", "url", "username", "password"], ["A", "https://a,b", "u", "\"p;\tq\""]))
            #expect(
                known.items.map(\.name) == ["A"] && known.lost(["https://a,b", "p;\tq"]) == [] && known.notes.isEmpty)
            let own = file(["Login", "Key", "Site, or what it is"], ["u", "p", "A"])
            let columns: [String: TableImport.Role] = [
                "login": .username, "Key": .password, "site, or what it is": .title,
            ]
            let mapped = try TableImport.read(secret(own), ImportOptions(columns: columns))
            #expect(mapped.items.map(\.name) == ["A"] && mapped.items[0].text("password") == "p")
            let seen = separator == ";" ? ", with semicolons between them" : ", with tabs between them"
            let unknown = #expect(throws: ImportError.self) { try read(own) }
            #expect(
                unknown?.kind == .unknownColumns && unknown?.what.contains("these columns\(seen); known are") ?? false)
            let missing = #expect(throws: ImportError.self) {
                try TableImport.read(secret(own), ImportOptions(columns: ["pw": .password]))
            }
            #expect(missing?.what == "there is no column \"pw\"; their number is 3\(seen)")
        }
        let one = #expect(throws: ImportError.self) { try read("a|b\nx|y\n") }
        #expect(one?.what.contains("no comma, semicolon or tab is between columns") ?? false)
    }

    @Test func `cards and identities of Proton Pass have their content, as in its JSON`() throws {
        func table(_ type: String, _ note: String) throws -> Imported {
            let cell = note.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            return try self.read(
                "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
                    + "\(type),N,,,,,\"\(cell)\",,1700000000,1700000001,V\n")
        }
        let card = #"""
            {"cardholderName":"M001Z","cardType":1,"number":"M002Z","verificationNumber":"M003Z","expirationDate":"2031-03",
            "pin":"M004Z","note":"M005Z\nof it"}
            """#
        let read = try table("creditCard", card)
        #expect(read.lost(card.markers) == [] && read.notes.isEmpty && read.items[0].item.kind == .card)
        #expect(read.items[0].notes == "M005Z\nof it" && read.items[0].text("expires") == "2031-03")
        #expect(read.items[0].kind("number") == .secret && read.items[0].kind("PIN") == .secret)
        let identity = #"""
            {"fullName":"M001Z","email":"M002Z","birthdate":"M003Z","socialSecurityNumber":"M004Z","extraPersonalDetails":[],
            "extraSections":[{"sectionName":"S","sectionFields":[{"fieldName":"M005Z","type":"hidden","data":{"content":"M006Z"}}]}],
            "size":7,"note":""}
            """#
        let person = try table("identity", identity)
        #expect(person.lost(identity.markers) == [] && person.items[0].item.kind == .identity)
        #expect(person.notes.map(\.what) == ["the member size"] && person.items[0].kind("S: M005Z") == .secret)
        #expect(person.items[0].kind("social security number") == .secret && person.items[0].kind("full name") == .text)
        // What is none stays a note.
        for (type, note) in [("creditCard", "{\"number\": "), ("identity", "[1]"), ("login", card), ("note", card)] {
            let plain = try table(type, note)
            #expect(plain.items[0].notes == note && plain.notes.isEmpty && plain.items[0].item.fields.isEmpty)
        }
        let addresses = try self.read(
            "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
                + "login,P,\"https://a, https://b\",,,,,,,,V\n")
        #expect(addresses.items[0].count(.url) == 2)
    }

    @Test func `columns of no known program get a message that lists what is read`() throws {
        let error = #expect(throws: ImportError.self) { try read("service,login,pw\na,b,c\n") }
        #expect(error?.kind == .unknownColumns && error?.what.contains("Firefox, Chrome") ?? false)
    }

    /// Its first line is an entry.
    @Test func `a table without titles shows nothing of its first line`() throws {
        func read(_ columns: [String: TableImport.Role]) throws -> Imported {
            try TableImport.read(secret("bank,alice,hunter2\nx,y,z\n"), ImportOptions(columns: columns))
        }
        let notes = try read(["bank": .title]).notes.map(\.text)
        #expect(notes == ["line 1: column 2", "line 1: column 3"])
        let error = #expect(throws: ImportError.self) { _ = try read(["name": .title]) }
        #expect(error?.reason == "line 1: there is no column \"name\"; their number is 3")
        // That of a known program has titles.
        let known = #expect(throws: ImportError.self) {
            try TableImport.read(secret("name,url,username,password\n"), ImportOptions(columns: ["pw": .password]))
        }
        #expect(known?.what == "there is no column \"pw\"; there are name, url, username, password")
    }

    @Test func `two columns of one role are both kept`() throws {
        let mapped = try TableImport.read(
            secret("t,u,v,p,q\nT,ada,bob,1,2\n"),
            ImportOptions(columns: ["t": .title, "u": .username, "v": .username, "p": .password, "q": .password]))
        #expect(mapped.items[0].texts.filter { ["ada", "bob", "1", "2"].contains($0) } == ["ada", "bob", "1", "2"])
        let known = try read("name,url,username,password,name\nA,,u,p,other\n")
        #expect(known.items[0].name == "A" && known.lost(["other"]) == [] && known.notes.count == 1)
    }

    /// Cells that would become millions of parts, and a table of very many columns.
    @Test func `a cell of very many parts is an error or a few of them`() throws {
        let header = "folder,type,name,fields,login_uri,login_username,login_password\n"
        let many = String(repeating: "a/", count: 500_000)
        let paths = try read(header + "\"\(many)\",login,n,,,u,p\n")
        #expect(paths.items[0].name.utf8.count <= 1000)
        let fields = String(repeating: "a: b\n", count: 500_000)
        #expect(throws: ImportError.self) { try read(header + ",login,n,\"\(fields)\",,u,p\n") }
        #expect(throws: ImportError.self) {
            try read(header + ",login,n,,\"\(String(repeating: "a,", count: 500_000))\",u,p\n")
        }
        let lines = String(repeating: ": \n", count: 513) + "PIN: 1234"
        #expect(try read(header + ",login,n,\"\(lines)\",,u,p\n").items[0].text("PIN") == "1234")
        let skipped = try read(
            header + ",login,n,\"\(String(repeating: "a: b\n", count: 300))\",,u,p\n", skips: true)
        #expect(skipped.items[0].text("password") == "p" && skipped.items[0].text("username") == "u")
        let long = String(repeating: "a", count: ItemLimits.size + 1)
        #expect(throws: ImportError.self) { try read(header + ",login,n,,\(long),u,p\n") }
        let columns = (0..<100_000).map { "c\($0)" }.joined(separator: ",")
        let row = String(repeating: ",", count: 100_003)
        #expect(try read("name,url,username,password,\(columns)\nA\(row)\n,,,p\(row.dropLast(3))\n").items.count == 2)
    }
}
