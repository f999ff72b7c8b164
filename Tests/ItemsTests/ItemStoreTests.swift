import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@Suite struct ItemStoreTests {
    @Test func `an item is stored, read, changed and stored again`() throws {
        let home = try ItemHome()
        try home.items.add(home.login(), as: "mail")
        var item = try home.items.item("mail")
        #expect(item.text("password") == "old secret")
        try item.set("password", "new secret")
        try home.items.replace("mail", with: item)
        let stored = try home.items.item("mail")
        #expect(stored.text("password") == "new secret" && stored.history.count == 1 && stored.id == item.id)
        #expect(errorCode { try home.items.add(home.login(), as: "mail") } == .recordExists)
        #expect(errorCode { _ = try home.items.item("none") } == .recordNotFound)
    }

    @Test func `an item that was changed since it was read is not overwritten`() throws {
        let home = try ItemHome()
        try home.items.add(home.login(), as: "mail")
        var mine = try home.items.item("mail")
        try ItemStore(home.other()).change("mail") { try $0.set("password", "theirs") }
        try mine.set("password", "mine")
        #expect(errorCode { try home.items.replace("mail", with: mine) } == .busy)
        #expect(try home.items.item("mail").text("password") == "theirs")
        try home.vault.delete("mail")
        #expect(errorCode { try home.items.replace("mail", with: mine) } == .busy)
        // One that was never stored replaces nothing.
        try home.items.add(home.login(), as: "mail")
        #expect(errorCode { try home.items.replace("mail", with: home.login()) } == .busy)
    }

    @Test func `a change that fails changes nothing`() throws {
        struct Refusal: Error {}
        let home = try ItemHome()
        try home.items.add(home.login(), as: "mail")
        #expect(throws: Refusal.self) {
            try home.items.change("mail") { item in
                try item.set("password", "half")
                throw Refusal()
            }
        }
        #expect(try home.items.item("mail").text("password") == "old secret")
        #expect(errorCode { try home.items.change("none") { _ in } } == .recordNotFound)
    }

    @Test func `a plain value is an item with one field, and becomes one when it gets more`() throws {
        let home = try ItemHome()
        try home.put([0xFF, 0, 1], "token")
        let item = try home.items.item("token")
        #expect(item.kind == .value && item.fields.map(\.label) == ["value"])
        #expect(item.withValue(of: try item.need("value")) { $0.array } == [0xFF, 0, 1])
        // Reading it has changed nothing.
        #expect(try home.get("token") == [0xFF, 0, 1])
        // With another value it is still a value, which its app reads as before.
        try home.items.change("token") { try $0.set("value", "next") }
        #expect(try home.get("token") == Array("next".utf8))
        var read = try home.items.item("token")
        try read.set("value", "last")
        try home.items.replace("token", with: read)
        #expect(try home.get("token") == Array("last".utf8) && home.items.item("token").history.isEmpty)
        try home.put([0xFF, 0, 1], "token", replacing: true)
        try home.items.change("token") { try $0.addTag("work") }
        #expect(errorCode { _ = try home.get("token") } == .isItem)
        let tagged = try home.items.item("token")
        #expect(tagged.tags == ["work"])
        #expect(tagged.withValue(of: try tagged.need("value")) { $0.array } == [0xFF, 0, 1])
    }

    @Test func `items, values and files are renamed and stay what they are`() throws {
        let home = try ItemHome()
        try home.items.add(home.login(), as: "mail")
        try home.put([1, 2], "token")
        let large = pattern(Vault.largestInlineValue + 5)
        var position = 0
        try home.vault.put("film") { memory in
            let count = min(memory.byteCount, large.count - position)
            for index in 0..<count {
                memory.storeBytes(of: large[position + index], toByteOffset: index, as: UInt8.self)
            }
            position += count
            return count
        }
        let id = try home.items.item("mail").id
        try home.items.rename("mail", to: "logins/mail")
        try home.items.rename("token", to: "token", into: "work")
        try home.items.rename("film", to: "films/one")
        #expect(try home.items.item("logins/mail").id == id)
        #expect(try home.vault.withValue(for: "token", in: "work") { $0.array } == [1, 2])
        var read: [UInt8] = []
        try home.vault.read("films/one") { read += $0.array }
        #expect(read == large)
        let report = try home.vault.verify()
        #expect(report.isIntact && report.orphanedFiles == 0 && report.records == 3)
        #expect(try home.vault.records().map(\.name) == ["films/one", "logins/mail", "token"])
        #expect(errorCode { try home.items.rename("none", to: "other") } == .recordNotFound)
        try home.put([3], "taken")
        #expect(errorCode { try home.items.rename("taken", to: "logins/mail") } == .recordExists)
        #expect(errorCode { try home.items.rename("taken", to: "") } == .invalidName)
        #expect(errorCode { try home.items.rename("taken", to: "\u{0}x") } == .invalidName)
        #expect(errorCode { try home.items.rename("logins/mail", to: "\u{0}x") } == .invalidName)
        #expect(errorCode { try home.items.copy("logins/mail", to: "\u{0}x") } == .invalidName)
        #expect(errorCode { try home.items.add(home.login(), as: "\u{0}x") } == .invalidName)
        // Under its own name it stays.
        try home.items.rename("taken", to: "taken")
        #expect(try home.get("taken") == [3])
    }

    @Test func `a copy has its own id and leaves the other alone`() throws {
        let home = try ItemHome()
        try home.items.add(home.login(), as: "mail")
        try home.put([1, 2], "token")
        try home.items.copy("mail", to: "mail two")
        try home.items.copy("token", to: "token", into: "work")
        let (one, two) = (try home.items.item("mail").id, try home.items.item("mail two").id)
        #expect(one != two)
        #expect(try home.vault.withValue(for: "token", in: "work") { $0.array } == [1, 2])
        #expect(errorCode { try home.items.copy("mail", to: "mail two") } == .recordExists)
        #expect(errorCode { try home.items.copy("none", to: "x") } == .recordNotFound)
    }

    @Test func `the list has kinds, tags and favourites`() throws {
        let home = try ItemHome()
        var item = try home.login(tags: ["b", "a"])
        item.isFavourite = true
        try home.items.add(item, as: "mail")
        try home.put([1], "token")
        let list = try home.items.list()
        #expect(list.map(\.name) == ["mail", "token"] && list.map(\.kind) == [.login, nil])
        #expect(list[0].tags == ["a", "b"] && list[0].isFavourite && !list[1].isFavourite)
        home.vault.lock()
        #expect(errorCode { _ = try home.items.list() } == .locked)
    }
}

