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
    /// What an item cannot hold: it fails after the value was written, as an end of the process would.
    private let tooLong = String(repeating: "x", count: 2 << 20)

    @Test func `a change that ends before the item is written leaves the old secret`() throws {
        try create("a", old)
        let before = try values
        #expect(throws: VaultError.self) { try set("a", new, type: tooLong) }
        #expect(try get("a") == old && values == before && before.count == 1)
        try set("a", new)
        #expect(try get("a") == new && values.count == 1 && values != before)
        try set("a", [3])
        #expect(try get("a") == [3] && values.isEmpty)
    }

    @Test func `a value that nothing leads to goes with its item, and others' stay`() throws {
        try create("a", old)
        try create("b", old)
        let id = try ItemStore(vault).item("a", in: "work").id
        // What is left where the process is ended between the two writes.
        let orphan = "\(id)-" + String(repeating: "0", count: 32)
        try old.lend { try vault.put(bytes: $0, for: orphan, in: "secret-service") }
        try set("a", new)
        #expect(try get("a") == new && values.count == 3)
        try store.delete("a", in: "work")
        #expect(try values.count == 1 && get("b") == old)
    }

    @Test func `an item that could not be stored leaves no value`() throws {
        #expect(throws: VaultError.self) { try create(String(repeating: "x", count: 100_000), old) }
        #expect(try values.isEmpty)
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
