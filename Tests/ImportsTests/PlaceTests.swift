import Items
import SecretMemory
import SeededNumbers
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

@testable import Imports

/// Where items of files go, and come from.
@Suite struct PlaceTests {
    private func database(_ items: ItemStore) throws -> SecretBytes {
        let root = KDBXGroup()
        let names = try items.names()
        for (entry, written) in zip(names.all, names.written()) {
            root.add(entry, written: written, try items.item(entry))
        }
        var export = try KDBXExport(title: "t")
        try export.append(root)
        var settings = KDBXExport.Settings()
        settings.memoryKiB = 1 << 10
        settings.passes = 1
        return try export.seal(password: secret("pw"), settings: settings)
    }

    private func read(_ file: borrowing SecretBytes) throws -> Imported {
        try KDBXImport.read(file, password: secret("pw"), keyFile: nil)
    }

    @Test func `the first folder becomes the collection, and a reserved one does not`() {
        let long = String(repeating: "\u{E4}", count: 200)
        for (name, folder, collection, rest) in [
            ("mail", "", "default", "mail"), ("Web/Mail", "", "Web", "Mail"), ("a/b/c", "", "a", "b/c"),
            ("default/x", "", "default (folder)", "x"), ("inbox/x", "", "inbox (folder)", "x"),
            (".holdfast/x", "", ".holdfast (folder)", "x"), ("mail", "old/web", "old", "web/mail"),
            (long + "/x", "", String(repeating: "\u{E4}", count: 127), "x"),
        ] {
            #expect(ImportedItem.entry(name, in: folder) == EntryPath(collection: collection, name: rest))
        }
    }

    @Test func `a place is believed only where the rest of the file agrees`() throws {
        func origin(_ path: [String], _ text: String) throws -> EntryPath? {
            let item = try ImportedItem(.note, path: path, place: "line 1")
            item.keep(origin: text)
            return item.origin
        }
        #expect(try origin(["git", "https://ada@host/team"], "git/https://ada@host/team") != nil)
        #expect(try origin(["a", "b"], "default/a/b") == EntryPath(name: "a/b"))
        #expect(try origin(["logins", "shop"], "logins/bank") == nil)
        #expect(try origin(["inbox", "x"], "inbox/x") == nil && origin([".holdfast", "x"], ".holdfast/x") == nil)
        #expect(try origin(["\u{0}trash"], "\\u{0}trash") == nil && origin([""], "") == nil)
    }

    /// What a file says of an item's place gives no entry of the user's another name, and no reference of hers another
    /// value.
    @Test(arguments: [
        (EntryPath(name: "logins/mail"), ["logins", "mail"], "logins/mail"),
        (EntryPath(collection: "bank", name: "giro"), ["bank", "giro"], "default/bank/giro"),
        (EntryPath(name: "caf\u{E9}/x"), ["cafe\u{301}", "x"], "cafe\u{301}/x"),
        (EntryPath(collection: "a/b", name: "m"), ["a", "b", "m"], "a/b/m"),
        (EntryPath(name: "a/b/c"), ["a/b", "c"], "a\\/b/c"), (EntryPath(name: "/y"), ["", "y"], "\\-/y"),
        (EntryPath(name: "default/x"), ["x"], "x"),
        (EntryPath(name: "logins/x  (2)"), ["logins", "x "], "logins/x\\u{20}"),
    ])
    func `a file takes no name over`(theirs: EntryPath, path: [String], origin: String) throws {
        let home = try ImportHome()
        try home.items.add(Item(.note), as: theirs)
        let item = try ImportedItem(.login, path: path, place: "line 1")
        try item.add(.text, "username", text: "eve")
        item.keep(origin: origin)
        var imported = Imported()
        try imported.append(item)
        try ImportPlan(imported, into: home.items).store(in: home.items)
        let names = try home.items.names()
        #expect(names.all.count == 2 && names.written([theirs])[0] == EntryNames([theirs]).written()[0])
        #expect(names.entry(names.written([theirs])[0]) == theirs)
    }

    /// Written into a database and read from it, everything has its name again.
    @Test func `a round trip keeps every name`() throws {
        var numbers = TestRun.generator("round trip")
        let pieces = [
            "a", "b", "/", "/", "\\", "\\/", " ", "caf\u{E9}", "cafe\u{301}", "\t", "\u{200B}", "default/", ".", "..",
            "//", "https://ada@host/team", "<&>", "A",
        ]
        func name(_ longest: Int) -> String {
            (0..<Int.random(in: 0...longest, using: &numbers)).map { _ in pieces.randomElement(using: &numbers) ?? "" }
                .joined()
        }
        for _ in 0..<TestRun.count(test: 2, check: 10, soak: 100) {
            let home = try ImportHome()
            var all: Set<EntryPath> = [
                EntryPath(collection: "git", name: "https://ada@host/team"), EntryPath(name: "logins/mail"),
                EntryPath(collection: "logins", name: "mail"), EntryPath(collection: "a/b", name: "m"),
                EntryPath(collection: "", name: "m"), EntryPath(collection: "default (folder)", name: "m"),
            ]
            while all.count < 40 {
                let entry = EntryPath(collection: Bool.random(using: &numbers) ? "default" : name(3), name: name(4))
                if !entry.name.isEmpty { all.insert(entry) }
            }
            for (number, entry) in all.enumerated() {
                var item = try Item(.login)
                try item.add(.text, "username", secret("user \(number)"))
                try home.items.add(item, as: entry)
            }
            let file = try database(home.items)
            #expect(try ImportPlan(read(file), into: home.items).additions == 0)
            let other = try ImportHome()
            try ImportPlan(read(file), into: other.items).store(in: other.items)
            let found = Set(try other.items.names().all)
            #expect(found == all, "\(all.subtracting(found)) became \(found.subtracting(all))")
            // Into a folder, everything is in it.
            let plan = try ImportPlan(read(file), into: other.items, folder: "old")
            for case .add(_, let entry) in plan.steps { #expect(entry.collection == "old") }
        }
    }
}

/// An open vault in a scratch folder, and its items.
final class ImportHome {
    private let folder: ScratchFolder
    let items: ItemStore

    init() throws {
        folder = try ScratchFolder("places")
        let settings = VaultSettings.costsForTests(clock: TestClock())
        _ = try Vault.create(at: folder["home"], passcode: secret("right"), settings: settings)
        let vault = try Vault(at: folder["home"], settings: settings)
        try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
        items = ItemStore(vault)
    }
}
