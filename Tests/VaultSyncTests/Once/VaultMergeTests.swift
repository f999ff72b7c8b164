import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader
import VaultStorage
import VaultSync

/// Two vaults that become one, once.
@Suite struct VaultMergeTests {
    /// A vault, and a copy of it that lives on.
    private final class Pair {
        let folder: ScratchFolder
        let mine: ItemStore
        let theirs: ItemStore

        /// - Parameter prepare: What both have.
        init(_ prepare: (ItemStore) throws -> Void = { _ in }) throws {
            folder = try ScratchFolder("merge")
            let passcode = try secret("right")
            _ = try Vault.create(at: folder["mine"], passcode: passcode, settings: Pair.settings)
            mine = ItemStore(try Pair.open(folder["mine"]))
            try prepare(mine)
            _ = try mine.vault.backup(to: folder["copy"])
            theirs = ItemStore(try Pair.open(folder["copy"]))
        }

        private static var settings: VaultSettings { VaultSettings.costsForTests(clock: TestClock()) }

        private static func open(_ path: String) throws -> Vault {
            let vault = try Vault(at: path, settings: settings)
            let passcode = try secret("right")
            try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
            return vault
        }

        /// - Returns: How many entries were added, changed, and here already; and that a second time changes nothing.
        @discardableResult
        func merge() throws -> [Int] {
            let merge = try VaultMerge(of: theirs.vault, into: mine)
            try merge.store(in: mine)
            let again = try VaultMerge(of: theirs.vault, into: mine)
            #expect(again.writes == 0, "\(again.steps)")
            return merge.steps.reduce(into: [0, 0, 0]) { counts, step in
                switch step {
                case .add, .beside: counts[0] += 1
                case .change: counts[1] += 1
                case .same: counts[2] += 1
                case .leave: break
                }
            }
        }

        func text(_ name: String, _ label: String = "password") throws -> String? {
            let item = try mine.item(name)
            guard let field = item.field(label) else { return nil }
            return item.withValue(of: field) { $0.array.text }
        }

        /// The earlier values, the latest last.
        func history(_ name: String) throws -> [String] {
            let item = try mine.item(name)
            return item.withBytes { bytes in
                ((try? ItemLayout(parsing: bytes))?.history ?? []).map { bytes.text($0.field.value) }
            }
        }
    }

    private static func add(
        _ name: String, _ password: String, _ store: ItemStore, tags: [String] = []
    ) throws {
        var item = try Item(.login)
        try item.add(.text, "username", secret("ada"))
        try item.add(.secret, "password", secret(password))
        for tag in tags { try item.addTag(tag) }
        try store.add(item, as: name)
    }

    private static func set(_ name: String, _ label: String, _ value: String, _ store: ItemStore) throws {
        try store.change(name) { item in
            if let field = item.field(label) {
                try item.set(field, secret(value))
            } else {
                try item.add(.text, label, secret(value))
            }
        }
    }

    @Test func `what only one has changed is there afterwards, and what is the same stays`() throws {
        let pair = try Pair { store in
            for name in ["mine", "theirs", "same"] { try VaultMergeTests.add(name, "first", store) }
        }
        try VaultMergeTests.set("mine", "password", "second", pair.mine)
        try VaultMergeTests.set("theirs", "password", "second", pair.theirs)
        try VaultMergeTests.add("new", "fresh", pair.theirs)
        #expect(try pair.merge() == [1, 1, 2])
        for name in ["mine", "theirs"] {
            #expect(try pair.text(name) == "second")
            #expect(try pair.history(name) == ["first"])
        }
        #expect(try pair.text("new") == "fresh")
    }

    @Test func `of two changes of one field one is shown and the other is in the history`() throws {
        let pair = try Pair { try VaultMergeTests.add("mail", "first", $0) }
        try VaultMergeTests.set("mail", "password", "left", pair.mine)
        try VaultMergeTests.set("mail", "password", "right", pair.theirs)
        try VaultMergeTests.set("mail", "site", "a.example", pair.theirs)
        try pair.merge()
        let shown = try #require(try pair.text("mail"))
        #expect(["left", "right"].contains(shown))
        #expect(try Set(pair.history("mail") + [shown]) == ["first", "left", "right"])
        #expect(try pair.text("mail", "site") == "a.example")
    }

