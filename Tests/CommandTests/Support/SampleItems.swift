import Foundation
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat

extension Sandbox {
    /// What the samples hold; nothing else in a vault of tests has these bytes.
    static let password = "pass word \"quoted\" \u{fc}"
    static let apiKey = "key-0123456789abcdef"

    /// Stores a login and a plain value without the command.
    func addSamples() throws {
        try withItems { items in
            var login = try Item(.login)
            try login.add(.text, "username", secret("ada"))
            try login.add(.secret, "password", secret(Sandbox.password))
            try login.add(.secret, "recovery codes", secret("first-code\nsecond-code\nthird-code\n"))
            try login.add(.secret, "short", secret("abc"))
            try login.add(.secret, "binary", secret([0x41, 0, 0x42]))
            try unsafe login.addFile("paper", name: "id.txt", content: Array("content".utf8).span.bytes)
            try items.add(login, as: "logins/mail")
            var plain = try Item(.note)
            try plain.add(.text, "text", secret("words"))
            try items.add(plain, as: "note")
        }
        let put = try run(
            "put", "api", "--collection=work", passcode: Prepared.passcode, input: .file(file(Sandbox.apiKey.utf8)))
        try #require(put.code == 0, "\(put.errors)")
    }

    /// Stores a value as a library's literal calls do: beside others that are written the same, too.
    func store(_ value: String, _ name: String, in collection: String = "default") throws {
        try withItems { items in
            try unsafe items.vault.put(bytes: Array(value.utf8).span.bytes, for: name, in: collection)
        }
    }

    /// Opens the vault in this process for a moment.
    func withItems<R>(_ body: (ItemStore) throws -> R) throws -> R {
        let vault = try Vault(at: home)
        try vault.unlock(passcode: secret(Prepared.passcode), spending: vault.burnAttempt())
        defer { vault.lock(because: .ended) }
        return try body(ItemStore(vault))
    }
}
