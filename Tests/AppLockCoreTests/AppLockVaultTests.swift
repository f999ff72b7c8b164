import AppLockCore
import Cryptography
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// What an app changes through its lock: each call spends an attempt by itself.
@Suite struct AppLockVaultTests {
    typealias Scratch = AppLockTests.Scratch

    private func open(_ scratch: Scratch) async throws -> AppLock {
        let lock = try AppLock(vault: scratch.vault())
        try await lock.unlock(.passcode, secret("right"))
        return lock
    }

    @Test func `a wrong passcode costs an attempt, whatever it was given for`() async throws {
        let scratch = try Scratch()
        let lock = try await open(scratch)
        let wrong: [@Sendable (AppLock) async throws -> Void] = [
            { _ = try await $0.prove(passcode: secret("wrong 1")) },
            { try await $0.changePasscode(from: secret("wrong 2"), to: secret("next")) },
        ]
        for (number, change) in wrong.enumerated() {
            await #expect(throws: VaultError.self) { try await change(lock) }
            #expect(try lock.vault.status().remainingAttempts == 4 - number)
        }
        #expect(lock.vault.isUnlocked, "a refused change locks nothing")
    }

    @Test func `no change is made behind a lock that is shut, and nothing is spent`() async throws {
        let scratch = try Scratch()
        let lock = try await open(scratch)
        await lock.forceLock()
        let changes: [@Sendable (AppLock) async throws -> Void] = [
            { _ = try await $0.prove(passcode: secret("wrong")) },
            { try await $0.changePasscode(from: secret("wrong"), to: secret("next")) },
            { try await $0.changePolicy(passcode: secret("wrong")) { $0.attemptLimit = 7 } },
            { try await $0.enrollRecoveryPhrase(Vault.newRecoveryPhrase(), passcode: secret("wrong")) },
            { try await $0.removeRecoveryPhrase(passcode: secret("wrong"), insisting: true) },
            { try await $0.enrollPIN(secret("2580"), passcode: secret("wrong")) },
            { try await $0.removePIN(passcode: secret("wrong")) },
            { try await $0.enrollHardware(passcode: secret("wrong"), insisting: true) },
            { try await $0.removeHardware(passcode: secret("wrong")) },
            { _ = try await $0.begin(.enable, passcode: secret("wrong")) },
        ]
        for change in changes { await #expect(throws: VaultError.locked) { try await change(lock) } }
        #expect(try lock.vault.status().remainingAttempts == 5)
        #expect(!lock.vault.isUnlocked)
    }

    @Test func `what the passcode proved is good for one change`() async throws {
        let scratch = try Scratch()
        let lock = try await open(scratch)
        let key = try lock.vault.exportSecurityLogKey(proof: await lock.prove(passcode: secret("right")))
        #expect(key.count > 0)
        #expect(try lock.vault.status().remainingAttempts == 5, "a right one gives the attempt back")
    }

    @Test func `a new passcode and a new phrase open the vault, and the old ones do not`() async throws {
        let scratch = try Scratch()
        let lock = try await open(scratch)
        let phrase = try Vault.newRecoveryPhrase()
        try await lock.enrollRecoveryPhrase(phrase, passcode: secret("right"))
        try await lock.changePasscode(from: secret("right"), to: secret("next"))
        await lock.forceLock()
        await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret("right")) }
        try await lock.unlock(.recoveryPhrase, phrase.entered())
        try await lock.removeRecoveryPhrase(passcode: secret("next"), insisting: true)
        #expect(try !lock.vault.status().hasRecoveryPhrase)
        await lock.forceLock()
        try await lock.unlock(.passcode, secret("next"))
    }

    @Test func `new rules are in effect for the lock at once`() async throws {
        let scratch = try Scratch()
        let lock = try await open(scratch)
        let rules = try await lock.changePolicy(passcode: secret("right")) {
            $0.attemptLimit = 7
            $0.lockTiming = .fiveMinutes
        }
        #expect(rules.attemptLimit == 7)
        #expect(await lock.snapshot.settings.timing == .fiveMinutes)
        await #expect(throws: VaultError.self) {
            try await lock.changePolicy(passcode: secret("right")) { $0.selfDestruct = true }
        }
        #expect(try !lock.vault.status().policy.selfDestruct)
    }

    @Test func `a wipe through the lock ends the lock too`() async throws {
        let scratch = try Scratch()
        let lock = try await open(scratch)
        await #expect(throws: VaultError.self) {
            _ = try await lock.wipe(passcode: secret("wrong")) { _ in }
        }
        #expect(await lock.snapshot.state == .disabled)
        let told = Mutex<String?>(nil)
        let report = try await lock.wipe(passcode: secret("right")) { key in
            told.withLock { $0 = key.publicKey }
        }
        #expect(report.isFinished)
        #expect(report.receipt?.publicKey == told.withLock { $0 })
        #expect(await lock.snapshot.state == .wiped)
        #expect(lock.vault.isWiped)
    }
}

extension RecoveryPhrase {
    /// The words as a user enters them.
    borrowing func entered() throws -> SecretBytes { try withText { try SecretBytes(copying: $0) } }
}
