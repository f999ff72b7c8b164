import AppLockCore
import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

/// An app's lock that a PIN under a software TPM opens.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: PINs at the app lock are not tested"))
struct AppLockPINTests {
    private final class Home: Sendable {
        private let folder: ScratchFolder
        let path: String
        let chip: SoftwareTPM

        init() throws {
            folder = try ScratchFolder("app-pin")
            path = folder["home"]
            chip = try SoftwareTPM()
            _ = try Vault.create(at: path, passcode: secret("right"), settings: .costsForTests())
        }

        func lock() throws -> AppLock {
            var settings = VaultSettings.costsForTests()
            settings.tier = TPMAttemptTier(at: TPMLocation(chip.location))
            let vault = try Vault(at: path, settings: settings)
            try vault.enrollPIN(secret("2580"), passcode: secret("right"), spending: vault.burnAttempt())
            return AppLock(vault: vault, settings: LockSettings(isEnabled: true, timing: .immediately))
        }
    }

    private let home: Home

    init() throws { home = try Home() }

    /// The outcome of a PIN: `open`, or the code of an error.
    private func unlock(_ lock: AppLock, _ pin: String) async throws -> String {
        let pin = try secret(pin)
        do { try await lock.unlock(.pin, pin) } catch { return "\(error.code)" }
        return "open"
    }

    @Test func opensTheLockAndIsSaidToHaveDone() async throws {
        let lock = try home.lock()
        await lock.handle(.launch)
        let records = await lock.records()
        #expect(try await unlock(lock, "9999") == "wrongPasscode")
        #expect(!lock.vault.isUnlocked)
        #expect(try await unlock(lock, "2580") == "open")
        guard case .unlocked = await lock.snapshot.state else {
            Issue.record("the lock does not know that it is open")
            return
        }
        #expect(lock.vault.assurance == .hardwareLimited)
        #expect(try await unlock(lock, "2580") == "exists")
        for await record in records {
            if record == .unlocked(by: .pin) { break }
        }
        await lock.forceLock()
        #expect(!lock.vault.isUnlocked)
        await lock.handle(.didEnterBackground)
        #expect(try await unlock(lock, "2580") == "locked", "nobody is asked behind another app")
    }

    /// Delays and the end of a vault that destroys itself are the same as by wrong passcodes.
    @Test func wrongOnesAreCountedAsWrongPasscodes() async throws {
        let lock = try home.lock()
        await lock.handle(.launch)
        for number in 0..<2 { #expect(try await unlock(lock, "999\(number)") == "wrongPasscode") }
        #expect(try await unlock(lock, "9993") == "wrongPasscode")
        #expect(try await unlock(lock, "2580") == "delayed")
        guard case .delayed = await lock.snapshot.state else {
            Issue.record("the lock does not know of the delay")
            return
        }
    }
}
