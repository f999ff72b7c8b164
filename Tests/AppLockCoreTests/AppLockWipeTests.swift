import AppLockCore
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultHeader
import VaultStorage

/// A lock whose vault is destroyed by another thread.
@Suite struct AppLockWipeTests {
    /// Something of an app's that is erased when the test lets go of it.
    final class HeldTarget: WipeTarget {
        let identifier = "org.example.held"
        private let release = DispatchSemaphore(value: 0)
        private let erased = Mutex(false)
        private let begun = AsyncStream.makeStream(of: Void.self)

        /// Returns when a wipe has come to it.
        func isReached() async {
            for await _ in begun.stream { return }
        }

        func letGo() { release.signal() }

        func erase() -> Int {
            begun.continuation.yield()
            release.wait()
            erased.withLock { $0 = true }
            return 1
        }

        func isErased() -> Bool { erased.withLock { $0 } }
    }

    @Test func `a wipe that another thread is at has not finished`() async throws {
        let scratch = try AppLockTests.Scratch()
        _ = try scratch.vault()
        let target = HeldTarget()
        var settings = VaultSettings.costsForTests()
        settings.wipeTargets = [target]
        let vault = try Vault(at: scratch.path, settings: settings)
        #expect(vault.continueWipe() == .none)
        let lock = AppLock(vault: vault, settings: LockSettings(isEnabled: true, timing: .never))
        await lock.play(.system(.didBecomeActive))
        #expect(await lock.snapshot.state == .authenticating(1))
        let wiping = Thread {
            _ = try? vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ in }
        }
        wiping.start()
        await target.isReached()
        // The lock hears of it, as from any call that finds it.
        let snapshots = await lock.snapshots()
        await lock.play(.authenticationEnded(1, .wipeRequired))
        #expect(await lock.snapshot.state == .wiping)
        #expect(vault.isWiped && vault.continueWipe() == .running)
        target.letGo()
        for await snapshot in snapshots where snapshot.state == .wiped { break }
        #expect(target.isErased())
        #expect(vault.continueWipe() == .over)
    }
}
