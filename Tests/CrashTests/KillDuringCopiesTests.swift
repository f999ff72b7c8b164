#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultStorage
import VaultHeader

/// `kill -9` while a vault is created or copied: what is left is a whole vault, or a folder that can be used again.
@Suite(.seeded, .serialized) struct KillDuringCopiesTests {
    /// The numbers of homes that were finished, and of the one that was not.
    private static func follow(_ lines: [String]) throws -> (done: [Int], last: Int?) {
        var (done, last): ([Int], Int?) = ([], nil)
        for line in lines {
            if line.hasPrefix("begin "), let number = Int(line.dropFirst(6)) {
                last = number
            } else if line == "done", let number = last {
                done.append(number)
                last = nil
            } else {
                throw Problem("not understood: \(line)")
            }
        }
        return (done, last)
    }

    /// Nil when there is no vault, which must be what opening says.
    private static func vault(_ path: String, _ clock: FileClock) throws -> Vault? {
        do {
            return try Vault.known(path, clock)
        } catch let error where error is VaultError {
            guard (error as? VaultError)?.code == .noVault else { throw error }
            return nil
        }
    }

    @Test func `a creation leaves a whole vault or a place for one`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("create")
        var (whole, again, finished) = (0, 0, 0)
        for round in 0..<TestRun.rounds {
            let folder = scratch["round\(round)"]
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let lines = try Child.killed(
                ["create", folder, scratch.clock.path], after: Int.random(in: 0...4, using: &generator),
                spinning: UInt64.random(in: 0...12_000_000, using: &generator))
            let (done, last) = try KillDuringCopiesTests.follow(lines)
            let context = "round \(round)"
            finished += done.count
            for number in done + (last.map { [$0] } ?? []) {
                let path = "\(folder)/\(number)"
                var vault = try KillDuringCopiesTests.vault(path, scratch.clock)
                if vault == nil {
                    #expect(number == last, "an acknowledged vault is lost; \(context)")
                    again += 1
                    _ = try Vault.create(
                        at: path, passcode: Known.passcode(0), settings: .costsForTests(clock: scratch.clock))
                    vault = try Vault.known(path, scratch.clock)
                } else if number == last {
                    whole += 1
                }
                let created = try #require(vault)
                try created.unlock(0)
                try created.perform(Operation([.set(Place("c", "r"), Content(seed: 1, size: 10))]))
                #expect(try created.verifyAndClean() == nil, "\(context)")
                #expect(try created.status().remainingAttempts == 5)
            }
            try FileManager.default.removeItem(atPath: folder)
        }
        #expect(again > 0, "no creation was cut short: the kills come at the wrong moments")
        TestRun.report(
            "kill during create",
            "\(TestRun.rounds) kills, \(finished) acknowledged; of those killed \(whole) were whole, \(again) created again"
        )
    }

    @Test func `a backup leaves its source alone and a whole copy or a place for one`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("backup")
        try Vault.createKnown(scratch.home, scratch.clock)
        let source = try Vault.known(scratch.home, scratch.clock)
        try source.unlock(0)
        var expected = Acknowledged(SmallVault.records)
        try source.performAll(SmallVault.records)
        var (whole, again, finished) = (0, 0, 0)
        for round in 0..<TestRun.rounds {
            let folder = scratch["round\(round)"]
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let lines = try Child.killed(
                ["backup", scratch.home, scratch.clock.path, folder], after: Int.random(in: 0...3, using: &generator),
                spinning: UInt64.random(in: 0...25_000_000, using: &generator))
            let (done, last) = try KillDuringCopiesTests.follow(lines)
            let context = "round \(round)"
            finished += done.count
            for number in done + (last.map { [$0] } ?? []) {
                let path = "\(folder)/\(number)"
                if try KillDuringCopiesTests.vault(path, scratch.clock) == nil {
                    #expect(number == last, "an acknowledged backup is lost; \(context)")
                    again += 1
                    _ = try source.backup(to: path)
                } else if number == last {
                    whole += 1
                }
                let copy = try Vault.known(path, scratch.clock)
                try copy.unlock(0)
                #expect(try expected.compare(copy) == nil, "\(context)")
                #expect(try copy.verify().isIntact && copy.verify().orphanedFiles == 0, "\(context)")
                copy.lock()
                // Hashes every byte once more: now and then.
                if TestRun.isSoak || round % 5 == 0 {
                    #expect(throws: Never.self, "\(context)") {
                        _ = try Vault.restore(from: path, to: "\(path)-restored")
                    }
                }
            }
            #expect(try expected.compare(source) == nil, "the source changed; \(context)")
            #expect(try source.verifyAndClean() == nil, "the source changed; \(context)")
            try FileManager.default.removeItem(atPath: folder)
        }
        #expect(again > 0, "no backup was cut short: the kills come at the wrong moments")
        TestRun.report(
            "kill during backup",
            "\(TestRun.rounds) kills, \(finished) acknowledged; of those killed \(whole) were whole, \(again) made again"
        )
    }
}
#endif
