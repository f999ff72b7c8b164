import CRawLoops
import Cryptography
import SecretMemory
import VaultCore
import VaultHeader
import VaultFormat

/// Opening a large vault, with a key derivation that costs next to nothing.
struct LargeUnlock: Suite {
    static let figures = ["open-unlock", "open-unlock-growth", "first-write"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let small = bench.scratch.file("small")
        let large = bench.scratch.file("large")
        let many = bench.options.count(1_000_000, quick: 100_000)
        try BenchmarkVault.create(at: small).fill(0..<1_000, batch: 1_000)
        try BenchmarkVault.create(at: large).fill(0..<many, batch: 250_000)
        let reopened = try RawReopened(bench)
        let rounds = try Rounds(
            bench.options.count(101, quick: 31),
            [
                { _ in try openAndUnlock(small) }, { _ in try openAndUnlock(large) }, { _ in try deriveCheaply() },
                { _ in try time { try reopened.open() } },
            ])
        var pages: UInt64 = 0
        let walk =
            try Rounds(
                bench.options.count(11, quick: 5),
                [
                    { _ in
                        try time {
                            guard unsafe raw_read_through("\(large)/vault.mdb", &pages) == 0 else {
                                throw BenchmarkError("the database cannot be read through")
                            }
                        }
                    }
                ]
            ).median(0) / 1e6
        keep(pages)
        let writes = try (0..<bench.options.count(11, quick: 3)).map { _ in try firstAndSecondWrite(large) }
        let first = writes.map { $0.first - $0.second }.sorted()[writes.count / 2] / 1e6
        let (few, all, derivation) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6, rounds.median(2) / 1e6)
        let raw = rounds.median(3) / 1e6
        return [
            Figure(
                name: "open-unlock", value: (all - derivation) / raw, unit: "x",
                absolute: .init(all - derivation, "ms"), bound: .atMost(16),
                detail:
                    "\(many) records, without the \(number(derivation)) ms of the key derivation; opening LMDB, two "
                    + "reads and one flush take \(number(raw)) ms"),
            Figure(
                name: "open-unlock-growth", value: rounds.ratio(1, to: 0), unit: "x", bound: .atMost(1.5),
                detail: "\(many) records \(number(all)) ms, 1000 records \(number(few)) ms"),
            Figure(
                name: "first-write", value: first / walk, unit: "x", absolute: .init(first, "ms"), bound: .atMost(10),
                detail:
                    "what looking at all pages, once in a process, adds to its first write; \(many) records; reading "
                    + "the file through takes \(number(walk)) ms"),
        ]
    }

    private static func firstAndSecondWrite(_ path: String) throws -> (first: Double, second: Double) {
        let vault = try Vault(at: path, settings: .costsForTests())
        try BenchmarkVault.unlock(vault)
        return (try write(vault), try write(vault))
    }

    private static func write(_ vault: Vault) throws -> Double {
        let value = Records.value(0)
        return try time { try unsafe vault.put(bytes: value.span.bytes, for: Records.name(0), replacing: true) }
    }

    private static func openAndUnlock(_ path: String) throws -> Double {
        try time {
            let vault = try Vault(at: path, settings: .costsForTests())
            try BenchmarkVault.unlock(vault)
        }
    }

    private static func deriveCheaply() throws -> Double {
        let costs = DerivationParameters(passes: 1, memoryKiB: 64)
        return try Derivation.time(costs)
    }
}

/// An LMDB database that is opened anew, with two reads and the one flush that an attempt costs before it is checked.
private struct RawReopened {
    private let path: String
    private let keys: [UInt8]
    private let ledger: RawFile

    init(_ bench: Bench) throws {
        path = bench.scratch.file("reopened.mdb")
        keys = Records.rawKeys(0..<2)
        try RawStore(at: path).putSealed(0..<1000)
        ledger = try RawFile(bench.scratch.file("reopened.ledger"))
    }

    func open() throws {
        guard unsafe raw_store_reopen(path, keys) == 0 else { throw BenchmarkError("the raw database does not open") }
        try ledger.write([UInt8](repeating: 7, count: 512))
        try ledger.flush()
    }
}

/// Unlocking with the costs that every app gets.
struct StandardUnlock: Suite {
    static let figures = ["unlock-over-kdf", "kdf-time", "kdf-passes", "kdf-memory"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let path = bench.scratch.file("standard")
        _ = try Vault.create(at: path, passcode: BenchmarkVault.passcode())
        let vault = try Vault(at: path)
        guard let costs = try vault.status().derivation else { throw BenchmarkError("the vault has no passcode") }
        let rounds = try Rounds(
            bench.options.count(11, quick: 3),
            [
                { _ in try Derivation.time(costs) },
                { _ in
                    vault.lock()
                    return try time { try BenchmarkVault.unlock(vault) }
                },
            ])
        let (derivation, unlock) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6)
        return [
            Figure(
                name: "unlock-over-kdf", value: rounds.ratio(1, to: 0), unit: "x", absolute: .init(unlock, "ms"),
                bound: .atMost(1.06), detail: "the key derivation alone \(number(derivation)) ms"),
            Figure(
                name: "kdf-time", value: derivation, unit: "ms", bound: .atLeast(250),
                detail: "the costs that calibration chose here"),
            Figure(name: "kdf-passes", value: Double(costs.passes), unit: "", bound: .atLeast(3), detail: ""),
            Figure(
                name: "kdf-memory", value: Double(costs.memoryKiB) / 1024, unit: "MiB", bound: .atLeast(64),
                detail: ""),
        ]
    }
}

private enum Derivation {
    /// Nanoseconds of one key derivation at these costs.
    static func time(_ costs: DerivationParameters) throws -> Double {
        let passcode = try BenchmarkVault.passcode()
        let salt = [UInt8](repeating: 7, count: Argon2id.saltSize)
        return try HoldfastBenchmarks.time {
            _ = try unsafe Argon2id.derive(
                passcode, salt: salt.span.bytes, passes: Int(costs.passes), memoryKiB: Int(costs.memoryKiB))
        }
    }
}
