import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import OpenStorage
@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

/// What was written while locked, and the next unlock.
@Suite struct OpenMigrationTests {
    @Test func everythingComesToTheInbox() throws {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put(pattern(300), "note", "c")
        try vault.open.drop(pattern(400), "sealed", "s")
        try vault.open.put(
            pattern(Vault.largestInlineValue), String(repeating: "n", count: 1024), String(repeating: "c", count: 255))
        try vault.open.drop(
            pattern(Vault.largestInlineValue), String(repeating: "m", count: 1024), String(repeating: "c", count: 255))
        let before = try vault.open.records(in: "c")[0]
        try vault.unlock("right")
        let report = try #require(vault.open.lastMigration)
        #expect(report.moved == 4 && report.known == 0 && report.left == 0 && report.unreadable == 0)
        #expect(!report.isAltered && !report.isSetAside && report.problem == nil && report.publicKey == .right)
        let items = try vault.inbox()
        #expect(items.map(\.originalName.utf8.count) == [1024, 1024, 4, 6])
        #expect(items.map(\.originalCollection.utf8.count) == [255, 255, 1, 1])
        #expect(items.map(\.wasSealed) == [true, false, false, true])
        #expect(items.map(\.size) == [1 << 20, 1 << 20, 300, 400])
        #expect(items[2].created == before.created && items[2].modified == before.modified)
        #expect(try vault.get("note", "inbox") == pattern(300))
        #expect(try vault.get("sealed", "inbox") == pattern(400))
        #expect(try vault.readAll(items[0].name, "inbox") == pattern(1 << 20))
        #expect(errorCode { _ = try vault.get("note", "c") } == .recordNotFound, "not where it was written for")
        #expect(try vault.records().allSatisfy { $0.origin == .open && $0.collection == "inbox" })
        #expect(try vault.open.records().isEmpty)
        #expect(try vault.verify().isIntact)
        vault.lock()
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.isUneventful == true)
        #expect(try vault.inbox() == items)
    }

    @Test func namesNeverCollide() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([100], "a")
        try vault.put([101], "a", "inbox")
        vault.lock()
        let long = String(repeating: "é", count: 512)
        var expected: Set<[UInt8]> = []
        for number in 0..<15 {
            try vault.open.put([UInt8(number)], "a", "c\(number)")
            try vault.open.put([UInt8(number), 1], long, "c\(number)")
            expected.insert([UInt8(number)])
            expected.insert([UInt8(number), 1])
        }
        try vault.unlock("right")
        let items = try vault.inbox()
        #expect(items.count == 30 && Set(items.map(\.name)).count == 30)
        #expect(Set(try items.map { try vault.get($0.name, "inbox") }) == expected)
        #expect(items.allSatisfy { $0.name.utf8.count <= 1024 && [long, "a"].contains($0.originalName) })
        for item in items where item.originalName == "a" {
            #expect(try vault.get(item.name, "inbox") == [UInt8(item.originalCollection.dropFirst())!])
        }
        #expect(try vault.get("a") == [100] && vault.get("a", "inbox") == [101])
        #expect(try vault.origin(of: "a", in: "inbox") == .protected)
        #expect(errorCode { try vault.reject("a") } == .recordNotFound, "what the owner wrote is not rejected")
        #expect(errorCode { try vault.confirm("a") } == .recordNotFound)
    }

    @Test func theOwnerDecides() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([100], "taken", "c")
        vault.lock()
        for name in ["plain", "taken", "renamed", "rejected", "stays"] { try vault.open.put([1], name, "c") }
        try vault.open.drop([2], "sealed", "c")
        try vault.unlock("right")
        #expect(errorCode { try vault.withConfirmedValue(for: "plain", in: "inbox") { _ in } } == .unconfirmed)
        let place = try vault.confirm("plain")
        #expect(place == ("plain", "c"))
        #expect(try vault.get("plain", "c") == [1] && vault.origin(of: "plain", in: "c") == .protected)
        #expect(try vault.withConfirmedValue(for: "plain", in: "c") { $0.array } == [1])
        #expect(errorCode { try vault.confirm("plain") } == .recordNotFound)
        #expect(errorCode { try vault.confirm("taken") } == .recordExists)
        #expect(try vault.get("taken", "c") == [100] && vault.get("taken", "inbox") == [1])
        #expect(errorCode { try vault.confirm("taken", as: "") } == .invalidName)
        try vault.confirm("taken", replacing: true)
        #expect(try vault.get("taken", "c") == [1])
        try vault.confirm("renamed", as: "other", in: "d")
        #expect(try vault.get("other", "d") == [1])
        try vault.reject("rejected")
        try vault.confirm("sealed")
        #expect(try vault.get("sealed", "c") == [2])
        try vault.confirm("stays", in: "inbox")
        #expect(try vault.get("stays", "inbox") == [1] && vault.origin(of: "stays", in: "inbox") == .protected)
        #expect(try vault.inbox().isEmpty)
        #expect(try vault.verify().isIntact)
    }

    @Test func itemsOfTheInboxMoveToNewKeys() throws {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put([1], "a", "c")
        try vault.unlock("right")
        let items = try vault.inbox()
        let publicKey = try home.bytes("open.pub")
        vault.lock()
        try vault.open.drop([2], "sealed to the old key")
        _ = try vault.rekeyForTest("right", to: "next")
        #expect(try vault.inbox().count == 2, "the rekey is an unlock")
        #expect(try home.bytes("open.pub") != publicKey)
        // Still sealed to the old key: by somebody who read it before.
        try home.write(publicKey, to: "open.pub")
        try vault.open.drop([3], "sealed late")
        try vault.finishRekey()
        #expect(vault.open.lastMigration?.publicKey == .written, "the former key is no stranger's")
        #expect(try vault.inbox().filter { $0.name == "a" } == items)
        #expect(try vault.get("sealed late", "inbox") == [3] && vault.get("sealed to the old key", "inbox") == [2])
        try home.write(publicKey, to: "open.pub")
        vault.lock()
        try vault.open.drop([4], "sealed to nobody")
        try vault.unlock("next")
        let report = try #require(vault.open.lastMigration)
        #expect(report.publicKey == .replaced && report.unreadable == 1 && report.isSetAside && report.moved == 0)
        #expect(try vault.verify().isIntact)
    }

    /// A stop between the two databases: the item is in both.
    @Test func whatWasTakenInAlreadyIsKnownAgain() throws {
        let home = try TestHome()
        let vault = try home.locked()
        try vault.open.put([1], "a")
        try vault.open.drop([2], "b")
        let files = try ["open.mdb", "open.key"].map { ($0, try home.bytes($0)) }
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.moved == 2)
        vault.lock()
        for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: home.file(name))) }
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.known == 2 && vault.open.lastMigration?.moved == 0)
        #expect(try vault.inbox().count == 2)
        #expect(!home.exists("open.mdb"))
        // Also when more was written to it since.
        vault.lock()
        for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: home.file(name))) }
        try vault.open.put([3], "c")
        try vault.unlock("right")
        #expect(vault.open.lastMigration?.known == 2 && vault.open.lastMigration?.moved == 1)
        #expect(try vault.inbox().map(\.name) == ["a", "b", "c"])
    }

    /// Somebody copies an old state back. At worst its items appear again, beside everything else.
}

extension Vault {
    /// Writes the header as versions did that knew no inbox key.
    func forgetInboxKey(_ passcode: String) throws {
        let keys = try #require(gate.current?.keys)
        var locked = try LockedHeader(in: home)
        var header = locked.header
        let kept = keys.keybag.layout.entries.filter { $0.kind != .inbox }
        var bytes = try SecretBytes(zeroed: KeybagLayout.size(entries: kept.count))
        let layout = try bytes.withMutableBytes { bytes in
            try KeybagLayout(writing: kept.map { (kind: $0.kind, epoch: $0.epoch) }, into: &bytes)
        }
        for (old, new) in zip(kept, layout.entries) {
            try keys.keybag.withKey(old.kind, epoch: old.epoch) { key throws(VaultError) in
                bytes.withMutableBytes { bytes in
                    for (index, byte) in key.array.enumerated() { bytes.store(byte, at: new.range.lowerBound + index) }
                }
            }
        }
        header.sealedKeybag = try keys.headerKeys.seal(keybag: bytes, vault: header.vault, epoch: header.epoch)
        try locked.replace(header) { covered throws(VaultError) in try keys.headerKeys.mac(covered) }
    }
}
