import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Notes of LastPass that have a type: their lines are fields.
@Suite struct LastPassTests {
    private func read(_ note: String) throws -> ImportedItem {
        let cell = note.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
        let imported = try TableImport.read(
            secret("url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,\"\(cell)\",N,Work,0\n"))
        #expect(imported.items.count == 1 && imported.notes.allSatisfy { $0.what.contains("SSH key") })
        return try #require(imported.items.first)
    }

    /// Labels, kinds and values, in their order.
    private func fields(_ item: ImportedItem) -> [String] {
        let kinds: [FieldKind: String] = [.text: "text", .secret: "secret", .url: "url", .date: "date"]
        return item.item.fields.map { field in
            "\(field.label) \(kinds[field.kind] ?? "?") " + item.item.withValue(of: field) { $0.array.text }
        }
    }

    @Test func `a card has its fields, its date and its notes`() throws {
        let card = try read(
            """
            NoteType:Credit Card
            Language:en-US
            Name on Card:Ada L
            Type:Visa
            Number:4111
            Security Code:12:3
            Start Date:,
            Expiration Date:March,2031
            Notes:first: line
            Number:9

            last
            """)
        #expect(card.item.kind == .card && card.name == "Work/N" && card.notes == "first: line\nNumber:9\n\nlast")
        #expect(
            fields(card) == [
                "holder text Ada L", "type text Visa", "number secret 4111", "security code secret 12:3",
                "expires date 2031-03",
            ])
    }

    @Test func `an address is an identity, a bank account a note that says what it is`() throws {
        let person = try read(
            """
            NoteType:Address\r
            Language:en-US\r
            Title:mr\r
            First Name:Ada\r
            Birthday:June,11,1980\r
            Address 1:1 Way\r
            City / Town:\r
            Zip / Postal Code:123\r
            Timezone:+01:00,1\r
            Phone:{"num":"5","ext":"","cc3l":"USA"}\r
            Notes:
            """)
        #expect(person.item.kind == .identity && person.notes == nil)
        #expect(
            fields(person) == [
                "title text mr", "first name text Ada", "born date 1980-06-11", "address 1 text 1 Way",
                "postal code text 123", "timezone text +01:00,1",
                "phone text {\"num\":\"5\",\"ext\":\"\",\"cc3l\":\"USA\"}",
            ])
        let bank = try read(
            "NoteType:Bank Account\nBank Name:B\nAccount Number:1\nPin:2\nMy own:3\nStart Date:April,29\nURL:https://b")
        #expect(bank.item.kind == .note)
        #expect(
            fields(bank) == [
                "type text Bank Account", "bank text B", "account number secret 1", "PIN secret 2", "My own secret 3",
                "start date text April,29", "website url https://b",
            ])
    }

    /// Lines of a key may have colons, and a value more than one line.
    @Test func `values of several lines stay whole`() throws {
        let pem = """
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-128-CBC,00

            AAAA
            -----END RSA PRIVATE KEY-----
            """
        let key = try read(
            "NoteType:SSH Key\nLanguage:en-US\nBit Strength:2048\nFormat:PEM\nPassphrase:pw\nPrivate Key:\(pem)\n"
                + "Public Key:ssh-rsa AAAA a\nHostname:h\nDate:January,3,1999\nNotes:n")
        #expect(key.item.kind == .sshKey && key.notes == "n" && key.text("private key") == pem)
        #expect(key.kind("private key") == .secret && key.text("public key") == "ssh-rsa AAAA a")
        #expect(key.kind("passphrase") == .secret && key.text("date") == "1999-01-03" && key.text("hostname") == "h")
        let own = try read("NoteType:Custom_1\nmy text:one\n\nhttps://two\n three: 3\n\nother:4\n")
        #expect(own.text("my text") == "one\n\nhttps://two\n three: 3" && own.text("other") == "4")
    }

    @Test func `what is no note with a type stays a text`() throws {
        let many = "NoteType:Server\n" + (0..<200).map { "key \($0):value\n" }.joined()
        for note in ["a NoteType:Server\nHostname:h", "NoteType://x\ny:z", "notetype:x", many] {
            let item = try read(note)
            #expect(item.notes == note && item.item.fields.isEmpty && item.item.kind == .note)
        }
        // Only notes have a type.
        let login = try TableImport.read(
            secret(
                "url,username,password,totp,extra,name,grouping,fav\nhttps://a,,,,\"NoteType:Server\nPort:1\",N,,0\n"))
        #expect(login.items[0].notes == "NoteType:Server\nPort:1" && login.items[0].item.kind == .login)
    }
}
