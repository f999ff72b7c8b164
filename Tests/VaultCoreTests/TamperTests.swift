import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat
import VaultLog

@testable import VaultCore
@testable import VaultStorage

/// What somebody who can write the database, but has no key, can do.
@Suite struct TamperTests {
    @Test func aRecordMovedToAnotherNameOrCollectionIsRefused() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name", "a")
        try vault.put([2], "name", "b")
        let first = try vault.rawRecord("name", "a")
        let second = try vault.rawRecord("name", "b")
        try vault.overwrite(first.key, second.value)
        try vault.overwrite(second.key, first.value)
        #expect(errorCode { _ = try vault.get("name", "a") } == .damaged)
        #expect(errorCode { _ = try vault.get("name", "b") } == .damaged)
        #expect(try vault.verify().damagedRecords == 2)
    }

    /// What does not fit keeps nothing else from moving to new keys, and a change of keys makes nothing of it right.
    @Test func `a record that nobody can read is set aside by a change of keys, and told`() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for name in ["good", "bad", "old"] { try vault.put([1], name) }
        let older = try vault.rawRecord("old")
        try vault.put([2], "old", replacing: true)
        var bad = try vault.rawRecord("bad")
        bad.value[bad.value.count - 1] ^= 1
        // As a database that continues being written: its root record is of the last transaction.
        let open = try #require(vault.gate.current)
        let root = try RecordReader(open.keys.records, open.database).root()
        let state = try WriterState(open.keys.records, open.database, in: vault.home)
        let transaction = try WriteTransaction(open.database)
        for (key, value) in [bad, older] {
            try key.withRawSpan { key in
                _ = try transaction.put(key, in: .records, size: value.count, replacing: true) { bytes in
                    for (index, byte) in value.enumerated() { bytes.store(byte, at: index) }
                }
            }
        }
        try WriteSession.writeRoot(root, state, transaction)
        try transaction.commit()
        try vault.rekey(
            passcode: secret("right"), spending: vault.burnAttempt(), newPasscode: secret("right"),
            phrase: Vault.newRecoveryPhrase(), isNewPhrase: true)
        #expect(try vault.protection().moving != nil)
        var told: [Protection.Moving?] = []
        let misfits = try vault.finishRekey { _, _ in told.append((try? vault.protection())?.moving) }
        #expect(misfits == 1)
        #expect(told.last??.done == 3 && told.last??.total == 3 && told.last??.percent == 100)
        #expect(try !vault.isRekeyUnfinished && vault.protection().moving == nil)
        #expect(try vault.get("good") == [1])
        let report = try vault.verify()
        #expect(report.damagedRecords == 1 && report.isRolledBack, "the older value is not laundered")
        let entries = try vault.securityLog().entries.map(\.event)
        #expect(entries.contains(.recordsSetAside(count: 1)))
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.get("good") == [1])
    }

    @Test func anOlderValueOfARecordIsFoundByVerify() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        let old = try vault.rawRecord("name")
        try vault.put([2], "name", replacing: true)
        #expect(try vault.verify().isIntact)
        try vault.overwrite(old.key, old.value)
        #expect(try vault.get("name") == [1], "genuine, only old: a read cannot tell")
        let report = try vault.verify()
        #expect(report.isRolledBack)
        #expect(!report.isIntact)
    }

    @Test func aMissingRecordIsFoundByVerify() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "one")
        try vault.put([2], "two")
        try vault.overwrite(vault.rawRecord("one").key, nil)
        let report = try vault.verify()
        #expect(report.isRolledBack)
        #expect(report.expectedRecords == 2)
        #expect(report.records == 1)
    }

    @Test func aLostRootRecordIsDamage() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "one")
        try vault.overwrite(RootRecord.databaseKey, nil, in: .main)
        #expect(errorCode { try vault.put([2], "two") } == .damaged)
        vault.lock()
        #expect(errorCode { try vault.unlock("right") } == .damaged)
    }

    /// Each tree takes its own keys only: a record is not looked for beside the root record, nor that among the
    /// records.
    @Test func anEntryInTheOtherTreeIsFoundByVerify() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        let record = try vault.rawRecord("name")
        try vault.overwrite(record.key, record.value, in: .main)
        try vault.overwrite(RootRecord.databaseKey, record.value)
        try vault.overwrite([7], [1, 2, 3], in: .main)
        #expect(try vault.get("name") == [1])
        #expect(try vault.verify().damagedRecords == 3)
        try vault.overwrite(record.key, nil)
        #expect(errorCode { _ = try vault.get("name") } == .recordNotFound)
    }

    @Test(arguments: [0x02, 0x04, 0x08, 0x10] as [UInt16])
    func flagsOfATreeThatWereNeverSetAreDamage(flags: UInt16) throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<3 { try vault.put([UInt8(number)], "n\(number)") }
        vault.lock()
        let good = try home.bytes("vault.mdb")
        let name = Array("records".utf8)
        // Behind the name in each main tree there is: pad (4), flags (2). In the meta pages: those of the main tree.
        let nodes = good.indices.dropLast(name.count).filter { Array(good[$0..<$0 + name.count]) == name }
        #expect(nodes.count >= 2)
        for places in [nodes.map { $0 + name.count + 4 }, [88 + 4, 4096 + 88 + 4]] {
            var bad = good
            for place in places { (bad[place], bad[place + 1]) = (UInt8(flags & 0xFF), UInt8(flags >> 8)) }
            try home.write(bad, to: "vault.mdb")
            #expect(errorCode { try vault.unlock("right") } == .damaged)
        }
        try home.write(good, to: "vault.mdb")
        try vault.unlock("right")
        #expect(try vault.verify().isIntact)
    }

    @Test func everyByteOfAValueIsAuthenticated() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put(pattern(40), "name")
        let good = try vault.rawRecord("name")
        for index in good.value.indices {
            var bad = good.value
            bad[index] ^= 0x80
            try vault.overwrite(good.key, bad)
            let code = errorCode("byte \(index)") { _ = try vault.get("name") }
            #expect(code == .damaged || index < 4 && code == .keysChanged)
        }
        for count in [0, 1, 31, 32, good.value.count - 1] {
            try vault.overwrite(good.key, Array(good.value[..<count]))
            #expect(errorCode("\(count) bytes") { _ = try vault.get("name") } == .damaged)
        }
        try vault.overwrite(good.key, good.value)
        #expect(try vault.get("name") == pattern(40))
    }

    @Test func aDatabaseOfAnotherVaultIsDamage() throws {
        let home = try TestHome()
        _ = try home.create()
        let other = try TestHome()
        _ = try other.create()
        try home.write(try other.bytes("vault.mdb"), to: "vault.mdb")
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func aTruncatedDatabaseIsDamage() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for number in 0..<50 { try vault.put(pattern(3000), "n\(number)") }
        vault.lock()
        let whole = try home.bytes("vault.mdb")
        for size in [0, 100, 4096, 8191, whole.count / 2 / 4096 * 4096] {
            try home.write(Array(whole[..<size]), to: "vault.mdb")
            let fresh = try home.open()
            let code = errorCode("\(size) bytes") {
                try fresh.unlock("right")
                for number in 0..<50 { #expect(try fresh.get("n\(number)") == pattern(3000)) }
            }
            #expect(code == .damaged)
            if fresh.isUnlocked { #expect((try? fresh.verify().isIntact) != true) }
        }
    }
}
