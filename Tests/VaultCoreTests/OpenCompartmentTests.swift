import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import OpenStorage
@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

extension OpenCompartment {
    func put(_ bytes: [UInt8], _ name: String, _ collection: String = Vault.defaultCollection, replacing: Bool = false)
        throws
    {
        try bytes.withRawSpan { try put(bytes: $0, for: name, in: collection, replacing: replacing) }
    }

    func drop(_ bytes: [UInt8], _ name: String, _ collection: String = Vault.defaultCollection) throws {
        try bytes.withRawSpan { try drop(bytes: $0, for: name, in: collection) }
    }

    func get(_ name: String, _ collection: String = Vault.defaultCollection) throws -> [UInt8] {
        try withValue(for: name, in: collection) { $0.array }
    }
}

extension TestHome {
    /// A vault that was never unlocked by this object.
    func locked() throws -> Vault {
        _ = try create()
        return try open()
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }
}

/// The open compartment while the vault is locked.
@Suite struct OpenCompartmentTests {
    @Test func itemsAreReachedWithoutTheOwner() throws {
        let home = try TestHome()
        let vault = try home.locked()
        #expect(try vault.open.records().isEmpty)
        #expect(!home.exists("open.mdb") && !home.exists("open.key"), "made on first use")
        try vault.open.put(pattern(300), "note")
        try vault.open.put([], "empty", "c")
        try vault.open.put(pattern(Vault.largestInlineValue), "large")
        #expect(!vault.isUnlocked)
        #expect(try vault.open.get("note") == pattern(300))
        #expect(try home.open().open.get("note") == pattern(300), "another process would")
        #expect(try vault.open.get("empty", "c").isEmpty)
        #expect(try vault.open.get("large") == pattern(Vault.largestInlineValue))
        let records = try vault.open.records()
        #expect(records.map(\.name) == ["empty", "large", "note"] && records.map(\.origin) == [.open, .open, .open])
        #expect(try vault.open.records(in: "c").map(\.name) == ["empty"])
        #expect(errorCode { try vault.open.put([1], "note") } == .recordExists)
        try vault.open.put([1, 2], "note", replacing: true)
        #expect(try vault.open.get("note") == [1, 2])
        try vault.open.delete("note")
        #expect(errorCode { _ = try vault.open.get("note") } == .recordNotFound)
        #expect(errorCode { try vault.open.delete("note") } == .recordNotFound)
        #expect(errorCode { _ = try vault.get("large") } == .locked)
        #expect(errorCode { try vault.open.put(pattern(Vault.largestInlineValue + 1), "larger") } == .tooLarge)
        #expect(errorCode { try vault.open.put([1], "") } == .invalidName)
        let status = vault.open.status()
        #expect(status.items == 2 && status.problem == nil && status.assurance == .none && status.takesSealed)
        #expect(status.bytes > Vault.largestInlineValue && status.bytes < 2 << 20)
    }

    @Test func whatWasSealedIsNotReadBack() throws {
        let home = try TestHome()
        let vault = try home.locked()
        let secret = Array("only for the owner".utf8)
        try vault.open.drop(secret, "sealed name", "sealed collection")
        try vault.open.drop(secret, "sealed name", "sealed collection")
        let records = try vault.open.records()
        #expect(records.count == 2 && records.allSatisfy { $0.isSealed && $0.collection == "" && $0.name.count == 32 })
        #expect(errorCode { _ = try vault.open.get("sealed name", "sealed collection") } == .recordNotFound)
        #expect(errorCode { _ = try vault.open.get(records[0].name, "") } == .locked)
        // Not even with the compartment's own key.
        let header = try HeaderFile.read(in: vault.home).vault
        try vault.open.read { store throws(VaultError) in
            _ = try store?.reader.forEach { _, plaintext, _ throws(VaultError) in
                let text = String(decoding: plaintext.array, as: UTF8.self)
                #expect(!text.contains("owner") && !text.contains("sealed name") && !text.contains("collection"))
            }
        }
        #expect(header == (try vault.id))
        try vault.open.delete(records[0].name, in: "")
        #expect(try vault.open.records().count == 1)
    }

    @Test func nothingIsReadableOnTheDisk() throws {
        let home = try TestHome()
        let vault = try home.locked()
        let words = ["a name of its own", "a collection of its own", "a content of its own"]
        try vault.open.put(Array(words[2].utf8), words[0], words[1])
        try vault.open.drop(Array(words[2].utf8), words[0], words[1])
        for name in try FileManager.default.contentsOfDirectory(atPath: home.path) where name != "files" {
            let text = String(decoding: try home.bytes(name), as: UTF8.self)
            for word in words { #expect(!text.contains(word), "\(name)") }
        }
        #expect(
            try FileManager.default.attributesOfItem(atPath: home.file("open.key"))[.posixPermissions] as? Int == 0o600)
    }

