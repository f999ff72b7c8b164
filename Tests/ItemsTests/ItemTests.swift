import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@Suite(.seeded) struct ItemTests {
    private func bytes(_ item: borrowing Item) -> [UInt8] { item.withBytes { $0.array } }

    @Test func `fields are added, changed, renamed and removed, and what they held is kept`() throws {
        var item = try Item(.login)
        try item.add(.text, "username", secret("ada"))
        try item.add(.secret, "password", secret("one"))
        try item.add(.url, "website", secret("https://example.org"))
        #expect(item.fields.map(\.label) == ["username", "password", "website"])
        #expect(item.fields.map(\.size) == [3, 3, 19] && item.fields.map(\.index) == [0, 1, 2])
        try item.set(item.need("password"), secret("two"))
        try item.set(item.need("PASSWORD"), secret("three"))
        try item.rename(item.need("website"), to: "address")
        try item.remove(item.need("username"))
        #expect(item.fields.map(\.label) == ["password", "address"])
        #expect(item.text("password") == "three" && item.text("address") == "https://example.org")
        let history = item.history
        #expect(history.map(\.label) == ["password", "password", "username"])
        #expect(history.map { earlier in item.withValue(of: earlier) { $0.array.text } } == ["one", "two", "ada"])
        try item.forgetHistory()
        #expect(item.history.isEmpty && item.text("password") == "three")
    }

    @Test func `a value that does not change is no earlier one, nor is an empty one`() throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret(""))
        try item.set(item.need("password"), secret("one"))
        try item.set(item.need("password"), secret("one"))
        #expect(item.history.isEmpty)
    }

    @Test func `the oldest values go where there are too many`() throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret("0"))
        for number in 1...ItemLimits.history + 5 { try item.set("password", "\(number)") }
        #expect(item.history.count == ItemLimits.history)
        let (first, last) = (try #require(item.history.first), try #require(item.history.last))
        #expect(item.withValue(of: first) { $0.array.text } == "5")
        #expect(item.withValue(of: last) { $0.array.text } == "\(ItemLimits.history + 4)")
        // A large value that has no room beside the new one is lost, and nothing earlier goes for it.
        try item.set(item.need("password"), secret(pattern(600_000)))
        try item.set(item.need("password"), secret(pattern(600_000, seed: 1)))
        #expect(item.history.count == ItemLimits.history && item.size <= ItemLimits.size)
    }

    /// An item with a tag that an earlier version, or another program, has stored.
    private func item(tagged tag: String) throws -> Item {
        var item = try Item(.login)
        let other = String(repeating: "x", count: tag.utf8.count)
        try item.addTag(other)
        var all = bytes(item)
        let start = try #require(all.indices.first { all[$0...].starts(with: other.utf8) })
        all.replaceSubrange(start..<start + other.utf8.count, with: tag.utf8)
        return try unsafe Item(parsing: all.span.bytes)
    }

    @Test(
        arguments: [
            ("ask-each", "ask-each-time"), ("ask-always", "ask-each-time"), ("ASK-EACH", "ask-each-time"),
            ("ask-untill-lock", "ask-until-lock"), ("ask-every-10", "ask-every-10m"), ("ask-every-0m", "ask-every-10m"),
            ("ask_until_lock", "ask-until-lock"), ("no-forward", "no-forwarding"), ("No-Forwards", "no-forwarding"),
            ("no_forwarding", "no-forwarding"),
        ])
    func `a misspelled tag of those that guard is refused when written, and guards when read`(
        tag: String, meant: String
    ) throws {
        var item = try Item(.login)
        let error = #expect(throws: VaultError.self) { try item.addTag(tag) }
        #expect(error?.code == .invalidItem && error?.reason.contains(meant) == true, "\(error?.reason ?? "")")
        #expect(item.tags.isEmpty)
        var stored = try self.item(tagged: tag)
        #expect(meant == "no-forwarding" ? stored.isKeptFromForwarding : stored.askRule == .eachTime)
        try stored.addTag(tag)  // it is there
        #expect(stored.tags == [tag])
        #expect(throws: VaultError.self) { try stored.checkGuards() }
        let before = stored.tags
        try stored.checkGuards { before }
        try stored.removeTag(tag)
        #expect(stored.askRule == .never && !stored.isKeptFromForwarding)
    }

    @Test func `tags that guard are taken as they are spelled, and so is what only looks a little like them`() throws {
        var item = try Item(.sshKey)
        for tag in ["No-Forwarding", "ask-until-lock", "Ask-Every-5m", "ask", "asking", "no-forge", "forwarding"] {
            try item.addTag(tag)
        }
        #expect(item.isKeptFromForwarding && item.askRule == .minutes(5))
        try item.checkGuards()
    }

    @Test func `a field is found by the bytes of its label first`() throws {
        var item = try Item(.login)
        try item.add(.secret, "caf\u{e9}", secret("composed"))
        try item.add(.secret, "cafe\u{301}", secret("decomposed"))
        #expect(item.field("cafe\u{301}")?.index == 1 && item.field("caf\u{e9}")?.index == 0)
    }

    @Test func `tags are in order, each once`() throws {
        var item = try Item(.note)
        for tag in ["work", "home", "ä", "a", "home"] { try item.addTag(tag) }
        #expect(item.tags == ["a", "home", "work", "ä"])
        try item.removeTag("home")
        try item.removeTag("none")
        #expect(item.tags == ["a", "work", "ä"])
    }

    @Test func `notes are replaced, and removed when they are empty`() throws {
        var item = try Item(.note)
        #expect(item.withNotes { $0.array } == nil)
        try item.setNotes(secret("one\ntwo"))
        try item.setNotes(secret("three"))
        #expect(item.withNotes { $0.array.text } == "three")
        try item.setNotes(secret(""))
        #expect(item.withNotes { $0.array } == nil)
    }

    @Test func `a file has its name and its content`() throws {
        var item = try Item(.file)
        try [UInt8](0...255).lend { try item.addFile("scan", name: "pass.pdf", content: $0) }
        let field = try item.need("scan")
        let read = item.withFile(of: field) { name, content in (name, content.array) }
        #expect(read?.0 == "pass.pdf" && read?.1 == Array(0...255))
        #expect(
            errorCode { try [UInt8]([1]).lend { try item.addFile("scan", name: "a/b", content: $0) } } == .invalidItem)
        #expect(
            errorCode { try pattern(ItemLimits.size).lend { try item.addFile("s", name: "a", content: $0) } }
                == .tooLarge)
    }

    @Test func `the oldest earlier values make room for a new one`() throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret("first"))
        try item.add(.text, "username", secret("ada"))
        let half = pattern(ItemLimits.size / 2)
        for value in [Array("second".utf8), half, Array("third".utf8), half, half.reversed()] {
            try value.lend { try item.set(item.need("password"), bytes: $0) }
        }
        // What was before the last does not fit beside it.
        #expect(try item.withValue(of: item.need("password")) { $0.array } == half.reversed())
        #expect(item.text("username") == "ada" && item.history.allSatisfy { $0.size < half.count })
        let before = bytes(item)
        #expect(
            errorCode { try pattern(ItemLimits.size).lend { try item.set(item.need("password"), bytes: $0) } }
                == .tooLarge)
        #expect(bytes(item) == before)
    }

    @Test func `what an item cannot hold changes nothing`() throws {
        var item = try Item(.login)
        try item.add(.text, "username", secret("ada"))
        let before = bytes(item)
        func refused(_ body: (inout Item) throws -> Void) -> VaultError.Code? { errorCode { try body(&item) } }
        #expect(refused { try $0.add(.text, "", secret("x")) } == .invalidItem)
        #expect(refused { try $0.add(.text, "a\nb", secret("x")) } == .invalidItem)
        #expect(refused { try $0.add(.text, "a", secret([0xFF])) } == .invalidItem)
        #expect(refused { try $0.add(.date, "a", secret("tomorrow")) } == .invalidItem)
        #expect(refused { try $0.add(.oneTimeCode, "a", secret("https://x")) } == .invalidItem)
        #expect(refused { try $0.addTag("") } == .invalidItem)
        #expect(refused { try $0.addTag(String(repeating: "t", count: 65)) } == .invalidItem)
        #expect(refused { try $0.setNotes(secret([0xFF])) } == .invalidItem)
        #expect(refused { try $0.add(.secret, "a", secret(pattern(ItemLimits.size))) } == .tooLarge)
        #expect(bytes(item) == before)
    }

    @Test func `what a newer version added is kept by every change`() throws {
        var item = try Item(.login)
        try item.add(.secret, "password", secret("one"))
        var stored = bytes(item)
        stored[1] = 99  // a kind that nobody knows
        stored += [200, 3, 0, 0, 0, 7, 8, 9]
        item = try Item.read(stored)
        #expect(item.kind == ItemKind(rawValue: 99))
        try item.add(.text, "username", secret("ada"))
        try item.set("password", "two")
        try item.addTag("home")
        try item.setNotes(secret("notes"))
        item.isFavourite = true
        #expect(bytes(item).suffix(8) == [200, 3, 0, 0, 0, 7, 8, 9])
        #expect(item.kind == ItemKind(rawValue: 99) && item.isFavourite && item.tags == ["home"])
    }

    @Test func `a copy is the same under another id`() throws {
        var item = try Item(.card)
        try item.add(.text, "number", secret("4111"))
        let copy = try item.copy()
        #expect(copy.id != item.id && copy.text("number") == "4111" && copy.created == item.created)
    }

    @Test func `any order of changes leaves an item that is read as it was written`() throws {
        var generator = SeededGenerator()
        for _ in 0..<(TestRun.isSoak ? 300 : 30) {
            var item = try Item(.login)
            var expected: [(String, String)] = []
            for step in 0..<40 {
                let label = "label \(Int.random(in: 0..<6, using: &generator))"
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: try item.addTag(label)
                case 1: try item.removeTag(label)
                case 2: try item.setNotes(secret(String(repeating: "n", count: step)))
                case 3:
                    guard let index = expected.firstIndex(where: { $0.0 == label }) else { continue }
                    try item.remove(item.need(label))
                    expected.remove(at: index)
                default:
                    let value = "value \(step)"
                    if let index = expected.firstIndex(where: { $0.0 == label }) {
                        expected[index].1 = value
                    } else {
                        expected.append((label, value))
                    }
                    try item.set(label, value)
                }
                let again = try Item.read(bytes(item))
                #expect(again.fields.map(\.label) == expected.map(\.0))
                for (label, value) in expected { #expect(again.text(label) == value) }
            }
        }
    }
}
