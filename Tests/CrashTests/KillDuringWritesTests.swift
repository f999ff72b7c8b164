#if os(Linux) && !canImport(Darwin)
import CrashSubject
import Foundation
import TestSupport
import Testing
import VaultCore

/// `kill -9` while records are written.
@Suite(.seeded, .serialized) struct KillDuringWritesTests {
    @Test(arguments: [1, 3])
    func `no acknowledged record is lost and none is half written`(threads: Int) throws {
        let scratch = try Scratch()
        let name = "kill during writes by \(threads) thread\(threads == 1 ? "" : "s")"
        var generator = TestRun.generator(name)
        try Vault.createKnown(scratch.home, scratch.clock)
        var expected = Acknowledged()
        for round in 0..<TestRun.rounds {
            let lines = try Child.killed(
                ["write", scratch.home, scratch.clock.path, "\(generator.next() >> 1)", "\(threads)"],
                after: Int.random(in: 1...60, using: &generator),
                spinning: UInt64.random(in: 0...6_000_000, using: &generator))
            try expected.follow(lines)
            let vault = try Vault.known(scratch.home, scratch.clock)
            try vault.unlock(0)
            let problem = try expected.compare(vault) ?? vault.verifyAndClean()
            #expect(problem == nil, "round \(round)")
            guard problem == nil else { return }
        }
        let killed = expected.killed
        #expect(killed.undone > 0, "no operation was cut short: the kills come at the wrong moments")
        TestRun.report(
            name,
            "\(TestRun.rounds) kills, \(expected.operations) acknowledged; of those killed \(killed.done) were done, "
                + "\(killed.undone) not at all")
    }
}
#endif
