import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

/// What a text names in an item: the rule of commands and references.
@Suite struct ItemPartTests {
    private func item() throws -> Item {
        var item = try Item(.login)
        try item.add(.url, "website", secret("first"))
        try item.add(.url, "website", secret("second"))
        try item.add(.url, "Website", secret("third"))
        try item.add(.secret, "pin#2", secret("literal"))
        for (name, content) in [("id.txt", "one"), ("Paper.pdf", "two"), ("id.txt", "three"), ("pin", "four")] {
            try unsafe item.addFile("file", name: name, content: Array(content.utf8).span.bytes)
        }
        try item.setNotes(secret("words"))
        return item
    }

    private func value(_ text: String, _ item: borrowing Item) -> String? {
        item.part(text).map { part in
            item.withPart(part) { $0.array.text }
        }
    }

    @Test(
        arguments: [
            ("website", "first"), ("website#1", "first"), ("website#2", "second"), ("website#3", nil),
            ("Website", "third"), ("WEBSITE", "first"), ("WEBSITE#3", "third"), ("Website#2", nil),
            ("file", "one"), ("file#3", "three"), ("file#5", nil), ("id.txt", "one"), ("ID.TXT#2", "three"),
            ("id.txt#3", nil), ("paper.pdf", "two"), ("pin", "four"), ("pin#2", "literal"), ("pin#1", "four"),
            ("notes", "words"), ("Notes", "words"), ("notes#1", nil), ("web", nil), ("", nil), ("#1", nil),
            ("website#0", nil), ("website#01", nil), ("website#+1", nil), ("website#", nil), ("website#1000", nil),
        ] as [(String, String?)])
    func `a label, a file's name, the notes, or a number of several`(text: String, wanted: String?) throws {
        #expect(value(text, try item()) == wanted)
    }

    @Test func `a field goes before a file of this name and before the notes`() throws {
        var item = try item()
        try item.add(.text, "notes", secret("a field"))
        try item.add(.text, "ID.txt", secret("a label"))
        #expect(value("notes", item) == "a field" && value("id.txt", item) == "a label")
    }
}