@Suite struct TrashTests {
    @Test func `something in the trash is not there, and its name is free`() throws {
        let home = try ItemHome()
        try home.items.add(home.login(), as: "mail")
        try home.items.trash("mail")
        #expect(errorCode { _ = try home.items.item("mail") } == .recordNotFound)
        #expect(try home.items.list().isEmpty && home.vault.records().isEmpty)
        #expect(try home.items.search(ItemQuery("mail")).isEmpty)
        try home.items.add(home.login("bob"), as: "mail")
        try home.items.trash("mail")
        let trashed = try home.items.trashed()
        #expect(trashed.map(\.name) == ["mail", "mail"])
        try home.items.restore(trashed[0])
        #expect(errorCode { try home.items.restore(trashed[1]) } == .recordExists)
        try home.items.restore(trashed[1], as: EntryPath(name: "mail of ada"))
        #expect(try home.items.trashed().isEmpty)
        #expect(
            Set([try home.items.item("mail").text("username"), try home.items.item("mail of ada").text("username")])
                == ["ada", "bob"])
        #expect(try home.items.item("mail").trash == nil)
        #expect(errorCode { try home.items.restore(trashed[0]) } == .recordNotFound)
    }

    @Test func `a plain value comes back as a plain value`() throws {
        let home = try ItemHome()
        try home.put([0xFF, 2], "token")
        try home.items.trash("token")
        #expect(errorCode { _ = try home.get("token") } == .recordNotFound)
        try home.items.restore(#require(home.items.trashed().first))
        #expect(try home.get("token") == [0xFF, 2])
    }

    @Test func `what is over goes, and nothing else`() throws {
        let home = try ItemHome()
        for (name, lifetime) in [("short", 10), ("long", 1000)] {
            try home.items.add(home.login(), as: name)
            try home.items.trash(name, in: Vault.defaultCollection, for: .seconds(lifetime), now: 1000)
        }
        #expect(try home.items.trashed().map(\.expires).sorted() == [11_000, 1_001_000])
        try home.items.add(home.login(), as: "other")
        try home.items.trash("other", in: Vault.defaultCollection, for: .seconds(1), now: 11_000)
        #expect(try home.items.trashed().map(\.name).sorted() == ["long", "other"])
        // By now all of them are.
        #expect(try home.items.removeExpired() == 2)
        #expect(try home.items.trashed().isEmpty && home.vault.verify().isIntact)
    }

    @Test func `the trash is emptied of what is named, or of everything`() throws {
        let home = try ItemHome()
        for name in ["a", "b", "c"] {
            try home.items.add(home.login(), as: name)
            try home.items.trash(name)
        }
        let some = try home.items.trashed().filter { $0.name == "b" }
        try home.items.emptyTrash(some)
        try home.items.emptyTrash(some)
        #expect(try home.items.trashed().map(\.name).sorted() == ["a", "c"])
        try home.items.emptyTrash()
        #expect(try home.items.trashed().isEmpty)
        #expect(errorCode { try home.items.trash("none") } == .recordNotFound)
    }
}

@Suite struct SearchTests {
    private func names(_ home: ItemHome, _ text: String) throws -> [String] {
        try home.items.search(ItemQuery(text)).map(\.name)
    }

    private func filled() throws -> ItemHome {
        let home = try ItemHome()
        var mail = try home.login("ada@example.org", "hunter2", tags: ["Work", "mail"])
        try mail.add(.url, "website", secret("https://mail.example.org/login"))
        try mail.setNotes(secret("a note about hunting"))
        try home.items.add(mail, as: "logins/Mail")
        try home.items.add(home.login("bob", tags: ["workshop"]), as: "Übung")
        try home.put(Array("hunter2".utf8), "email token")
        return home
    }

