#if os(Linux) && !canImport(Darwin)
import CrashSubject
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// `kill -9` while passcodes are guessed. The limit of these vaults is 5.
@Suite(.seeded, .serialized) struct KillDuringAttemptsTests {
    private static let limit = 5

    /// What one budget of attempts saw, until the phrase gave a new one.
    private struct Budget {
        /// Attempts that were begun, burned and refused, as far as the subject could say so.
        var begun: Set<Int> = []
        var burned: Set<Int> = []
        var refused: Set<Int> = []
        /// The subject found no attempt left.
        var isExhausted = false
        /// The limit was reached, and the hour's delay runs.
        var isDelayed = false

        mutating func follow(_ lines: [String]) throws {
            for line in lines {
                let words = line.split(separator: " ")
                switch (words.first, words.last.flatMap { Int($0) }) {
                case ("begin", let number?): begun.insert(number)
                case ("burned", let number?): burned.insert(number)
                case ("refused", let number?): refused.insert(number)
                case ("exhausted", _): isExhausted = true
                case ("delayed", _): isDelayed = true
                default: throw Problem("not understood: \(line)")
                }
            }
        }
    }

    /// So many that the limit is reached.
    private static let rounds = TestRun.count(test: 25, check: 25, soak: 500)

    @Test func `no attempt is regained and the limit holds`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("attempts")
        try Vault.createKnown(scratch.home, scratch.clock)
        let vault = try Vault.known(scratch.home, scratch.clock)
        var budget = Budget()
        var (next, passcode, recoveries, checks, closed) = (0, 0, 0, 0, 0)
        for round in 0..<KillDuringAttemptsTests.rounds {
            let lines = try Child.killed(
                ["attempt", scratch.home, scratch.clock.path, "\(next)"],
                after: Int.random(in: 0...4, using: &generator),
                spinning: UInt64.random(in: 0...3_000_000, using: &generator))
            next += 1_000
            try budget.follow(lines)
            let status = try vault.status()
            let spent = KillDuringAttemptsTests.limit - status.remainingAttempts
            let context = "round \(round)"
            // Attempts 6, 7 ... are one an hour, and the subject's clock never passes the hour.
            #expect(budget.burned.count <= KillDuringAttemptsTests.limit, "\(context)")
            #expect(spent >= budget.burned.count, "an attempt was regained; \(context)")
            #expect(spent <= budget.begun.count, "an attempt was spent that nobody made; \(context)")
            #expect(status.refusedAttempts >= budget.refused.count, "\(context)")
            guard status.remainingAttempts == 0 else {
                #expect(!budget.isExhausted && !budget.isDelayed, "refused with attempts left; \(context)")
                continue
            }
            // At the limit: by wrong passcodes alone one more an hour, else none at all. Neither takes one now.
            let isClosed = status.refusedAttempts < KillDuringAttemptsTests.limit
            closed += isClosed ? 1 : 0
            #expect(status.isPasscodeClosed == isClosed, "\(context)")
            for hours in isClosed ? [0, 1, 24] : [0] {
                scratch.clock.advance(milliseconds: UInt64(hours) * 3_600_001)
                let error = #expect(throws: VaultError.self) { _ = try vault.burnAttempt() }
                #expect(error?.code == (isClosed ? .attemptsExhausted : .delayed), "\(context)")
            }
            checks += budget.refused.count
            budget = Budget()
            recoveries += 1
            passcode += 1
            _ = try vault.recover(phrase: Known.phrase(0), newPasscode: Known.passcode(passcode))
            #expect(try vault.status().remainingAttempts == KillDuringAttemptsTests.limit)
            #expect(try vault.opens(passcode, scratch.clock))
            vault.lock()
        }
        #expect(recoveries > 0, "the limit was never reached")
        TestRun.report(
            "kill during passcode attempts",
            "\(KillDuringAttemptsTests.rounds) kills, \(recoveries) budgets used up, \(closed) of them by attempts never checked, "
                + "\(checks) checks in those")
    }
}
#endif
