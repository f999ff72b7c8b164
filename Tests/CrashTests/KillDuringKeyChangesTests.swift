#if os(Linux) && !canImport(Darwin)
import CrashSubject
import TestSupport
import Testing
import VaultCore

/// `kill -9` while the passcode, the phrase or all keys are changed.
@Suite(.seeded, .serialized) struct KillDuringKeyChangesTests {
    /// Numbers of the secrets that hold, and of those that were about to.
    private struct Secrets {
        var passcode = 0
        var phrase = 0
        var next: (passcode: Int, phrase: Int)?

        mutating func follow(_ lines: [String]) throws {
            for line in lines {
                let words = line.split(separator: " ")
                let numbers = words.compactMap { Int($0) }
                switch (words.first, numbers.count) {
                case ("begin", 0): next = nil
                case ("begin", 1): next = (numbers[0], phrase)
                case ("begin", 2): next = (numbers[0], numbers[1])
                case ("done", 0): settle()
                default: throw Problem("not understood: \(line)")
                }
            }
        }

        mutating func settle() {
            if let next { (passcode, phrase) = next }
            next = nil
        }
    }

    @Test(arguments: ["passcode", "phrase", "recover", "rekey"])
    func `the old or the new secrets open the vault and never none`(kind: String) throws {
        let scratch = try Scratch()
        var generator = TestRun.generator(kind)
        try Vault.createKnown(scratch.home, scratch.clock)
        var expected = Acknowledged()
        try KillDuringKeyChangesTests.fill(scratch, &expected)
        var secrets = Secrets()
        var (old, new, unfinished) = (0, 0, 0)
        for round in 0..<TestRun.rounds {
            let lines = try Child.killed(
                [kind, scratch.home, scratch.clock.path, "\(secrets.passcode)", "\(secrets.phrase)"],
                after: Int.random(in: 1...6, using: &generator),
                spinning: UInt64.random(in: 0...8_000_000, using: &generator))
            try secrets.follow(lines)
            let context = "round \(round) of \(kind)"
            let vault = try Vault.known(scratch.home, scratch.clock)
            if let next = secrets.next {
                let staysPasscode = next.passcode == secrets.passcode
                let isNew =
                    try staysPasscode ? vault.opens(phrase: next.phrase) : vault.opens(next.passcode, scratch.clock)
                if isNew { new += 1 } else { old += 1 }
                if isNew && next.phrase != secrets.phrase {
                    #expect(try !vault.opens(phrase: secrets.phrase), "the old phrase still opens; \(context)")
                } else if next.phrase != secrets.phrase {
                    #expect(try !vault.opens(phrase: next.phrase), "the new phrase opens too early; \(context)")
                }
                if isNew {
                    #expect(
                        try staysPasscode || !vault.opens(secrets.passcode, scratch.clock),
                        "both passcodes open; \(context)")
                    secrets.settle()
                }
                secrets.next = nil
            }
            #expect(try vault.opens(secrets.passcode, scratch.clock), "no passcode opens; \(context)")
            #expect(try vault.opens(phrase: secrets.phrase), "no phrase opens; \(context)")
            let problem = try expected.compare(vault)
            #expect(problem == nil, "\(context)")
            if try vault.isRekeyUnfinished {
                unfinished += 1
                try vault.finishRekey()
                #expect(try !vault.isRekeyUnfinished)
                #expect(try expected.compare(vault) == nil, "after finishing; \(context)")
            }
            #expect(try vault.verifyAndClean() == nil, "\(context)")
            guard problem == nil else { return }
        }
        // A rekey that was begun, and is finished afterwards, was cut short too.
        #expect(old + new + unfinished > 0, "no change was cut short: the kills come at the wrong moments")
        TestRun.report(
            "kill during \(kind)",
            "\(TestRun.rounds) kills up to passcode \(secrets.passcode); changes cut short: \(new) done, \(old) not, "
                + "\(unfinished) rekeys finished afterwards")
    }

    /// Forty records and two files, so that moving them takes a while.
    private static func fill(_ scratch: Scratch, _ expected: inout Acknowledged) throws {
        let vault = try Vault.known(scratch.home, scratch.clock)
        try vault.unlock(0)
        let records = (0..<40).map { number in
            Change.set(Place("c", "r\(number)"), Content(seed: UInt64(number), size: number * number * 3))
        }
        let files = (0..<2).map { number in
            Operation([.set(Place("f", "f\(number)"), Content(seed: UInt64(number), size: 1_060_000 + number))])
        }
        for operation in [Operation(records)] + files {
            try vault.perform(operation)
            expected.begin(operation)
            expected.end(done: true)
        }
    }
}
#endif
