import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultStorage

/// The database as a whole: an old state of it, put in place of the present one, is not taken for the vault.
@Suite struct StateTests {
    @Test func noFlippedBitOfAMetaPageBringsAnOldStateBack() throws {
        let home = try TestHome()
        _ = try home.create()
        do {
            let vault = try home.open()
            try vault.unlock("right")
            for number in 0..<3 { try vault.put([UInt8(number)], "name", replacing: true) }
        }
        let good = try home.bytes("vault.mdb")
        // Every bit of the number of both pages. (Elsewhere LMDB may end the process: child processes test that.)
        for offset in [144, 4096 + 144] {
            for bit in 0..<64 {
                var bad = good
                bad[offset + bit / 8] ^= 1 << UInt8(bit % 8)
                try home.write(bad, to: "vault.mdb")
                let vault = try home.open()
                do {
                    try vault.unlock("right")
                    #expect(try vault.get("name") == [2], "offset \(offset), bit \(bit)")
                } catch let error as VaultError {
                    #expect(
                        [.damaged, .rollbackSuspected, .inputOutput].contains(error.code),
                        "offset \(offset), bit \(bit)")
                }
                #expect(try vault.status().remainingAttempts == 5)
            }
        }
        try home.write(good, to: "vault.mdb")
        let vault = try home.open()
        try vault.unlock("right")
        #expect(try vault.verify().isIntact)
    }

    @Test func aBackupAndItsNextWritesAreAState() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<5 { try vault.put([UInt8(number)], "name", replacing: true) }
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        for number in 0..<4 {
            let copy = try backup.open()
            try copy.unlock("right")
            #expect(try copy.verify().isIntact)
            try copy.put([UInt8(number)], "name", replacing: true)
            #expect(try copy.get("name") == [UInt8(number)])
        }
    }

    @Test func aLargeValueStoredAndRemovedInOneBatchLeavesAWholeVault() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "small")
        let large = try secret(pattern(Vault.largestInlineValue))
        try vault.writeAgain { session in
            for number in 0..<4 { try large.withBytes { try session.put($0, for: "t\(number)") } }
            for number in 0..<4 { try session.delete("t\(number)") }
        }
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.verify().isIntact)
    }

    @Test func aPlantedLinkInPlaceOfTheLockFileIsNotFollowed() throws {
        let home = try TestHome()
        _ = try home.create()
        let victim = home.path + "-victim"
        defer { try? FileManager.default.removeItem(atPath: victim) }
        #expect(FileManager.default.createFile(atPath: victim, contents: Data([1, 2, 3])))
        try? FileManager.default.removeItem(atPath: home.file("vault.mdb-lock"))
        try FileManager.default.createSymbolicLink(
            atPath: home.file("vault.mdb-lock"), withDestinationPath: victim)
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(FileManager.default.contents(atPath: victim) == Data([1, 2, 3]))
    }

    @Test func aBatchWhoseClosureSwallowsAHalfDoneChangeStoresNothing() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "kept")
        let value: [UInt8] = [9]
        // Refused without a change: the rest may be stored.
        try vault.write { session in
            do { try value.withRawSpan { try session.put($0, for: "kept") } } catch {}
            try value.withRawSpan { try session.put($0, for: "new") }
        }
        #expect(try vault.get("kept") == [1])
        #expect(try vault.get("new") == [9])
        #expect(try vault.verify().isIntact)
    }

    @Test func openingDoesNotWaitForAWriter() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        try vault.write { session in
            try [2].withRawSpan { try session.put($0, for: "name", replacing: true) }
            let other = try home.open()
            try other.unlock("right")
            #expect(try other.get("name") == [1])
        }
        #expect(try vault.get("name") == [2])
    }
}

