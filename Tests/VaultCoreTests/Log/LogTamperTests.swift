import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultHeader
@testable import VaultLog
@testable import VaultStorage

/// Somebody without keys edits, removes, moves and adds in the log's files; the position is named, by who only reads
/// and by who has written on meanwhile.
@Suite struct LogTamperTests {
    private let home: TestHome
    private let vault: Vault
    private let good: LogFiles
    /// Entries 0 created, 1 unlocked, 2 ... 9 drills.
    private static let count = 10
    /// Writing on after every change takes long without optimisation: every so many, all when soaking.
    private static let step = TestRun.isSoak ? 1 : 29

    init() throws {
        home = try TestHome()
        vault = try home.unlocked()
        vault.appendDrills(LogTamperTests.count - 2)
        good = LogFiles(of: home)
    }

    /// What is found with these files, by a reader and after one more entry was written.
    private func found(_ change: (inout LogFiles) -> Void) throws -> (reading: [String], after: [String]) {
        try good.restore(to: home)
        var files = good
        change(&files)
        try files.restore(to: home)
        let reading = try vault.logFindings()
        #expect(vault.log.append(.drill(passed: true)), "the log stopped: \(String(describing: vault.log.problem))")
        let report = try vault.securityLog()
        #expect(report.entries.last?.event.name == "drill")
        return (reading, report.findings.map { "\($0.kind)@\($0.position)" })
    }

    private func positions(_ findings: [String]) -> Set<Int> {
        Set(findings.compactMap { $0.split(separator: "@").last.flatMap { Int($0) } })
    }

    @Test func anUntouchedLogIsIntact() throws {
        let found = try found { _ in }
        #expect(found.reading == [] && found.after == [])
    }

    @Test func everyChangedByteOfAnEntryIsFoundInItsPlace() throws {
        for offset in LogFormat.slotSize..<good["log"].count {
            let index = offset / LogFormat.slotSize - 1
            try good.restore(to: home, only: ["log"])
            try home.flip("log", at: offset)
            #expect(try positions(vault.logFindings()) == [index], "byte \(offset)")
        }
        for offset in stride(from: LogFormat.slotSize, to: good["log"].count, by: LogTamperTests.step) {
            let found = try found { $0["log"][offset] ^= UInt8(1 << (offset % 8)) }
            #expect(positions(found.after).contains(offset / LogFormat.slotSize - 1), "byte \(offset): \(found.after)")
        }
    }

    @Test func everyChangedByteOfTheFrontIsFound() throws {
        for offset in 0..<LogFormat.slotSize {
            let found = try found { $0["log"][offset] ^= 0x10 }
            #expect(positions(found.reading) == [0], "byte \(offset): \(found.reading)")
            #expect(!found.after.isEmpty, "byte \(offset)")
            #expect(try vault.logged().prefix(3) == ["created", "unlocked", "drill"], "entries were lost")
        }
    }

    @Test func aRemovedEntryIsMissed() throws {
        for index in 0..<LogTamperTests.count {
            let found = try found { $0["log"].removeSubrange($0.slot(index)) }
            #expect(positions(found.reading).contains(index), "entry \(index): \(found.reading)")
            #expect(positions(found.after).contains(index), "entry \(index): \(found.after)")
        }
    }

    @Test func exchangedEntriesAreFound() throws {
        for first in 0..<LogTamperTests.count {
            for second in 0..<first {
                let found = try found { files in
                    let (one, other) = (Array(files["log"][files.slot(first)]), Array(files["log"][files.slot(second)]))
                    files["log"].replaceSubrange(files.slot(first), with: other)
                    files["log"].replaceSubrange(files.slot(second), with: one)
                }
                #expect(positions(found.reading).contains(second), "\(second), \(first): \(found.reading)")
                #expect(!found.after.isEmpty)
            }
        }
    }

