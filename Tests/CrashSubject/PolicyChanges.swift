import VaultCore
package import VaultFormat

/// Endless changes of the vault's rules, each with a number.
///
/// Lines: `begin NUMBER`, then `done`.
package enum PolicyChanges {
    /// Rules with a number that they give back; some are written in version 1 and some in version 2, in every size.
    package static func policy(_ number: Int) -> VaultPolicy {
        var policy = VaultPolicy.standard
        policy.lockTiming = .after(seconds: UInt32(number))
        policy.fallback = FallbackPolicy.presets[number % FallbackPolicy.presets.count].policy
        policy.usesBiometrics = number % 2 == 1
        for index in 0..<number % 40 { policy.collectionMinima["collection \(index)"] = .keyBound }
        return policy
    }

    static func endless(_ home: String, _ clock: FileClock, from first: Int) throws {
        let vault = try Vault.known(home, clock)
        var number = first
        while true {
            number += 1
            Report.line("begin \(number)")
            try vault.changePolicy(passcode: Known.passcode(0), spending: vault.burnAttempt()) { rules in
                rules = policy(number)
            }
            Report.line("done")
        }
    }
}
