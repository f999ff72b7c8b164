import Foundation
import VaultCore
import VaultHeader
import VaultStorage

/// The part of a wipe after which nothing opens the vault any more. Its time must not depend on what the vault holds.
struct CryptoErase: Suite {
    static let figures = ["wipe-crypto-erase", "wipe-crypto-erase-growth"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let small = bench.scratch.file("few-to-erase")
        let large = bench.scratch.file("many-to-erase")
        let many = bench.options.count(1_000_000, quick: 100_000)
        try BenchmarkVault.create(at: small).fill(0..<10, batch: 10)
        try BenchmarkVault.create(at: large).fill(0..<many, batch: 250_000)
        let flushed = try RawFile(bench.scratch.file("flushed"))
        let rounds = try Rounds(
            bench.options.count(51, quick: 21),
            [
                { _ in try erase(small) }, { _ in try erase(large) },
                { _ in
                    try time {
                        try flushed.write([UInt8](repeating: 7, count: 4096))
                        try flushed.flush()
                    }
                },
            ])
        let raw = rounds.median(2) / 1e6
        let (few, all) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6)
        return [
            Figure(
                name: "wipe-crypto-erase", value: all / raw, unit: "x", absolute: .init(all, "ms"), bound: .atMost(12),
                detail: "\(many) records; one flush takes \(number(raw)) ms"),
            Figure(
                name: "wipe-crypto-erase-growth", value: rounds.ratio(1, to: 0), unit: "x", bound: .atMost(1.5),
                detail: "\(many) records \(number(all)) ms, 10 records \(number(few)) ms"),
        ]
    }

    /// Erases the keys and puts the header back, so that the same vault can be erased again.
    private static func erase(_ path: String) throws -> Double {
        let file = URL(fileURLWithPath: "\(path)/header")
        let header = try Data(contentsOf: file)
        let vault = try Vault(at: path, settings: .costsForTests())
        let taken = try time { try vault.eraseKeysOnly() }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: header)
        try handle.synchronize()
        try handle.close()
        return taken
    }
}
