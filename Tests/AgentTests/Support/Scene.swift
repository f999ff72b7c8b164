import AgentMessages
import Cryptography
import Foundation
import HoldfastAgent
import Items
import KeyStores
import MemorySearch
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// A vault whose secrets are all known, and what is done with it.
final class Scene {
    let scratch: Scratch
    let phrase: String
    let passcode: String
    let pin = Scene.letters(12)
    private(set) var parts: [String: String] = [:]
    private let chip: SoftwareTPM?
    private var needles = Needles()
    private var number = 0

    init(_ way: ForgettingTests.Way) throws {
        scratch = try Scratch(vault: false)
        passcode = Scene.letters(40)
        chip = way == .pin ? try SoftwareTPM() : nil
        let made = try Vault.create(at: scratch.home, passcode: secret(passcode), settings: scratch.settings)
        phrase = made.withText { String(decoding: $0.array, as: UTF8.self) }
        if let chip { try enrollPIN(chip) }
        if way == .owner { try allowAccount() }
        let keys = try KeysOfHome(
            scratch.home, passcode: passcode, phrase: phrase, pin: way == .pin ? pin : nil)
        for (name, bytes) in keys.keys { needles.add(key: bytes, name) }
        needles.add(Array(passcode.utf8), "the passcode")
        needles.add(Array(pin.utf8), "the PIN")
        // No word has more than eight letters: each part has a space in it, unlike the list of words in the program.
        needles.add(Array(phrase.utf8), "the phrase", part: 16)
    }

    private func enrollPIN(_ chip: SoftwareTPM) throws {
        parts["SUBJECT_TPM"] = chip.location
        var settings = scratch.settings
        settings.tier = TPMAttemptTier(at: TPMLocation(chip.location))
        let vault = try Vault(at: scratch.home, settings: settings)
        let passcode = try secret(passcode)
        try vault.enrollPIN(secret(pin), passcode: passcode, spending: vault.burnAttempt())
    }

