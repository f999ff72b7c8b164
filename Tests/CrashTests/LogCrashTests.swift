#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Cryptography
import Foundation
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultLog

/// `kill -9`, power cuts and failing disks while the security log is written: it stays whole, and nothing that was
/// acknowledged is lost.
@Suite(.seeded, .serialized) struct LogCrashTests {
    private static let rounds = TestRun.count(test: 8, check: 25, soak: 1_000)

    /// The numbers of entries from an index on.
    private static func numbers(_ report: SecurityLogReport, from index: UInt64 = 0) -> [Int] {
        report.entries.filter { $0.index >= index }.compactMap { entry in
            guard entry.event.name == "inboxMigrated", case .number(let number) = entry.event["count"] else {
                return nil
            }
            return Int(number)
        }
    }

    /// What was said: numbers that were acknowledged, that failed, and the one that was under way.
    private struct Said {
        var done: [Int] = []
        var failed: [Int: String] = [:]
        var last: Int?

        init(_ lines: [String]) throws {
            for line in lines where line != "end" {
                if line.hasPrefix("begin "), let number = Int(line.dropFirst(6)) {
                    last = number
                } else if line == "done", let number = last {
                    done.append(number)
                    last = nil
                } else if line.hasPrefix("failed "), let number = last {
                    failed[number] = String(line.dropFirst(7))
                    last = nil
                } else {
                    throw Problem("not understood: \(line)")
                }
            }
        }
    }

    @Test func `kills while appending leave a valid log`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("log")
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        var (next, seen, acknowledged, ahead) = (0, UInt64(0), 0, 0)
        for round in 0..<LogCrashTests.rounds {
            let lines = try Child.killed(
                ["log", scratch.home, scratch.clock.path, "\(next)"], after: Int.random(in: 1...20, using: &generator),
                spinning: UInt64.random(in: 0...4_000_000, using: &generator))
            let said = try Said(lines)
            let context = "round \(round)"
            #expect(said.failed.isEmpty, "\(context)")
            try vault.unlock(phrase: Known.phrase(0))
            let report = try vault.securityLog()
            #expect(report.isIntact && report.notes.isEmpty, "\(report.findings.map(\.text)); \(context)")
            let found = LogCrashTests.numbers(report, from: seen)
            let expected = said.done + (found.count > said.done.count ? [said.last].compactMap(\.self) : [])
            #expect(found == expected, "\(context)")
            ahead += found.count - said.done.count
            acknowledged += said.done.count
            next = (found.last ?? next - 1) + 1
            seen = (report.entries.last?.index ?? 0) + 1
            vault.lock()
        }
        #expect(acknowledged > 0)
        TestRun.report(
            "kill during log appends",
            "\(LogCrashTests.rounds) kills, \(acknowledged) entries acknowledged, \(ahead) more were written")
    }

    @Test func `sixteen processes append at once`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        // In `make test` all of it just fits into the two files that are kept.
        let count = TestRun.count(test: 6, check: 15, soak: 500)
        let children = try (0..<16).map {
            try Child(["log-some", scratch.home, scratch.clock.path, "\($0 * 10_000)", "\(count)"])
        }
        var done: Set<Int> = []
        for child in children {
            let said = try Said(child.rest())
            #expect(child.wait() == .exited(0) && said.failed.isEmpty)
            done.formUnion(said.done)
        }
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        let report = try vault.securityLog()
        #expect(report.isIntact && report.notes.isEmpty)
        let found = LogCrashTests.numbers(report)
        #expect(done.count == 16 * count && Set(found) == done && found.count == done.count)
        for writer in 0..<16 {
            let own = found.filter { $0 / 10_000 == writer }
            #expect(own == own.sorted(), "one writer's entries are out of order")
        }
    }

    /// The log is about to begin a new segment, so that every call of that is met too.
    @Test(arguments: Fault.allCases)
    func `a fault at any call leaves a valid log`(fault: Fault) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("log \(fault.rawValue)")
        let template = scratch["template"]
        try Vault.createKnown(template, scratch.clock)
        try LogCrashTests.fill(template, scratch.clock, upTo: TestRun.entriesPerSegment - 2)
        let disk = FaultyDisk(scratch: scratch)
        let arguments = ["log-some", scratch.home, scratch.clock.path, "1", "5"]
        try scratch.copyHome(template, to: scratch.home)
        let calls = try disk.calls(of: arguments, under: scratch.home)
        #expect(calls.contains { $0.contains("rename") }, "no segment was begun: \(calls)")
        let chosen = FaultyDisk.choose(calls, 6, fault, using: &generator)
        var failures = 0
        for call in chosen {
            try scratch.copyHome(template, to: scratch.home)
            let environment = fault.environment(at: call, seed: generator.next() >> 2)
            let said = try Said(disk.run(arguments, under: scratch.home, environment))
            let context = "\(fault.rawValue), \(FaultyDisk.name(call, in: calls))"
            for (number, code) in said.failed { #expect(code == fault.code, "\(number): \(code); \(context)") }
            failures += said.failed.count
            let vault = try Vault.known(scratch.home, scratch.clock)
            try vault.unlock(phrase: Known.phrase(0))
            #expect(vault.log.problem == nil, "\(context)")
            let report = try vault.securityLog()
            #expect(report.isIntact, "\(report.findings.map(\.text)); \(context)")
            let found = LogCrashTests.numbers(report)
            let mayBeThere = Set(said.done).union(said.failed.keys).union([said.last].compactMap(\.self))
            #expect(found == found.sorted() && Set(found).count == found.count, "\(found); \(context)")
            #expect(Set(said.done).isSubset(of: found) && Set(found).isSubset(of: mayBeThere), "\(found); \(context)")
            if fault == .inputOutput && said.failed.keys.contains(where: { $0 < 5 }) {
                #expect(report.notes.count == 1, "what could not be written is not told; \(context)")
            }
            #expect(!FileManager.default.fileExists(atPath: "\(scratch.home)/log.new"), "\(context)")
        }
        TestRun.report("log, \(fault.rawValue)", "\(chosen.count) of \(calls.count) calls, \(failures) appends failed")
    }

    /// Adds entries without flushing each, until the next one has this index.
    private static func fill(_ home: String, _ clock: FileClock, upTo next: UInt64) throws {
        let vault = try Vault.known(home, clock)
        try vault.unlock(phrase: Known.phrase(0))
        let path = URL(fileURLWithPath: "\(home)/log")
        var log = Array(try Data(contentsOf: path))
        let front = try #require(LogSegment.front(of: log))
        let file = try #require(try LogStateFile.open(.creating, in: vault.home, vault: front.vault))
        var state = try #require(file.state)
        let keys = try #require(vault.gate.current).keys
        var key = try keys.logKeys().newest.first(of: front.chain)
        let recipient = try #require(state.recipient).point
        let point = try unsafe P256PublicKey(compressed: recipient.span.bytes)
        try key.evolve(by: state.next)
        while state.next < next {
            let entry = LogEntry(moment: vault.log.now, event: .drill(passed: true))
            let slot = try key.seal(entry, at: state.next, vault: front.vault, chain: front.chain, to: point)
            log += slot
            state.tail = Array(slot.suffix(16))
            state.next += 1
            try key.evolve()
        }
        try Data(log).write(to: path)
        try file.write(state, key: key)
    }
}
#endif
