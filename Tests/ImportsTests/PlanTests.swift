import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader
import VaultStorage

@testable import Imports

/// What becomes of a file's items beside those of a vault.
@Suite struct PlanTests {
    private static let front = "group,title,username,password,url,notes,totp,icon,last modified,created\n"

    private func table(_ rows: String...) throws -> Imported {
        try TableImport.read(secret(PlanTests.front + rows.map { $0 + "\n" }.joined()))
    }

    private func words(_ plan: ImportPlan) -> [String] {
        plan.steps.map { step in
            switch step {
            case .add(_, let entry): "add \(entry.short)"
            case .duplicate(_, let entry): "same \(entry.short)"
            case .differs(_, let entry, let labels): "differs \(entry.short): \(labels.joined(separator: " "))"
            }
        }
    }

    private func run(_ imported: Imported, _ home: ImportHome, updates: Bool = false) throws -> [String] {
        let plan = try ImportPlan(imported, into: home.items, updates: updates)
        try plan.store(in: home.items)
        return words(plan)
    }

    private func text(_ home: ImportHome, _ name: String, _ label: String, in collection: String = "default") throws
        -> String?
    {
        let item = try home.items.item(name, in: collection)
        guard let field = item.field(label) else { return nil }
        return item.withValue(of: field) { $0.array.text }
    }

