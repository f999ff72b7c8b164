import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// All entries of a folder at once, and records from earlier versions that get the place that they are written as.
@Suite struct FolderTests {
    private let home: ItemHome
    private var items: ItemStore { home.items }

    init() throws { home = try ItemHome() }

    private func store(_ entries: (String, String)...) throws {
        for (collection, name) in entries {
            try Array(name.utf8).lend { try home.vault.put(bytes: $0, for: name, in: collection) }
        }
    }

    private func folder(_ text: String) throws -> EntryFolder { try #require(EntryFolder(parsing: text), "\(text)") }

    private func plan(_ action: FolderAction) throws -> FolderPlan { FolderPlan(action, try home.vault.records()) }

    @discardableResult
    private func change(_ action: FolderAction) throws -> Int { try items.change(action, seen: plan(action).digest) }

    /// Where all entries are.
    private var places: Set<String> {
        get throws { Set(try home.vault.records().map { $0.collection + ":" + $0.name }) }
    }

    @Test(arguments: [
        ("work/", "work", ""), ("work/a/b/", "work", "a/b"), ("a\\/b/c/", "a/b", "c"), ("\\-/", "", ""),
        ("\\-/x/", "", "x"),
        ("default/work/", "default", "work"), ("a//", "a", ""),
    ])
    func `a folder is a path with a slash at its end`(text: String, first: String, rest: String) throws {
        #expect(try folder(text) == EntryFolder(first: first, rest: rest))
    }

    @Test func `what ends otherwise, or has no first part, is no folder`() {
        for text in ["", "work", "work/a", "/", "//", "/x/", "work\\/", String(repeating: "x", count: 256) + "/"] {
            #expect(EntryFolder(parsing: text) == nil, "\(text)")
        }
    }

    @Test func `a folder has what is written with it in front`() throws {
        let names = EntryNames([
            EntryPath(collection: "work", name: "vpn"), EntryPath(name: "work/old"), EntryPath(name: "work/vpn"),
            EntryPath(name: "work"), EntryPath(collection: "work", name: "a/b"),
            EntryPath(collection: "workshop", name: "x"),
            EntryPath(collection: "git", name: "https://ada@host/team"),
            EntryPath(collection: Vault.inboxCollection, name: "x"),
            EntryPath(collection: "work/a", name: "m"),
        ])
        func inside(_ text: String) throws -> [Int] {
            let folder = try folder(text)
            return names.all.indices.filter { names.has(names.all[$0], in: folder) }
        }
        // The old `work/vpn` is written default/work/vpn beside the new one.
        #expect(try inside("work/") == [0, 1, 4] && inside("work/a/") == [4] && inside("default/") == [2])
        #expect(try inside("default/work/") == [2] && inside("work\\/a/") == [8])
        #expect(try inside("git/") == [6] && inside("git/https:/").isEmpty && inside("git/https://ada@host/").isEmpty)
        #expect(try inside("inbox/").isEmpty)
    }

    @Test func `a folder is moved with everything in it, in one change`() throws {
        try store(("work", "vpn"), ("work", "a/b"), ("default", "work/old"), ("default", "work"), ("workshop", "x"))
        try home.items.add(home.login(tags: ["ask-each-time"]), as: "login", in: "work")
        let id = try items.item("login", in: "work").id
        let big = [UInt8](repeating: 7, count: (1 << 20) + 1)
        var left = big[...]
        try home.vault.put(
            "file", in: "work",
            from: { bytes in
                let part = left.prefix(bytes.byteCount)
                for (offset, byte) in part.enumerated() {
                    bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                }
                left = left.dropFirst(part.count)
                return part.count
            })
        let before = try home.vault.lastChange()
        #expect(try change(.move(folder("work/"), to: folder("archive/work/"))) == 5)
        #expect(try home.vault.lastChange() == before + 1)
        #expect(
            try places == [
                "archive:work/vpn", "archive:work/a/b", "archive:work/old", "archive:work/login", "archive:work/file",
                "default:work", "workshop:x",
            ])
        #expect(try items.item("work/login", in: "archive").id == id)
        var size = 0
        try home.vault.read("work/file", in: "archive") { size += $0.byteCount }
        #expect(size == big.count)
        // And part of it.
        try change(.move(folder("archive/work/a/"), to: folder("b/")))
        #expect(try places.contains("b:b"))
    }

