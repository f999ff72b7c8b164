import VaultCore
import VaultStorage
import SystemCalls

/// A process whose map of the database begins with hardly more than the database: what another one writes is soon
/// beyond it.
enum SmallMap {
    /// Orders: `write NUMBER`, `look`. Lines: `ready`; `wrote`, the number of records, or what went wrong.
    static func run(_ home: String, _ clock: FileClock) throws {
        let protected = DatabaseName.protected
        let small = DatabaseName(file: protected.file, limit: protected.limit, room: 1 << 20)
        // The vault shares the database that its process has open.
        let database = try DatabaseEnvironment.acquire(small, in: HomeDirectory(path: home))
        let vault = try Vault.known(home, clock)
        try vault.unlock(phrase: Known.phrase(0))
        Report.line("ready")
        while let order = readLine() {
            do {
                Report.line(try take(order, vault))
            } catch { Report.line("\(Report.code(of: error)) \(error)") }
        }
        _ = consume database
    }

    private static func take(_ order: String, _ vault: Vault) throws -> String {
        guard order.hasPrefix("write "), let number = Int(order.dropFirst(6)) else {
            let found = try vault.verify()
            return found.isIntact ? "\(found.records)" : "broken"
        }
        for part in 0..<4 {
            let place = Place("map", "\(number)-\(part)")
            try vault.perform(Operation([.set(place, Content(seed: UInt64(number), size: 700_000))]))
        }
        return "wrote"
    }
}
