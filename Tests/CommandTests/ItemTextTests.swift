import Holdfast
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import HoldfastCommand

/// Items as text in an editor, without one.
@Suite struct ItemTextTests {
    private func text(_ item: borrowing Item) throws -> String {
        try ItemText.write(item, path: "logins/mail").withBytes { $0.text(0..<$0.byteCount) }
    }

    private func read(_ text: String) throws(EditError) -> EditedItem {
        let bytes = Array(text.utf8)
        return try unsafe EditedItem(parsing: bytes.span.bytes)
    }

    private func error(_ text: String) -> EditError? {
        do throws(EditError) {
            _ = try read(text)
            return nil
        } catch { return error }
    }

    private func item() throws -> Item {
        var item = try Item(.login)
        try item.add(.text, "username", SecretBytes(utf8: "ada"))
        try item.add(.secret, "password", SecretBytes(utf8: "  two  spaces "))
        try item.add(.secret, "a: \"b\" \\", SecretBytes(utf8: "one\n\n| three\n"))
        try item.add(.secret, "bytes", secret([0xFF, 0, 10]))
        try item.add(.secret, "escape", SecretBytes(utf8: "\u{1B}[2J"))
        try item.add(.date, "until", SecretBytes(utf8: "2031-12"))
        try item.add(FieldKind(rawValue: 99), "newer", SecretBytes(utf8: "x"))
        try item.add(.text, "empty", SecretBytes(zeroed: 0))
        try secret([1, 2, 3]).withBytes { try item.addFile("file", name: "a b.pdf", content: $0) }
        try item.addTag("two words")
        try item.addTag("work")
        try item.setNotes(SecretBytes(utf8: "# no comment\nkind: x"))
        item.isFavourite = true
        return item
    }

    @Test func `an item comes back as it was, whatever is in it`() throws {
        var item = try item()
        let before = try item.duplicate()
        let text = try text(item)
        #expect(!text.contains("\u{1B}") && text.contains("secret \"a: \\\"b\\\" \\\\\":\n| one\n| \n| | three\n| \n"))
        try read(text).apply(to: &item)
        let same = before.withBytes { before in item.withBytes { before.array == $0.array } }
        #expect(same && item.history.isEmpty)
    }

    @Test func `what is changed, renamed, removed, added and moved is done, and the history has the rest`() throws {
        var item = try Item(.login)
        try item.add(.text, "username", SecretBytes(utf8: "ada"))
        try item.add(.secret, "password", SecretBytes(utf8: "old"))
        try item.add(.secret, "PIN", SecretBytes(utf8: "1234"))
        try item.add(.url, "website", SecretBytes(utf8: "https://a.example"))
        try read(
            "kind: card\nfavourite: yes\ntag: x\nurl address: https://a.example\nsecret password: new\ntext username: ada\nsecret extra: e\n"
        )
        .apply(to: &item)
        #expect(item.fields.map(\.label) == ["address", "password", "username", "extra"])
        #expect(item.history.map(\.label) == ["PIN", "password"])
        #expect(item.kind == .card && item.isFavourite && item.tags == ["x"])
    }

    @Test func `what is not understood names its line, and nothing of what is in it`() throws {
        #expect(error("kind: login\n\nsecrt password: hunter2\n")?.line == 3)
        #expect(error("secret password hunter2")?.line == 1)
        #expect(error("favourite: maybe")?.line == 1 && error("kind: boat")?.line == 1)
        #expect(error("secret \"a: b")?.line == 1 && error("base64 secret a: ???")?.line == 1)
        #expect(error("date until: soon")?.line == 1 && error("otp code: 1nvalid!")?.line == 1)
        #expect(error("notes: a\nnotes: b")?.line == 2 && error("text a: b\u{7}\n")?.line == 1)
        #expect(error("| stray")?.line == 1)
        for text in ["secrt password: hunter2", "secret password hunter2", "base64 secret a: hunter2!"] {
            #expect(error(text).map { !$0.what.contains("hunter2") } ?? false)
        }
    }

    @Test func `a file keeps its content, and one that an editor invents is refused`() throws {
        var item = try item()
        try read("kind: login\nfile other: a b.pdf\n").apply(to: &item)
        let field = try #require(item.fields.first)
        let content = item.withFile(of: field) { _, content in content.array }
        #expect(field.label == "other" && content == [1, 2, 3])
        #expect(throws: CommandError.self) { try read("file new: b.pdf\n").apply(to: &item) }
    }

    @Test func `any cut or changed text is read or refused, and never traps`() throws {
        let bytes = Array(try text(item()).utf8)
        for end in bytes.indices { _ = try? unsafe EditedItem(parsing: Array(bytes[..<end]).span.bytes) }
        for index in bytes.indices {
            for value in [0, 10, 32, 34, 58, 92, 124, 255] as [UInt8] {
                var changed = bytes
                changed[index] = value
                _ = try? unsafe EditedItem(parsing: changed.span.bytes)
            }
        }
    }
}