    @Test func `what is in the way keeps everything where it is, and all of it is named`() throws {
        try store(
            ("work", "a"), ("work", "b"), ("work", "c"), ("work", "caf\u{E9}"), ("to", "a"), ("default", "to/b"),
            ("to", "cafe\u{301}"))
        let action = FolderAction.move(try folder("work/"), to: try folder("to/"))
        let plan = try plan(action)
        #expect(
            plan.misfits.map(\.entry.name) == ["a", "b", "caf\u{E9}"] && plan.misfits.allSatisfy { $0.target != nil })
        #expect(!plan.isPossible && errorCode { _ = try items.change(action, seen: plan.digest) } == .busy)
        #expect(try places.filter { $0.hasPrefix("work:") }.count == 4)
        // A name that no new entry can have.
        try store(("odd", "x "), ("odd", "y"))
        #expect(
            try self.plan(.copy(folder("odd/"), to: folder("new/"))).misfits.map(\.reason) == [
                "part 2 has a space at an end"
            ])
        #expect(try self.plan(.copy(folder("work/"), to: folder("inbox/"))).misfits.count == 4)
        #expect(try self.plan(.move(folder("nothing/"), to: folder("new/"))).isPossible == false)
    }

    @Test func `a copy has new ids, and no values in files`() throws {
        try home.items.add(home.login(), as: "login", in: "work")
        try store(("work", "value"))
        #expect(try change(.copy(folder("work/"), to: folder("other/"))) == 2)
        #expect(try items.item("login", in: "other").id != items.item("login", in: "work").id)
        #expect(try places == ["work:login", "work:value", "other:login", "other:value"])
        var count = 0
        try home.vault.put(
            "file", in: "work",
            from: { bytes in
                count += 1
                return count < 40 ? bytes.byteCount : 0
            })
        #expect(try plan(.copy(folder("work/"), to: folder("new/"))).large.map(\.name) == ["file"])
        #expect(try plan(.discard(folder("work/"), .seconds(60))).large.map(\.name) == ["file"])
        #expect(try plan(.remove(folder("work/"))).isPossible)
    }

    @Test func `a folder goes to the trash and comes back, or is removed for good`() throws {
        try store(("work", "a"), ("default", "work/b"), ("work", "c"))
        #expect(try change(.discard(folder("work/"), .seconds(60))) == 3)
        #expect(try places.isEmpty && items.trashed().count == 3)
        for trashed in try items.trashed() { try items.restore(trashed) }
        #expect(try places == ["work:a", "default:work/b", "work:c"])
        #expect(try change(.remove(folder("work/"))) == 3)
        #expect(try places.isEmpty && items.trashed().isEmpty)
    }

    @Test func `what changed since it was seen is busy, and nothing is done`() throws {
        try store(("work", "a"))
        let action = FolderAction.remove(try folder("work/"))
        let seen = try plan(action).digest
        try store(("work", "b"))
        #expect(errorCode { _ = try items.change(action, seen: seen) } == .busy)
        #expect(try places == ["work:a", "work:b"])
        // What is written after the names were read is noticed in the transaction.
        let change = try home.vault.lastChange()
        let plan = try plan(action)
        try store(("work", "c"))
        #expect(try !items.apply(plan, action, since: change) { _, _ in })
        #expect(try places == ["work:a", "work:b", "work:c"])
        // A change elsewhere does not matter.
        let now = try self.plan(action).digest
        try store(("elsewhere", "x"))
        #expect(try items.change(action, seen: now) == 3)
    }

    @Test func `an entry that got another value since it was seen is not removed`() throws {
        try store(("work", "vpn"), ("work", "mail"))
        let seen = try plan(.remove(folder("work/"))).digest
        let before = try home.vault.records().map(\.modified).max() ?? 0
        // The clock has to move on by a millisecond.
        while Int64(Date().timeIntervalSince1970 * 1000) <= before {}
        try Array("new".utf8).lend { try home.vault.put(bytes: $0, for: "vpn", in: "work", replacing: true) }
        #expect(errorCode { _ = try items.change(.remove(folder("work/")), seen: seen) } == .busy)
        #expect(try places == ["work:vpn", "work:mail"])
    }

    @Test func `a folder does not go into itself`() throws {
        try store(("work", "vpn"))
        let action = FolderAction.move(try folder("work/"), to: try folder("work/sub/"))
        #expect(try !plan(action).isPossible)
        #expect(errorCode { _ = try change(action) } == .busy)
    }

    @Test func `what may not be moved keeps everything where it is`() throws {
        try home.items.add(home.login(), as: "a", in: "work")
        try home.items.add(home.login(), as: "b", in: "work")
        try store(("work", "c"))
        let action = FolderAction.move(try folder("work/"), to: try folder("to/"))
        var asked: [String] = []
        #expect(
            errorCode {
                _ = try items.change(action, seen: plan(action).digest) { _, entry throws(VaultError) in
                    asked.append(entry.name)
                    if entry.name == "b" { throw VaultError(.readOnly, "no") }
                }
            } == .readOnly)
        #expect(try asked == ["a", "b"] && places == ["work:a", "work:b", "work:c"])
    }

    @Test func `records of before get their place, but for those whose place is taken or that cannot have one`() throws
    {
        try store(
            ("default", "logins/mail"), ("default", "logins/work/vpn"), ("default", "plain"), ("default", "taken/x"),
            ("taken", "x"), ("default", "a//b"), ("default", "inbox/x"), ("default", "two/caf\u{E9}"),
            ("default", "two/cafe\u{301}"), ("default", "https://host/x"))
        let plan = try plan(.adopt)
        #expect(plan.changes.map(\.entry.name) == ["logins/mail", "logins/work/vpn"] && plan.isPossible)
        #expect(
            plan.misfits.filter { $0.reason == nil }.map(\.entry.name) == [
                "taken/x", "two/cafe\u{301}", "two/caf\u{E9}",
            ])
        #expect(plan.misfits.filter { $0.reason != nil }.map(\.entry.name) == ["a//b", "https://host/x", "inbox/x"])
        #expect(try items.change(.adopt, seen: plan.digest) == 2)
        #expect(
            try places.isSuperset(of: ["logins:mail", "logins:work/vpn", "default:plain", "default:taken/x", "taken:x"])
        )
        #expect(try self.plan(.adopt).changes.isEmpty)
    }

    @Test func `a place that this unlock does not reach is named, and nothing is done`() throws {
        try store(("default", "a/x"), ("default", "logins/mail"), ("work", "y"))
        try home.vault.changePolicy(passcode: secret("right"), spending: home.vault.burnAttempt()) {
            $0.collectionMinima["logins"] = .hardwareBound
        }
        try home.unlock()
        let error = #expect(throws: VaultError.self) { try change(.adopt) }
        #expect(error?.code == .assuranceTooLow && error?.reason.hasPrefix("default/logins/mail: ") == true)
        #expect(try places == ["default:a/x", "default:logins/mail", "work:y"])
        #expect(errorCode { try change(.move(folder("work/"), to: folder("logins/"))) } == .assuranceTooLow)
        #expect(errorCode { try change(.remove(folder("logins/"))) } == .assuranceTooLow)
    }

    @Test func `thousands of entries are one change`() throws {
        let value: [UInt8] = [1, 2, 3]
        try home.vault.write { session in
            for number in 0..<3000 {
                try unsafe session.put(value.span.bytes, for: "folder \(number % 7)/entry \(number)", in: "work")
            }
        }
        let before = try home.vault.lastChange()
        #expect(try change(.move(folder("work/"), to: folder("archive/"))) == 3000)
        #expect(try change(.copy(folder("archive/"), to: folder("second/"))) == 3000)
        #expect(try change(.discard(folder("second/"), .seconds(60))) == 3000)
        #expect(try home.vault.lastChange() == before + 3)
        #expect(try items.trashed().count == 3000 && places.count == 3000)
    }

    @Test func `a new place beside an entry that can be read as it is refused in the transaction`() throws {
        try store(("default", "logins/mail"), ("default", "default/x"), ("a/b", "m"), ("work", "free"))
        let item = try home.login()
        for (collection, name) in [("logins", "mail"), ("default", "x"), ("a", "b/m")] {
            let place = EntryPath(collection: collection, name: name)
            let twins = place.twins.compactMap(\.record)
            #expect(errorCode { try items.add(item, asNew: place) } == .recordExists, "\(place)")
            #expect(
                errorCode { try items.rename("free", in: "work", to: name, into: collection, isChecked: true) }
                    == .recordExists)
            #expect(
                errorCode { try items.copy("free", in: "work", to: name, into: collection, isChecked: true) }
                    == .recordExists)
            let writer = try home.vault.writer(for: name, in: collection, replacing: true, besides: twins)
            #expect(errorCode { _ = try writer.finish() } == .recordExists)
            #expect(
                errorCode {
                    _ = try home.vault.put(name, in: collection, replacing: false, besides: twins, from: { _ in 0 })
                } == .recordExists)
        }
        try items.trash("free", in: "work")
        let trashed = try #require(try items.trashed().first)
        let place = EntryPath(collection: "logins", name: "mail")
        #expect(errorCode { try items.restore(trashed, as: place, isChecked: true) } == .recordExists)
        // An earlier record gets the place that it is written as, and a library's literal calls are as they were.
        try items.rename("logins/mail", in: "default", to: "mail", into: "logins", isChecked: true)
        try items.add(item, as: "logins/mail")
        #expect(try places.isSuperset(of: ["logins:mail", "default:logins/mail"]))
        // One that is there is replaced.
        let writer = try home.vault.writer(for: "m", in: "a/b", replacing: true, besides: [])
        #expect(try writer.finish() == 0)
    }
}