    @Test func `entries of one file never become one, and a second import changes nothing`() throws {
        let home = try ImportHome()
        let file = try table(
            "Root/Production,admin,root,start,,,,0,,", "Root/Staging,admin,root,start,,,,0,,",
            "Root/Staging,admin,root,start,,,,0,,",
            "Root/Staging,admin,eve,start,,,,0,,")
        #expect(
            try run(file, home) == [
                "add Production/admin", "add Staging/admin", "add Staging/admin (2)", "add Staging/admin (3)",
            ])
        #expect(
            try run(file, home) == [
                "same Production/admin", "same Staging/admin", "same Staging/admin (2)", "same Staging/admin (3)",
            ])
        // Elsewhere is another entry.
        #expect(try run(table("Root/Old,admin,root,start,,,,0,,"), home) == ["add Old/admin"])
    }

    @Test func `an entry whose user name was changed is the one that was made at the same time`() throws {
        func file(_ entries: (user: String, password: String)...) throws -> Imported {
            let items = entries.map {
                #"{"type":1,"name":"mail","creationDate":"2024-01-02T03:04:05.678Z","#
                    + #""login":{"username":"\#($0.user)","password":"\#($0.password)"}}"#
            }
            return try BitwardenImport.read(
                secret(#"{"items":[\#(items.joined(separator: ","))]}"#), password: nil)
        }
        let home = try ImportHome()
        #expect(try run(file(("ada", "1")), home) == ["add mail"])
        // Another entry of the same file and time, as a program that imported them itself writes them.
        #expect(try run(file(("ada", "1"), ("eve", "2")), home) == ["same mail", "add mail (2)"])
        #expect(
            try run(file(("eve", "2"), ("lovelace", "1")), home, updates: true)
                == ["same mail (2)", "differs mail: username"])
        #expect(try text(home, "mail", "username") == "lovelace")
        #expect(try home.items.item("mail").history.map(\.label) == ["username"])
        #expect(try run(file(("eve", "2"), ("lovelace", "1")), home) == ["same mail (2)", "same mail"])
        // Which of two it is cannot be told, and neither can one with nothing else that is the same.
        #expect(
            try run(file(("b", "2"), ("a", "1")), home, updates: true) == ["add mail (3)", "add mail (4)"])
        #expect(try run(file(("c", "5")), home, updates: true) == ["add mail (5)"])
    }

    @Test func `another version is told with what differs, and taken over with its values before as earlier ones`()
        throws
    {
        let home = try ImportHome()
        _ = try run(table(",mail,ada,old,,first,,0,,", ",bank,ada,pin,,,,0,,"), home)
        let later = try table(",mail,ada,new,https://mail.example,second,,0,,", ",bank,ada,pin,,,,0,,")
        #expect(try run(later, home) == ["differs mail: password website notes", "same bank"])
        #expect(try text(home, "mail", "password") == "old")
        #expect(try run(later, home, updates: true) == ["differs mail: password website notes", "same bank"])
        let item = try home.items.item("mail")
        #expect(try text(home, "mail", "password") == "new" && text(home, "mail", "website") == "https://mail.example")
        #expect(item.withNotes { $0.array.text } == "second")
        let earlier = item.history.map { value in item.withValue(of: value) { $0.array.text } }
        #expect(earlier.sorted() == ["first", "old"])
        #expect(try run(later, home) == ["same mail", "same bank"])
        // The file from before says nothing new: what it has is earlier. Without its time nobody knows.
        let old = ",mail,ada,old,,first,,0,2001-01-01T00:00:00Z,"
        #expect(try run(table(old), home, updates: true) == ["same mail"])
        #expect(try run(table(",mail,ada,old,,first,,0,,"), home) == ["differs mail: password notes"])
        #expect(try run(table(",mail,eve,old,,,,0,,"), home) == ["add mail (2)"])
    }

    @Test func `what the user added to an entry is not in the way, nor is it taken away`() throws {
        let home = try ImportHome()
        let file = try table("Root/web,mail,ada,pw,,,,0,,")
        _ = try run(file, home)
        try home.items.change("mail", in: "web") { item in
            try item.add(.secret, "PIN", secret("99"))
            try item.addTag("mine")
        }
        #expect(try run(file, home) == ["same web/mail"])
        #expect(try run(table("Root/web,mail,ada,other,,,,0,,"), home, updates: true) == ["differs web/mail: password"])
        #expect(try text(home, "mail", "PIN", in: "web") == "99")
    }

    @Test func `a change that the vault made later stays, one that the file made later is told`() throws {
        let home = try ImportHome()
        _ = try run(table(",mail,ada,one,,,,0,2024-01-01T00:00:00Z,"), home)
        try home.items.change("mail") { item in
            guard let field = item.field("password") else { return }
            try item.set(field, secret("two"))
        }
        #expect(try run(table(",mail,ada,one,,,,0,2024-01-01T00:00:00Z,"), home) == ["same mail"])
        #expect(try run(table(",mail,ada,one,,,,0,9024-01-01T00:00:00Z,"), home) == ["differs mail: password"])
    }

    @Test func `what only the vault has is told where the file is newer, and stays`() throws {
        let home = try ImportHome()
        _ = try run(table(",mail,ada,pw,https://mail.example,,,0,2024-01-01T00:00:00Z,"), home)
        let later = try table(",mail,ada,pw,,,,0,9024-01-01T00:00:00Z,")
        #expect(try run(later, home) == ["differs mail: website (only in the vault)"])
        #expect(try run(later, home, updates: true) == ["differs mail: website (only in the vault)"])
        #expect(try text(home, "mail", "website") == "https://mail.example")
    }

    @Test func `earlier values of a file come along, and tell an account that has another name now`() throws {
        let home = try ImportHome()
        func file(_ name: String, _ passwords: [String], before: String? = nil) throws -> Imported {
            let item = try ImportedItem(.login, path: ["mail"], place: "")
            try item.add(.text, "username", text: name)
            try item.add(.secret, "password", text: passwords[passwords.count - 1])
            for (index, password) in passwords.dropLast().enumerated() {
                try item.addEarlier(.secret, "password", secret(password), replaced: Int64(index))
            }
            if let before { try item.addEarlier(.text, "username", secret(before), replaced: 9) }
            var imported = Imported()
            try imported.append(item)
            return imported
        }
        #expect(try run(file("ada", ["a"]), home) == ["add mail"])
        #expect(try run(file("ada", ["a", "b", "c"]), home, updates: true) == ["differs mail: password history"])
        let item = try home.items.item("mail")
        let earlier = item.history.map { value in item.withValue(of: value) { $0.array.text } }
        #expect(earlier.sorted() == ["a", "b"])
        #expect(try run(file("ada", ["a", "b", "c"]), home) == ["same mail"])
        #expect(try run(file("eve", ["c"], before: "ada"), home) == ["differs mail: username"])
        #expect(try run(file("eve", ["c"]), home) == ["add mail (2)"])
    }

    @Test func `no value of the vault goes for a version without room for it`() throws {
        let home = try ImportHome()
        func file(_ password: String, _ byte: UInt8) throws -> Imported {
            let item = try ImportedItem(.login, path: ["acc"], place: "")
            try item.add(.secret, "password", text: password)
            if password == "two" { try item.addEarlier(.secret, "password", secret("one"), replaced: 1) }
            let content = [UInt8](repeating: byte, count: 700_000)
            try unsafe item.addFile("file", name: "a.pdf", content: content.span.bytes)
            var imported = Imported()
            try imported.append(item)
            return imported
        }
        #expect(try run(file("two", 1), home) == ["add acc"])
        #expect(try run(file("three", 2), home, updates: true) == ["add acc (2)"])
        let item = try home.items.item("acc")
        #expect(try text(home, "acc", "password") == "two")
        #expect(item.history.map { value in item.withValue(of: value) { $0.array.text } } == ["one"])
        #expect(try run(file("three", 2), home, updates: true) == ["same acc (2)"])
    }

    @Test func `no file makes an entry one of the session bus`() throws {
        let home = try ImportHome()
        let front =
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
        let plain = try TableImport.read(secret(front + ",,login,acc,,,,,ada,pw,\n"))
        _ = try run(plain, home)
        let item = try ImportedItem(.login, path: ["acc"], place: "")
        try item.add(.text, "username", text: "ada")
        for tag in ["secret-service", " secret-service ", "work"] { item.addTag(tag) }
        var imported = Imported()
        try imported.append(item)
        #expect(imported.notes.count == 1 && item.tags == ["work"])
        _ = try run(imported, home, updates: true)
        #expect(try home.items.item("acc").tags == ["work"])
    }

    @Test func `thousands of things of one entry are noted up to a limit`() throws {
        let item = try ImportedItem(.login, path: ["acc"], place: "")
        for number in 0..<5000 { item.note(.leftOut, "thing \(number)") }
        #expect(item.remarks.count == 257)
    }

    @Test func `small attachments of a full entry need no file each`() throws {
        let home = try ImportHome()
        let item = try ImportedItem(.login, path: ["full"], place: "")
        let content = [UInt8](repeating: 1, count: 600_000)
        for number in 0..<8 { try unsafe item.addFile("file", name: "\(number)", content: content.span.bytes) }
        var imported = Imported()
        try imported.append(item)
        _ = try run(imported, home)
        let records = try home.items.vault.records(in: "default")
        #expect(records.count == 8 && records.allSatisfy { !$0.isFile })
    }

    @Test func `a plain value that takes over another keeps the one before`() throws {
        let home = try ImportHome()
        try home.items.vault.put(secret("one"), for: "token")
        let item = try ImportedItem(.value, path: ["token"], place: "")
        try item.add(.secret, "value", text: "two")
        var imported = Imported()
        try imported.append(item)
        #expect(try run(imported, home, updates: true) == ["differs token: value"])
        let stored = try home.items.item("token")
        #expect(try text(home, "token", "value") == "two")
        #expect(stored.history.map { value in stored.withValue(of: value) { $0.array.text } } == ["one"])
    }

    @Test(arguments: [1000, (1 << 20) - 8, 2 << 20])
    func `a value of its own comes back as one, and is known again`(_ size: Int) throws {
        let home = try ImportHome()
        func file(_ byte: UInt8) throws -> Imported {
            let item = try ImportedItem(.file, path: ["papers", "a.pdf"], place: "")
            item.becomeRecord()
            let content = [UInt8](repeating: byte, count: size)
            try unsafe item.addFile("file", name: "a.pdf", content: content.span.bytes)
            var imported = Imported()
            try imported.append(item)
            return imported
        }
        #expect(try run(file(1), home) == ["add papers/a.pdf"])
        let records = try home.items.vault.records(in: "papers")
        #expect(records.map(\.name) == ["a.pdf"] && records[0].size == size && !records[0].isItem)
        #expect(try run(file(1), home) == ["same papers/a.pdf"])
        #expect(try run(file(2), home) == ["add papers/a.pdf (2)"])
        #expect(try run(file(2), home) == ["same papers/a.pdf (2)"])
    }

    @Test func `a value of its own to which something was added elsewhere becomes an entry`() throws {
        let home = try ImportHome()
        let item = try ImportedItem(.file, path: ["papers", "a.pdf"], place: "")
        item.becomeRecord()
        let content = [UInt8](repeating: 1, count: 2 << 20)
        try unsafe item.addFile("file", name: "a.pdf", content: content.span.bytes)
        try item.addNotes(secret("signed in 2020"))
        var imported = Imported()
        try imported.append(item)
        #expect(try run(imported, home) == ["add papers/a.pdf"])
        #expect(try home.items.item("a.pdf", in: "papers").withNotes { $0.array.text } == "signed in 2020")
        #expect(try home.items.vault.records(in: "papers").map(\.name) == ["a.pdf", "a.pdf/a.pdf"])
    }

    @Test func `a large attachment is a value of its own below its entry, known again by its content`() throws {
        let home = try ImportHome()
        func file(_ byte: UInt8, _ count: Int = 3 << 20) throws -> Imported {
            let item = try ImportedItem(.login, path: ["web", "scans"], place: "")
            try item.add(.text, "username", text: "ada")
            let content = [UInt8](repeating: byte, count: count)
            let small = [UInt8](repeating: 1, count: 700_000)
            try unsafe item.addFile("file", name: "a.pdf", content: content.span.bytes)
            try unsafe item.addFile("file", name: "small.pdf", content: small.span.bytes)
            var imported = Imported()
            try imported.append(item)
            return imported
        }
        let first = try file(7)
        #expect(first.notes.map(\.kind) == [.changed] && first.notes[0].entry == "web/scans")
        #expect(try run(first, home) == ["add web/scans"])
        var sizes: [UInt64] = []
        for record in try home.items.vault.records(in: "web") { sizes.append(record.size) }
        #expect(sizes.max() == 3 << 20 && sizes.count == 2)
        var (count, isSame) = (0, true)
        try home.items.vault.read("scans/a.pdf", in: "web") { piece in
            count += piece.byteCount
            isSame = isSame && piece.array.allSatisfy { $0 == 7 }
        }
        #expect(count == 3 << 20 && isSame)
        #expect(try run(file(7), home) == ["same web/scans"])
        let other = try file(8)
        #expect(try run(other, home) == ["differs web/scans: attachments"])
        #expect(try run(other, home, updates: true) == ["differs web/scans: attachments"])
        #expect(try run(other, home, updates: true) == ["same web/scans"])
        #expect(try home.items.names().all.map(\.name).sorted() == ["scans", "scans/a.pdf", "scans/a.pdf (2)"])
    }

    @Test func `large attachments leave no file where the import fails`() throws {
        let home = try ImportHome()
        let item = try ImportedItem(.login, path: ["web", "scans"], place: "")
        let content = [UInt8](repeating: 1, count: 2 << 20)
        try unsafe item.addFile("file", name: "a.pdf", content: content.span.bytes)
        var imported = Imported()
        try imported.append(item)
        let plan = try ImportPlan(imported, into: home.items)
        // Another program took the place meanwhile.
        try home.items.add(Item(.note), as: "scans", in: "web")
        #expect(throws: VaultError.self) { try plan.store(in: home.items) }
        #expect(try home.items.vault.verify().orphanedFiles == 0)
        #expect(try home.items.vault.records(in: "web").count == 1)
    }

    @Test func `thousands of entries of one title are matched without comparing each with each`() throws {
        let home = try ImportHome()
        let rows = (0..<2000).map { ",x,user \($0),pw,,,,0,," }
        let file = try TableImport.read(secret(PlanTests.front + rows.map { $0 + "\n" }.joined()))
        let plan = try ImportPlan(file, into: home.items)
        #expect(plan.additions == 2000)
        try plan.store(in: home.items)
        #expect(try ImportPlan(file, into: home.items).additions == 0)
    }
}
