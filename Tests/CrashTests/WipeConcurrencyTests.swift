#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// Many at once at a vault that destroys itself.
@Suite(.seeded, .serialized) struct WipeConcurrencyTests {
    @Test func `sixty-four guessers together get the limit and one wipe`() throws {
        let doomed = try DoomedHome(refused: 0)
        try doomed.copy()
        let scratch = doomed.scratch
        let guessers = try (1...48).map { try Child(["guess", scratch.home, scratch.clock.path, "\($0 * 1_000)"]) }
        for guesser in guessers { #expect(try guesser.expect() == "ready") }
        let vault = try Vault.known(scratch.home, scratch.clock)
        let answers = Mutex<[String: Int]>([:])
        var rounds = 0
        while answers.withLock({ $0["destroyed"] }) == nil, rounds < 20 {
            rounds += 1
            for guesser in guessers { try guesser.send("guess") }
            let round = rounds
            Threads.run(16) { number in
                var isBurned = false
                do {
                    let attempt = try vault.burnAttempt()
                    isBurned = true
                    try vault.verify(passcode: Known.wrongPasscode(100_000 + round * 100 + number), spending: attempt)
                } catch let error as VaultError {
                    let word = error.code == .wiped ? (isBurned ? "destroyed" : "wiped") : "\(error.code)"
                    answers.withLock { $0[word == "wrongPasscode" ? "refused" : word, default: 0] += 1 }
                } catch { answers.withLock { $0["\(error)", default: 0] += 1 } }
            }
            for guesser in guessers {
                let answer = try guesser.expect()
                answers.withLock { $0[answer, default: 0] += 1 }
            }
            scratch.clock.advance(milliseconds: 3_600_001)
        }
        let found = answers.withLock { $0 }
        #expect(Set(found.keys).isSubset(of: ["refused", "destroyed", "wiped", "delayed"]), "\(found)")
        #expect(found["refused"] == DoomedHome.limit - 1, "\(found)")
        #expect(found["destroyed"] == 1, "\(found)")
        for guesser in guessers { guesser.closeInput() }
        for guesser in guessers { #expect(guesser.wait() == .exited(0)) }
        #expect(try doomed.isWiped())
        #expect(try doomed.leftovers() == nil)
        TestRun.report("64 guessers, self-destruct on", "\(rounds) rounds, \(found.sorted { $0.key < $1.key })")
    }

    @Test func `many starts at once finish one wipe`() throws {
        let doomed = try DoomedHome(refused: DoomedHome.limit - 1)
        let scratch = doomed.scratch
        var generator = TestRun.generator("starts at once")
        let disk = FaultyDisk(scratch: scratch)
        let limit = ["wipe-limit", scratch.home, scratch.clock.path, "4"]
        try doomed.copy()
        let calls = try disk.calls(of: limit, under: scratch.home, expecting: ["guess wiped"])
        let firstMark = try #require(calls.firstIndex(of: "pwrite header"))
        for round in 0..<(TestRun.isSoak ? 50 : 5) {
            try doomed.copy()
            // From just after the ledger's own flush, so that state alone says what is to be done, to the very end.
            let at = Int.random(in: (firstMark + 1)...calls.count, using: &generator)
            _ = try disk.run(limit, under: scratch.home, Fault.kill.environment(at: at, seed: 1))
            let starts = try (0..<8).map { _ in try Child(["wipe-start", scratch.home, scratch.clock.path]) }
            for start in starts {
                #expect(try start.rest() == ["begin start", "failed wiped", "end"], "round \(round), call \(at)")
                #expect(start.wait() == .exited(0))
            }
            #expect(try doomed.leftovers() == nil, "round \(round), call \(at)")
        }
    }

    @Test func `a vault that is open elsewhere is destroyed all the same`() throws {
        let doomed = try DoomedHome(refused: 0)
        try doomed.copy()
        let scratch = doomed.scratch
        let open = try Vault.known(scratch.home, scratch.clock)
        try open.unlock(0)
        let writes = try Child(["write", scratch.home, scratch.clock.path, "7", "2"])
        while try writes.expect().hasPrefix("begin") == false {}
        let vault = try Vault.known(scratch.home, scratch.clock)
        let report = try vault.wipe(passcode: Known.passcode(0), spending: vault.burnAttempt()) { _ in }
        writes.kill()
        #expect(open.isWiped)
        if !report.isFinished { #expect(try doomed.isWiped()) }
        #expect(try doomed.leftovers() == nil, "\(report.summary)")
        open.lock()
        #expect(code { try open.unlock(0) } == .wiped)
    }
}
#endif
