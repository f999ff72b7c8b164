import VaultStorage
import SystemCalls
import VaultCore

/// A small vault that is known to the last byte.
package enum SmallVault {
    /// Three values of different sizes, a file, and so many short ones that they need more than one page.
    package static let records: [Place: Content] = {
        var records = [
            Place("logins", "first"): Content(seed: 1, size: 24),
            Place("notes", "second"): Content(seed: 2, size: 700),
            Place("notes", "third"): Content(seed: 3, size: 5_000),
            Place("files", "large"): Content(seed: 4, size: (1 << 20) + 100),
        ]
        for number in 0..<60 { records[Place("many", "n\(number)")] = Content(seed: UInt64(100 + number), size: 30) }
        return records
    }()

    /// What only the last transaction wrote; not among ``records``.
    package static let last = Place("notes", "last")
    package static let lastContent = Content(seed: 6, size: 12)
}

/// Reads a vault whose database has one changed byte, again and again. It may crash; then the test starts another.
///
/// An order is a line `OFFSET MASK`. Lines: `begin OFFSET`, `read exact|different|CODE` for each record, the same after
/// `last` for the last one, `verify intact|broken|CODE`, `done`. What stops the vault from being opened is a line
/// `open CODE`.
enum Flips {
    static func run(_ home: String, _ clock: FileClock) throws {
        // A loop in a damaged tree would never end.
        alarm(60)
        let file = unsafe open("\(home)/vault.mdb", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw VaultError(.noVault, "no database") }
        Report.line("ready")
        while let line = readLine() {
            let words = line.split(separator: " ").compactMap { Int($0) }
            guard words.count == 2 else { continue }
            Report.line("begin \(words[0])")
            alarm(60)
            try flip(file, words[0], UInt8(words[1]))
            look(home, clock)
            try flip(file, words[0], UInt8(words[1]))
            Report.line("done")
        }
    }

    private static func flip(_ file: Int32, _ offset: Int, _ mask: UInt8) throws {
        var byte: UInt8 = 0
        let got = unsafe pread(file, &byte, 1, off_t(offset))
        byte ^= mask
        let put = unsafe pwrite(file, &byte, 1, off_t(offset))
        guard got == 1, put == 1 else { throw VaultError(.inputOutput, "flipping failed") }
    }

    private static func look(_ home: String, _ clock: FileClock) {
        do {
            let vault = try Vault.known(home, clock)
            try vault.unlock(phrase: Known.phrase(0))
            for (place, bytes) in expected { Report.line("read \(outcome(vault, place, bytes))") }
            Report.line("last \(outcome(vault, SmallVault.last, SmallVault.lastContent.bytes()))")
            do {
                Report.line("verify \(try vault.verify().isIntact ? "intact" : "broken")")
            } catch {
                Report.line("verify \(Report.code(of: error))")
            }
        } catch {
            Report.line("open \(Report.code(of: error))")
        }
    }

    private static let expected = SmallVault.records.sorted { $0.key < $1.key }.map { ($0.key, $0.value.bytes()) }

    private static func outcome(_ vault: Vault, _ place: Place, _ bytes: [UInt8]) -> String {
        do {
            return try vault.bytes(at: place) == bytes ? "exact" : "different"
        } catch { return Report.code(of: error) }
    }
}