    @Test func `a value that was replaced here does not come back, whatever the clocks say`() throws {
        let pair = try Pair { try VaultMergeTests.add("mail", "first", $0) }
        try VaultMergeTests.set("mail", "password", "second", pair.mine)
        // Later by the clock, and still of the old value.
        try VaultMergeTests.set("mail", "username", "eve", pair.theirs)
        try pair.merge()
        #expect(try pair.text("mail") == "second" && pair.text("mail", "username") == "eve")
    }

    @Test func `names and the trash stay as they are here, and what was removed comes back`() throws {
        let pair = try Pair { store in
            for name in ["renamed", "trashed", "gone"] { try VaultMergeTests.add(name, "first", store) }
        }
        try pair.mine.rename(
            "renamed", in: Vault.defaultCollection, to: "other", into: Vault.defaultCollection)
        try pair.mine.trash("trashed")
        try pair.mine.vault.delete("gone")
        try VaultMergeTests.set("renamed", "password", "second", pair.theirs)
        #expect(try pair.merge() == [1, 1, 1])
        #expect(try pair.text("other") == "second" && pair.text("gone") == "first")
        #expect(try pair.mine.trashed().map(\.name) == ["trashed"])
        #expect(throws: VaultError.self) { _ = try pair.mine.item("trashed") }
    }

    @Test func `what is in the trash there stays there`() throws {
        let pair = try Pair { try VaultMergeTests.add("mail", "first", $0) }
        try pair.theirs.trash("mail")
        #expect(try pair.merge() == [0, 0, 0])
        #expect(try pair.text("mail") == "first")
    }

    @Test func `another entry of the same name comes in beside it`() throws {
        let pair = try Pair()
        try VaultMergeTests.add("mail", "left", pair.mine)
        try VaultMergeTests.add("mail", "right", pair.theirs)
        #expect(try pair.merge() == [1, 0, 0])
        let id = "\(try pair.theirs.item("mail").id)".prefix(8)
        #expect(try pair.text("mail") == "left" && pair.text("mail (\(id))") == "right")
    }

    @Test func `plain values of any size are copied, and a different one comes in beside`() throws {
        let large = pattern((1 << 20) + 77)
        func put(_ value: [UInt8], _ name: String, _ store: ItemStore, replacing: Bool = false) throws {
            var left = value[...]
            _ = try store.vault.put(name, replacing: replacing) { output in
                let part = Array(left.prefix(output.byteCount))
                left = left.dropFirst(part.count)
                unsafe output.store(copying: part.span.bytes, at: 0)
                return part.count
            }
        }
        func get(_ name: String, _ store: ItemStore) throws -> [UInt8] {
            var value: [UInt8] = []
            try store.vault.read(name) { value += $0.array }
            return value
        }
        let pair = try Pair { store in
            for name in ["value", "file"] { try put(name == "file" ? large : [1, 2], name, store) }
        }
        try put([3], "value", pair.theirs, replacing: true)
        try put([UInt8](large.reversed()), "file", pair.theirs, replacing: true)
        try put([9], "new", pair.theirs)
        try put(large, "new file", pair.theirs)
        #expect(try pair.merge() == [4, 0, 0])
        let mark = "\(try pair.theirs.vault.id)".prefix(8)
        #expect(try get("value", pair.mine) == [1, 2] && get("value (\(mark))", pair.mine) == [3])
        #expect(try get("file", pair.mine) == large && get("file (\(mark))", pair.mine) == large.reversed())
        #expect(try get("new", pair.mine) == [9] && get("new file", pair.mine) == large)
    }

