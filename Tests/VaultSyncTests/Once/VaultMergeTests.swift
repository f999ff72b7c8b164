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
                case .add: counts[0] += 1
                case .change: counts[1] += 1
                case .same: counts[2] += 1
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

    @Test func `a tag that lets programs in comes in only where both have it`() throws {
        let pair = try Pair { store in
            try VaultMergeTests.add("mine", "first", store)
            try VaultMergeTests.add("both", "first", store, tags: ["secret-service"])
        }
        try pair.theirs.change("mine") { item in
            try item.addTag("secret-service")
            try item.addTag("ask-each-time")
        }
        try VaultMergeTests.set("both", "site", "a.example", pair.theirs)
        try pair.merge()
        #expect(try pair.mine.item("mine").tags == ["ask-each-time"])
        #expect(try pair.mine.item("both").tags == ["secret-service"])
    }
}
