#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Several processes and threads at one vault.
@Suite(.seeded, .serialized) struct ConcurrencyTests {
    @Test func `two processes that write at once lose nothing`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let count = 200
        let writers = try (0..<2).map { try Child(["put", scratch.home, scratch.clock.path, "\($0)", "\(count)"]) }
        var expected = Acknowledged()
        for writer in writers {
            try expected.follow(writer.rest())
            #expect(writer.wait() == .exited(0))
        }
        #expect(expected.records.count == 2 * count)
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        #expect(try expected.compare(vault) == nil)
        #expect(try vault.verifyAndClean() == nil)
    }

    @Test func `of many processes that create a vault at one place one does`() throws {
        var generator = TestRun.generator("create at once")
        for round in 0..<(TestRun.isSoak ? 100 : 8) {
            let scratch = try Scratch()
            let children = try (0..<6).map { _ in
                spin(nanoseconds: UInt64.random(in: 0...2_000_000, using: &generator))
                return try Child(["script-create", scratch.home, scratch.clock.path])
            }
            let outcomes = try children.map { try $0.rest()[1] }
            let context = "round \(round)"
            #expect(outcomes.filter { $0 == "done" }.count == 1, "\(outcomes), \(context)")
            #expect(Set(outcomes).isSubset(of: ["done", "failed exists", "failed busy"]), "\(outcomes), \(context)")
            let vault = try Vault.known(scratch.home, scratch.clock)
            #expect(throws: Never.self, "\(context)") { try vault.unlock(0) }
        }
    }

    /// Delays of a limit of 5: none, none, 30 s, 60 s, then an hour.
    private static let checksAfter: [(seconds: UInt64, checks: Int)] = [
        (0, 3), (29, 3), (1, 4), (59, 4), (1, 5), (3_599, 5), (1, 6), (3_599, 6), (1, 7),
    ]

    @Test func `sixteen guessing processes never get more checks than one`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let guessers = try (0..<16).map { try Child(["guess", scratch.home, scratch.clock.path, "\($0 * 1_000)"]) }
        for guesser in guessers { #expect(try guesser.expect() == "ready") }
        var checks = 0
        for step in ConcurrencyTests.checksAfter {
            scratch.clock.advance(milliseconds: step.seconds * 1000)
            // Each guesses twice: two at once are let through when a delay of none follows.
            for _ in 0..<2 {
                for guesser in guessers { try guesser.send("guess") }
                for guesser in guessers {
                    let answer = try guesser.expect()
                    #expect(answer == "refused" || answer == "delayed")
                    checks += answer == "refused" ? 1 : 0
                }
            }
            #expect(checks == step.checks, "after \(step.seconds) s more")
        }
        for guesser in guessers { guesser.closeInput() }
        for guesser in guessers { #expect(guesser.wait() == .exited(0)) }
        let vault = try Vault.known(scratch.home, scratch.clock)
        #expect(try vault.status().refusedAttempts == checks)
        _ = try vault.recover(phrase: Known.phrase(0), newPasscode: Known.passcode(1))
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func `sixteen guessing threads never get more checks than one`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        let checks = Mutex(0)
        let problems = Mutex<[String]>([])
        for step in ConcurrencyTests.checksAfter {
            scratch.clock.advance(milliseconds: step.seconds * 1000)
            Threads.run(16) { number in
                do {
                    let passcode = try Known.wrongPasscode(checks.withLock { $0 } * 100 + number)
                    try vault.verify(passcode: passcode, spending: vault.burnAttempt())
                    problems.withLock { $0.append("a wrong passcode was taken") }
                } catch let error as VaultError {
                    if error.code == .wrongPasscode { return checks.withLock { $0 += 1 } }
                    if error.code != .delayed { problems.withLock { $0.append("\(error)") } }
                } catch { problems.withLock { $0.append("\(error)") } }
            }
            #expect(checks.withLock { $0 } == step.checks, "after \(step.seconds) s more")
        }
        #expect(problems.withLock { $0 } == [])
    }

    @Test func `a process beside one that rekeys reads right data or is told`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        try vault.performAll(SmallVault.records)
        let rekeys = try Child(["rekey", scratch.home, scratch.clock.path, "0", "0"])
        var (right, told, phrase, done) = (0, 0, 0, 0)
        // The subject says which phrase comes; until it is used, the one before holds.
        while done < (TestRun.isSoak ? 100 : 12) {
            let line = try rekeys.expect()
            if line.hasPrefix("begin rekey"), let next = line.split(separator: " ").last.flatMap({ Int($0) }) {
                phrase = next
            }
            done += line == "done" ? 1 : 0
            for (place, content) in SmallVault.records {
                do {
                    let bytes = try vault.bytes(at: place)
                    #expect(bytes == content.bytes(), "\(place) has wrong bytes")
                    right += 1
                } catch let error as VaultError {
                    #expect(error.code == .keysChanged, "\(error)")
                    told += 1
                }
            }
            do {
                try vault.perform(Operation([.set(Place("beside", "r"), Content(seed: 9, size: 30))]))
            } catch let error as VaultError { #expect(error.code == .keysChanged, "\(error)") }
            for number in [phrase, phrase - 1] where number >= 0 {
                do {
                    try vault.unlock(phrase: Known.phrase(number))
                    break
                } catch let error as VaultError {
                    #expect(error.code == .wrongPhrase || error.code == .keysChanged, "\(error)")
                }
            }
        }
        rekeys.kill()
        #expect(right > 0)
        TestRun.report("beside a rekey", "\(done) steps, \(right) right reads, \(told) told that the keys changed")
    }

    @Test func `locking while threads read gives data before and nothing after`() throws {
        let scratch = try Scratch()
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        try vault.performAll(SmallVault.records)
        var generator = TestRun.generator("lock")
        let contents = SmallVault.records.mapValues { $0.bytes() }
        // An odd phase is the time between lock() and the next unlock.
        let state = Mutex((phase: 0, isOver: false, reads: 0, refused: 0, problems: [String]()))
        let readers = ConcurrencyTests.start(4) { number in
            let (place, bytes) = contents.sorted { $0.key < $1.key }[number]
            while !state.withLock({ $0.isOver }) {
                let phase = state.withLock { $0.phase }
                do {
                    let read = try vault.bytes(at: place)
                    state.withLock {
                        $0.reads += 1
                        if read != bytes { $0.problems.append("\(place) has wrong bytes") }
                        let wasLocked = phase % 2 == 1 && $0.phase == phase
                        if wasLocked { $0.problems.append("\(place) was read after lock() returned") }
                    }
                } catch {
                    let isLocked = (error as? VaultError)?.code == .locked
                    state.withLock {
                        $0.refused += 1
                        if !isLocked { $0.problems.append("\(error)") }
                    }
                }
            }
        }
        for _ in 0..<(TestRun.isSoak ? 2_000 : 150) {
            spin(nanoseconds: UInt64.random(in: 0...1_500_000, using: &generator))
            vault.lock()
            state.withLock { $0.phase += 1 }
            spin(nanoseconds: UInt64.random(in: 0...300_000, using: &generator))
            state.withLock { $0.phase += 1 }
            try vault.unlock(phrase: Known.phrase(0))
        }
        state.withLock { $0.isOver = true }
        for reader in readers { reader.wait() }
        let (reads, refused, problems) = state.withLock { ($0.reads, $0.refused, Set($0.problems)) }
        #expect(problems == [])
        #expect(reads > 0 && refused > 0)
        TestRun.report("lock while reading", "\(reads) reads, \(refused) refused")
    }

    private static func start(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> [DispatchSemaphore] {
        (0..<count).map { number in
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                body(number)
                ended.signal()
            }
            return ended
        }
    }
}
#endif