    @Test func `versions that do not agree whether a program wrote them stay two`() throws {
        let pair = try Pair { store in
            for name in ["mine", "theirs"] { try VaultMergeTests.add(name, "first", store) }
            try VaultMergeTests.add("both", "first", store, tags: ["secret-service"])
            try VaultMergeTests.add("case", "first", store, tags: ["Secret-Service"])
        }
        try pair.theirs.change("mine") { try $0.addTag("secret-service") }
        try pair.mine.change("theirs") { try $0.addTag("secret-service") }
        for name in ["both", "case"] { try VaultMergeTests.set(name, "site", "a.example", pair.theirs) }
        #expect(try pair.merge() == [2, 2, 0])
        #expect(try pair.mine.item("mine").tags == [] && pair.mine.item("theirs").tags == ["secret-service"])
        #expect(try pair.mine.item("both").tags == ["secret-service"])
        #expect(try pair.mine.item("case").tags == ["Secret-Service"])
    }

    @Test func `what does not fit into one item stays beside it`() throws {
        let pair = try Pair { store in
            for name in ["fields", "tags", "values", "file", "past"] { try VaultMergeTests.add(name, "first", store) }
            try store.change("file") { try $0.add(.secret, "large", secret(pattern(1_047_800))) }
        }
        try pair.theirs.change("fields") { item in
            for number in 0..<254 { try item.add(.text, "f\(number)", secret("v")) }
        }
        try VaultMergeTests.set("fields", "mine", "gold", pair.mine)
        try pair.theirs.change("tags") { item in for number in 10..<74 { try item.addTag("Aa\(number)") } }
        try pair.mine.change("tags") { try $0.addTag("ask-each-time") }
        for (seed, store) in [(1, pair.mine), (2, pair.theirs)] {
            try store.change("values") { item in
                let value = try secret(pattern(600_000, seed: UInt8(seed)))
                if let field = item.field("password") { try item.set(field, value) }
            }
        }
        for number in 0..<200 {
            try VaultMergeTests.set("past", "password", "m\(number)", pair.mine)
            try VaultMergeTests.set("past", "password", "t\(number)", pair.theirs)
        }
        #expect(try pair.merge() == [4, 0, 1])
        #expect(try pair.text("fields", "mine") == "gold" && pair.mine.item("tags").tags == ["ask-each-time"])
        #expect(try pair.history("past").count == 200)
        let names = try pair.mine.vault.records().map(\.name)
        #expect(names.count == 9, "\(names)")
    }

    @Test func `a counter never goes down, whoever changed the item last`() throws {
        func code(_ counter: Int) throws -> SecretBytes {
            try secret("otpauth://hotp/Ex:ada?secret=JBSWY3DPEHPK3PXP&issuer=Ex&counter=\(counter)")
        }
        let pair = try Pair { store in
            var item = try Item(.login)
            try item.add(.oneTimeCode, "code", code(12))
            try store.add(item, as: "mail")
        }
        try pair.mine.change("mail") { item in
            if let field = item.field("code") { try item.set(field, code(13)) }
        }
        try VaultMergeTests.set("mail", "site", "a.example", pair.theirs)
        try pair.merge()
        #expect(try pair.text("mail", "code")?.hasSuffix("&counter=13") == true)
        #expect(try pair.text("mail", "site") == "a.example")
    }

    @Test func `what an entry guards goes where the entry goes`() throws {
        let pair = try Pair()
        try VaultMergeTests.add("mail", "left", pair.mine)
        try VaultMergeTests.add("mail", "right", pair.theirs, tags: ["ask-each-time"])
        try secret("k").withBytes { try pair.theirs.vault.put(bytes: $0, for: "k2", in: "mail") }
        try pair.merge()
        let id = "\(try pair.theirs.item("mail").id)".prefix(8)
        #expect(throws: VaultError.self) { try pair.mine.vault.withValue(for: "k2", in: "mail") { _ in } }
        try pair.mine.vault.withValue(for: "k2", in: "mail (\(id))") { #expect($0.array.text == "k") }
    }

    @Test func `notes that lose are in the history once, however often one merges`() throws {
        let pair = try Pair { store in
            try VaultMergeTests.add("mail", "first", store)
            try store.change("mail") { try $0.setNotes(secret("old")) }
        }
        try pair.theirs.change("mail") { try $0.setNotes(secret("theirs")) }
        for round in 0..<3 {
            try VaultMergeTests.set("mail", "site", "\(round)", pair.mine)
            try pair.merge()
        }
        #expect(try pair.history("mail").count { $0 == "theirs" || $0 == "old" } == 1)
    }
}
