import CRawLoops
import Cryptography
import Foundation
import SecretMemory

/// BLAKE3 beside the hashes of OpenSSL, and beside the official program.
struct Hashing: Suite {
    static let figures = ["blake3-64-bytes", "blake3-1-mib", "blake3-1-mib-blake2b", "blake3-file"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        var found: [Figure] = []
        let rounds = bench.options.count(31, quick: 11)
        if bench.options.wants("blake3-64-bytes") {
            let small = try Rounds(
                rounds, [{ _ in hash(64, times: 20_000) }, { _ in try raw(raw_sha256, 64, times: 20_000) }])
            found.append(
                Figure(
                    name: "blake3-64-bytes", value: small.ratio(0, to: 1), unit: "x",
                    absolute: .init(small.median(0), "ns"), bound: .atMost(1),
                    detail: "OpenSSL's SHA-256 \(number(small.median(1))) ns"))
        }
        let size = 1 << 20
        let large = try Rounds(
            rounds,
            [
                { _ in hash(size, times: 8) }, { _ in try raw(raw_sha256, size, times: 2) },
                { _ in try raw(raw_blake2b, size, times: 2) },
            ])
        let rates = (0..<3).map { Double(size) / large.median($0) }
        found += [
            Figure(
                name: "blake3-1-mib", value: large.ratio(0, to: 1), unit: "x", absolute: .init(rates[0], "GB/s"),
                bound: .atMost(2.5), detail: "the time by that of OpenSSL's SHA-256, \(number(rates[1])) GB/s"),
            Figure(
                name: "blake3-1-mib-blake2b", value: large.ratio(0, to: 2), unit: "x", bound: .atMost(1),
                detail: "the time by that of OpenSSL's BLAKE2b, \(number(rates[2])) GB/s"),
        ]
        if bench.options.wants("blake3-file"), let figure = try file(bench) { found.append(figure) }
        return found
    }

    /// `b3sum` with one thread. It starts as a program, which is taken off.
    private static func file(_ bench: Bench) throws -> Figure? {
        let program = Command(path: "/usr/bin/b3sum")
        guard (try? program.run(["--version"]))?.status == 0 else {
            bench.skip("blake3-file", "b3sum is not installed")
            return nil
        }
        let size = 64 << 20
        let (whole, empty) = (bench.scratch.file("whole"), bench.scratch.file("empty"))
        let content = [UInt8](repeating: 7, count: size)
        try RawFile(whole).write(content)
        try RawFile(empty).write([])
        let rounds = try Rounds(
            bench.options.count(15, quick: 5),
            [
                { _ in time { keep(UInt64(unsafe BLAKE3.hash(content.span.bytes).bytes[0])) } },
                { _ in try program.run(["--num-threads", "1", whole]).time },
                { _ in try program.run(["--num-threads", "1", empty]).time },
            ])
        let theirs = rounds.median(1) - rounds.median(2)
        return Figure(
            name: "blake3-file", value: rounds.median(0) / theirs, unit: "x",
            absolute: .init(Double(size) / rounds.median(0), "GB/s"), bound: .atMost(4),
            detail: "the time for 64 MiB by that of b3sum on one thread, \(number(Double(size) / theirs)) GB/s")
    }

    private static func hash(_ size: Int, times: Int) -> Double {
        var input = [UInt8](repeating: 1, count: size)
        let taken = time {
            for _ in 0..<times {
                // Each input depends on the last digest, so that no call can be left out or run beside another.
                let digest = unsafe BLAKE3.hash(input.span.bytes)
                input[0] = digest.withBytes { unsafe $0.unsafeLoad(as: UInt8.self) }
            }
        }
        keep(UInt64(input[0]))
        return taken / Double(times)
    }

    private static func raw(_ kind: Int, _ size: Int, times: Int) throws -> Double {
        var input = [UInt8](repeating: 1, count: size)
        var status: Int32 = 0
        let taken = time { status = unsafe raw_digest(Int32(kind), &input, size, Int32(times)) }
        guard status == 0 else { throw BenchmarkError("OpenSSL does not hash") }
        return taken / Double(times)
    }
}
