import Foundation
import Items
import ProgramAccess
import ProgramProtocols
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// Secrets of programs that are values of their own.
@Suite struct LargeSecretTests {
    private let scratch: Scratch
    private let vault: Vault
    private let store: SecretServiceStore

    init() throws {
        scratch = try Scratch()
        vault = try scratch.vault()
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        store = SecretServiceStore(ItemStore(vault))
    }

    private func create(_ label: String, _ value: [UInt8]) throws {
        let draft = SecretServiceStore.Draft(
            label: label, attributes: SecretServiceAttributes(), contentType: "text/plain", replaces: false)
        _ = try value.lend { try store.create(draft, $0, in: "work") }
    }

    private func set(_ name: String, _ value: [UInt8], type: String = "text/plain") throws {
        try value.lend { try store.set(name, in: "work", $0, contentType: type) }
    }

    private func get(_ name: String) throws -> [UInt8] {
        try store.secret(name, in: "work") { _ in }.value.withBytes { $0.array }
    }

    private var values: [String] { get throws { try vault.records(in: "secret-service").map(\.name) } }

    private let old = [UInt8](repeating: 1, count: 1 << 20)
    private let new = [UInt8](repeating: 2, count: 3 << 20)
    /// What an item cannot hold.
    private let tooLong = String(repeating: "x", count: 2 << 20)

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: scratch.home + "/files") }
    }

    @Test func `a change that fails leaves the old secret`() throws {
        try create("a", old)
        let before = try values
        #expect(throws: VaultError.self) { try set("a", new, type: tooLong) }
        #expect(try get("a") == old && values == before && before.count == 1)
        try set("a", new)
        #expect(try get("a") == new && values.count == 1 && values != before)
        try set("a", [3])
        #expect(try get("a") == [3] && values.isEmpty && files.isEmpty)
    }

    @Test func `an item that could not be stored leaves no value`() throws {
        // A label that no name can be, and names that are all taken: both fail when the file is written.
        #expect(throws: VaultError.self) { try create(String(repeating: "x", count: 100_000), old) }
        try vault.write { session in
            let one: [UInt8] = [1]
            for number in 1...1000 {
                try one.lend { try session.put($0, for: number == 1 ? "a" : "a (\(number))", in: "work") }
            }
        }
        #expect(errorCode { try create("a", old) } == .recordExists)
        #expect(try values.isEmpty && files.isEmpty)
    }

    @Test func `a secret is in the vault for as long as its item`() throws {
        for name in ["a", "b", "c", "d", "work/e"] { try create(name, old) }
        let items = ItemStore(vault)
        try store.delete("a", in: "work")
        #expect(try values.count == 5)
        try items.restore(#require(items.trashed().first))
        #expect(try get("a") == old)
        try store.delete("a", in: "work")
        try items.emptyTrash()
        #expect(try values.count == 4)
        try items.trash("b", in: "work", for: .zero)
        try items.removeExpired()
        #expect(try values.count == 3 && get("c") == old)
        try items.remove(EntryPath(collection: "work", name: "c"))
        #expect(try values.count == 2 && get("d") == old)
        let action = FolderAction.remove(try #require(EntryFolder(parsing: "work/")))
        _ = try items.change(action, seen: FolderPlan(action, vault.records()).digest)
        #expect(try values.isEmpty && files.isEmpty)
    }

    @Test func `the value of an item is not moved without it, and comes back from the trash`() throws {
        let name = String(repeating: "0", count: 32) + "-" + String(repeating: "1", count: 32)
        try [UInt8](repeating: 1, count: 16).lend { try vault.put(bytes: $0, for: name, in: "secret-service") }
        let items = ItemStore(vault)
        #expect(
            errorCode { try items.rename(name, in: "secret-service", to: "x", into: "work") } == .reservedCollection)
        #expect(errorCode { try items.copy(name, in: "secret-service", to: "x", into: "work") } == .reservedCollection)
        try items.trash(name, in: "secret-service")
        try items.restore(#require(items.trashed().first))
        #expect(try values == [name])
    }

    private func change(_ name: String, _ body: (inout Item) throws -> Void) throws {
        try ItemStore(vault).change(name, in: "work", body)
    }

    @Test func `what the user enters, restores or removes ends a large secret`() throws {
        try create("a", [1])
        try set("a", old)
        try change("a") { item in
            let password = item.field("password")
            try item.set(#require(password), secret("entered"))
        }
        #expect(try get("a") == Array("entered".utf8) && values.isEmpty && files.isEmpty)
        #expect(try ItemStore(vault).item("a", in: "work").field("large secret") == nil)
        // As `replace` stores it, which a command does through the agent; and what was there first.
        try set("a", old)
        var item = try ItemStore(vault).item("a", in: "work")
        let earlier = item.history.first { $0.label == "password" }
        let first = try item.withValue(of: #require(earlier)) { try SecretBytes(copying: $0) }
        let field = item.field("password")
        try item.set(#require(field), first)
        try ItemStore(vault).replace("a", in: "work", with: item)
        #expect(try get("a") == [1] && values.isEmpty && files.isEmpty)
        // No earlier value leads to where nothing is.
        #expect(try ItemStore(vault).item("a", in: "work").history.allSatisfy { $0.label == "password" })
        try set("a", new)
        try change("a") { item in
            let password = item.field("password")
            try item.remove(#require(password))
        }
        #expect(errorCode { _ = try get("a") } == .recordNotFound)
        #expect(try values.isEmpty && files.isEmpty)
    }

    @Test func `a change that is not of the secret leaves it`() throws {
        try create("a", old)
        try change("a") { item in try item.add(.text, "more", secret("x")) }
        try change("a") { item in
            let password = item.field("password")
            try item.set(#require(password), secret(""))
        }
        try change("a") { item in try item.removeTag("secret-service") }
        try change("a") { item in try item.addTag("secret-service") }
        #expect(try get("a") == old && values.count == 1)
    }

    @Test func `programs store a bounded number of items`() throws {
        let few = SecretServiceStore(ItemStore(vault), atMost: 2)
        let draft = SecretServiceStore.Draft(
            label: "a", attributes: SecretServiceAttributes(), contentType: "text/plain", replaces: false)
        for _ in 0..<2 { _ = try [UInt8]([1]).lend { try few.create(draft, $0, in: "work") } }
        #expect(errorCode { _ = try [UInt8]([1]).lend { try few.create(draft, $0, in: "work") } } == .tooLarge)
        try few.delete("a", in: "work")
        _ = try [UInt8]([1]).lend { try few.create(draft, $0, in: "work") }
    }

    @Test func `a secret of any size is stored again`() throws {
        let half = [UInt8](repeating: 4, count: 600 << 10)
        try create("a", half)
        for value in [[5], half, old, half, [UInt8](repeating: 6, count: 600 << 10), new, half] {
            try set("a", value)
            #expect(try get("a") == value)
        }
        #expect(try values.isEmpty && files.isEmpty)
    }

    @Test func `no item leads to another's value, and none is empty instead`() throws {
        try create("a", old)
        try create("b", new)
        let items = ItemStore(vault)
        let place = try items.item("a", in: "work")
        let found = place.field("large secret")
        let field = try #require(found)
        let text = place.withValue(of: field) { $0.array }
        for said in [text, Array("1048576 bytes in secret-service/x".utf8), Array("-1".utf8), []] {
            try items.change("b", in: "work") { item in
                try said.lend { try item.put(.text, "large secret", bytes: $0) }
            }
            #expect(errorCode { _ = try get("b") } == .damaged)
        }
        #expect(errorCode { try items.copy("a", in: "work", to: "c") } == .tooLarge)
        try items.rename("a", in: "work", to: "c", into: "work")
        #expect(try get("c") == old)
        // Storing anew mends it.
        try set("b", [4])
        #expect(try get("b") == [4])
    }
}
