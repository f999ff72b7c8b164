import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@Suite struct RekeyTests {
    private func rekey(
        _ vault: Vault, _ old: String, _ new: String, _ phrase: RecoveryPhraseBox, isNew: Bool
    ) throws {
        let old = try secret(old)
        let new = try secret(new)
        try vault.rekey(
            passcode: old, spending: vault.burnAttempt(), newPasscode: new, phrase: phrase.phrase, isNewPhrase: isNew)
    }

    private func fill(_ vault: Vault) throws {
        try vault.write { session in
            for number in 0..<600 {
                try unsafe session.put(pattern(50, seed: UInt8(number & 255)).span.bytes, for: "n\(number)")
            }
        }
        try vault.stream(pattern(Vault.largestInlineValue + 99), "file")
    }

    private func check(_ vault: Vault) throws {
        for number in stride(from: 0, to: 600, by: 7) {
            #expect(try vault.get("n\(number)") == pattern(50, seed: UInt8(number & 255)))
        }
        #expect(try vault.readAll("file") == pattern(Vault.largestInlineValue + 99))
        #expect(try vault.records().count == 601)
        let report = try vault.verify()
        #expect(report.isIntact)
        #expect(report.orphanedFiles == 0)
    }

    @Test func everythingMovesAndTheOldHeaderOpensNothingNew() throws {
        let home = try TestHome()
        let oldPhrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try fill(vault)
        let oldHeader = try home.bytes("header")
        let oldFile = try FileManager.default.contentsOfDirectory(atPath: home.file("files"))
        let newPhrase = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try rekey(vault, "right", "new", newPhrase, isNew: true)
        #expect(try vault.isRekeyUnfinished)
        try check(vault)
        var last = 0
        try vault.finishRekey { done, total in
            last = done
            #expect(total == 601)
        }
        #expect(last == 601)
        #expect(try !vault.isRekeyUnfinished)
        try check(vault)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("files")) != oldFile)
        vault.lock()
        try vault.unlock("new")
        try check(vault)
        vault.lock()
        try vault.unlock(phrase: newPhrase.phrase)
        vault.lock()
        #expect(errorCode { try vault.unlock(phrase: oldPhrase.phrase) } == .wrongPhrase)
        // The thief's copy of the old header, in place of the new one: the old passcode finds nothing it can read.
        try home.write(oldHeader, to: "header")
        let stolen = try home.open()
        #expect(errorCode { try stolen.unlock("right") } == .rollbackSuspected)
        #expect(errorCode { try stolen.unlock(phrase: oldPhrase.phrase) } == .rollbackSuspected)
        #expect(!stolen.isUnlocked)
    }

    @Test func aPlainChangeOfPasscodeDoesNotRevokeAnOldCopyOfTheHeader() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([7], "name")
        let oldHeader = try home.bytes("header")
        try vault.changePasscode("right", "new")
        try home.write(oldHeader, to: "header")
        let stolen = try home.open()
        try stolen.unlock("right")
        #expect(try stolen.get("name") == [7], "documented: only a rekey ends this")
    }

    @Test func anInterruptedMoveGoesOnLater() throws {
        let home = try TestHome()
        let phrase = try home.create()
        do {
            let vault = try home.open()
            try vault.unlock("right")
            try fill(vault)
            try rekey(vault, "right", "new", phrase, isNew: false)
            // Locking in the middle stops it between two transactions.
            var steps = 0
            #expect(
                errorCode {
                    try vault.finishRekey { _, _ in
                        steps += 1
                        if steps == 1 { vault.lock() }
                    }
                } == .locked)
        }
        let vault = try home.open()
        try vault.unlock("new")
        #expect(try vault.isRekeyUnfinished)
        try check(vault)
        // Writes meanwhile: over a record under the old keys, and removal of another.
        try vault.put([1], "n599", replacing: true)
        #expect(errorCode { try vault.put([1], "n598") } == .recordExists)
        try vault.delete("n597")
        try vault.put(pattern(50, seed: UInt8(597 & 255)), "n597")
        try vault.put(pattern(50, seed: UInt8(599 & 255)), "n599", replacing: true)
        try vault.finishRekey()
        #expect(try !vault.isRekeyUnfinished)
        try check(vault)
        vault.lock()
        try vault.unlock(phrase: phrase.phrase)
        try check(vault)
    }

    @Test func theOldPhraseMustBeTheRightOneToBeKept() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        let other = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        #expect(errorCode { try rekey(vault, "right", "new", other, isNew: false) } == .wrongPhrase)
        #expect(errorCode { try rekey(vault, "wrong", "new", other, isNew: true) } == .wrongPasscode)
        try vault.unlock("right")
    }

    @Test func whoHasOnlyTheOldKeysIsToldAndWritesNothing() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let first = try home.open()
        try first.unlock("right")
        try fill(first)
        let second = try home.open()
        try second.unlock("right")
        try rekey(first, "right", "new", phrase, isNew: false)
        try first.finishRekey()
        #expect(errorCode { try second.put([1], "more") } == .keysChanged)
        #expect(errorCode { _ = try second.get("n1") } == .keysChanged)
        #expect(errorCode { _ = try second.get("never there") } == .keysChanged)
        second.lock()
        try second.unlock("new")
        try check(second)
    }

    @Test func rekeyingTwiceKeepsWorking() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try fill(vault)
        try rekey(vault, "right", "second", phrase, isNew: false)
        try rekey(vault, "second", "third", phrase, isNew: false)
        try check(vault)
        try vault.finishRekey()
        try check(vault)
        vault.lock()
        try vault.unlock("third")
        try check(vault)
    }
}
