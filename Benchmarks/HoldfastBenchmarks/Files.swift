import CRawLoops
import Foundation
import SecretMemory
import VaultCore
import VaultFormat

/// A file into the vault and out again.
struct Files: Suite {
    static let figures = ["file-encrypt", "file-decrypt", "file-memory"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let size = bench.options.isLong ? 8 << 30 : bench.options.count(1 << 30, quick: 128 << 20)
        let (source, sealed) = (bench.scratch.file("source"), bench.scratch.file("sealed"))
        try fill(source, size)
        let vault = try BenchmarkVault.create(at: bench.scratch.file("files"))
        let chunk = FileFormat.chunkSize
        let before = try Memory.restart()
        // The raw file first: what is read from it must be there.
        try check(unsafe raw_seal_file(source, sealed, chunk))
        try put(source, vault)
        let grown = try Memory.peak() - before
        let rounds = bench.options.count(5, quick: 3)
        let into = try Rounds(
            rounds,
            [
                { _ in try time { try check(unsafe raw_seal_file(source, sealed, chunk)) } },
                { _ in try time { try put(source, vault) } },
            ])
        let out = try Rounds(
            rounds,
            [
                { _ in
                    var sum: UInt64 = 0
                    let taken = try time { try check(unsafe raw_open_file(sealed, chunk, &sum)) }
                    keep(sum)
                    return taken
                },
                { _ in
                    var sum: UInt64 = 0
                    let taken = try time {
                        try vault.read("file") { bytes in sum &+= unsafe UInt64(bytes.unsafeLoad(as: UInt8.self)) }
                    }
                    keep(sum)
                    return taken
                },
            ])
        func figure(_ name: String, _ rounds: Rounds, _ what: String) -> Figure {
            Figure(
                name: name, value: rounds.ratio(0, to: 1), unit: "x",
                absolute: .init(Double(size) / rounds.median(1), "GB/s"), bound: .atLeast(0.6),
                detail: "\(size >> 20) MiB \(what); the rate by that of OpenSSL's GCM with the same reads and writes, "
                    + "\(number(Double(size) / rounds.median(0))) GB/s")
        }
        return [
            figure("file-encrypt", into, "from a file into the vault, flushed"),
            figure("file-decrypt", out, "lent piece by piece"),
            Figure(
                name: "file-memory", value: max(0, grown), unit: "MB", bound: .atMost(64),
                detail: "what the process grew by at most, \(size >> 20) MiB into the vault"),
        ]
    }

    private static func check(_ status: Int32) throws {
        if status != 0 { throw BenchmarkError("the raw file failed") }
    }

    private static func put(_ path: String, _ vault: Vault) throws {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try vault.put("file", replacing: true) { span in
            unsafe span.withUnsafeMutableBytes { bytes in
                unsafe bytes.baseAddress.map { unsafe Foundation.read(file, $0, bytes.count) } ?? 0
            }
        }
    }

    private static func fill(_ path: String, _ size: Int) throws {
        let file = try RawFile(path)
        var generator = SeededGenerator(7)
        let block = generator.bytes(1 << 20)
        for offset in stride(from: 0, to: size, by: block.count) { try file.write(block, at: offset) }
        try file.flush()
    }
}