    @Test func `names, tags and open fields are found, in any case and any order`() throws {
        let home = try filled()
        #expect(try names(home, "mail") == ["logins/Mail", "email token"])
        #expect(try names(home, "MAIL LOGINS") == ["logins/Mail"])
        #expect(try names(home, "example ada") == ["logins/Mail"])
        #expect(try names(home, "übung") == ["Übung"] && names(home, "ÜBUNG") == ["Übung"])
        #expect(try names(home, "work") == ["logins/Mail", "Übung"])
        #expect(try names(home, "#work") == ["logins/Mail"] && names(home, "#wor").isEmpty)
        #expect(try names(home, "nothing").isEmpty && names(home, "mail nothing").isEmpty)
        #expect(try names(home, "").count == 3)
    }

    @Test func `no secret and no note is found`() throws {
        let home = try filled()
        for text in ["hunter2", "hunt", "old secret", "note"] { #expect(try names(home, text).isEmpty, "\(text)") }
        // Nor across two texts.
        #expect(try names(home, "workmail").isEmpty && names(home, "mailada").isEmpty)
    }

    @Test func `a query can be of one collection or kind`() throws {
        let home = try filled()
        try home.items.rename("email token", to: "email token", into: "work")
        #expect(try home.items.search(ItemQuery("mail", in: "work")).map(\.name) == ["email token"])
        #expect(try home.items.search(ItemQuery("", kind: .login)).map(\.name).sorted() == ["logins/Mail", "Übung"])
    }

    @Test func `the index follows every change, another program's too`() throws {
        let home = try filled()
        #expect(try names(home, "new").isEmpty)
        try home.put([1], "new token")
        #expect(try names(home, "new") == ["new token"])
        let other = try home.other()
        try ItemStore(other).rename("new token", to: "newer token")
        #expect(try names(home, "new") == ["newer token"])
        try home.vault.delete("newer token")
        #expect(try names(home, "new").isEmpty)
    }

    @Test func `a lock drops the index, and nothing is found until it is built anew`() throws {
        let home = try filled()
        #expect(!home.items.hasIndex)
        _ = try names(home, "mail")
        #expect(home.items.hasIndex)
        home.vault.lock()
        #expect(!home.items.hasIndex)
        #expect(errorCode { _ = try names(home, "mail") } == .locked)
        try home.unlock()
        #expect(!home.items.hasIndex)
        #expect(try names(home, "mail").count == 2)
    }

    @Test func `ten thousand items are all found`() throws {
        let home = try ItemHome()
        let item = try home.login("somebody")
        let stored = item.withBytes { $0.array }
        try home.vault.write { session in
            for number in 0..<10_000 {
                try stored.lend { try session.put(item: $0, for: "item \(number)", in: "default", replacing: false) }
            }
        }
        #expect(try home.items.search(ItemQuery("somebody")).count == 10_000)
        #expect(try names(home, "9999") == ["item 9999"])
    }
}

@Suite struct SearchAndLockTests {
    /// A lock tells the index to go while it holds the vault's own monitor: neither may wait for the other.
    @Test func `without memory for an index everything is found, before and after a change`() throws {
        let home = try ItemHome()
        let small = ItemStore(home.vault, indexing: 300_000)
        try home.items.add(home.login(), as: "mail")
        #expect(try small.search(ItemQuery("mail")).count == 1 && small.hasIndex)
        // As a program of the session bus fills the vault.
        let value: [UInt8] = [1]
        try home.vault.write { session in
            for number in 0..<600 {
                let name = "\(number) " + String(repeating: "~", count: 1000)
                try value.lend { try session.put($0, for: name, in: "work") }
            }
        }
        for _ in 0..<2 {
            #expect(try small.search(ItemQuery("mail")).map(\.name) == ["mail"])
            #expect(try small.search(ItemQuery("")) == home.items.search(ItemQuery("")) && !small.hasIndex)
        }
        try home.vault.write { session in
            for record in try home.vault.records(in: "work") { try session.delete(record.name, in: "work") }
        }
        #expect(try small.search(ItemQuery("")).count == 1 && small.hasIndex)
        home.vault.lock(because: .ended)
        #expect(errorCode { _ = try small.search(ItemQuery("")) } == .locked)
    }

    @Test func `searches and locks at the same time wait for each other no longer than they work`() async throws {
        let home = try ItemHome()
        for number in 0..<200 { try home.items.add(home.login("user \(number)"), as: "item \(number)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    for round in 0..<60 {
                        do throws(VaultError) {
                            let found = try home.items.search(ItemQuery("user 1"))
                            #expect(found.count == 119)
                        } catch {
                            #expect(error.code == .locked)
                        }
                        if round % 7 == 0 { try? home.items.rename("item 0", to: "item 0 again") }
                    }
                }
            }
            group.addTask {
                for _ in 0..<20 {
                    home.vault.lock()
                    #expect(!home.items.hasIndex)
                    try home.unlock()
                }
            }
            try await group.waitForAll()
        }
        home.vault.lock()
        #expect(!home.items.hasIndex)
    }
}
