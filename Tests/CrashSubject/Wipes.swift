import VaultCore

/// Everything that destroys a vault, or decides whether something may.
package enum Wipes {
    /// One wrong passcode, the last one before the limit.
    ///
    /// Lines: `begin guess`, `burned`, `failed CODE`, `end`.
    static func reachLimit(_ home: String, _ clock: FileClock, guess number: Int) throws {
        let vault = try Vault.known(home, clock)
        Report.step("guess") {
            let attempt = try vault.burnAttempt()
            Report.line("burned")
            try vault.verify(passcode: Known.wrongPasscode(number), spending: attempt)
        }
        Report.line("end")
    }

    /// Lines: `begin wipe`, `announced`, then `finished`, `unfinished` or nothing, `done` or `failed CODE`, `end`.
    static func byOwner(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        try? vault.unlock(0)  // open or not makes no difference to the wipe
        Report.step("wipe") {
            let report = try vault.wipe(passcode: Known.passcode(0), spending: vault.burnAttempt()) { _ in
                Report.line("announced")
            }
            Report.line(report.isFinished ? "finished" : "unfinished")
        }
        Report.line("end")
    }

    /// A start on a home in any state.
    static func start(_ home: String, _ clock: FileClock) {
        Report.step("start") { _ = try Vault.known(home, clock) }
        Report.line("end")
    }

    /// Self-destruct on and off again.
    static func toggle(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        for isOn in [true, false, true] {
            Report.step("switch \(isOn ? 1 : 0)") { try vault.switchSelfDestruct(isOn) }
        }
        Report.line("end")
    }
}

extension Wipes {
    /// The home's own wipe key, put back in place of another one.
    static func claim(_ home: String, _ clock: FileClock) throws {
        let vault = try Vault.known(home, clock)
        Report.step("claim") {
            try vault.claimHardware(passcode: Known.passcode(0), spending: vault.burnAttempt())
        }
        Report.line("end")
    }
}

extension Vault {
    /// Without the countdown, which leaves nothing on disk.
    package func switchSelfDestruct(_ isOn: Bool) throws {
        _ = try changeSelfDestruct(to: isOn, passcode: Known.passcode(0), spending: burnAttempt(), approve: {})
    }
}
