import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// The owner destroys the vault, or decides that it destroys itself.
extension WipeTests {
    @Test func theOwnerDestroysItWithThePasscode() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try vault.unlock("right")
        var announced: Vault.WipeReceiptKey?
        let names = try home.names()
        let report = try vault.wipe { key in
            announced = key
            #expect((try? home.names().filter { $0 != "receipt.key" }) == names, "erased before the key was shown")
        }
        #expect(report.isFinished)
        #expect(announced?.origin == .wipe)
        #expect(!vault.isUnlocked)
        #expect(try home.names() == ["wipe-receipt"])
        let receipt = try home.receipt(key: announced?.publicKey)
        #expect(receipt == report.receipt)
        #expect(receipt.cause == .owner)
        #expect(receipt.items.first { $0.target.description == "files" }?.count == 1)
    }

    @Test func theOwnerDestroysItWithThePhrase() throws {
        let home = try TestHome()
        let box = try home.create()
        let vault = try home.open()
        let other = try TestHome().create()
        #expect(errorCode { _ = try vault.wipe(phrase: other.phrase) { _ in } } == .wrongPhrase)
        let report = try vault.wipe(phrase: box.phrase) { _ in }
        #expect(report.isFinished)
        #expect(try home.names() == ["wipe-receipt"])
    }

    @Test func aWrongPasscodeOrAStoppedAnnouncementErasesNothing() throws {
        let home = try TestHome()
        let vault = try home.filled()
        let before = try home.bytes("header")
        #expect(errorCode { _ = try vault.wipe("wrong") } == .wrongPasscode)
        let right = try secret("right")
        let code = errorCode {
            _ = try vault.wipe(passcode: right, spending: vault.burnAttempt()) { _ throws(VaultError) in
                throw VaultError(.busy, "stopped")
            }
        }
        #expect(code == .busy)
        #expect(try home.bytes("header") == before)
        #expect(try !home.names().contains("receipt.key"))
        try vault.unlock("right")
        #expect(try vault.get("record 2") == pattern(300, seed: 2))
    }

    @Test func switchingMakesAndDestroysTheKey() throws {
        let home = try TestHome()
        let vault = try home.filled()
        #expect(try vault.wipeReceiptKey == nil)
        let first = try #require(try vault.setSelfDestruct(true))
        #expect(try vault.setSelfDestruct(true) == first, "switching on twice made another key")
        #expect(try vault.wipeReceiptKey == first)
        let mode = try FileManager.default.attributesOfItem(atPath: home.file("receipt.key"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try vault.setSelfDestruct(false) == nil)
        #expect(try !home.names().contains("receipt.key"))
        #expect(try !vault.status().policy.selfDestruct)
        #expect(try vault.setSelfDestruct(true) != first)

        #expect(errorCode { try vault.setSelfDestruct(false, "wrong") } == .wrongPasscode)
        let right = try secret("right")
        let code = errorCode {
            _ = try vault.changeSelfDestruct(to: false, passcode: right, spending: vault.burnAttempt()) {
                () throws(VaultError) in throw VaultError(.busy, "not approved")
            }
        }
        #expect(code == .busy)
        #expect(try vault.status().policy.selfDestruct)
        #expect(try home.names().contains("receipt.key"))
    }

    @Test func rulesAreNoWayAroundTheCountdown() throws {
        let home = try TestHome()
        let vault = try home.filled()
        let right = try secret("right")
        let code = errorCode {
            try vault.changePolicy(passcode: right, spending: vault.burnAttempt()) { $0.selfDestruct = true }
        }
        #expect(code == .invalidPolicy)
        #expect(try !vault.status().policy.selfDestruct)
    }

    @Test func anotherVaultCanBeMadeBesideTheReceipt() throws {
        let home = try TestHome()
        _ = try home.filled().wipe()
        let receipt = try home.bytes("wipe-receipt")
        _ = try home.create("another")
        let vault = try home.open()
        try vault.unlock("another")
        #expect(try home.bytes("wipe-receipt") == receipt)
        #expect(!vault.isWiped)
    }

    @Test func theBytesOfKeysAndCountsAreOverwrittenNotOnlyUnlinked() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try vault.setSelfDestruct(true)
        #expect(errorCode { try vault.guess(1) } == .wrongPasscode)
        let secrets = try home.secrets()
        let scalar = Array(try home.bytes("receipt.key")[32..<64])
        let held = try ["header", "ledger", "receipt.key"].map {
            try #require(FileHandle(forReadingAtPath: home.file($0)))
        }
        _ = try vault.wipe()
        for handle in held {
            let bytes = try [UInt8](#require(try handle.readToEnd()))
            #expect(!bytes.isEmpty)
            for secret in secrets + [scalar] { #expect(!bytes.contains(secret)) }
        }
    }
}
