#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import KeyStores
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// `kill -9` while the level of a vault is moved, and while what is stored moves to the new keys.
@Suite(.seeded, .serialized) struct KillDuringMovesTests {
    @Test func `killed anywhere in a move, one level opens, no share is over, and nothing stored is lost`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("moves")
        try Moves.create(scratch.home, scratch.clock)
        var expected = Acknowledged()
        try KillDuringMovesTests.fill(scratch, &expected)
        // The number of the move that is next.
        var next = 0
        var (undone, made, unfinished) = (0, 0, 0)
        for round in 0..<TestRun.rounds {
            let lines = try Child.killed(
                ["move", scratch.home, scratch.clock.path, "\(next)"], after: Int.random(in: 1...6, using: &generator),
                spinning: UInt64.random(in: 0...8_000_000, using: &generator))
            #expect(!lines.contains { $0.hasPrefix("failed") }, "\(lines)")
            var isCut = false
            for line in lines {
                if let number = line.split(separator: " ").last.flatMap({ Int($0) }), line.hasPrefix("begin move") {
                    (next, isCut) = (number, true)
                } else if line == "done", isCut {
                    (next, isCut) = (next + 1, false)
                }
            }
            // The home as a kill left it, by each way, each in a copy of its own.
            let context = "round \(round), move \(next), cut \(isCut)"
            let level = try KillDuringMovesTests.opening(scratch)
            #expect(level.count == 1, "\(level) open; \(context)")
            guard let level = level.first else { return }
            if isCut {
                #expect([Moves.before(next), Moves.after(next)].contains(level), "\(context)")
                if level == Moves.after(next) { (made, next) = (made + 1, next + 1) } else { undone += 1 }
            }
            #expect(level == Moves.before(next), "\(context)")
            let vault = try Moves.vault(scratch.home, scratch.clock)
            try Moves.open(vault, level)
            #expect(try expected.compare(vault) == nil, "\(context)")
            if try vault.isRekeyUnfinished {
                unfinished += 1
                try vault.finishRekey()
                #expect(try expected.compare(vault) == nil, "after finishing; \(context)")
            }
            #expect(try vault.verifyAndClean() == nil, "\(context)")
            let protection = try vault.protection()
            let shares = (try? FileManager.default.contentsOfDirectory(atPath: scratch.home + "/shares")) ?? []
            #expect(shares.count == protection.shares.count, "\(shares); \(context)")
            let note = scratch.home + "/hardware.pending"
            #expect(
                !FileManager.default.fileExists(atPath: note)
                    && !FileManager.default.fileExists(atPath: note + ".refused"))
            let floor = try FileFloor(scratch.home + "-floor").floor(of: .standard)
            #expect(floor == .floor(LevelFloor(try vault.id, level)), "\(context)")
            vault.lock()
        }
        #expect(undone + made + unfinished > 0, "nothing was cut short: the kills come at the wrong moments")
        TestRun.report(
            "kill during moves",
            "\(TestRun.rounds) kills up to move \(next); cut short: \(made) made, \(undone) undone, \(unfinished) changes of "
                + "keys finished afterwards")
    }

    /// The levels by whose way the home opens now.
    private static func opening(_ scratch: Scratch) throws -> [VaultLevel] {
        try VaultLevel.allCases.filter { level in
            let copy = scratch["copy"]
            try copyAll(scratch.home, to: copy)
            do { try Moves.open(Moves.vault(copy, scratch.clock), level) } catch { return false }
            return true
        }
    }

    /// The home with its shares, and its floor.
    private static func copyAll(_ home: String, to copy: String) throws {
        for end in ["", "-floor"] {
            try? FileManager.default.removeItem(atPath: copy + end)
            guard FileManager.default.fileExists(atPath: home + end) else { continue }
            try FileManager.default.copyItem(atPath: home + end, toPath: copy + end)
        }
    }

    /// Records and a file, so that moving them takes a while.
    private static func fill(_ scratch: Scratch, _ expected: inout Acknowledged) throws {
        let vault = try Moves.vault(scratch.home, scratch.clock)
        try vault.openByDevice()
        let records = (0..<40).map { number in
            Change.set(Place("c", "r\(number)"), Content(seed: UInt64(number), size: number * number * 3))
        }
        let file = Operation([.set(Place("f", "f"), Content(seed: 99, size: 1_060_000))])
        for operation in [Operation(records), file] {
            try vault.perform(operation)
            expected.begin(operation)
            expected.end(done: true)
        }
        vault.lock()
    }
}
#endif
