import DeviceOwner
import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import RealParts
import TestSupport
import Testing

/// The models over the real fprintd with libfprint's virtual sensor, and over a software TPM.
@MainActor @Suite(.serialized, .patient) struct OwnerPartsTests {
    private func authenticator(_ sensor: FingerprintSensor) -> OwnerAuthenticator {
        var places = OwnerAuthenticator.Places()
        places.systemBus = BusAddress(sensor.bus.address)
        places.daemonUser = getuid()
        places.passcodeRules = "/nonexistent"
        return OwnerAuthenticator(places)
    }

    /// A finger that is not the owner's, for as often as the sensor takes one.
    private func layWrongFingers(on sensor: FingerprintSensor, _ dialog: OwnerDialog) async throws {
        for misses in 0..<3 {
            await until { dialog.guidance == .touch && dialog.misses == misses }
            try sensor.touch("SCAN berta")
        }
    }

    @Test(
        .enabled(
            if: FingerprintSensor.isInstalled, "fprintd is not installed: the screens' fingerprints are not tested"))
    func aRealSensorFromTheSwitchToTheLockScreen() async throws {
        let (scratch, sensor) = (try Scratch(), try FingerprintSensor())
        scratch.authenticator = authenticator(sensor)
        let models = try await scratch.open()
        let (lock, settings, owner) = (models.lock, models.settings, models.lock.owner)
        await settings.look()
        #expect(
            settings.obstacle(to: .biometrics) == .notEnrolled && settings.obstacle(to: .devicePasscode) == .missing)
        try sensor.enroll("anna")
        await settings.look()
        #expect(settings.obstacle(to: .biometrics) == nil)
        settings.request(.owner(.biometrics, true))
        var proving = Task { await settings.proveOwner() }
        try await layWrongFingers(on: sensor, settings.dialog)
        await proving.value
        #expect(settings.failure?.problem == .notRecognised && !settings.showsOn(.biometrics))
        settings.request(.owner(.biometrics, true))
        proving = Task { await settings.proveOwner() }
        await until { settings.dialog.guidance == .touch }
        try sensor.touch("SCAN anna")
        await proving.value
        #expect(settings.needed == .passcode)
        await settings.prove(passcode: try secret("right"))
        #expect(settings.showsOn(.biometrics))

        await lock.handle(.didEnterBackground)
        await lock.handle(.didBecomeActive)
        await until { owner.dialog.guidance == .touch && owner.dialog.finger == .rightIndex }
        for (command, said) in [
            ("RETRY 1", OwnerGuidance.tooShort), ("RETRY 2", .notCentred), ("RETRY 3", .removeAndRetry),
        ] {
            try sensor.touch(command)
            await until { owner.dialog.guidance == said }
        }
        #expect(lock.isLocked)
        try sensor.touch("SCAN anna")
        await until { !lock.isLocked && owner.dialog.step == nil }
        #expect(owner.problem == nil)
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: the screens' TPM is not tested"))
    func thePasscodeGoesUnderARealChipAndOutAgain() async throws {
        let (scratch, chip) = (try Scratch(), try SoftwareTPM())
        scratch.tier = TPMAttemptTier(at: TPMLocation(chip.location))
        let words = try scratch.create()
        let app = try scratch.app()
        let lock = LockModel(app)
        await lock.handle(.launch)
        await lock.handle(.didBecomeActive)
        await lock.unlock(.passcode, try secret("right"))
        let settings = SecuritySettingsModel(app) { _ in nil }
        await settings.load()
        await settings.look()
        #expect(settings.canSwitchChip && !settings.showsChipOn)
        settings.request(.chip(true))
        let other = try RecoveryPhrase(entropy: SecureRandom.secret(32)).withText {
            String(decoding: bytes($0), as: UTF8.self)
        }
        await settings.prove(passcode: try secret("right"), phrase: try secret(other))
        #expect(settings.failure?.problem == .wrongPhrase && !settings.showsChipOn)
        settings.request(.chip(true))
        await settings.prove(passcode: try secret("right"), phrase: try secret(words))
        #expect(settings.failure == nil && settings.showsChipOn && settings.passcodeAssurance == .hardwareLimited)
        await lock.play(.forceLock)
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .unlocked)
        settings.request(.chip(false))
        #expect(settings.needed == .passcode)
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && !settings.showsChipOn && settings.passcodeAssurance == .keyBound)
    }

    @Test(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: the screens' TPM is not tested"))
    func aPINUnderARealChipFromTheSettingsToItsEnd() async throws {
        let (scratch, chip) = (try Scratch(), try SoftwareTPM())
        scratch.tier = TPMAttemptTier(at: TPMLocation(chip.location))
        let models = try await scratch.open()
        let (lock, settings) = (models.lock, models.settings)
        #expect(try await settings.setPIN(secret("2580"), passcode: secret("right")) == nil)
        #expect(settings.hasPIN && settings.passcodeAssurance == .keyBound, "the passcode is under no chip")
        await lock.play(.forceLock)
        #expect(lock.prompt == .pin)
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.state == .unlocked)
        await lock.play(.forceLock)
        for number in 1...5 {
            #expect(lock.prompt == .pin)
            await lock.unlock(.pin, try secret("999\(number)"))
            #expect(lock.guidance == .refused(.wrongPIN(remaining: 5 - number)))
            scratch.clock.advance(seconds: 3600)
            lock.tick()
            await lock.refresh()
        }
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.isLocked && lock.guidance == .refused(.pinIsOver) && lock.prompt == .passcode)
        await lock.unlock(.passcode, try secret("right"))
        settings.request(.pinRemoval)
        await settings.prove(passcode: try secret("right"))
        #expect(lock.state == .unlocked && settings.failure == nil && !settings.hasPIN)
    }

    @Test(
        .enabled(
            if: SoftwareTPM.isInstalled && FingerprintSensor.isInstalled,
            "swtpm or fprintd is not installed: their pages of the assistant are not tested"))
    func theAssistantOffersWhatTheMachineHas() async throws {
        let (scratch, chip, sensor) = (try Scratch(), try SoftwareTPM(), try FingerprintSensor())
        try sensor.enroll("anna")
        scratch.tier = TPMAttemptTier(at: TPMLocation(chip.location))
        scratch.authenticator = authenticator(sensor)
        let model = SetupModel(scratch, [.chip, .fingerprint])
        try await model.toProtection()
        await model.finish()
        #expect(model.step == .chip && model.problem == nil && model.app?.vault.isUnlocked == true)
        await model.enrollChip()
        #expect(model.step == .fingerprint && model.problem == nil)
        #expect(try model.app?.vault.status().hasHardwareShare == true)
        var proving = Task { await model.enrollFingerprint() }
        try await layWrongFingers(on: sensor, model.dialog)
        await proving.value
        #expect(model.step == .fingerprint && model.problem == .notRecognised)
        proving = Task { await model.enrollFingerprint() }
        await until { model.dialog.guidance == .touch }
        try sensor.touch("SCAN anna")
        await proving.value
        #expect(model.step == .finished && model.problem == nil)
        let policy = try #require(try model.app?.vault.status().policy)
        #expect(policy.usesBiometrics && !policy.isLockEnabled, "the lock is off until its owner wants it")
    }
}
