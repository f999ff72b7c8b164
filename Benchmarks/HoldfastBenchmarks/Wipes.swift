import Foundation
import VaultCore
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
        let rounds = try Rounds(
            bench.options.count(51, quick: 21), [{ _ in try erase(small) }, { _ in try erase(large) }])
        let (few, all) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6)
        return [
            Figure(
                name: "wipe-crypto-erase", value: all, unit: "ms", bound: .atMost(50),
                detail: "\(many) records, flushed"),
            Figure(
                name: "wipe-crypto-erase-growth", value: all - few, unit: "ms", bound: .atMost(max(0.5 * few, 2)),
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
