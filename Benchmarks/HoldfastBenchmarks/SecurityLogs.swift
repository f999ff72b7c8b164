import CRawLoops
import Foundation
import SecretMemory
import VaultCore
import VaultFormat
import VaultLog

/// Appending to the security log, with what its two flushes cost here taken off, and proving what it holds.
struct SecurityLogs: Suite {
    static let figures = ["log-append", "log-append-locked", "log-verify"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let vault = try BenchmarkVault.create(at: bench.scratch.file("log"))
        let times = bench.options.count(200, quick: 40)
        let raw = try RawLog(bench.scratch.file("raw-log"))
        let rounds = try Rounds(
            bench.options.count(11, quick: 5),
            [
                { _ in try time { try raw.append(times) } / Double(times) },
                { _ in time { SecurityLogs.append(times, to: vault) } / Double(times) },
            ])
        let (flushes, whole) = (rounds.median(0) / 1e6, rounds.median(1) / 1e6)
        vault.lock()
        let whileLocked = try Rounds(
            bench.options.count(5, quick: 3),
            [
                { _ in try time { try raw.append(times) } / Double(times) },
                { _ in time { SecurityLogs.append(times, to: vault) } / Double(times) },
            ])
        let locked = whileLocked.median(1) / 1e6
        guard vault.log.problem == nil else { throw BenchmarkError("the log could not be written") }
        try BenchmarkVault.unlock(vault)
        var entries = 0
        // What an entry says is sealed to the log's public key.
        let verifying = try Rounds(
            bench.options.count(11, quick: 5),
            [
                { _ in
                    try time {
                        let report = try vault.securityLog()
                        guard report.isIntact else { throw BenchmarkError("the log is not intact") }
                        entries = report.entries.count
                    }
                },
                { _ in time { _ = raw_p256_agree(500) } / 500 },
            ])
        let (verify, agreement) = (verifying.median(0) / Double(max(1, entries)), verifying.median(1))
        return [
            Figure(
                name: "log-append", value: rounds.ratio(1, to: 0), unit: "x", absolute: .init(whole, "ms"),
                bound: .atMost(4),
                detail: "two flushes alone take \(number(flushes)) ms"),
            Figure(
                name: "log-append-locked", value: whileLocked.ratio(1, to: 0), unit: "x", absolute: .init(locked, "ms"),
                bound: .atMost(4), detail: "the same while the vault is locked"),
            Figure(
                name: "log-verify", value: verify / agreement, unit: "x", absolute: .init(verify / 1000, "us"),
                bound: .atMost(2),
                detail: "for each of \(entries) entries; an agreement of keys by OpenSSL "
                    + "takes \(number(agreement / 1000)) us"),
        ]
    }

    private static func append(_ times: Int, to vault: Vault) {
        for number in 0..<times { vault.log.append(.drill(passed: number % 2 == 0)) }
    }
}

/// The same writes and flushes without anything around them.
private final class RawLog {
    private let log: RawFile
    private let state: RawFile
    private var size = 0

    init(_ path: String) throws {
        log = try RawFile(path)
        state = try RawFile(path + ".state")
    }

    func append(_ times: Int) throws {
        let slot = [UInt8](repeating: 7, count: 192)
        let sector = [UInt8](repeating: 7, count: 512)
        for _ in 0..<times {
            try log.write(slot, at: size)
            try log.flush()
            try state.write(sector)
            try state.write(sector, at: 4096)
            try state.flush()
            size += slot.count
        }
    }
}
