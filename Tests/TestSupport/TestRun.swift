import Foundation
import SystemCalls
package import Testing
import VaultFormat
import VaultStorage
@_exported public import SeededNumbers

/// What a run of the tests is told from outside: from which seed, and how much.
package enum TestRun {
    /// The seed that every random choice of this run follows from: `HOLDFAST_SEED`, or a new one. It is printed when it
    /// is first used, so that a run that a trap ends can be repeated as well.
    package static let seed: UInt64 = {
        let given = environment["HOLDFAST_SEED"]
        if let given, UInt64(given) == nil { fatalError("HOLDFAST_SEED is not a whole number: \(given)") }
        let seed = given.flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("tests: HOLDFAST_SEED=\(seed)")
        return seed
    }()

    /// Set by `make soak`: the loops run their full counts.
    package static let isSoak = TestExtent.isSoak

    /// Set by `make check`, and in `make soak` too: what takes long runs whole, where `make test` takes a part of it.
    package static let isCheck = TestExtent.isCheck

    /// How often something is done, in each of the three.
    package static func count(test: Int, check: Int, soak: Int) -> Int { isSoak ? soak : isCheck ? check : test }

    /// Some of `all`, in order: `count` in `make check`, a third of that in `make test`, all of them when soaking.
    package static func sample<T>(_ all: [T], _ count: Int, using generator: inout SeededGenerator) -> [T] {
        let count = isCheck ? count : (count + 2) / 3
        guard !isSoak, all.count > count else { return all }
        return all.indices.shuffled(using: &generator).prefix(count).sorted().map { all[$0] }
    }

    /// Whether `scripts/bootstrap --test` has installed what the tests use: what is not there is a failure then.
    package static let isBootstrapped = FileManager.default.isExecutableFile(atPath: "/usr/bin/apt-get")

    /// Kinds of a real thing: all of them, or, where nothing was installed for the tests, those that are there.
    package static func expected<T>(_ all: [T], where isThere: (T) -> Bool) -> [T] {
        isBootstrapped ? all : all.filter(isThere)
    }

    /// One of `all` by the seed, where each is real and takes its time: all of them in `make check`.
    package static func kinds<T>(_ all: [T], of purpose: String) -> [T] {
        var generator = generator(purpose)
        return isCheck ? all : all.randomElement(using: &generator).map { [$0] } ?? []
    }

    /// Entries of the security log after which the vaults of tests begin another file of it.
    package static let entriesPerSegment = min(TestExtent.entriesPerSegment, LogFormat.entriesPerSegment)

    /// Before a test opens a vault: `HOLDFAST_TEST_LOCKS=own` has databases locked as on Apple's systems,
    /// `HOLDFAST_TEST_ROOM=BYTES` has them begin with so much room. The subjects that tests start read the same.
    package static func chooseDatabases() {
        if environment["HOLDFAST_TEST_LOCKS"] == "own" { DatabaseLocks.chooseOwn() }
        if let room = number("HOLDFAST_TEST_ROOM") { DatabaseName.chooseRoom(room) }
    }

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
