import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// Definite failures of a biometric prompt: counted only while self-destruct is on, and only by the switch.
@Suite struct BiometricFailureTests {
    func vault(_ home: TestHome, selfDestruct: Bool, counts: Bool = true) throws -> Vault {
        _ = try home.create()
        let vault = try home.open()
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
            policy.countsBiometricFailures = counts
        }
        if selfDestruct { try vault.setSelfDestruct(true) }
        return vault
    }

    @Test func oneFailureAddsOneToBothNumbers() throws {
        let home = try TestHome()
        let vault = try vault(home, selfDestruct: true)
        #expect(try vault.countFailedBiometrics() == 4)
        #expect(try vault.status().refusedAttempts == 1)
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        #expect(try vault.status().remainingAttempts == 3)
        #expect(try vault.countFailedBiometrics() == 2)
        home.clock.advance(seconds: 30)
        try vault.unlock("right")
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test(arguments: [(false, true), (true, false), (false, false)])
    func otherwiseItChangesNothing(selfDestruct: Bool, counts: Bool) throws {
        let home = try TestHome()
        let vault = try vault(home, selfDestruct: selfDestruct, counts: counts)
        let before = try home.bytes("ledger")
        #expect(try vault.countFailedBiometrics() == nil)
        #expect(try home.bytes("ledger") == before)
        #expect(try vault.status().remainingAttempts == 5)
    }
}
