import VaultCore
import VaultFormat
import VaultLog
import VaultStorage

/// Numbered entries of the security log, written while the vault is locked.
enum LogAppends {
    /// Endless; lines: `begin NUMBER`, then `done` or `failed CODE`.
    static func endless(_ home: String, _ clock: FileClock, first: Int) throws {
        let vault = try Vault.known(home, clock)
        for number in first... { step(vault, number) }
    }

    /// So many, and then the end.
    static func some(_ home: String, _ clock: FileClock, first: Int, count: Int) throws {
        let vault = try Vault.known(home, clock)
        for number in first..<first + count { step(vault, number) }
        Report.line("end")
    }

    private static func step(_ vault: Vault, _ number: Int) {
        Report.step("\(number)") {
            guard vault.log.append(.inboxMigrated(count: UInt32(number))) else {
                throw vault.log.problem ?? VaultError(.inputOutput, "no reason is given")
            }
        }
    }
}
