import CRawLoops
import SecretMemory
import VaultCore

/// Listing the names of 100,000 records, which decrypts each of them.
struct Lists: Suite {
    static let figures = ["list"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let count = bench.options.count(100_000, quick: 20_000)
        let vault = try BenchmarkVault.create(at: bench.scratch.file("lists"))
        let raw = try RawStore(at: bench.scratch.file("lists-raw.mdb"))
        let batch = 10_000
        for start in stride(from: 0, to: count, by: batch) {
            let indices = start..<min(start + batch, count)
            try vault.fill(indices, batch: batch)
            try raw.putSealed(indices)
        }
        let rounds = try Rounds(
            bench.options.count(21, quick: 7),
            [
                { _ in try time { keep(try raw.each()) } / Double(count) },
                { _ in try time { keep(UInt64(try vault.records().count)) } / Double(count) },
            ])
        return [
            Figure(
                name: "list", value: rounds.ratio(0, to: 1), unit: "x",
                absolute: .init(rounds.median(1) * Double(count) / 1e6, "ms"), bound: .atLeast(0.5),
                detail: "\(count) names, sorted; the rate by that of decrypting all in one raw loop, "
                    + "\(number(rounds.median(0) * Double(count) / 1e6)) ms")
        ]
    }
}
