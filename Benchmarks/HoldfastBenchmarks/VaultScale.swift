import Foundation
import Synchronization
import VaultCore
import VaultHeader

/// A vault of millions of records beside one of a tenth: what grows with it, and what must not.
///
/// A record, a byte or a call is compared with the same in the small vault, in turns. Its memory is what the process
/// has of its own; the pages of the database belong to the system's cache.
struct VaultScale: Suite {
    static let figures = [
        "scale-open-unlock", "scale-get", "scale-put", "scale-batch", "scale-list", "scale-verify", "scale-backup",
        "scale-memory",
    ]

    static func measure(_ bench: Bench) throws -> [Figure] {
        guard let millions = bench.options.scale else {
            bench.skip("scale-get", "millions of records take minutes and gigabytes (--scale 1, 10, 100)")
            return []
        }
        let sizes = [millions * 100_000, millions * 1_000_000]
        let paths = sizes.map { bench.scratch.file("scale-\($0)") }
        for (size, path) in zip(sizes, paths) {
            let vault = try BenchmarkVault.create(at: path)
            try vault.fillCollections(0..<size)
        }
        return try VaultScale(bench: bench, sizes: sizes, paths: paths).figures()
    }

    let bench: Bench
    let sizes: [Int]
    let paths: [String]

    private func figures() throws -> [Figure] {
        let memory = try OwnMemory()
        let opened = try rounds(31) { index in try time { _ = try open(index) } }
        let vaults = try (0...1).map(open)
        // The first write of a process looks at every page, which has a figure of its own.
        for vault in vaults { try write(vault, 0) }
        memory.ends("opening, first writes")
        let gets = try rounds(51) { index, round in
            var generator = SeededGenerator(UInt64(round))
            let names = (0..<2_000).map { _ in Int.random(in: 0..<sizes[index], using: &generator) }
            return try time {
                for name in names {
                    try vaults[index].withValue(for: Records.name(name), in: Vault.collection(of: name)) { _ in }
                }
            } / 2_000
        }
        let puts = try rounds(51) { index, round in try time { try write(vaults[index], round) } }
        memory.ends("reads, writes")
        let batches = try rounds(5) { index, round in
            let start = sizes[index] + round * 1_000
            return try time { try vaults[index].fillCollections(start..<start + 1_000) } / 1_000
        }
        memory.ends("batches")
        let lists = try rounds(3) { index, _ in
            try time {
                let found = try vaults[index].records(in: Vault.collection(of: 7))
                guard found.count >= sizes[index] / Vault.collections else { throw BenchmarkError("a list is short") }
            } / Double(sizes[index])
        }
        memory.ends("lists")
        let checks = try rounds(3) { index, _ in
            try time {
                guard try vaults[index].verify().isIntact else { throw BenchmarkError("a vault is damaged") }
            } / Double(sizes[index])
        }
        memory.ends("checks")
        let copies = try rounds(3) { index, round in
            let copy = bench.scratch.file("copy")
            var bytes = 0.0
            let taken = try time { bytes = Double(try vaults[index].backup(to: copy).bytes) }
            try FileManager.default.removeItem(atPath: copy)
            return taken / bytes
        }
        memory.ends("backups")
        func figure(_ name: String, _ rounds: Rounds, _ bound: Double, _ unit: String, _ scale: Double, _ what: String)
            -> Figure
        {
            Figure(
                name: name, value: rounds.ratio(1, to: 0), unit: "x",
                absolute: .init(rounds.median(1) / scale, unit), bound: .atMost(bound),
                detail: "\(what), \(sizes[1]) records by \(sizes[0])")
        }
        return [
            figure("scale-open-unlock", opened, 1.5, "ms", 1e6, "without a costly key derivation"),
            figure("scale-get", gets, 2.5, "us", 1e3, "in \(Vault.collections) collections"),
            figure("scale-put", puts, 2, "ms", 1e6, "durable"),
            figure("scale-batch", batches, 4, "us", 1e3, "a record among 1,000"),
            figure("scale-list", lists, 1.5, "ns", 1, "one collection, for each record there is"),
            figure("scale-verify", checks, 1.5, "us", 1e3, "for each record"),
            figure("scale-backup", copies, 3, "ns", 1, "for each byte"),
            Figure(
                name: "scale-memory", value: memory.most(), unit: "MB", bound: .atMost(64),
                detail: "of its own, beyond that before: \(memory.phases())"),
        ]
    }

    private func open(_ index: Int) throws -> Vault {
        let vault = try Vault(at: paths[index], settings: .costsForTests())
        try BenchmarkVault.unlock(vault)
        return vault
    }

    private func write(_ vault: Vault, _ round: Int) throws {
        try unsafe vault.put(
            bytes: Records.value(round).span.bytes, for: Records.name(round), in: Vault.collection(of: round),
            replacing: true)
    }

    private func rounds(_ count: Int, _ measure: @escaping (Int) throws -> Double) throws -> Rounds {
        try rounds(count) { index, _ in try measure(index) }
    }

    private func rounds(_ count: Int, _ measure: @escaping (Int, Int) throws -> Double) throws -> Rounds {
        try Rounds(bench.options.isQuick ? 3 : count, (0...1).map { index in { round in try measure(index, round) } })
    }
}

extension Vault {
    fileprivate static let collections = 1_000

    fileprivate static func collection(of index: Int) -> String { "team-\(index % collections)" }

    fileprivate func fillCollections(_ indices: Range<Int>) throws {
        for start in stride(from: indices.lowerBound, to: indices.upperBound, by: 100_000) {
            try write { session in
                for index in start..<min(start + 100_000, indices.upperBound) {
                    try unsafe session.put(
                        Records.value(index).span.bytes, for: Records.name(index), in: Vault.collection(of: index))
                }
            }
        }
    }
}

/// The most memory of its own that the process has in each phase, looked at all the time.
private final class OwnMemory: Sendable {
    private struct State {
        var before: Double
        var peak: Double
        var phases: [(String, Double)] = []
    }

    private let state: Mutex<State>
    private let isOver = Atomic(false)

    init() throws {
        _ = try Memory.restart()
        let now = try Memory.megabytes("RssAnon")
        state = Mutex(State(before: now, peak: now))
        Thread.detachNewThread { [self] in
            while !isOver.load(ordering: .relaxed) {
                let now = (try? Memory.megabytes("RssAnon")) ?? 0
                state.withLock { $0.peak = max($0.peak, now) }
                usleep(10_000)
            }
        }
    }

    func ends(_ phase: String) {
        _ = try? Memory.restart()
        let now = (try? Memory.megabytes("RssAnon")) ?? 0
        state.withLock { state in
            state.phases.append((phase, state.peak - state.before))
            state.before = now
            state.peak = now
        }
    }

    /// Megabytes; it is not looked at any more.
    func most() -> Double {
        isOver.store(true, ordering: .relaxed)
        return state.withLock { $0.phases.map(\.1).max() ?? 0 }
    }

    func phases() -> String {
        state.withLock { state in state.phases.map { "\($0.0) \(number($0.1))" }.joined(separator: ", ") }
    }
}
