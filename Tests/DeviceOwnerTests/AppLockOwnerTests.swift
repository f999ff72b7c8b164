import AppLockCore
import Foundation
import KeyStores
import RealParts
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat

@testable import DeviceOwner
import VaultStorage

/// An app's lock that its owner opens, with the real fprintd, PAM and TPM.
@Suite(.serialized) struct AppLockOwnerTests {
    /// A vault with the passcode `right`.
    private final class Home: Sendable {
        private let folder: ScratchFolder
        let path: String

        init() throws {
            folder = try ScratchFolder("app-owner")
            path = folder["home"]
            let passcode = try secret("right")
            _ = try Vault.create(at: path, passcode: passcode, settings: .costsForTests())
        }

        /// A lock in front of it, as an app has one.
        func lock(_ authenticator: OwnerAuthenticator, tpm: TPMLocation? = nil) throws -> AppLock {
            var settings = VaultSettings.costsForTests()
            settings.shareStores = { home in
                tpm.map { ShareStores([TPMShares(at: $0)], floors: []) } ?? .files(in: home + "/shares")
            }
            settings.armsOwner = true
            return AppLock(
                vault: try Vault(at: path, settings: settings),
                settings: LockSettings(isEnabled: true, timing: .immediately), authenticator: authenticator)
        }
    }

    private static func authenticator(_ sensor: FingerprintSensor) -> OwnerAuthenticator {
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress(sensor.bus.address)
        places.daemonUser = getuid()
        return OwnerAuthenticator(places)
    }

    private func unlock(_ lock: AppLock) async throws {
        let passcode = try secret("right")
        try await lock.unlock(.passcode, passcode)
    }

    private func enroll(_ step: OwnerStep, _ lock: AppLock, survivesRestart: Bool = false) async throws {
        let passcode = try secret("right")
        try await lock.enrollOwner(step, passcode: passcode, survivesRestart: survivesRestart)
    }

    /// The outcome of a prompt: `open`, or the code of an error.
    private func ask(_ lock: AppLock, _ step: OwnerStep, _ prompts: OwnerPrompts = OwnerPrompts()) async -> String {
        do { try await lock.unlock(by: step, prompts) } catch { return "\(error.code)" }
        return "open"
    }

