import AppLockCore
import Cryptography
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultLog
import VaultStorage
import VaultHeader

/// What the lock tells, and what changes it.
@Suite struct AppLockChangeTests {
    typealias Scratch = AppLockTests.Scratch

    @Test func theSwitchIsKeptInTheHeaderAndNeedsThePasscode() async throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        let lock = try AppLock(vault: vault)
        var records = await lock.records().makeAsyncIterator()
        try await lock.unlock(.passcode, secret("right"))
        #expect(await records.next() == .unlocked(by: .passcode))
        await #expect(throws: VaultError.self) { try await lock.setEnabled(true, passcode: secret("wrong")) }
        #expect(await records.next() == .settingsReverted(.wrongSecret(retryAfter: .zero, remaining: 4)))
        #expect(await !lock.snapshot.settings.isEnabled)
        #expect(try !vault.status().policy.isLockEnabled)
        #expect(try vault.status().remainingAttempts == 4, "a wrong passcode counts here too")
        try await lock.setEnabled(true, passcode: secret("right"))
        let on = LockSettings(isEnabled: true, timing: .immediately)
        #expect(await records.next() == .settingsChanged(on))
        #expect(await !lock.snapshot.isCovered, "open until the app is left")
        try await lock.setTiming(.oneMinute, passcode: secret("right"))
        let later = try AppLock(vault: Vault(at: scratch.path, settings: .costsForTests()))
        #expect(await later.snapshot.settings == LockSettings(isEnabled: true, timing: .oneMinute))
        #expect(await later.snapshot.isCovered, "a new start is locked")
        try await lock.setEnabled(false, passcode: secret("right"))
        #expect(await lock.snapshot.state == .disabled)
        #expect(try !vault.status().policy.isLockEnabled)
    }

    @Test func theSecurityLogLearnsWhyTheKeysWent() async throws {
        let scratch = try Scratch()
        let lock = AppLock(vault: try scratch.vault(), settings: LockSettings(isEnabled: true, timing: .immediately))
        for event in [
            LockMachine.Event.system(.suspended), .system(.systemLocked), .system(.idleTimeout),
            .system(.didEnterBackground), .forceLock,
        ] {
            await lock.play(.system(.didBecomeActive))
            try await lock.unlock(.passcode, secret("right"))
            await lock.play(event)
        }
        await lock.play(.system(.didBecomeActive))
        try await lock.unlock(.passcode, secret("right"))
        let entries = try lock.vault.securityLog().entries.filter { $0.event.name == "locked" }
        #expect(
            entries.map { $0.event["reason"] } == [
                .text("suspend"), .text("system"), .text("idle"), .text("background"), .text("requested"),
            ])
    }

    @Test func nothingIsChangedWhileTheLockIsShut() async throws {
        let scratch = try Scratch()
        let lock = AppLock(vault: try scratch.vault(), settings: LockSettings(isEnabled: true, timing: .never))
        await #expect(throws: VaultError.locked) { try await lock.setEnabled(false, passcode: secret("right")) }
        #expect(await lock.snapshot.settings.isEnabled)
        #expect(try lock.vault.status().remainingAttempts == 5, "not even asked")
    }

    @Test func switchingOnWithoutKeysLocks() async throws {
        let scratch = try Scratch()
        let lock = try AppLock(vault: scratch.vault())
        try await lock.setEnabled(true, passcode: secret("right"))
        #expect(await lock.snapshot.state == .locked(.keysGone))
        #expect(await lock.snapshot.isLockScreenShown)
    }

    @Test func aDelayRefusesWithoutAskingAndThePhraseOpens() async throws {
        let scratch = try Scratch()
        let phrase = try Vault.create(
            at: scratch.path, passcode: secret("right"), settings: .costsForTests())
        let vault = try Vault(at: scratch.path, settings: .costsForTests())
        let lock = AppLock(vault: vault, settings: LockSettings(isEnabled: true, timing: .never))
        var records = await lock.records().makeAsyncIterator()
        for (index, text) in ["one", "two", "three"].enumerated() {
            await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret(text)) }
            let wait: Duration = index == 2 ? .seconds(30) : .zero
            let record = await records.next()
            guard case .notUnlocked(.wrongSecret(let left, let remaining)) = record else {
                Issue.record("\(String(describing: record))")
                return
            }
            #expect(left <= wait && left > wait / 2 || wait == left)
            #expect(remaining == 4 - index)
        }
        let error = await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret("right")) }
        #expect(error?.code == .delayed)
        #expect(try vault.status().remainingAttempts == 2, "not even asked")
        try await lock.unlock(.recoveryPhrase, phrase.entered())
        #expect(await records.next() == .unlocked(by: .recoveryPhrase))
        #expect(vault.isUnlocked)
    }

    @Test func cancellingAPromptCountsNothingAndOpensNothing() async throws {
        let scratch = try Scratch()
        let lock = AppLock(vault: try scratch.vault(), settings: LockSettings(isEnabled: true, timing: .never))
        var records = await lock.records().makeAsyncIterator()
        await lock.play(.system(.didBecomeActive))
        #expect(await lock.snapshot.state == .authenticating(1))
        await lock.cancelPrompt()
        #expect(await records.next() == .notUnlocked(.cancelled))
        #expect(await lock.snapshot.state == .locked(.launch))
        #expect(try lock.vault.status().remainingAttempts == 5)
    }

    @Test func theLimitWithSelfDestructOnEndsTheLock() async throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { policy in
            policy.attemptLimit = 3
            policy.delays = [0]
        }
        try vault.changeSelfDestruct(to: true, passcode: secret("right"), spending: vault.burnAttempt()) {}
        let lock = AppLock(vault: vault, settings: LockSettings(isEnabled: true, timing: .never))
        for text in ["one", "two", "three"] {
            await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret(text)) }
        }
        #expect(await lock.snapshot.state == .wiped)
        #expect(vault.isWiped)
        await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret("right")) }
        #expect(!vault.isUnlocked)
    }

    @Test func biometricFailuresCountOnlyWhileSelfDestructIsOn() async throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        let lock = AppLock(vault: vault, settings: LockSettings(isEnabled: true, timing: .never))
        await lock.play(.authenticate)
        await lock.play(.authenticationEnded(1, .biometricFailed))
        #expect(try vault.status().remainingAttempts == 5)
        try vault.changeSelfDestruct(to: true, passcode: secret("right"), spending: vault.burnAttempt()) {}
        await lock.play(.authenticate)
        for outcome in [AuthenticationOutcome.retry, .systemLockout, .hardwareBusy, .unavailable, .cancelled] {
            await lock.play(.authenticationEnded(2, outcome))
        }
        await lock.play(.authenticationEnded(2, .biometricFailed))
        #expect(try vault.status().remainingAttempts == 5, "late callbacks, retries and cancels")
        await lock.play(.authenticate)
        await lock.play(.authenticationEnded(3, .biometricFailed))
        await lock.play(.authenticationEnded(3, .biometricFailed))
        #expect(try vault.status().remainingAttempts == 4, "once")
    }

    @Test func aPendingChangeOfSelfDestructIsDroppedWhenTheAppIsLeft() async throws {
        let scratch = try Scratch()
        let lock = AppLock(vault: try scratch.vault(), settings: LockSettings(isEnabled: true, timing: .oneMinute))
        let drops = Drops()
        await lock.selfDestructChangeBegan { drops.add() }
        #expect(drops.count == 1, "shut: dropped at once")
        try await lock.unlock(.passcode, secret("right"))
        await lock.selfDestructChangeBegan { drops.add() }
        #expect(await lock.snapshot.hasPendingSelfDestructChange)
        await lock.play(.system(.willResignActive))
        #expect(drops.count == 1)
        await lock.play(.system(.didEnterBackground))
        #expect(drops.count == 2)
        await lock.play(.system(.didBecomeActive))
        await lock.selfDestructChangeBegan { drops.add() }
        await lock.selfDestructChangeEnded()
        await lock.forceLock()
        #expect(drops.count == 2)
    }

    final class Drops: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }
}
