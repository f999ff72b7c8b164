import VaultCore
import VaultHeader

/// Endless new homes, numbered below one folder.
///
/// Lines: `begin NUMBER`, then `done`.
enum Homes {
    static func creations(below folder: String, _ clock: FileClock) {
        for number in 0... {
            Report.step("\(number)") {
                _ = try Vault.create(
                    at: "\(folder)/\(number)", passcode: Known.passcode(0), settings: .costsForTests(clock: clock))
            }
        }
    }

    static func backups(of home: String, _ clock: FileClock, below folder: String) throws {
        let vault = try Vault.known(home, clock)
        for number in 0... {
            Report.step("\(number)") { _ = try vault.backup(to: "\(folder)/\(number)") }
        }
    }
}
