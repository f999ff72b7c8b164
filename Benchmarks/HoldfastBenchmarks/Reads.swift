import SecretMemory
import VaultCore

/// Getting 256 bytes out of 100,000 records, unlocked, in random order.
struct Reads: Suite {
    static let figures = ["get-with-value", "get-secret-bytes", "get-against-sqlcipher"]

    let vault: Vault
    let raw: RawStore
    let sqlcipher: RawSQLCipher?
    let count: Int

    static func measure(_ bench: Bench) throws -> [Figure] {
        let reads = try Reads(bench)
        return try reads.figures(bench)
    }

    init(_ bench: Bench) throws {
        count = bench.options.count(100_000, quick: 20_000)
        vault = try BenchmarkVault.create(at: bench.scratch.file("reads"))
        raw = try RawStore(at: bench.scratch.file("reads-raw.mdb"))
        sqlcipher =
            bench.options.wants("get-against-sqlcipher")
            ? try RawSQLCipher(at: bench.scratch.file("reads.sqlite"), nameSize: Records.nameSize) : nil
        let batch = 10_000
        for start in stride(from: 0, to: count, by: batch) {
            let indices = start..<min(start + batch, count)
            try vault.fill(indices, batch: batch)
            try raw.putSealed(indices)
            try sqlcipher?.put(indices.map(Records.name), indices.flatMap(Records.value))
        }
    }

    private func figures(_ bench: Bench) throws -> [Figure] {
        try warmUp()
        var figures = try againstRaw(bench)
        if let sqlcipher { figures.append(try against(sqlcipher, bench)) }
        return figures
    }

    // Short rounds, many of them: then most run without being interrupted by other processes.
    private static let operations = 2_000

    private func againstRaw(_ bench: Bench) throws -> [Figure] {
        let rounds = try Rounds(
            bench.options.count(301, quick: 51),
            [
                { try timeRaw(sample(Reads.operations, round: $0)) },
                { try timeWithValue(sample(Reads.operations, round: $0 + 1_000)) },
                { try timeSecretBytes(sample(Reads.operations, round: $0 + 2_000)) },
            ])
        return [
            Figure(
                name: "get-with-value", value: rounds.ratio(1, to: 0), unit: "x",
                absolute: .init(rounds.median(1), "ns"), bound: .atMost(1.18),
                detail: "raw \(number(rounds.median(0))) ns"),
            Figure(
                name: "get-secret-bytes", value: rounds.ratio(2, to: 0), unit: "x",
                absolute: .init(rounds.median(2), "ns"), bound: .atMost(1.2),
                detail: "raw \(number(rounds.median(0))) ns"),
        ]
    }

    private func against(_ sqlcipher: RawSQLCipher, _ bench: Bench) throws -> Figure {
        let rounds = try Rounds(
            bench.options.count(31, quick: 11),
            [
                { try timeWithValue(sample(Reads.operations, round: $0 + 3_000)) },
                { try time(sqlcipher, sample(Reads.operations / 10, round: $0 + 4_000)) },
            ])
        return Figure(
            name: "get-against-sqlcipher", value: rounds.ratio(1, to: 0), unit: "x",
            absolute: .init(rounds.median(0), "ns"), bound: .atLeast(15),
            detail: "SQLCipher \(number(rounds.median(1))) ns")
    }

    /// Every page is mapped once, so that no round pays for page faults.
    private func warmUp() throws {
        let all = Array(0..<count)
        _ = try timeRaw(all)
        _ = try timeWithValue(all)
        _ = try timeSecretBytes(all)
    }

    private func sample(_ size: Int, round: Int) -> [Int] {
        var generator = SeededGenerator(UInt64(round))
        return (0..<size).map { _ in Int.random(in: 0..<count, using: &generator) }
    }

    // What is asked for is laid out in the order of asking, for all contenders alike: finding the question is not
    // timed.

    private func timeRaw(_ indices: [Int]) throws -> Double {
        let keys = Records.rawKeys(indices)
        return try HoldfastBenchmarks.time { keep(try raw.get(keys)) } / Double(indices.count)
    }

    private func timeWithValue(_ indices: [Int]) throws -> Double {
        let names = indices.map(Records.name)
        return try HoldfastBenchmarks.time { keep(try withValues(of: names)) } / Double(indices.count)
    }

    private func timeSecretBytes(_ indices: [Int]) throws -> Double {
        let names = indices.map(Records.name)
        return try HoldfastBenchmarks.time { keep(try secretBytes(of: names)) } / Double(indices.count)
    }

    // One decrypted byte of each value, added up. Out of line, so that a profiler can find them.

    @inline(never) private func withValues(of names: [String]) throws -> UInt64 {
        var sum: UInt64 = 0
        for name in names {
            sum &+= try vault.withValue(for: name) { unsafe UInt64($0.unsafeLoad(as: UInt8.self)) }
        }
        return sum
    }

    @inline(never) private func secretBytes(of names: [String]) throws -> UInt64 {
        var sum: UInt64 = 0
        for name in names {
            let value = try vault.value(for: name)
            sum &+= value.withBytes { unsafe UInt64($0.unsafeLoad(as: UInt8.self)) }
        }
        return sum
    }

    private func time(_ sqlcipher: RawSQLCipher, _ indices: [Int]) throws -> Double {
        let names = sqlcipher.pack(indices.map(Records.name))
        return try HoldfastBenchmarks.time { keep(try sqlcipher.get(names)) } / Double(indices.count)
    }
}

/// Keeps the optimiser from leaving out what made this.
@inline(never) func keep(_ sum: UInt64) {}
