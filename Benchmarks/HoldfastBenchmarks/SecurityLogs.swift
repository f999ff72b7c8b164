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
        let locked = time { SecurityLogs.append(times, to: vault) } / Double(times) / 1e6
        guard vault.log.problem == nil else { throw BenchmarkError("the log could not be written") }
        try BenchmarkVault.unlock(vault)
        var entries = 0
        let verify = try time {
            let report = try vault.securityLog()
            guard report.isIntact else { throw BenchmarkError("the log is not intact") }
            entries = report.entries.count
        }
        return [
            Figure(
                name: "log-append", value: whole - flushes, unit: "ms", bound: .atMost(5),
                detail: "\(number(whole)) ms with two flushes of \(number(flushes)) ms in all"),
            Figure(
                name: "log-append-locked", value: locked - flushes, unit: "ms", bound: .atMost(5),
                detail: "the same while the vault is locked"),
            Figure(
                name: "log-verify", value: verify / 1e3 / Double(max(1, entries)), unit: "us", bound: .atMost(150),
                detail: "for each of \(entries) entries"),
        ]
    }

    private static func append(_ times: Int, to vault: Vault) {
        for number in 0..<times { vault.log.append(.drill(passed: number % 2 == 0)) }
    }
}

/// The same writes and flushes without anything around them.
private final class RawLog {
    private let log: Int32
    private let state: Int32
    private var size: off_t = 0

    init(_ path: String) throws {
        log = unsafe open(path, O_RDWR | O_CREAT, 0o600)
        state = unsafe open(path + ".state", O_RDWR | O_CREAT, 0o600)
        guard log >= 0, state >= 0 else { throw BenchmarkError("no file for the raw log") }
    }

    deinit {
        close(log)
        close(state)
    }

    func append(_ times: Int) throws {
        let slot = [UInt8](repeating: 7, count: 192)
        let sector = [UInt8](repeating: 7, count: 512)
        for _ in 0..<times {
            guard unsafe pwrite(log, slot, slot.count, size) == slot.count, fdatasync(log) == 0,
                unsafe pwrite(state, sector, sector.count, 0) == sector.count,
                unsafe pwrite(state, sector, sector.count, 4096) == sector.count, fdatasync(state) == 0
            else { throw BenchmarkError("the raw log cannot be written") }
            size += off_t(slot.count)
        }
    }
}
