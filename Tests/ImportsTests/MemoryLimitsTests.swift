import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// What a file makes of its bytes is counted before it is made, or as soon as it is.
@Suite struct MemoryLimitsTests {
    /// How many of an item are taken, and why no more.
    private func taken(_ item: ImportedItem) -> (count: Int, error: ImportError?) {
        var imported = Imported()
        for count in 0..<ImportLimits.items {
            do throws(ImportError) { try imported.append(item) } catch { return (count, error) }
        }
        return (ImportLimits.items, nil)
    }

    @Test func `entries end the import before they take more than their limit`() throws {
        let large = try ImportedItem(.note, path: ["a"], place: "line 7")
        try large.addNotes(secret(String(repeating: "x", count: 1_000_000)))
        let (count, error) = taken(large)
        #expect(error?.kind == .tooLarge && error?.place == "line 7")
        #expect((95...ImportLimits.entries / 1_000_000).contains(count), "\(count)")
    }

    @Test func `an entry of very many small fields or of a very deep folder is counted with them`() throws {
        let fields = try ImportedItem(.login, path: ["a"], place: "")
        for _ in 0..<100 { try fields.add(.secret, "password", text: "p") }
        #expect(taken(fields).count <= ImportLimits.entries / (100 * 128))
        let folders = try ImportedItem(.login, path: Array(repeating: "g", count: 400), place: "")
        #expect(taken(folders).count <= ImportLimits.entries / (400 * 16))
    }

    @Test func `entries of a few fields each may be as many as people have`() throws {
        let login = try ImportedItem(.login, path: ["Web", "a site"], place: "line 12345")
        for (label, value) in [("username", "ada@example.org"), ("password", "correct horse battery staple")] {
            try login.add(.secret, label, text: value)
        }
        try login.add(.url, "website", text: "https://login.example.org/")
        #expect(taken(login).count > 50_000)
    }

    @Test func `a file that becomes a value of its own is counted`() throws {
        let item = try ImportedItem(.file, path: ["a"], place: "")
        try item.addFile("file", name: "f", content: secret(String(repeating: "x", count: 4 << 20)))
        #expect((20...26).contains(taken(item).count))
    }

    @Test func `what is listed ends before it takes more than its limit, which is said`() {
        var imported = Imported()
        let entry = String(repeating: "n", count: 1000)
        for _ in 0..<ImportLimits.notes { imported.note(.leftOut, "x", entry: entry) }
        #expect(imported.notes.count <= ImportLimits.noteBytes / 1000 + 1)
        #expect(imported.notes.last?.what == "this and what follows is not listed")
        #expect(imported.notes.dropLast().allSatisfy { $0.what == "x" })
    }

    @Test func `a text is counted with its values, and with what it was in`() throws {
        let text = "[" + String(repeating: " ", count: 100_000) + "1]"
        let size = try JSONDocument(secret(text)).size
        #expect((100_000...101_000).contains(size), "\(size)")
        _ = try JSONDocument(secret(text), beside: ImportLimits.parts - size)
        let error = #expect(throws: ImportError.self) {
            _ = try JSONDocument(secret(text), beside: ImportLimits.parts - size + 1)
        }
        #expect(error?.kind == .tooLarge && error?.place == "line 1")
    }

    @Test func `a title that no entry can hold is an error with its line, before anything is made of it`() throws {
        let title = String(repeating: "t", count: ItemLimits.size + 1)
        let error = #expect(throws: ImportError.self) {
            try BitwardenImport.read(secret("{\"items\":[\n{\"type\":1,\"name\":\"\(title)\"}]}"), password: nil)
        }
        #expect(error?.kind == .tooLarge && error?.place == "line 2")
    }

    @Test func `a line that no entry can hold is no address`() throws {
        let line = "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&issuer="
        let file = "\(line)b\n\(line)\(String(repeating: "c", count: ItemLimits.size))\n"
        let error = #expect(throws: ImportError.self) { try OneTimeListImport.read(secret(file)) }
        #expect(error?.kind == .malformed && error?.place == "line 2")
        let rest = try OneTimeListImport.read(secret(file), ImportOptions(skipsFaulty: true))
        #expect(rest.items.count == 1 && rest.notes.count == 1)
    }
}
