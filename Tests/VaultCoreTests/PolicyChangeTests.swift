import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader
import VaultStorage

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

    /// Whoever writes other rules keeps this one.
    @Test func `that nothing is remembered stays when others are changed`() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        let passcode = try secret("right")
        func change(_ edit: (inout VaultPolicy) -> Void) throws {
            try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy throws(VaultError) in
                edit(&policy)
            }
        }
        try change { $0.remembersPasscode = false }
        try change { $0.fallback = .neverBlocks }
        try change { $0.usesBiometrics = true }
        #expect(try !vault.status().policy.remembersPasscode)
        try vault.setSelfDestruct(true)
        #expect(try !vault.status().policy.remembersPasscode)
        try vault.setSelfDestruct(false)
        let next = try secret("next")
        #expect(try !vault.recover(phrase: phrase.phrase, newPasscode: next).headerWasAltered)
        let policy = try vault.status().policy
        #expect(!policy.remembersPasscode && policy.fallback == .neverBlocks && !policy.selfDestruct)
        for level in VaultLevel.allCases { #expect(!policy.at(level, owner: []).remembersPasscode) }
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

    #if os(Linux) && !canImport(Darwin)
    /// The right passcode, and a ledger that still keeps the wrong ones: at a lower limit the next start would
    /// destroy the vault of an owner who did nothing wrong.
    @Test func countsThatCouldNotBeGivenBackMeetNoNewRules() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        try vault.setSelfDestruct(true)
        for number in 1...3 {
            #expect(errorCode { try vault.guess(number) } == .wrongPasscode)
            home.clock.advance(seconds: 3600)
        }
        let passcode = try secret("right")
        let attempt = try vault.burnAttempt()
        try PolicyChangeTests.protectLedger(of: home)
        do {
            try vault.changePolicy(passcode: passcode, spending: attempt) { $0.attemptLimit = 3 }
            Issue.record("no error was thrown")
        } catch { #expect(error.code == .inputOutput) }
        let again = try home.open()
        #expect(try again.status().policy.attemptLimit == 5)
        home.clock.advance(seconds: 3600)
        try again.unlock("right")
    }

    /// Has what is open of a ledger refuse every write.
    private static func protectLedger(of home: TestHome) throws {
        let path = try unsafe #require(realpath(home.file("ledger"), nil))
        defer { unsafe free(path) }
        let name = unsafe String(cString: path)
        let readOnly = unsafe open(name, O_RDONLY | O_CLOEXEC)
        defer { close(readOnly) }
        for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        where number != readOnly {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            if target == name { #expect(dup2(readOnly, number) == number) }
        }
    }
    #endif
}