    @Test func aCutIsFoundAtEveryLength() throws {
        let size = good["log"].count
        for length in (0..<size).reversed() {
            try home.write(Array(good["log"].prefix(length)), to: "log")
            #expect(
                try positions(vault.logFindings()).contains(max(0, length / LogFormat.slotSize - 1)), "\(length) bytes")
        }
        let some = (0..<size).filter {
            TestRun.isSoak || $0 % LogFormat.slotSize < 2 || $0 % LogFormat.slotSize == LogFormat.slotSize - 1
                || $0 % 43 == 0
        }
        for length in some {
            let found = try found { $0["log"].removeLast(size - length) }
            let whole = max(0, length / LogFormat.slotSize - 1)
            #expect(positions(found.reading).contains(whole), "\(length) bytes: \(found.reading)")
            #expect(positions(found.after).contains(whole), "\(length) bytes: \(found.after)")
        }
        let gone = try found { $0["log"] = [] }
        #expect(!gone.reading.isEmpty && !gone.after.isEmpty)
    }

    @Test func aLogThatIsGoneIsMissed() throws {
        try FileManager.default.removeItem(atPath: home.file("log"))
        #expect(try vault.logFindings() == ["missing@0"])
        vault.log.append(.drill(passed: true))
        let report = try vault.securityLog()
        #expect(report.findings.map(\.kind) == [.missing, .altered])
        #expect(report.entries.map(\.index) == [10, 11])
        #expect(report.entries[0].event["kind"] == .text("missing"))
    }

    @Test func bytesThatNobodyWroteAreFound() throws {
        for added in [1, 20, 191, 192, 193, 1000, 70_000] {
            for index in [1, 5] {
                let found = try found {
                    $0["log"].insert(contentsOf: pattern(added), at: $0.slot(index).lowerBound)
                }
                #expect(positions(found.reading).contains(index), "\(added) bytes: \(found.reading)")
                #expect(positions(found.after).contains(index), "\(added) bytes: \(found.after)")
                #expect(try vault.logged().count >= 10, "entries behind it were lost")
            }
        }
        // Behind the end, no more than a slot may be what a power cut left: it is dropped.
        let behind = try found { $0["log"] += pattern(193) }
        #expect(positions(behind.reading) == [10] && positions(behind.after).contains(10))
        let copy = try found { $0["log"] += $0["log"][$0.slot(9)] }
        #expect(positions(copy.after).contains(10), "a copy of an entry is no torn one")
        let torn = try found { $0["log"] += pattern(100) }
        #expect(torn.reading == [] && torn.after == [])
        let endOnly = try found { $0["log"] += [UInt8](repeating: 0, count: 128) + pattern(64) }
        #expect(endOnly.reading == [] && endOnly.after == [], "the end of a slot whose first block was lost")
    }

    @Test func aLogThatIsPutBackAloneIsFound() throws {
        vault.appendDrills(3)
        let newer = LogFiles(of: home)
        try good.restore(to: home, only: ["log"])
        #expect(try vault.logFindings() == ["cut@10"])
        vault.log.append(.drill(passed: true))
        #expect(try vault.logFindings() == ["missing@10", "altered@10"])
        try newer.restore(to: home)
        #expect(try vault.logFindings() == [])
    }

    @Test func aStateThatIsPutBackAloneIsFound() throws {
        vault.appendDrills(3)
        try good.restore(to: home, only: ["log.state"])
        #expect(try vault.logFindings() == ["state@10"])
        vault.log.append(.drill(passed: true))
        #expect(try vault.logFindings() == ["altered@10"])
        // Nothing was lost.
        #expect(try vault.securityLog().entries.map(\.index) == Array(0..<15))
    }

    /// A power cut may take back a state that an unlock did not wait for: no alarm then, but a word.
    @Test func aStateOfAnotherBootMayBeBehind() throws {
        vault.appendDrills(3)
        try good.restore(to: home, only: ["log.state"])
        home.clock.reboot()
        let report = try vault.securityLog()
        #expect(report.isIntact && report.notes.count == 1)
        vault.log.append(.drill(passed: true))
        #expect(try vault.securityLog().isIntact && vault.securityLog().entries.count == 14)
    }

    @Test func aStatePutBackBehindARotationIsFound() throws {
        try home.fillLog(of: vault, upTo: TestRun.entriesPerSegment - 1)
        let before = LogFiles(of: home)
        vault.appendDrills(3)
        try before.restore(to: home, only: ["log.state"])
        #expect(try !vault.securityLog().isIntact)
        vault.log.append(.drill(passed: true))
        let findings = try vault.securityLog().findings
        #expect(!findings.isEmpty && findings.contains { $0.position >= TestRun.entriesPerSegment - 1 })
    }

    /// As Docs/vault-format.md says: nothing outside the home knows better in the file tier.
    @Test func logAndStatePutBackTogetherAreNotFound() throws {
        vault.appendDrills(3)
        try good.restore(to: home)
        #expect(try vault.logFindings() == [])
        vault.log.append(.drill(passed: true))
        #expect(try vault.logFindings() == [])
        #expect(try vault.securityLog().entries.count == LogTamperTests.count + 1)
    }

    @Test func aChangedByteOfTheStateIsNeverBelieved() throws {
        let sectors = Array(0..<LogState.size) + Array(4096..<4096 + LogState.size)
        for offset in sectors where TestRun.isSoak || offset % 5 == 0 {
            let found = try found { $0["log.state"][offset] ^= 0x04 }
            #expect(found.reading == [] && found.after == [], "byte \(offset): the other sector holds")
        }
        var files = good
        for offset in [70, 4096 + 70] { files["log.state"][offset] ^= 1 }
        try files.restore(to: home)
        #expect(try vault.logFindings() == ["state@10"])
        #expect(!vault.log.append(.drill(passed: true)))
        #expect(vault.log.problem?.code == .damaged)
    }

    /// Whoever writes the state knows how its checksum is made.
    @Test func aForgedStateIsFound() throws {
        func forge(_ change: (inout LogState) -> Void, key flip: UInt8 = 0) throws -> [String] {
            try good.restore(to: home)
            var sector = Array(good["log.state"][..<LogState.size])
            var state = try sector.withRawSpan { bytes throws(FormatError) in
                try LogState(parsing: bytes, checksum: HeaderFile.checksum)
            }
            change(&state)
            sector[64] ^= flip
            sector.withMutableRawSpan { state.write(into: &$0, checksum: HeaderFile.checksum) }
            let gap = [UInt8](repeating: 0, count: 4096 - LogState.size)
            try home.write(sector + gap + sector, to: "log.state")
            return try vault.logFindings()
        }
        #expect(try forge { _ in } == [])
        #expect(try forge { $0.next = 8 } == ["state@8"])
        #expect(try forge { $0.next = 12 } == ["state@10"])
        #expect(try forge({ _ in }, key: 1) == ["state@10"])
        #expect(try forge { $0.chain = LogChain(bytes: pattern(16))! } == ["state@10"])
        // A state of the future, with the right key: then entries are missing.
        try good.restore(to: home)
        vault.appendDrills(2)
        try good.restore(to: home, only: ["log"])
        #expect(try vault.logFindings() == ["cut@10"])
    }

    @Test func entriesOfAnotherVaultAreRefused() throws {
        let other = try TestHome()
        let stranger = try other.unlocked()
        stranger.appendDrills(8)
        let strange = LogFiles(of: other)
        let found = try found { $0["log"].replaceSubrange($0.slot(4), with: strange["log"][$0.slot(4)]) }
        #expect(positions(found.reading) == [4])
        try good.restore(to: home)
        try strange.restore(to: home, only: ["log"])
        #expect(try !vault.securityLog().isIntact)
        try strange.restore(to: home)
        #expect(try !vault.securityLog().isIntact)
        #expect(!vault.log.append(.drill(passed: true)), "a state of another vault is none")
    }

    @Test func garbageAndStrangeFilesNeverTrap() throws {
        for (seed, size) in [0, 1, 191, 192, 193, 4096, 100_000, 3 << 20].enumerated() {
            for name in LogFiles.names {
                var files = good
                files[name] = pattern(size, seed: UInt8(seed))
                try files.restore(to: home)
                _ = try vault.securityLog()
                _ = vault.log.append(.drill(passed: true))
                _ = try vault.status()
                vault.lock()
                try vault.unlock("right")
                #expect(vault.log.problem == nil, "\(name), \(size) bytes: \(String(describing: vault.log.problem))")
                #expect(try vault.logged().last == "unlocked", "\(name), \(size) bytes")
            }
        }
    }
}