    /// Lays fingers on the sensor, one each time that it asks for one.
    private func touching(
        _ sensor: FingerprintSensor, _ fingers: String...
    ) -> OwnerPrompts {
        let left = Mutex(fingers)
        return OwnerPrompts(show: { guidance in
            guard guidance == .touch else { return }
            let finger = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let finger { try? sensor.touch("SCAN \(finger)") }
        })
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: an app's fingerprints are not tested"))
    func `a finger takes no identity away where there is a passcode`() async throws {
        let sensor = try FingerprintSensor()
        let home = try Home()
        let lock = try home.lock(AppLockOwnerTests.authenticator(sensor))
        await lock.handle(.launch)
        try sensor.enroll("anna")
        try await unlock(lock)
        try await enroll(.biometrics, lock)
        let byFinger = try await lock.prove(by: .biometrics, touching(sensor, "anna"))
        #expect(byFinger.way == .owner)
        do throws(VaultError) {
            try lock.vault.redeem(byFinger)
            Issue.record("a finger was enough")
        } catch { #expect(error.code == .proofTooWeak) }
        let passcode = try secret("right")
        let byPasscode = try await lock.prove(passcode: passcode)
        try lock.vault.redeem(byPasscode)
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: an app's fingerprints are not tested"))
    func aFingerOpensOnceItIsEnrolledAndThePasscodeWasGiven() async throws {
        let sensor = try FingerprintSensor()
        let home = try Home()
        let lock = try home.lock(AppLockOwnerTests.authenticator(sensor))
        await lock.handle(.launch)
        #expect(await ask(lock, .biometrics, touching(sensor, "anna")) == "passcodeNeeded", "the rules do not take it")
        await #expect(throws: VaultError.self, "no finger is known") { try await enroll(.biometrics, lock) }
        #expect(await lock.ownerCapability(of: .biometrics).why?.contains("fprintd-enroll") == true)
        try sensor.enroll("anna")
        #expect(await lock.ownerCapability(of: .biometrics) == .available)
        try await unlock(lock)
        try await enroll(.biometrics, lock)
        #expect(try lock.ownerObstacle(.biometrics) == nil)
        #expect(try lock.ownerObstacle(.devicePasscode)?.code == .passcodeNeeded, "the account was not asked for")
        let value = try secret("value")
        try lock.vault.put(value, for: "name")
        await lock.forceLock()
        #expect(!lock.vault.isUnlocked)

        let fingers = Mutex<[OwnerFinger]>([])
        let prompts = OwnerPrompts(
            show: { if $0 == .touch { try? sensor.touch("SCAN anna") } },
            onFinger: { finger in fingers.withLock { $0.append(finger) } })
        #expect(await ask(lock, .biometrics, prompts) == "open")
        #expect(fingers.withLock { $0 } == [.rightIndex])
        #expect(lock.vault.isUnlocked)
        #expect(try lock.vault.withValue(for: "name") { $0.byteCount } == 5)
        #expect(await !lock.snapshot.isCovered)
        #expect(await ask(lock, .biometrics) == "exists", "it is open already and nobody is asked")

        await lock.forceLock()
        #expect(await ask(lock, .biometrics, touching(sensor, "berta", "berta", "berta")) == "notConfirmed")
        #expect(!lock.vault.isUnlocked)
        #expect(await lock.snapshot.isLockScreenShown)
        #expect(try lock.vault.status().remainingAttempts == 5, "self-destruct is off: nothing is counted")
        #expect(await ask(lock, .biometrics, touching(sensor, "berta", "anna")) == "open")
        await lock.forceLock()
        // Another process has nothing of it.
        let other = try home.lock(AppLockOwnerTests.authenticator(sensor))
        await other.handle(.launch)
        #expect(await ask(other, .biometrics, touching(sensor, "anna")) == "passcodeNeeded")
        // Another finger.
        try sensor.enroll("mallory", as: "left-thumb")
        #expect(await ask(lock, .biometrics, touching(sensor, "mallory")) == "passcodeNeeded")
        #expect(await ask(lock, .biometrics, touching(sensor, "anna")) == "passcodeNeeded")
        try await unlock(lock)
        await lock.forceLock()
        let passcode = try secret("right")
        try await lock.removeOwner(.biometrics, passcode: passcode)
        #expect(await ask(lock, .biometrics, touching(sensor, "anna")) == "passcodeNeeded", "the rules say no")
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: an app's fingerprints are not tested"))
    func aPromptThatIsOverOpensNothing() async throws {
        let sensor = try FingerprintSensor()
        try sensor.enroll("anna")
        let home = try Home()
        defer { withExtendedLifetime(home) {} }
        let lock = try home.lock(AppLockOwnerTests.authenticator(sensor))
        await lock.handle(.launch)
        try await unlock(lock)
        try await enroll(.biometrics, lock)
        let endings: [(String, @Sendable (AppLock) async -> Void)] = [
            ("lock", { await $0.forceLock() }),
            ("cancel", { await $0.cancelPrompt() }),
            ("background", { await $0.handle(.didEnterBackground) }),
            ("panic", { $0.panic() }),
            ("screen lock", { await $0.handle(.systemLocked) }),
        ]
        for (name, end) in endings {
            await lock.forceLock()
            let prompts = OwnerPrompts(show: { guidance in if guidance == .touch { Task { await end(lock) } } })
            let came = await ask(lock, .biometrics, prompts)
            #expect(["cancelled", "locked"].contains(came), "\(name): \(came)")
            #expect(!lock.vault.isUnlocked, "\(name)")
            await lock.handle(.systemUnlocked)
            await lock.handle(.didBecomeActive)
            await lock.cancelPrompt()
        }
        // The task that waits is cancelled.
        let (shown, isShown) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            await ask(lock, .biometrics, OwnerPrompts(show: { if $0 == .touch { isShown.yield() } }))
        }
        for await _ in shown { break }
        #expect(await ask(lock, .biometrics) == "busy", "one prompt at a time")
        waiting.cancel()
        #expect(await waiting.value == "cancelled")
        // The passcode is typed meanwhile: it opens, and the sensor is let go.
        let (second, isSecond) = AsyncStream<Void>.makeStream()
        let other = Task {
            await ask(lock, .biometrics, OwnerPrompts(show: { if $0 == .touch { isSecond.yield() } }))
        }
        for await _ in second { break }
        try await unlock(lock)
        #expect(await other.value == "cancelled")
        #expect(lock.vault.isUnlocked)
        await lock.forceLock()
        #expect(await ask(lock, .biometrics, touching(sensor, "anna")) == "open", "the sensor is free after all of it")
    }

    @Test(.enabled(if: FingerprintSensor.isInstalled, "fprintd is not installed: an app's fingerprints are not tested"))
    func promptsWithoutAMatchCountWhileSelfDestructIsOnAndWipeAtTheLimit() async throws {
        let sensor = try FingerprintSensor()
        try sensor.enroll("anna")
        let home = try Home()
        defer { withExtendedLifetime(home) {} }
        let lock = try home.lock(AppLockOwnerTests.authenticator(sensor))
        await lock.handle(.launch)
        try await unlock(lock)
        try await enroll(.biometrics, lock)
        let passcode = try secret("right")
        try lock.vault.changePolicy(passcode: passcode, spending: lock.vault.burnAttempt()) { $0.attemptLimit = 3 }
        _ = try lock.vault.changeSelfDestruct(
            to: true, passcode: passcode, spending: lock.vault.burnAttempt(), approve: {})
        await lock.forceLock()
        #expect(await ask(lock, .biometrics, touching(sensor, "anna")) == "passcodeNeeded", "the rules were changed")
        try await unlock(lock)
        await lock.forceLock()
        #expect(await ask(lock, .biometrics, touching(sensor, "b", "b", "b")) == "notConfirmed")
        #expect(try lock.vault.status().remainingAttempts == 2)
        #expect(await ask(lock, .biometrics, touching(sensor, "b", "b")) == "passcodeNeeded", "five samples")
        #expect(try lock.vault.status().remainingAttempts == 2, "a prompt that was broken off does not count")
        #expect(await ask(lock, .biometrics, touching(sensor, "b")) == "passcodeNeeded")
        #expect(!lock.vault.isWiped)
    }

    @Test(
        .enabled(if: AccountModule.path != nil, "libpam-wrapper is not installed: an app's PAM is not tested"))
    func anAccountsPasswordOpensAndATurningAwayDoesNot() async throws {
        let rules = try DevicePasscodeTests.Rules(account: ())
        let home = try Home()
        defer { withExtendedLifetime((home, rules)) {} }
        let lock = try home.lock(rules.authenticator)
        await lock.handle(.launch)
        try await unlock(lock)
        try await enroll(.devicePasscode, lock)
        await lock.forceLock()
        func typing(_ text: String?) -> OwnerPrompts {
            OwnerPrompts(answer: { prompt in
                await Task.yield()
                guard prompt.needsAnswer, let text else { return nil }
                return try? secret(text)
            })
        }
        #expect(await ask(lock, .devicePasscode, typing("wrong")) == "notConfirmed")
        #expect(await ask(lock, .devicePasscode, typing(nil)) == "cancelled")
        #expect(await ask(lock, .devicePasscode) == "cancelled")
        #expect(await lock.snapshot.isLockScreenShown)
        #expect(await ask(lock, .devicePasscode, typing("correct")) == "open")
        #expect(lock.vault.isUnlocked)
    }

    @Test(
        .enabled(
            if: SoftwareTPM.isInstalled && AccountModule.path != nil,
            "swtpm or libpam-wrapper is not installed: an app's way in on the disk is not tested"))
    func whatSurvivesARestartLiesUnderTheTPM() async throws {
        let rules = try DevicePasscodeTests.Rules(account: ())
        let chip = try SoftwareTPM()
        let home = try Home()
        let location = TPMLocation(chip.location)
        do {
            let lock = try home.lock(rules.authenticator, tpm: location)
            try await enroll(.devicePasscode, lock, survivesRestart: true)
        }
        let prompts = OwnerPrompts(answer: { _ in try? secret("correct") })
        let lock = try home.lock(rules.authenticator, tpm: location)
        await lock.handle(.launch)
        #expect(await ask(lock, .devicePasscode, prompts) == "open")
        let another = try SoftwareTPM()
        let elsewhere = try home.lock(rules.authenticator, tpm: TPMLocation(another.location))
        await elsewhere.handle(.launch)
        #expect(await ask(elsewhere, .devicePasscode, prompts) == "passcodeNeeded", "another machine")
        await lock.forceLock()
        let passcode = try secret("right")
        await #expect(throws: VaultError.self, "the phrase would go") {
            try await lock.removeOwner(.devicePasscode, passcode: passcode)
        }
        #expect(lock.vault.keepsOwner)
        try await lock.removeOwner(.devicePasscode, passcode: passcode, insisting: true)
        #expect(!lock.vault.keepsOwner)
        let after = try home.lock(rules.authenticator, tpm: location)
        await after.handle(.launch)
        #expect(await ask(after, .devicePasscode, prompts) == "passcodeNeeded")
    }
}
