import Foundation
import SystemCalls
package import Testing
import VaultStorage
@_exported public import SeededNumbers

/// What a run of the tests is told from outside: from which seed, and how much.
package enum TestRun {
    /// The seed that every random choice of this run follows from: `HOLDFAST_SEED`, or a new one. It is printed when it is
    /// first used, so that a run that a trap ends can be repeated as well.
    package static let seed: UInt64 = {
        let given = environment["HOLDFAST_SEED"]
        if let given, UInt64(given) == nil { fatalError("HOLDFAST_SEED is not a whole number: \(given)") }
        let seed = given.flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("tests: HOLDFAST_SEED=\(seed)")
        return seed
    }()

    /// Set by `make soak`: the loops run their full counts.
    package static let isSoak = environment["HOLDFAST_SOAK"] != nil

    /// Before a test opens a vault: `HOLDFAST_TEST_LOCKS=own` has databases locked as on Apple's systems. The subjects that
    /// tests start read the same.
    package static func chooseLocks() { if environment["HOLDFAST_TEST_LOCKS"] == "own" { DatabaseLocks.chooseOwn() } }

    /// A whole number that the run is told.
    package static func number(_ name: String) -> Int? {
        guard let given = environment[name] else { return nil }
        guard let number = Int(given), number > 0 else { fatalError("\(name) is not a whole number: \(given)") }
        return number
    }

    /// Whether the thread or the address sanitizer watches.
    package static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

    /// What repeats the run.
    package static var replay: Comment { "HOLDFAST_SEED=\(seed)" }

    /// The numbers of one purpose: its own, whatever else runs at the same time.
    package static func generator(_ purpose: String) -> SeededGenerator {
        SeededGenerator(seed: purpose.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }

    private static let environment = ProcessInfo.processInfo.environment
}

extension SeededGenerator {
    /// The numbers of the test that is running, which ``Testing/Trait/seeded`` makes repeatable.
    package init() { self = TestRun.generator(Test.current.map { "\($0.id)" } ?? "") }
}

extension Trait where Self == IssueHandlingTrait {
    /// For tests that make random choices: a failure names the seed, and setting `HOLDFAST_SEED` to it repeats the run.
    package static var seeded: Self {
        .compactMapIssues { issue in
            var issue = issue
            issue.comments.append(TestRun.replay)
            return issue
        }
    }
}