    @Test func theQuotaHolds() throws {
        let home = try TestHome()
        let vault = try home.locked()
        vault.open.quota = OpenCompartment.Quota(bytes: 100_000, items: 3)
        try vault.open.put(pattern(60_000), "a")
        #expect(errorCode { try vault.open.put(pattern(60_000), "b") } == .quotaExceeded)
        #expect(try vault.open.records().map(\.name) == ["a"], "nothing of it is kept")
        try vault.open.put([1], "b")
        try vault.open.drop([1], "c")
        #expect(errorCode { try vault.open.put([1], "d") } == .quotaExceeded)
        #expect(errorCode { try vault.open.drop([1], "d") } == .quotaExceeded)
        try vault.open.put([2], "b", replacing: true)
        try vault.open.delete("a")
        try vault.open.put(pattern(60_000), "d")
        vault.open.quota = OpenCompartment.Quota(bytes: .max, items: .max)
        #expect(vault.open.quota == .largest)
        #expect(try home.open().open.quota == OpenCompartment.Quota(bytes: 16 << 20, items: 10_000))
    }

    @Test func collectionsWithAMinimumAreRefused() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy throws(VaultError) in
            policy.collectionMinima = ["bank": .keyBound, "none": .none]
        }
        for isLocked in [false, true] {
            if isLocked { vault.lock() }
            #expect(errorCode { try vault.open.put([1], "a", "bank") } == .assuranceTooLow)
            #expect(errorCode { try vault.open.drop([1], "a", "bank") } == .assuranceTooLow)
            try vault.open.put([1], "a", "none", replacing: true)
        }
        var settings = home.settings
        settings.minima = ["none": .presence, "other": .none]
        let strict = try Vault(at: home.path, settings: settings)
        #expect(errorCode { try strict.open.put([1], "b", "none") } == .assuranceTooLow)
        #expect(errorCode { try strict.open.put([1], "b", "bank") } == .assuranceTooLow)
        try strict.open.put([1], "b", "other")
        try strict.open.delete("b", in: "other")
        #expect(try vault.open.records().map(\.name) == ["a"])
    }

    /// The compartments have keys and authenticated data of their own, and so have two vaults.
    @Test func noRecordOpensElsewhere() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "a")
        try vault.open.put([2], "a")
        // Even under the same keys: the domain differs.
        let bytes = [UInt8](repeating: 7, count: 32)
        let id = try vault.id
        let open = try RecordKeys(openKey: secret(bytes), vault: id)
        let same = RecordKeys(domain: id, admission: open.admission, newest: open.current)
        let other = try RecordKeys(
            openKey: secret(bytes), vault: #require(VaultID(bytes: [UInt8](repeating: 9, count: 16))))
        var cipher = try RecordCipher(open)
        let lookup = try open.current.lookupKey(collection: "c", name: "n")
        var value = [UInt8](repeating: 0, count: 5 + SealedRecord.overhead)
        let content = [UInt8](repeating: 1, count: 5)
        try value.withMutableRawSpan { value in
            try content.withRawSpan { content in
                try lookup.withBytes { key in
                    let nonce = [UInt8](repeating: 3, count: 12)
                    let empty = content.extracting(0..<0)
                    let box = try #require(nonce.withRawSpan { Nonce96(copying: $0) })
                    try cipher.seal(content, empty, lookupKey: key, nonce: box, into: &value)
                }
            }
        }
        for (keys, isRight) in [(open, true), (same, false), (other, false)] {
            var reader = try RecordCipher(keys)
            let code = Result {
                try value.withRawSpan { value in try lookup.withBytes { try reader.open(value, lookupKey: $0) } }
            }
            #expect(((try? code.get()) != nil) == isRight)
        }
        // As files: another vault's compartment, and the protected one in its place.
        let second = try TestHome()
        let stranger = try second.locked()
        try stranger.open.put([3], "a")
        for name in ["open.mdb", "open.key"] {
            try FileManager.default.removeItem(atPath: home.file(name))
            try FileManager.default.copyItem(atPath: second.file(name), toPath: home.file(name))
        }
        #expect(errorCode { _ = try home.open().open.get("a") } == .damaged)
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.inbox().isEmpty && vault.open.lastMigration?.isSetAside == true)
    }

    @Test func anEmptiedCompartmentBeginsUnderAnotherKey() throws {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put([1], "a")
        let key = try home.bytes("open.key")
        try vault.unlock("right")
        #expect(!home.exists("open.mdb") && !home.exists("open.mdb-lock"))
        #expect(try home.bytes("open.key")[OpenKeyFile.keyRange].allSatisfy { $0 == 0 })
        vault.lock()
        try vault.open.put([2], "a")
        let other = try home.bytes("open.key")
        #expect(other[OpenKeyFile.keyRange] != key[OpenKeyFile.keyRange])
        #expect(try vault.open.get("a") == [2])
    }
}