    private func allowAccount() throws {
        let folder = scratch.path + "/pam"
        try AccountModule.writeRules(into: folder)
        parts = ["SUBJECT_PAM": folder, "SUBJECT_USER": "anna"]
        let vault = try scratch.vault()
        let passcode = try secret(passcode)
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.fallback = .convenient }
    }

    static func letters(_ count: Int) -> String {
        String((0..<count).map { _ in "abcdefghijkmnopqrstuvwxyz".randomElement() ?? "a" })
    }

    /// A value that nobody may find after a lock.
    func value(_ size: Int) -> String {
        let value = Scene.letters(size)
        needles.add(Array(value.utf8), "a value of \(size) bytes")
        return value
    }

    func rememberKey(_ bytes: [UInt8], _ name: String) { needles.add(key: bytes, name) }

    /// A text that begins like others: its parts are long.
    func remember(_ bytes: [UInt8]) { needles.add(bytes.suffix(128), "a private key's text", part: 32) }

    /// A passcode that is not the vault's.
    func wrongPasscode() throws -> String {
        let wrong = value(40)
        needles.add(key: try KeysOfHome.stretched(wrong, scratch.home), "a stretched wrong passcode")
        return wrong
    }

    func name(_ size: Int) -> String {
        let name = Scene.letters(size)
        needles.add(Array(name.utf8), "a name of \(size) bytes in round \(number)")
        return name
    }

    /// Puts away what an unlock finds that was sealed while the vault was locked.
    func plant() throws {
        number += 1
        let vault = try scratch.vault()
        try vault.open.drop(secret(value(100)), for: name(30), in: name(10))
        try vault.open.put(secret(value(101)), for: name(31), in: name(11))
    }

    func open(_ agent: TestAgent, _ way: ForgettingTests.Way) throws {
        try plant()
        let client = try agent.client()
        switch way {
        case .passcode: _ = try client.unlock(.passcode, secret(passcode))
        case .phrase: _ = try client.unlock(.recoveryPhrase, secret(phrase))
        case .pin: _ = try client.unlock(.pin, secret(pin))
        case .owner: #expect(try agent.confirm(.devicePasscode, answer: { _ in "correct" }) == "open")
        }
    }

    func use(_ agent: TestAgent) throws {
        let collection = name(21)
        for (nameSize, size) in [(9, 24), (15, 60), (50, 700), (1000, 4000), (33, 150_000)] {
            let (name, value) = (name(nameSize), value(size))
            try agent.put(Array(value.utf8), name, collection)
            _ = try agent.get(name, collection)
        }
        let client = try agent.client()
        let all = try client.list(nil)
        let own = try client.list(collection)
        try addItem(name(14), collection)
        // The index has names, tags and open fields of everything.
        #expect(try client.find("", in: collection).count == 6)
        if let last = own.last {
            let copy = try path(name(12), collection)
            try client.copy(path(last.name, last.collection), to: copy)
            try client.move(copy, to: path(name(13), name(11)))
        }
        try useItem(client, collection)
        let folder = try #require(EntryFolder(first: collection, rest: ""))
        let action = FolderAction.copy(folder, to: try #require(EntryFolder(first: name(17), rest: "")))
        #expect(try client.change(action, seen: FolderPlan(action, client.list(nil)).digest) > 5)
        _ = try client.find(String(value(25).prefix(20)), in: nil)
        if let first = all.first { try client.remove(path(first.name, first.collection)) }
        #expect(errorCode { _ = try agent.get(name(40), collection) } == .recordNotFound)
    }

    /// An item as the commands use it: stored, changed, with an earlier value, in the trash and back, and its code.
    private func useItem(_ client: borrowing AgentClient, _ collection: String) throws {
        let path = try path(name(22), collection)
        var item = try Item(.login)
        try item.add(.text, "username", secret(value(37)))
        try item.add(.secret, "password", secret(value(38)))
        try item.add(.oneTimeCode, "code", secret("otpauth://totp/x?secret=" + base32()))
        try item.setNotes(secret(value(39)))
        try item.addTag(value(41))
        try client.put(item, as: path, replacing: nil)
        var read = try client.item(path)
        if let field = read.field("password") { try read.set(field, secret(value(42))) }
        try client.put(read, as: path, replacing: read.sequence)
        #expect(try client.item(path).history.count == 1)
        _ = try (client.tags(), client.find("", in: collection))
        #expect(try client.discard(path, seconds: 60))
        let entry = try #require(try client.trash().first { $0.name == path.name })
        let back = RecordName(collection: entry.key.collection, name: name(23))
        try client.restore(entry.key, as: back)
        _ = try client.trash()
    }

    /// A key of one-time codes, as it is written.
    func base32() -> String {
        let key = String((0..<32).map { _ in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".randomElement() ?? "A" })
        needles.add(Array(key.utf8), "the key of one-time codes")
        return key
    }

    private func addItem(_ name: String, _ collection: String) throws {
        let vault = try scratch.vault()
        let passcode = try secret(passcode)
        try vault.unlock(passcode: passcode, spending: vault.burnAttempt())
        var item = try Item(.login)
        try item.add(.text, "username", secret(value(35)))
        try item.add(.secret, "password", secret(value(36)))
        try item.addTag(value(34))
        try ItemStore(vault).add(item, as: name, in: collection)
    }

    /// Looks through a process. What is always there (its home's path) shows that it does look.
    func expectNothing(in process: Int32, _ when: String) throws {
        var sought = needles
        sought.add(Array(scratch.home.utf8), Scene.control)
        let (all, extent) = try sought.search(process)
        let found = all.filter { !$0.hasPrefix(Scene.control) }
        #expect(found.isEmpty, "\(when):\n\(found.joined(separator: "\n"))")
        #expect(all.count > found.count && extent.threads > 0, "\(when): nothing was looked at")
    }

    private static let control = "what is no secret"
}
