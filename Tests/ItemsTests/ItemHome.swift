import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat

/// An open vault in a scratch folder, and its items.
final class ItemHome: Sendable {
    private let folder: ScratchFolder
    let vault: Vault
    let items: ItemStore

    init() throws {
        folder = try ScratchFolder("items")
        let settings = VaultSettings.costsForTests(clock: TestClock())
        let passcode = try secret("right")
        _ = try Vault.create(at: folder["home"], passcode: passcode, settings: settings)
        vault = try Vault(at: folder["home"], settings: settings)
        items = ItemStore(vault)
        try unlock()
    }

    func unlock() throws {
        let passcode = try secret("right")
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
    }

    /// Another process would see the vault through this.
    func other() throws -> Vault {
        let other = try Vault(at: folder["home"], settings: VaultSettings.costsForTests(clock: TestClock()))
        let passcode = try secret("right")
        try other.unlock(passcode: passcode, spending: other.burnAttempt())
        return other
    }

    func login(_ user: String = "ada", _ password: String = "old secret", tags: [String] = []) throws -> Item {
        var item = try Item(.login)
        try item.add(.text, "username", secret(user))
        try item.add(.secret, "password", secret(password))
        for tag in tags { try item.addTag(tag) }
        return item
    }

    func put(_ value: [UInt8], _ name: String, replacing: Bool = false) throws {
        try value.lend { try vault.put(bytes: $0, for: name, replacing: replacing) }
    }
    func get(_ name: String) throws -> [UInt8] { try vault.withValue(for: name) { $0.array } }
}

extension Item {
    borrowing func text(_ label: String) -> String? {
        guard let field = field(label) else { return nil }
        return withValue(of: field) { $0.array.text }
    }

    borrowing func need(_ label: String) throws -> Field {
        let field = field(label)
        return try #require(field)
    }

    static func read(_ bytes: [UInt8]) throws -> Item { try secret(bytes).withBytes { try Item(parsing: $0) } }

    mutating func set(_ label: String, _ value: String) throws {
        if let field = field(label) { try set(field, secret(value)) } else { try add(.text, label, secret(value)) }
    }
}
