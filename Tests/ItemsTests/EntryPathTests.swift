import Items
import SeededNumbers
import TestSupport
import Testing
import VaultCore
import VaultStorage

@Suite struct EntryPathTests {
    @Test(arguments: [
        ("mail", "default", "mail"), ("default/mail", "default", "mail"), ("logins/mail", "logins", "mail"),
        ("a/b/c", "a", "b/c"), ("git/https://ada@host/team", "git", "https://ada@host/team"),
        ("a\\/b/m", "a/b", "m"), ("\\-/m", "", "m"), ("\\-m", "default", "\\-m"), ("a\\\\b", "default", "a\\b"),
        ("a\\b", "default", "a\\b"), ("\\u{9}x", "default", "\tx"), ("\\u{}", "default", "\\u{}"),
        ("\\u{1234567}", "default", "\\u{1234567}"), ("\\u{d800}", "default", "\\u{d800}"), ("x\\", "default", "x\\"),
        ("100%", "default", "100%"), ("work/", "default", "work/"), ("/x", "", "x"),
    ])
    func `a path names a collection and what is in it`(text: String, collection: String, name: String) {
        #expect(EntryPath(parsing: text) == EntryPath(collection: collection, name: name))
    }

    @Test func `what is no path names nothing`() {
        for text in ["", "\\-/", String(repeating: "x", count: 1025), String(repeating: "c", count: 256) + "/x"] {
            #expect(EntryPath(parsing: text) == nil, "\(text)")
        }
        #expect(EntryPath(parsing: String(repeating: "x", count: 1024)) != nil)
    }

    @Test func `a new name is plain`() throws {
        for text in ["mail", "logins/mail", "a/b/c", "x y", "a\\\\b", "a\\b", "..x", "Café", "default/x", "*~@%"] {
            #expect(try EntryPath(new: text) == EntryPath(parsing: text), "\(text)")
        }
        let refused = [
            "", "/x", "x/", "a//b", ".", "..", "a/../b", "./a", " x", "x ", "a/ b", "a /b", "a\tb", "a\\u{9}b",
            "\\u{0}x",
            "a\u{200B}b", "a\u{A0}", "\\-/x", "a\\/b/c", "default/a/b", String(repeating: "x", count: 1025),
            String(repeating: "c", count: 256) + "/x",
        ]
        for text in refused { #expect(errorCode { _ = try EntryPath(new: text) } == .invalidName, "\(text)") }
        #expect(throws: VaultError(.invalidName, "part 2 has a space at an end")) { try EntryPath(new: "a/b /c") }
    }

    @Test func `an old name is written as before until a new one takes that`() {
        let old = EntryPath(name: "logins/mail")
        #expect(EntryNames([old]).written([old])[0] == "logins/mail")
        let names = EntryNames([old, EntryPath(collection: "logins", name: "mail")])
        #expect(names.written() == ["default/logins/mail", "logins/mail"])
        #expect(names.entry("logins/mail") == names.all[1] && names.entry("default/logins/mail") == old)
    }

    @Test func `a text means what is there`() {
        let names = EntryNames([
            EntryPath(name: "home/wifi"), EntryPath(collection: "a/b", name: "m"), EntryPath(name: "a\\b"),
            EntryPath(name: "caf\u{E9}"), EntryPath(name: "\\u{9}"),
        ])
        #expect(names.entry("home/wifi") == names.all[0] && names.entry("default/home/wifi") == names.all[0])
        #expect(names.entry("a/b/m") == names.all[1] && names.written()[1] == "a\\/b/m")
        #expect(names.entry("a\\b") == names.all[2] && names.written()[2] == "a\\\\b")
        // Typed in the other form, it is the only one that looks so.
        #expect(names.entry("cafe\u{301}") == names.all[3])
        // An earlier script, whose backslash stands for itself.
        #expect(names.entry("\\u{9}") == names.all[4] && names.written()[4] == "\\\\u{9}")
        #expect(names.entry("Home/wifi") == nil && names.entry("wifi") == nil)
    }

    @Test func `two that look the same are written apart`() {
        let names = EntryNames([
            EntryPath(name: "caf\u{E9}"), EntryPath(name: "cafe\u{301}"), EntryPath(name: "K"),
            EntryPath(name: "\u{212A}"),
        ])
        #expect(names.written() == ["caf\\u{e9}", "cafe\\u{301}", "K", "\\u{212a}"])
        #expect(names.entry("caf\u{E9}") == names.all[0])
        let other = EntryNames([names.all[0], names.all[1], EntryPath(name: "x")])
        #expect(other.entry("x") == other.all[2])
    }

    /// Typed back, every name opens its entry, whatever the names are.
    @Test func `what is written means exactly its entry`() {
        var numbers = TestRun.generator("paths")
        let pieces = [
            "a", "b", "/", "/", "\\", "\\\\", "\\/", "\\-", "-", "\\u{41}", "\\u{", "}", " ", "caf\u{E9}",
            "cafe\u{301}",
            "\u{301}", "\t", "\u{200B}", "default", "default/", ".", "K", "\u{212A}", "%2F", "//",
        ]
        func name(_ longest: Int) -> String {
            (0..<Int.random(in: 0...longest, using: &numbers)).map { _ in pieces.randomElement(using: &numbers) ?? "" }
                .joined()
        }
        for _ in 0..<TestRun.count(test: 100, check: 1000, soak: 20_000) {
            var all: Set<EntryPath> = []
            while all.count < 40 {
                let collection = Bool.random(using: &numbers) ? "default" : name(3)
                let place = EntryPath(collection: collection, name: name(5))
                if !place.name.isEmpty { all.insert(place) }
            }
            let names = EntryNames(all)
            let written = names.written()
            for (place, text) in zip(names.all, written) {
                #expect(names.entry(text) == place, "\(text.debugDescription) of \(place)")
                #expect(names.entry(place.text) == place, "\(place.text.debugDescription)")
                let isHarmless = text.unicodeScalars.allSatisfy { !$0.isUnsafeToShow }
                #expect(isHarmless)
            }
            // Nor does one look like another.
            #expect(Set(written).count == written.count)
        }
    }

    @Test func `ten thousand names are written and found`() {
        var numbers = TestRun.generator("paths")
        var all: Set<EntryPath> = []
        while all.count < 10_000 {
            let folder = ["work", "caf\u{E9}", "cafe\u{301}", "default", "a/b"].randomElement(using: &numbers) ?? ""
            let name = "\(Int.random(in: 0..<40, using: &numbers))/\(Int.random(in: 0..<400, using: &numbers))/mail"
            all.insert(EntryPath(collection: folder, name: name))
        }
        let names = EntryNames(all)
        #expect(zip(names.all, names.written()).allSatisfy { names.entry($1) == $0 })
    }

    @Test func `the store finds what a path means`() throws {
        let home = try ItemHome()
        try home.items.add(home.login(), as: EntryPath(new: "logins/mail"))
        try home.items.add(home.login("bob"), as: "logins/old")
        #expect(try home.items.resolve("logins/mail") == EntryPath(collection: "logins", name: "mail"))
        #expect(try home.items.resolve("logins/old") == EntryPath(name: "logins/old"))
        let old = try home.items.item(home.items.resolve("logins/old"))
        #expect(old.text("username") == "bob")
        #expect(errorCode { _ = try home.items.resolve("mail") } == .recordNotFound)
    }
}
