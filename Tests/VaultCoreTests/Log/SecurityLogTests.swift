import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultLog
@testable import VaultStorage

/// What is written, when, and by whom.
@Suite struct SecurityLogTests {
    @Test func eachThingThatHappensHasOneEntry() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        vault.lock()
        vault.lock()  // already locked: nothing happened
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        try vault.verify(passcode: secret("right"), spending: vault.burnAttempt())
        try vault.changePasscode("right", "next")
        try vault.changePolicy(passcode: secret("next"), spending: vault.burnAttempt()) { policy in
            policy.attemptLimit = 7
            policy.delays = [0, 5]
        }
        #expect(errorCode { try vault.unlock(phrase: RecoveryPhrase(entropy: secret(pattern(32)))) } == .wrongPhrase)
        _ = try vault.recover(phrase: phrase.phrase, newPasscode: secret("found"))
        _ = try vault.backup(to: home.path + "-copy")
        defer { try? FileManager.default.removeItem(atPath: home.path + "-copy") }
        try vault.rekey(
            passcode: secret("found"), spending: vault.burnAttempt(), newPasscode: secret("newest"),
            phrase: phrase.phrase, isNewPhrase: false)
        vault.lock(because: .idle)
        try vault.unlock("newest")
        #expect(
            try vault.logged() == [
                "created", "unlocked", "locked", "refused", "repeated", "confirmed", "passcodeChanged",
                "policyChanged", "wrongPhrase", "recovered", "backedUp", "restarted", "rekeyed", "locked", "unlocked",
            ])
        let report = try vault.securityLog()
        #expect(report.isIntact && report.notes.isEmpty)
        #expect(report.entries.map(\.index) == Array(0..<11) + Array(0..<4), "new keys begin a chain")
        #expect(report.entries[1].event["method"] == .text("passcode"))
        #expect(report.entries[5].event.details.isEmpty)
        #expect(report.entries[7].event["keys"] == .list(["attemptLimit", "delays"]))
        #expect(report.entries[13].event["reason"] == .text("idle"))
    }

    /// An agent proves the log for its clients, and a lock waits for no more than one entry.
    @Test func `a lock ends the reading of the log at the next entry`() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for _ in 0..<5 {
            try vault.unlock("right")
            vault.lock()
        }
        try vault.unlock("right")
        var (asked, allowed) = (0, 3)
        let code = errorCode {
            _ = try vault.log.report(vault.logKeys()) { () throws(VaultError) in
                asked += 1
                guard asked <= allowed else { throw .locked }
            }
        }
        #expect(code == .locked && asked == 4)
        (asked, allowed) = (0, .max)
        let report = try vault.log.report(vault.logKeys()) { () throws(VaultError) in asked += 1 }
        #expect(report.entries.count == 12 && asked == 12)
    }

    @Test func anUnlockTellsWhatCameBefore() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for number in 0..<2 { #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode) }
        _ = try vault.burnAttempt()  // never checked
        home.clock.advance(seconds: 60)
        try vault.unlock("right")
        let report = try vault.securityLog()
        #expect(report.entries.map(\.event.name) == ["created", "refused", "refused", "unsettled", "unlocked"])
        #expect(report.entries[3].event["count"] == .number(1))
        #expect(report.entries[4].event["refused"] == .number(2))
        #expect(report.entries[2].event["refusedCount"] == .number(2))
    }

    @Test func aDelayIsToldOnce() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for number in 0..<3 { #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode) }
        for _ in 0..<50 { #expect(errorCode { _ = try vault.burnAttempt() } == .delayed) }
        home.clock.advance(seconds: 60)
        #expect(errorCode { try vault.unlock("wrong again") } == .wrongPasscode)
        #expect(errorCode { _ = try vault.burnAttempt() } == .delayed)
        home.clock.advance(seconds: 60)
        try vault.unlock("right")
        #expect(
            try vault.logged() == [
                "created", "refused", "refused", "refused", "turnedAway", "refused", "turnedAway", "unlocked",
            ])
    }

    /// What nothing bounds must not push older entries out.
    @Test func aFloodTakesFewEntries() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.lock()
        for number in 0..<3_000 {
            vault.log.append(number % 3 == 0 ? .wrongPhrase : number % 3 == 1 ? .repeated : .backedUp)
        }
        try vault.unlock("right")
        let report = try vault.securityLog()
        #expect(report.isIntact)
        // 16, then 32, 64 ... 2048, and the end of it.
        #expect(report.entries.count == 3 + 16 + 7 + 1 + 1)
        let end = try #require(report.entries.first { $0.event.name == "runEnded" })
        #expect(end.event["wrongPhraseCount"] == .number(1_000) && end.event["backedUpCount"] == .number(1_000))
    }

    @Test func aRunThatWasWrittenWholeHasNoEnd() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        for _ in 0..<32 { vault.log.append(.wrongPhrase) }
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.logged().filter { $0 == "wrongPhrase" }.count == 17)
        #expect(try !vault.logged().contains("runEnded"))
    }

    @Test func appendingWorksWhileLockedAndNothingCanBeReadThen() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        let before = try home.bytes("log").count
        #expect(vault.log.append(.drill(passed: true)))
        #expect(try home.bytes("log").count == before + LogFormat.slotSize)
        #expect(errorCode { _ = try vault.securityLog() } == .locked)
    }

    /// The key of the next entry is there to be found; those of the entries that are written must not be.
    @Test func theStateOpensNoEarlierEntry() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.appendDrills(5)
        let state = try home.bytes("log.state")
        let log = try home.bytes("log")
        let front = try #require(LogSegment.front(of: log))
        for offset in [0, 4096] {
            let sector = Array(state[offset..<offset + LogState.size])
            var key = try sector.withRawSpan { try LogKey(copying: $0.extracting(LogState.keyRange)) }
            let parsed = try sector.withRawSpan { bytes throws(FormatError) in
                try LogState(parsing: bytes, checksum: HeaderFile.checksum)
            }
            #expect(parsed.next == 7)
            for _ in 0..<20 {
                for index in 0..<7 {
                    let slot = Array(log[(index + 1) * LogFormat.slotSize..<(index + 2) * LogFormat.slotSize])
                    let isProved = slot.withRawSpan {
                        key.proves($0, at: UInt64(index), vault: front.vault, chain: front.chain)
                    }
                    #expect(!isProved)
                }
                try key.evolve()
            }
        }
        // Nothing of what was written can be read on the disk.
        let states = Set(stride(from: 0, to: state.count - 32, by: 1).map { Array(state[$0..<$0 + 32]) })
        var key = try vault.firstLogKey(front)
        for _ in 0..<7 {
            #expect(!states.contains(key.withBytes { $0.array }))
            try key.evolve()
        }
        #expect(states.contains(key.withBytes { $0.array }))
    }

    @Test func observersAreTold() async throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        var events = vault.securityEvents().makeAsyncIterator()
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        try vault.unlock("right")
        vault.lock(because: .timeout)
        #expect(await events.next()?.event.name == "refused")
        #expect(await events.next()?.event.name == "unlocked")
        #expect(await events.next()?.event["reason"] == .text("timeout"))
    }

    @Test func theLogGoesOnThroughNewKeysAndManyProcesses() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let other = try home.open()
        try other.unlock("right")
        try vault.rekey(
            passcode: secret("right"), spending: vault.burnAttempt(), newPasscode: secret("next"),
            phrase: Vault.newRecoveryPhrase(), isNewPhrase: true)
        try vault.finishRekey()
        other.log.append(.drill(passed: true))
        vault.log.append(.drill(passed: false))
        let report = try vault.securityLog()
        #expect(report.isIntact)
        #expect(
            report.entries.map(\.event.name) == [
                "created", "unlocked", "unlocked", "restarted", "rekeyed", "drill", "drill",
            ])
    }

    @Test func threadsAppendAtOnce() async throws {
        let home = try TestHome()
        _ = try home.create()
        // All of it fits into one file.
        let vault = try Vault(at: home.path, settings: .costsForTests(clock: home.clock))
        try vault.unlock("right")
        await withTaskGroup { group in
            for _ in 0..<16 { group.addTask { vault.appendDrills(20) } }
        }
        let report = try vault.securityLog()
        #expect(report.isIntact && report.entries.count == 2 + 320)
    }

    @Test func segmentsRotateAndSayWhereTheKeptPartBegins() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let perSegment = Int(TestRun.entriesPerSegment)
        try home.fillLog(of: vault, upTo: UInt64(perSegment) - 2)
        vault.appendDrills(2)
        #expect(try home.bytes("log").count == (perSegment + 1) * LogFormat.slotSize)
        #expect(!FileManager.default.fileExists(atPath: home.file("log.old")))
        vault.appendDrills(1)
        var report = try vault.securityLog()
        #expect(report.isIntact && report.entries.count == perSegment + 2)
        #expect(report.entries[perSegment].event.name == "rotated")
        try home.fillLog(of: vault, upTo: UInt64(2 * perSegment) - 1)
        vault.appendDrills(1)
        let full = try vault.securityLog()
        #expect(full.isIntact && full.entries.count == 2 * perSegment)
        vault.appendDrills(1)
        report = try vault.securityLog()
        #expect(report.isIntact && report.entries.first?.index == UInt64(perSegment))
        #expect(report.entries.count == perSegment + 2 && report.entries.first?.event.name == "rotated")
        #expect(try home.bytes("log.old").count == (perSegment + 1) * LogFormat.slotSize)
        try FileManager.default.removeItem(atPath: home.file("log.old"))
        #expect(try vault.logFindings() == ["missing@\(perSegment)"])
    }
}
