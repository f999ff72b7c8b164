import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// Items beside plain values: what tells them apart, and what keeps them apart.
@Suite struct ItemRecordTests {
    static let item = Item.bytes

    /// An item of the second reader's every kind of entry.
    enum Item {
        static let bytes: [UInt8] =
            [1, 1, 1, 0] + Array(1...16) + little(5) + little(6)
            + entry(1, [1, 0, 8, 0] + Array("username".utf8) + Array("ada".utf8))
            + entry(1, [2, 0, 8, 0] + Array("password".utf8) + [0xFF, 0])
            + entry(1, [6, 0, 4, 0] + Array("scan".utf8) + [5, 0] + Array("a.pdf".utf8) + [0, 0xFE])
            + entry(2, Array("home".utf8)) + entry(3, Array("Übung".utf8))
            + entry(4, little(7) + little(8) + [1, 0, 0x78])
            + entry(5, little(9) + [2, 0, 8, 0] + Array("password".utf8) + Array("old".utf8)) + entry(200, [1, 2])

        private static func entry(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            [tag, UInt8(content.count), 0, 0, 0] + content
        }

        private static func little(_ value: UInt8) -> [UInt8] { [value, 0, 0, 0, 0, 0, 0, 0] }
    }

    private func put(
        _ item: [UInt8], _ name: String, _ collection: String = Vault.defaultCollection, in vault: Vault,
        replacing: Bool = false
    ) throws {
        try item.lend { try vault.put(item: $0, for: name, in: collection, replacing: replacing) }
    }

    private func content(_ name: String, in vault: Vault) throws -> (form: RecordFields.Form, bytes: [UInt8]) {
        try vault.withContent(of: name, in: Vault.defaultCollection) { ($0.form, $1.array) }
    }

    @Test func `a plain value that begins like an item stays a plain value`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put(Self.item, "value")
        try put(Self.item, "item", in: vault)
        #expect(try vault.get("value") == Self.item)
        #expect(try content("value", in: vault).form == .value)
        #expect(try content("item", in: vault) == (.item, Self.item))
        let records = try vault.records()
        #expect(records.map(\.isItem) == [true, false])
    }

    @Test func `an item is neither read nor replaced as a plain value`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try put(Self.item, "item", in: vault)
        #expect(errorCode { _ = try vault.get("item") } == .isItem)
        #expect(errorCode { _ = try vault.value(for: "item") } == .isItem)
        #expect(errorCode { _ = try vault.readAll("item") } == .isItem)
        #expect(errorCode { _ = try vault.reader(for: "item", in: Vault.defaultCollection) } == .isItem)
        #expect(errorCode { try vault.withConfirmedValue(for: "item") { _ in } } == .isItem)
        #expect(errorCode { try vault.put([1], "item", replacing: true) } == .isItem)
        #expect(
            errorCode { try vault.stream(pattern(Vault.largestInlineValue + 1), "item", replacing: true) } == .isItem)
        #expect(errorCode { try vault.put([1], "item") } == .recordExists)
        // Its transaction is still whole.
        try vault.write { session in
            let refused = errorCode { try [UInt8](1...2).lend { try session.put($0, for: "item", replacing: true) } }
            #expect(refused == .isItem)
            try [UInt8](2...3).lend { try session.put($0, for: "other") }
        }
        #expect(try vault.get("other") == [2, 3])
        #expect(try content("item", in: vault).bytes == Self.item)
        #expect(try vault.verify().orphanedFiles == 0)
    }

    @Test func `new keys leave items what they are`() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try put(Self.item, "item", in: vault)
        try vault.put(Self.item, "value")
        _ = try vault.rekeyForTest("right", to: "right")
        #expect(errorCode { try vault.put([1], "item", replacing: true) } == .isItem)
        try vault.finishRekey { _, _ in }
        #expect(try content("item", in: vault) == (.item, Self.item))
        #expect(try content("value", in: vault) == (.value, Self.item))
        #expect(try vault.verify().isIntact)
    }

    @Test func `an item in the trash is not listed, and no plain value can have such a name`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try put(Self.item, "\u{0}trash", in: vault)
        try put(Self.item, "item", in: vault)
        #expect(try vault.records().map(\.name) == ["item"])
        #expect(try vault.records(in: Vault.defaultCollection).map(\.name) == ["item"])
        #expect(errorCode { try vault.put([1], "\u{0}other") } == .invalidName)
        #expect(errorCode { try vault.stream(pattern(Vault.largestInlineValue + 1), "\u{0}other") } == .invalidName)
        #expect(errorCode { try vault.put([1], "\u{0}trash", replacing: true) } == .invalidName)
        #expect(try content("\u{0}trash", in: vault).bytes == Self.item)
        // Nothing of a refused stream is left.
        #expect(try vault.verify().orphanedFiles == 0)
    }

    @Test func `an item is refused where a value would be`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        #expect(errorCode { try put(Self.item, "", in: vault) } == .invalidName)
        #expect(errorCode { try put(Self.item, "a", "\u{0}identity", in: vault) } == .reservedCollection)
        #expect(errorCode { try put(pattern(Vault.largestInlineValue + 1), "a", in: vault) } == .tooLarge)
        vault.lock()
        #expect(errorCode { try put(Self.item, "a", in: vault) } == .locked)
        #expect(errorCode { _ = try content("a", in: vault) } == .locked)
    }

    @Test(.enabled(if: Decryptor.python != nil, Decryptor.missing))
    func `the second reader reads items, and finds a damaged one`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try put(Self.item, "item", in: vault)
        try vault.put(Self.item, "value")
        let items = try Decryptor.run(home.path, .passcode("right"), "items")
        #expect(items.status == 0 && items.errors == "")
        let expected = """
            {"collection": "default", "name": "item", "kind": "login", "favourite": true, \
            "id": "0102030405060708090a0b0c0d0e0f10", "created": 5, "modified": 6, \
            "fields": [{"label": "username", "kind": "text", "value": "ada"}, \
            {"label": "password", "kind": "secret", "bytes": "ff00"}, \
            {"label": "scan", "kind": "file", "file": "a.pdf", "bytes": "00fe"}], "tags": ["home"], \
            "history": [{"replaced": 9, "label": "password", "kind": "secret", "value": "old"}], \
            "unknown": [{"tag": 200, "bytes": "0102"}], "notes": "\\u00dcbung", \
            "trash": {"moved": 7, "expires": 8, "name": "x"}}
            """
        #expect(items.text == expected + "\n")
        let listed = try Decryptor.run(home.path, .passcode("right"), "list")
        #expect(listed.lines.count { $0.contains("\"form\": \"item\"") } == 1)
        #expect(try Decryptor.run(home.path, .passcode("right"), "verify").status == 0)

        try put([1, 0], "not an item", in: vault)
        #expect(try Decryptor.run(home.path, .passcode("right"), "verify").status == 5)
        #expect(try Decryptor.run(home.path, .passcode("right"), "items").status == 5)
    }
}
