import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultLog
@testable import VaultStorage

/// Logs that are lost, copied, or cannot be written: the vault opens, and it is said.
@Suite struct LogLossTests {
    private func remove(_ home: TestHome, _ names: String...) throws {
        for name in names { try FileManager.default.removeItem(atPath: home.file(name)) }
    }

    @Test func aVaultWithoutLogGetsOneAtTheNextUnlock() throws {
        let home = try TestHome()
        _ = try home.create()
        try remove(home, "log", "log.state")
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        #expect(vault.log.problem?.code == .damaged && vault.log.missedEvents == 1)
        #expect(try vault.status().log.problem == "there is none; it begins at the next unlock")
        try vault.unlock("right")
        let report = try vault.securityLog()
        #expect(report.entries.map(\.event.name) == ["restarted", "missed", "unlocked"])
        #expect(report.entries[0].event["reason"] == .text("nothingFound"))
        #expect(report.entries[0].event["refused"] == .number(1))
        #expect(report.findings.map(\.kind) == [.restarted])
        #expect(vault.log.problem == nil && vault.log.missedEvents == 0)
        let status = try vault.status().log
        #expect(status.problem == nil && status.entries == 3)
    }

    @Test func aLostStateBeginsANewChainAndKeepsTheOldEntries() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.appendDrills(3)
        try remove(home, "log.state")
        #expect(!vault.log.append(.drill(passed: true)))
        #expect(try vault.logFindings() == ["state@5"])
        vault.lock()
        #expect(try vault.status().log.problem == "its state is lost; it begins anew at the next unlock")
        try vault.unlock("right")
        let report = try vault.securityLog()
        #expect(
            report.entries.map(\.event.name) == [
                "created", "unlocked", "drill", "drill", "drill", "restarted", "missed", "unlocked",
            ])
        #expect(report.entries[5].event["found"] == .number(5))
        #expect(report.findings.map { "\($0.kind)@\($0.position)" } == ["restarted@0"])
        // What is set aside is missed too.
        try remove(home, "log.old")
        #expect(try vault.logFindings() == ["missing@0", "restarted@0"])
    }

    /// A state that is destroyed again and again never reuses a key.
    @Test func everyRestartIsAnotherChain() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        var chains: Set<[UInt8]> = []
        for _ in 0..<5 {
            chains.insert(try #require(LogSegment.front(of: home.bytes("log"))).chain.bytes)
            try home.write([], to: "log.state")
            vault.lock()
            try vault.unlock("right")
            #expect(vault.log.problem == nil)
        }
        #expect(chains.count == 5)
    }

    @Test func aBackupCarriesTheEntriesAndNotTheKey() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.appendDrills(2)
        let copy = try TestHome()
        let restored = try TestHome()
        _ = try vault.backup(to: copy.path)
        let state = try home.bytes("log.state")
        let copiedState = try copy.bytes("log.state")
        #expect(copiedState[LogState.keyRange].allSatisfy { $0 == 0 })
        #expect(!state[LogState.keyRange].allSatisfy { $0 == 0 })
        #expect(try copy.bytes("log").count == 5 * LogFormat.slotSize)
        _ = try Vault.restore(from: copy.path, to: restored.path)
        for (place, reason) in [(copy, "backup"), (restored, "restored")] {
            let other = try place.open()
            #expect(try other.status().log.problem == "this is a copy; it begins anew at the next unlock")
            try other.unlock("right")
            let report = try other.securityLog()
            #expect(report.isIntact && report.notes.count == 1)
            #expect(
                report.entries.map(\.event.name) == [
                    "created", "unlocked", "drill", "drill", "restarted", "unlocked",
                ])
            #expect(report.entries[4].event["reason"] == .text(reason))
            #expect(try other.status().log.problem == nil)
            #expect(try other.verify().isIntact)
        }
        // The first one continues as it was.
        vault.appendDrills(1)
        #expect(try vault.logged() == ["created", "unlocked", "drill", "drill", "backedUp", "drill"])
        #expect(try vault.securityLog().isIntact)
        // A backup that was opened is one still.
        let again = try TestHome()
        _ = try Vault.restore(from: copy.path, to: again.path)
        let last = try again.open()
        try last.unlock("right")
        #expect(try last.securityLog().isIntact)
    }

    @Test func aBackupWithACutLogSaysSo() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.appendDrills(4)
        let copy = try TestHome()
        _ = try vault.backup(to: copy.path)
        try copy.write(Array(copy.bytes("log").dropLast(256)), to: "log")
        let other = try copy.open()
        try other.unlock("right")
        #expect(try other.logFindings() == ["missing@4"])
    }

    /// Running as root, modes do not stop us; a folder under the name does.
    @Test func aLogThatCannotBeWrittenStopsNobody() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        let good = LogFiles(of: home)
        vault.lock()
        try remove(home, "log.state")
        try FileManager.default.createDirectory(atPath: home.file("log.state"), withIntermediateDirectories: false)
        try vault.unlock("right")
        try vault.put([1], "works")
        #expect(vault.log.problem != nil && vault.log.missedEvents == 1)
        #expect(try vault.status().log.problem != nil && vault.status().log.missedEvents == 1)
        try remove(home, "log.state")
        try good.restore(to: home)
        vault.lock()
        #expect(vault.log.problem == nil)
        try vault.unlock("right")
        let report = try vault.securityLog()
        #expect(report.entries.map(\.event.name).suffix(3) == ["missed", "locked", "unlocked"])
        #expect(report.entries.first { $0.event.name == "missed" }?.event["count"] == .number(1))
        #expect(report.notes.count == 1)
    }

    /// The header's lock may be held while the log is written, never the other way round.
    @Test func theHeadersLockIsNoObstacle() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        let attempt = try vault.burnAttempt()  // holds the header
        #expect(vault.log.append(.drill(passed: true)))
        #expect(vault.log.append(.turnedAway))
        try vault.unlock(passcode: secret("right"), spending: attempt)
        #expect(try vault.logged() == ["created", "drill", "turnedAway", "unlocked"])
    }

    /// Takes as long as another writer is waited for.
    @Test(.enabled(if: TestRun.isSoak, "SKIPPED: waits, see make soak"))
    func aWriterThatHangsStopsNobody() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        var held = try LogStateFile.open(.appending, in: vault.home, vault: vault.log.vault)
        try vault.unlock("right")
        #expect(vault.isUnlocked && vault.log.problem?.code == .busy && vault.log.missedEvents == 1)
        #expect(try vault.status().log.problem != nil)
        held = nil
        #expect(held == nil && vault.log.append(.drill(passed: true)))
        #expect(try vault.logged() == ["created", "missed", "drill"])
    }

    @Test func plantedLinksAreNotFollowed() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        vault.appendDrills(2)
        let good = LogFiles(of: home)
        let target = home.file("target")
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: target))
        for name in LogFiles.names {
            try good.restore(to: home)
            try? FileManager.default.removeItem(atPath: home.file(name))
            try FileManager.default.createSymbolicLink(atPath: home.file(name), withDestinationPath: target)
            _ = vault.log.append(.drill(passed: true))
            _ = try vault.status()
            vault.lock()
            try vault.unlock("right")
            _ = try? vault.securityLog()
            #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data([1, 2, 3]), "\(name)")
            try? FileManager.default.removeItem(atPath: home.file(name))
        }
    }
}
