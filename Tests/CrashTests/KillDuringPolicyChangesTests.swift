#if os(Linux) && !canImport(Darwin)
import CrashSubject
import TestSupport
import Testing
import VaultCore
import VaultFormat

/// `kill -9` while the rules of the header are changed.
@Suite(.seeded, .serialized) struct KillDuringPolicyChangesTests {
    @Test func `the old or the new rules hold and the passcode opens under them`() throws {
        let scratch = try Scratch()
        var generator = TestRun.generator("policy")
        try Vault.createKnown(scratch.home, scratch.clock)
        let operation = Operation([.set(Place("c", "kept"), Content(seed: 1, size: 700))])
        var expected = Acknowledged()
        do {
            let vault = try Vault.known(scratch.home, scratch.clock)
            try vault.unlock(0)
            try vault.perform(operation)
            expected.begin(operation)
            expected.end(done: true)
        }
        var last = 0
        var (old, new) = (0, 0)
        for round in 0..<TestRun.rounds {
            let lines = try Child.killed(
                ["policy", scratch.home, scratch.clock.path, "\(last)"],
                after: Int.random(in: 1...6, using: &generator),
                spinning: UInt64.random(in: 0...8_000_000, using: &generator))
            var next: Int?
            for line in lines {
                if line == "done", let done = next {
                    (last, next) = (done, nil)
                } else if let number = line.split(separator: " ").last.flatMap({ Int($0) }) {
                    next = number
                }
            }
            let context = "round \(round)"
            let vault = try Vault.known(scratch.home, scratch.clock)
            let rules = try vault.status().policy
            if let next, rules == PolicyChanges.policy(next) {
                new += 1
                last = next
            } else {
                if next != nil { old += 1 }
                #expect(
                    rules == (last == 0 ? .standard : PolicyChanges.policy(last)), "neither old nor new; \(context)")
            }
            #expect(try vault.opens(0, scratch.clock), "the right passcode does not open; \(context)")
            try vault.unlock(0)
            #expect(try vault.status().policy == rules, "the rules changed by themselves; \(context)")
            #expect(try expected.compare(vault) == nil, "\(context)")
            guard rules == PolicyChanges.policy(last) || last == 0 else { return }
        }
        #expect(old + new > 0, "no change was cut short: the kills come at the wrong moments")
        TestRun.report(
            "kill during policy", "\(TestRun.rounds) kills up to rules \(last); cut short: \(new) done, \(old) not")
    }
}
#endif
