import AppLockCore
import Foundation
import SecretMemory
import Testing
import VaultCore
import VaultFormat

/// The shell around the machine, on real vaults.
@Suite struct AppLockTests {
    final class Scratch: Sendable {
        let path = NSTemporaryDirectory() + "holdfast-lock-\(UUID().uuidString)"
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func vault() throws -> Vault {
            let passcode = try Self.secret("right")
            _ = try Vault.create(at: path, passcode: passcode, settings: .costsForTests())
            return try Vault(at: path, settings: .costsForTests())
        }

        static func secret(_ text: String) throws -> SecretBytes {
            try SecretBytes(count: text.utf8.count) { memory in
                for (index, byte) in text.utf8.enumerated() {
                    memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
                }
            }
        }
    }

    @Test func onlyThePasscodeOpensAndLockingTakesTheKeys() async throws {
        let scratch = Scratch()
        let vault = try scratch.vault()
        let lock = try AppLock(vault: vault)
        await lock.handle(.launch)
        #expect(await lock.snapshot.isLockScreenShown)
        await #expect(throws: VaultError.self) { try await lock.unlock(passcode: Scratch.secret("wrong")) }
        #expect(!vault.isUnlocked)
        #expect(await lock.snapshot.isCovered)
        try await lock.unlock(passcode: Scratch.secret("right"))
        #expect(vault.isUnlocked)
        #expect(await !lock.snapshot.isCovered)
        await lock.handle(.didEnterBackground)
        #expect(!vault.isUnlocked, "the standard timing locks at once")
        await #expect(throws: VaultError.self) { try await lock.unlock(passcode: Scratch.secret("right")) }
        #expect(try vault.status().remainingAttempts == 5, "nothing is asked while out of sight")
        await lock.handle(.didBecomeActive)
        try await lock.unlock(passcode: Scratch.secret("right"))
        await lock.lock()
        #expect(!vault.isUnlocked)
    }

    @Test func theTimerLocksAVaultThatWasLeftOpen() async throws {
        let scratch = Scratch()
        let vault = try scratch.vault()
        let lock = AppLock(
            vault: vault, settings: LockSettings(isEnabled: true, timing: .after(seconds: 1)))
        var snapshots = await lock.snapshots().makeAsyncIterator()
        try await lock.unlock(passcode: Scratch.secret("right"))
        await lock.handle(.didEnterBackground)
        #expect(vault.isUnlocked)
        while let snapshot = await snapshots.next() {
            if snapshot.state == .locked(.background) { break }
        }
        #expect(!vault.isUnlocked)
    }

    @Test func aLockThatIsSwitchedOffKeepsTheVaultOpenAndForceLockStillShutsIt() async throws {
        let scratch = Scratch()
        let vault = try scratch.vault()
        let lock = try AppLock(vault: vault, isEnabled: false)
        await lock.handle(.launch)
        try await lock.unlock(passcode: Scratch.secret("right"))
        await lock.handle(.didEnterBackground)
        #expect(vault.isUnlocked)
        await lock.lock()
        #expect(!vault.isUnlocked)
    }

    @Test func theLastReferenceTakesTheKeysAlong() async throws {
        let scratch = Scratch()
        let vault = try scratch.vault()
        do {
            let lock = try AppLock(vault: vault)
            try await lock.unlock(passcode: Scratch.secret("right"))
            #expect(vault.isUnlocked)
        }
        #expect(!vault.isUnlocked)
    }
}
