import VaultStorage
import SystemCalls
import SecretMemory
import VaultCore

/// Writes to a vault whose database has changed bytes, again and again, and puts the good bytes back each time.
///
/// The bytes change between the unlock and the first write: reading them may end the process, and is not what is looked
/// at. An order is a line of `OFFSET MASK` pairs. Lines: `begin`, then `put CODE`, `replace CODE`, `delete CODE`,
/// `batch CODE`, with `done` in place of a code, `verify intact|broken|CODE`, and `end`.
enum FlippedWrites {
    static func run(_ home: String, _ clock: FileClock) throws {
        let file = unsafe open("\(home)/vault.mdb", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw VaultError(.noVault, "no database") }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw VaultError(.inputOutput, "no size") }
        var good = [UInt8](repeating: 0, count: Int(status.st_size))
        guard unsafe pread(file, &good, good.count, 0) == good.count else { throw VaultError(.inputOutput, "short") }
        Report.line("ready")
        while let line = readLine() {
            let words = line.split(separator: " ").compactMap { Int($0) }
            // A loop in a damaged tree would never end.
            alarm(60)
            var bad = good
            for index in stride(from: 0, to: words.count - 1, by: 2) { bad[words[index]] ^= UInt8(words[index + 1]) }
            for step in 0..<steps.count {
                try work(home, clock, file, bad, step)
                try restore(file, good)
            }
            Report.line("end")
        }
    }

    private static let steps: [(name: String, body: @Sendable (Vault) throws -> Void)] = [
        ("put", { vault in try put(vault, 0..<3, 300, false) }),
        ("replace", { vault in try put(vault, 0..<20, 20, true, "n") }),
        ("delete", { vault in for number in 10..<40 { try vault.delete("n\(number)", in: "many") } }),
        (
            "batch",
            { vault in
                try vault.write { session in
                    for number in 0..<55 { try session.delete("n\(number)", in: "many") }
                    let bytes = Content(seed: 9, size: 3_000).bytes()
                    for number in 0..<20 { try unsafe session.put(bytes.span.bytes, for: "b\(number)", in: "many") }
                }
            }
        ),
    ]

    private static func put(
        _ vault: Vault, _ numbers: Range<Int>, _ size: Int, _ replacing: Bool, _ prefix: String = "new"
    ) throws {
        let bytes = Content(seed: 8, size: size).bytes()
        for number in numbers {
            try unsafe vault.put(bytes: bytes.span.bytes, for: "\(prefix)\(number)", in: "many", replacing: replacing)
        }
    }

    private static func work(
        _ home: String, _ clock: FileClock, _ file: Int32, _ bad: [UInt8], _ step: Int
    ) throws {
        let vault = try Vault.known(home, clock)
        try vault.unlock(phrase: Known.phrase(0))
        try overwrite(file, bad)
        Report.line("begin")
        var outcome = "done"
        do { try steps[step].body(vault) } catch { outcome = Report.code(of: error) }
        Report.line("\(steps[step].name) \(outcome)")
        vault.lock()
    }

    private static func overwrite(_ file: Int32, _ bytes: [UInt8]) throws {
        guard unsafe pwrite(file, bytes, bytes.count, 0) == bytes.count else {
            throw VaultError(.inputOutput, "writing failed")
        }
    }

    private static func restore(_ file: Int32, _ good: [UInt8]) throws {
        try overwrite(file, good)
        guard ftruncate(file, off_t(good.count)) == 0 else { throw VaultError(.inputOutput, "cutting failed") }
    }
}
