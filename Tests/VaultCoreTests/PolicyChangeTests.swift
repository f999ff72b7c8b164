import SecretMemory
import Testing
import VaultCore
import VaultFormat

@Suite struct PolicyChangeTests {
    @Test func newRulesHoldAfterAChangeAndTheVaultStaysOpen() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1, 2, 3], "name")
        let passcode = try secret("right")
        let changed = try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
            policy.attemptLimit = 3
            policy.lockTiming = .never
        }
        #expect(changed.attemptLimit == 3)
        #expect(changed.lockTiming == .never)
        #expect(try vault.status().policy == changed)
        #expect(vault.authenticatedPolicy == changed)
        #expect(try vault.get("name") == [1, 2, 3])
        let other = try home.open()
        try other.unlock("right")
        #expect(other.authenticatedPolicy == changed)
    }

    @Test func rulesOutsideTheirRangeChangeNothing() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        let before = try home.bytes("header")
        let passcode = try secret("right")
        let code = errorCode {
            try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 2 }
        }
        #expect(code == .invalidPolicy)
        #expect(try home.bytes("header") == before)
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func aWrongPasscodeChangesNoRule() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        let passcode = try secret("wrong")
        let code = errorCode {
            try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.attemptLimit = 9 }
        }
        #expect(code == .wrongPasscode)
        #expect(try vault.status().policy.attemptLimit == 5)
        #expect(try vault.status().remainingAttempts == 4)
    }
}
