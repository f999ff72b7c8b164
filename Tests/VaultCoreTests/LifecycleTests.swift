import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@Suite struct LifecycleTests {
    @Test func creatingNeverOverwrites() throws {
        let home = try TestHome()
        _ = try home.create()
        let before = try home.bytes("header")
        #expect(errorCode { _ = try home.create("other") } == .exists)
        #expect(try home.bytes("header") == before)
        let other = try TestHome()
        try FileManager.default.createDirectory(atPath: other.path, withIntermediateDirectories: false)
        #expect(FileManager.default.createFile(atPath: other.file("mine"), contents: Data([1])))
        #expect(errorCode { _ = try other.create() } == .exists)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["mine"])
    }

    @Test func anEmptyFolderAndAnUnfinishedCreationAreUsed() throws {
        let home = try TestHome()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: false)
        _ = try home.create()
        // As a creation killed late leaves it: everything there, the header without its name yet.
        #expect(FileManager.default.createFile(atPath: home.file(".creating"), contents: nil))
        try FileManager.default.moveItem(atPath: home.file("header"), toPath: home.file(".header.part"))
        #expect(errorCode { _ = try home.open() } == .noVault)
        _ = try home.create("second")
        let vault = try home.open()
        try vault.unlock("second")
        #expect(try vault.verify().isIntact)
        let mode = try FileManager.default.attributesOfItem(atPath: home.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        for name in ["header", "ledger", "vault.mdb"] {
            let mode = try FileManager.default.attributesOfItem(atPath: home.file(name))[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
    }

    @Test func `a marker of a creation beside a header takes nothing from the vault`() throws {
        let home = try TestHome()
        _ = try home.create()
        let before = try home.bytes("header")
        for isFolder in [false, true] {
            if isFolder {
                try FileManager.default.createDirectory(
                    atPath: home.file(".creating"), withIntermediateDirectories: false)
            } else {
                #expect(FileManager.default.createFile(atPath: home.file(".creating"), contents: nil))
            }
            #expect(errorCode { _ = try home.create("second") } == .exists)
            #expect(try home.bytes("header") == before)
            try home.open().unlock("right")
            #expect(home.exists(".creating") == isFolder)
        }
    }

    @Test func badPasscodesAreRefusedBeforeAnythingIsMade() throws {
        let home = try TestHome()
        for bad in ["", String(repeating: "x", count: 1025)] {
            #expect(errorCode { _ = try home.create(bad) } == .invalidPasscode)
        }
        #expect(!FileManager.default.fileExists(atPath: home.path))
        _ = try home.create(String(repeating: "x", count: 1024))
    }

    @Test func aNewPasscodeReplacesTheOld() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([7], "kept")
        vault.lock()
        #expect(errorCode { try vault.changePasscode("wrong", "new") } == .wrongPasscode)
        try vault.changePasscode("right", "new")
        #expect(errorCode { try vault.unlock("right") } == .wrongPasscode)
        try vault.unlock("new")
        #expect(try vault.get("kept") == [7])
    }

    @Test func thePhraseOpensAndSetsANewPasscode() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let other = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        let vault = try home.open()
        let new = try secret("new")
        #expect(errorCode { try vault.unlock(phrase: other.phrase) } == .wrongPhrase)
        #expect(errorCode { _ = try vault.recover(phrase: other.phrase, newPasscode: new) } == .wrongPhrase)
        #expect(try vault.status().remainingAttempts == 5)
        try vault.unlock(phrase: phrase.phrase)
        try vault.put([7], "kept")
        vault.lock()
        #expect(try !vault.recover(phrase: phrase.phrase, newPasscode: new).headerWasAltered)
        #expect(try vault.get("kept") == [7])
        vault.lock()
        #expect(errorCode { try vault.unlock("right") } == .wrongPasscode)
        try vault.unlock("new")
        vault.lock()
        try vault.unlock(phrase: phrase.phrase)
    }

    @Test func keysInMemoryAreGoneAfterLocking() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([7], "kept")
        vault.lock()
        vault.lock()
        #expect(!vault.isUnlocked)
        #expect(errorCode { _ = try vault.get("kept") } == .locked)
        try vault.unlock("right")
        try vault.unlock("right")
        #expect(try vault.get("kept") == [7])
    }

    @Test func aStreamDoesNotKeepTheVaultOpen() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.stream(pattern(Vault.largestInlineValue + 200_000), "stream")
        var pieces = 0
        #expect(
            errorCode {
                try vault.read("stream") { _ in
                    pieces += 1
                    if pieces == 2 { vault.lock() }
                }
            } == .locked)
        #expect(pieces == 2)
        try vault.unlock("right")
        var calls = 0
        #expect(
            errorCode {
                try vault.put("other") { memory in
                    calls += 1
                    if calls == 30 { vault.lock() }
                    return min(50_000, memory.byteCount)
                }
            } == .locked)
        try vault.unlock("right")
        #expect(try vault.records().map(\.name) == ["stream"])
        #expect(try vault.verify().orphanedFiles == 0)
    }

    @Test func aWriteInsideABatchIsRefusedNotAHang() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        #expect(errorCode { try vault.write { _ in try vault.put([1], "x") } } == .busy)
        #expect(errorCode { try vault.write { _ in try vault.write { _ in } } } == .busy)
        try vault.put([1], "x")
    }
}
