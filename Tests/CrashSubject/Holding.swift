import VaultCore

/// A process that reads for as long as its test wants.
enum Holding {
    /// Lines: `reading`, while the snapshot is there; after a line from the test `done RECORDS`.
    static func run(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        try vault.unlock(phrase: Known.phrase(0))
        var isFirst = true
        let found = try vault.verify { _, _ in
            guard isFirst else { return }
            isFirst = false
            Report.line("reading")
            _ = readLine()
        }
        Report.line("done \(found.isIntact ? found.records : -1)")
    }
}
