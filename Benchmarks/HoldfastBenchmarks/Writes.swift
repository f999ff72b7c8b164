import Foundation
import SecretMemory
import Synchronization
import VaultCore

/// Writing records of 256 bytes into a vault that holds 100,000.
struct Writes: Suite {
    static let figures = ["put-single", "put-concurrent", "put-batch"]

    let vault: Vault
    let raw: RawStore
    let count: Int
    /// Stands for any record's stored bytes: raw LMDB does not look at them.
    let rawValue: [UInt8]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let writes = try Writes(bench)
        var figures: [Figure] = []
        if bench.options.wants("put-single") { figures.append(try writes.single(bench)) }
        if bench.options.wants("put-concurrent") { figures.append(try writes.concurrent(bench)) }
        // Last: a virtual disk may slow down for a while after so much.
        if bench.options.wants("put-batch") { figures.append(try writes.batch(bench)) }
        return figures
    }

    init(_ bench: Bench) throws {
        count = bench.options.count(100_000, quick: 20_000)
        vault = try BenchmarkVault.create(at: bench.scratch.file("writes"))
        raw = try RawStore(at: bench.scratch.file("writes-raw.mdb"))
        rawValue = Records.value(0) + [UInt8](repeating: 0, count: Records.storedSize - Records.valueSize)
        let batch = 10_000
        for start in stride(from: 0, to: count, by: batch) {
            let indices = start..<min(start + batch, count)
            try vault.fill(indices, batch: batch)
            try raw.put(Records.rawKeys(indices), repeated(indices.count))
        }
    }

    private func repeated(_ count: Int) -> [UInt8] {
        var values: [UInt8] = []
        values.reserveCapacity(count * rawValue.count)
        for _ in 0..<count { values += rawValue }
        return values
    }

    /// 10,000 records in one transaction; taken out again outside of the time, so that every round writes into the
    /// same.
    private func batch(_ bench: Bench) throws -> Figure {
        let size = bench.options.count(10_000, quick: 2_000)
        let indices = count..<count + size
        let names = indices.map(Records.name)
        let values = indices.map(Records.value)
        let rawKeys = Records.rawKeys(indices)
        let rawValues = repeated(size)
        let rounds = try Rounds(
            bench.options.count(11, quick: 5),
            [
                { _ in
                    let taken = try time { try raw.put(rawKeys, rawValues) }
                    try raw.delete(rawKeys)
                    return taken / Double(size)
                },
                { _ in
                    let taken = try time {
                        try vault.write { session in
                            for (name, value) in zip(names, values) {
                                try unsafe session.put(value.span.bytes, for: name)
                            }
                        }
                    }
                    try vault.write { session in for name in names { try session.delete(name) } }
                    return taken / Double(size)
                },
            ])
        return Figure(
            name: "put-batch", value: rounds.ratio(1, to: 0), unit: "x",
            absolute: .init(rounds.median(1) / 1000, "us"), bound: .atMost(1.3),
            detail: "a record, raw \(number(rounds.median(0) / 1000)) us")
    }

    /// One record per transaction, flushed to the disk; raw and vault take turns at every single put.
    private func single(_ bench: Bench) throws -> Figure {
        let first = count + 1_000_000
        let rounds = try Rounds(
            bench.options.count(1_500, quick: 200),
            [
                { round in
                    let key = Records.rawKeys(CollectionOfOne(first + round))
                    return try time { try raw.put(key, rawValue) }
                },
                { round in
                    let name = Records.name(first + round)
                    let value = Records.value(first + round)
                    return try time { try unsafe vault.put(bytes: value.span.bytes, for: name) }
                },
            ])
        return Figure(
            name: "put-single", value: rounds.median(1) / rounds.median(0), unit: "x",
            absolute: .init(rounds.median(1) / 1000, "us"), bound: .atMost(1.25),
            detail: "raw \(number(rounds.median(0) / 1000)) us")
    }

    /// Puts by 16 threads at once against puts by one: how many share a commit.
    private func concurrent(_ bench: Bench) throws -> Figure {
        let puts = bench.options.count(1_600, quick: 320)
        let threads = 16
        let first = count + 2_000_000
        let rounds = try Rounds(
            bench.options.count(7, quick: 3),
            [
                { round in try timePuts(first + 2 * round * puts, puts, threads: 1) },
                { round in try timePuts(first + (2 * round + 1) * puts, puts, threads: threads) },
            ])
        let one = number(1e9 / rounds.median(0))
        let many = number(1e9 / rounds.median(1))
        return Figure(
            name: "put-concurrent", value: rounds.ratio(0, to: 1), unit: "x", bound: .atLeast(3),
            detail: "\(many) puts/s with \(threads) threads, \(one) with one")
    }

    private func timePuts(_ first: Int, _ puts: Int, threads: Int) throws -> Double {
        let failure = Mutex<(any Error)?>(nil)
        let done = DispatchGroup()
        let vault = vault
        let taken = time {
            for thread in 0..<threads {
                done.enter()
                Thread {
                    defer { done.leave() }
                    do {
                        for index in stride(from: first + thread, to: first + puts, by: threads) {
                            try unsafe vault.put(bytes: Records.value(index).span.bytes, for: Records.name(index))
                        }
                    } catch { failure.withLock { $0 = error } }
                }.start()
            }
            done.wait()
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return taken / Double(puts)
    }
}