/// Ways to lose or gain attempts that a review found.
@Suite struct AttemptReviewTests {
    @Test func aNewPasscodeThatCannotBeOneCostsNothing() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        let right = try secret("right")
        let empty = try secret("")
        for _ in 0..<6 {
            #expect(
                errorCode { try vault.changePasscode(from: right, spending: vault.burnAttempt(), to: empty) }
                    == .invalidPasscode)
            #expect(
                errorCode {
                    try vault.rekey(
                        passcode: right, spending: vault.burnAttempt(), newPasscode: empty, phrase: phrase.phrase,
                        isNewPhrase: false)
                } == .invalidPasscode)
        }
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func aTornThirdBurnHasItsDelay() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("wrong 1") } == .wrongPasscode)
        #expect(errorCode { try vault.unlock("wrong 2") } == .wrongPasscode)
        // The sector that the third burn would overwrite, as a kill in its middle leaves it: the older one.
        let sequences = try (0..<2).map { index in
            let start = index * LedgerSector.size
            let bytes = Array(try home.bytes("ledger")[start..<start + LedgerSector.size])
            return try LedgerSector(parsing: bytes, checksum: HeaderFile.checksum).sequence
        }
        let older = sequences[0] < sequences[1] ? 0 : 1
        try home.flip("ledger", at: older * LedgerSector.size + 60)
        #expect(try vault.status().remainingAttempts == 2)
        let error = #expect(throws: VaultError.self) { try vault.unlock("right") }
        #expect(error?.code == .delayed)
        #expect(error?.retryAfter == .seconds(30))
        home.clock.advance(seconds: 30)
        try vault.unlock("right")
    }

    @Test func thePhraseReopensAClosedPasscode() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        for _ in 0..<5 {
            _ = try vault.burnAttempt()
            home.clock.advance(seconds: 3600)
        }
        #expect(try vault.status().isPasscodeClosed)
        try vault.unlock(phrase: phrase.phrase)
        vault.lock()
        try vault.unlock("right")
    }

    @Test func anAttemptOfAnotherVaultIsRefused() throws {
        let first = try TestHome()
        let second = try TestHome()
        _ = try first.create()
        _ = try second.create("other")
        let vault = try first.open()
        let foreign = try second.open()
        let other = try secret("other")
        let new = try secret("new")
        #expect(
            errorCode { try vault.changePasscode(from: other, spending: foreign.burnAttempt(), to: new) }
                == .otherVault)
        #expect(try foreign.status().remainingAttempts == 5)
        try foreign.unlock("other")
    }

    @Test(arguments: ["spent", "sequence", "generation"])
    func numbersAtTheirEndAreDamageAndNoTrap(field: String) throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        if field == "generation" {
            try home.editHeader { $0.generation = .max }
            #expect(errorCode { try vault.unlock("right") } == .damaged)
            return
        }
        var bytes: [UInt8] = []
        for index in 0..<2 {
            let start = index * LedgerSector.size
            var sector = try LedgerSector(
                parsing: Array(home.bytes("ledger")[start..<start + LedgerSector.size]),
                checksum: HeaderFile.checksum)
            if field == "spent" { sector.spent = .max } else { sector.sequence = .max }
            bytes += sector.encoded(checksum: HeaderFile.checksum)
        }
        try home.write(bytes, to: "ledger")
        #expect(try vault.status().remainingAttempts == 1)
        #expect(errorCode { try vault.unlock("right") } == .delayed)
        let new = try secret("new")
        _ = try vault.recover(phrase: phrase.phrase, newPasscode: new)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func aBackupCarriesTheCounts() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("wrong 1") } == .wrongPasscode)
        #expect(errorCode { try vault.unlock("wrong 2") } == .wrongPasscode)
        let backup = try TestHome()
        _ = try vault.backup(to: backup.path)
        #expect(try backup.open().status().remainingAttempts == 3)
        let restored = try TestHome()
        _ = try Vault.restore(from: backup.path, to: restored.path)
        #expect(try restored.open().status().remainingAttempts == 3)
    }
}
