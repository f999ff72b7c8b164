import AppLockCore
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// The shell around the machine, on real vaults.
@Suite struct AppLockTests {
    final class Scratch: Sendable {
        private let folder: ScratchFolder
        var path: String { folder["home"] }

        init() throws { folder = try ScratchFolder("lock") }

        func vault() throws -> Vault {
            let passcode = try secret("right")
            _ = try Vault.create(at: path, passcode: passcode, settings: .costsForTests())
            return try Vault(at: path, settings: .costsForTests())
        }
    }

    /// A vault with a lock that is switched on.
    func lock(_ scratch: Scratch, _ timing: LockTiming = .immediately) throws -> AppLock {
        AppLock(vault: try scratch.vault(), settings: LockSettings(isEnabled: true, timing: timing))
    }

    @Test func onlyThePasscodeOpensAndLockingTakesTheKeys() async throws {
        let scratch = try Scratch()
        let lock = try lock(scratch)
        let vault = lock.vault
        await lock.play(.system(.launch))
        #expect(await lock.snapshot.isLockScreenShown)
        await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret("wrong")) }
        #expect(!vault.isUnlocked)
        #expect(await lock.snapshot.isCovered)
        try await lock.unlock(.passcode, secret("right"))
        #expect(vault.isUnlocked)
        #expect(await !lock.snapshot.isCovered)
        await lock.play(.system(.didEnterBackground))
        #expect(!vault.isUnlocked, "the timing locks at once")
        await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret("right")) }
        #expect(try vault.status().remainingAttempts == 5, "nothing is asked while out of sight")
        await lock.play(.system(.didBecomeActive))
        try await lock.unlock(.passcode, secret("right"))
        await lock.forceLock()
        #expect(!vault.isUnlocked)
    }

    @Test func theTimerLocksAVaultThatWasLeftOpen() async throws {
        let scratch = try Scratch()
        let lock = try lock(scratch, .after(seconds: 1))
        var snapshots = await lock.snapshots().makeAsyncIterator()
        try await lock.unlock(.passcode, secret("right"))
        await lock.play(.system(.didEnterBackground))
        #expect(lock.vault.isUnlocked)
        while let snapshot = await snapshots.next() {
            if snapshot.state == .locked(.background) { break }
        }
        #expect(!lock.vault.isUnlocked)
    }

    @Test func aLockThatIsSwitchedOffKeepsTheVaultOpenAndForceLockStillShutsIt() async throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        let lock = try AppLock(vault: vault)
        await lock.play(.system(.launch))
        #expect(await lock.snapshot.state == .disabled, "off until its owner wants it")
        try await lock.unlock(.passcode, secret("right"))
        await lock.play(.system(.didEnterBackground))
        #expect(vault.isUnlocked)
        await lock.play(.system(.didBecomeActive))
        await lock.forceLock()
        #expect(!vault.isUnlocked)
        #expect(await lock.snapshot.isLockScreenShown)
        try await lock.unlock(.passcode, secret("right"))
        #expect(await lock.snapshot.state == .disabled)
    }

    @Test func theLastReferenceTakesTheKeysAlong() async throws {
        let scratch = try Scratch()
        let vault = try scratch.vault()
        do {
            let lock = AppLock(vault: vault, settings: LockSettings(isEnabled: true, timing: .never))
            try await lock.unlock(.passcode, secret("right"))
            #expect(vault.isUnlocked)
        }
        #expect(!vault.isUnlocked)
    }

    @Test func forceUnlockMakesUpNoKey() async throws {
        let scratch = try Scratch()
        let lock = try lock(scratch, .never)
        await #expect(throws: VaultError.self) { try await lock.forceUnlock() }
        try await lock.unlock(.passcode, secret("right"))
        await lock.play(.system(.willResignActive))
        #expect(await lock.snapshot.isCovered)
        try await lock.forceUnlock()
        #expect(await !lock.snapshot.isCovered)
        lock.vault.lock()  // past the lock
        await #expect(throws: VaultError.self) { try await lock.forceUnlock() }
        #expect(await lock.snapshot.state == .locked(.keysGone))
        #expect(!lock.vault.isUnlocked)
    }

    @Test func noEventFromOutsideOpensOrChangesASetting() async throws {
        let scratch = try Scratch()
        let lock = try lock(scratch)
        await lock.play(.authenticate)
        await lock.play(.authenticationEnded(1, .unlocked(by: .biometrics)))
        #expect(await lock.snapshot.state == .authenticating(1), "there are no keys")
        await lock.play(.authenticationEnded(1, .wipeRequired))
        #expect(await lock.snapshot.state == .authenticating(1), "the vault says nothing of a wipe")
        try await lock.unlock(.passcode, secret("right"))
        let off = LockSettings(isEnabled: false, timing: .never)
        let events: [LockMachine.Event] = [.settingsChanged(off), .settingsRequested(off), .wipeBegan, .wipeFinished]
        let before = await lock.snapshot
        for event in events { await lock.play(event) }
        #expect(await lock.snapshot == before)
    }

    /// Pulls the emergency brake from inside an unlock, where the ledger asks for the time.
    final class PanickingClock: BootClock {
        private let lock = Mutex<AppLock?>(nil)
        func arm(_ lock: AppLock?) { self.lock.withLock { $0 = lock } }

        func now() -> BootInstant {
            lock.withLock { $0 }?.panic()
            return SystemBootClock().now()
        }
    }

    @Test func panicWinsOverThePasscodeThatIsBeingChecked() async throws {
        let scratch = try Scratch()
        _ = try scratch.vault()
        let clock = PanickingClock()
        let lock = AppLock(
            vault: try Vault(at: scratch.path, settings: .costsForTests(clock: clock)),
            settings: LockSettings(isEnabled: true, timing: .never))
        await lock.play(.authenticate)  // the prompt is up; what follows is its answer
        clock.arm(lock)
        let error = await #expect(throws: VaultError.self) { try await lock.unlock(.passcode, secret("right")) }
        clock.arm(nil)
        #expect(error?.code == .locked)
        #expect(!lock.vault.isUnlocked)
        #expect(await lock.snapshot.isCovered)
        #expect(try lock.vault.status().remainingAttempts == 5, "the passcode was right; nothing is counted")
        await lock.play(.panic)
        try await lock.unlock(.passcode, secret("right"))
        #expect(lock.vault.isUnlocked, "it locks, it does not break")
    }

    @Test func panicLocksFromAnyThread() async throws {
        let scratch = try Scratch()
        let lock = try lock(scratch, .never)
        var records = await lock.records().makeAsyncIterator()
        try await lock.unlock(.passcode, secret("right"))
        #expect(await records.next() == .unlocked(by: .passcode))
        lock.panic()
        #expect(!lock.vault.isUnlocked, "keys are gone when it returns")
        #expect(await records.next() == .locked(.panic), "whatever the shell notices first")
    }
}
