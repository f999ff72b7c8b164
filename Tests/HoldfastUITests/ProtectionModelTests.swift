import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import TestSupport
import Testing

/// The ladder of the settings: each step proves or changes nothing, and says what it takes away.
@MainActor @Suite(.patient) struct ProtectionModelTests {
    let device: Device

    init() throws { device = try Device() }

    @Test func `a passcode is confirmed by the owner, then asked for, and goes with its proof`() async throws {
        let models = try await device.models()
        let model = models.protection
        await model.setPasscode(try secret("one"), repeated: try secret("two"))
        #expect(model.failure?.problem == .passcodesDiffer && model.level == .device)
        await model.setPasscode(try secret("0000"), repeated: try secret("0000"))
        #expect(model.failure?.problem == .weakPasscode && model.level == .device && device.finger.prompts == 0)
        await model.setPasscode(try secret("right"), repeated: try secret("right"), takingWeak: true)
        #expect(model.failure?.problem == .notRecognised && model.level == .device && device.finger.prompts == 1)
        device.finger.plays(.match)
        await model.setPasscode(try secret("right"), repeated: try secret("right"), takingWeak: true)
        #expect(model.failure == nil && model.level == .secret && models.settings.hasPasscode)
        await device.settled(models)

        let cold = try await device.models()
        #expect(cold.lock.isLocked && cold.lock.takesSecret && cold.lock.prompt == .passcode)
        await cold.lock.unlock(.passcode, try secret("right"))
        await cold.load()
        await cold.protection.removePasscode(try secret("wrong"))
        #expect(cold.protection.failure?.problem == .wrongPasscode(remaining: 4) && cold.protection.level == .secret)
        device.finger.plays(.match)
        await cold.protection.removePasscode(try secret("right"))
        #expect(cold.protection.failure == nil && cold.protection.level == .owner && cold.settings.showsLockOn)
    }

    @Test func `where the device cannot ask, the passcode goes to asking nobody`() async throws {
        device.finger.set(.missing("none"))
        device.code.set(.missing("none"))
        let models = try await device.models()
        await models.protection.setPasscode(try secret("right"), repeated: try secret("right"), takingWeak: true)
        #expect(models.protection.level == .secret)
        await device.settled(models)
        await models.protection.removePasscode(try secret("right"))
        #expect(models.protection.failure == nil && models.protection.level == .device)
    }

    @Test func `words open nothing until they are confirmed, and the next step of the ladder ends them`() async throws {
        let models = try await device.models()
        let model = models.protection
        #expect(model.isLostWithDevice && !model.losesPhrase)
        await model.issuePhrase()
        let words = try #require(model.withPhrase(text))
        #expect(words.split(separator: " ").count == 24 && model.showsPhrase && model.isLostWithDevice)
        await model.confirmPhrase()
        #expect(model.failure?.problem == .notRecognised && model.isLostWithDevice && model.showsPhrase)
        device.finger.plays(.match)
        await model.confirmPhrase()
        #expect(!model.isLostWithDevice && model.withPhrase(text) == nil)

        models.settings.request(.lock(true))
        #expect(models.settings.losesPhrase, "said before")
        device.finger.plays(.match)
        await models.settings.confirm()
        await device.settled(models)
        #expect(model.level == .owner && model.isLostWithDevice)
    }

    @Test func `the words alone open where the share was lost`() async throws {
        let models = try await device.models()
        await models.protection.issuePhrase()
        let words = try #require(models.protection.withPhrase(text))
        device.finger.plays(.match)
        await models.protection.confirmPhrase()
        device.stores = .inMemory()
        let lost = try await device.models()
        #expect(lost.lock.stop?.reason == .lost && lost.lock.takesSecret && lost.lock.prompt == .recoveryPhrase)
        await lost.lock.unlock(.recoveryPhrase, try secret(words))
        #expect(lost.lock.state == .unlocked && lost.lock.stop == nil)
    }

    @Test func `timing and limit are changed by the owner where there is no passcode`() async throws {
        let models = try await device.models()
        try await device.turnLockOn(models)
        let settings = models.settings
        settings.request(.timing(.fiveMinutes))
        #expect(settings.needed == .confirmation)
        await settings.confirm()
        #expect(settings.failure?.problem == .notRecognised && settings.shownTiming == .immediately)
        for change in [SecuritySettingsModel.Change.timing(.fiveMinutes), .attemptLimit(3), .countsBiometrics(false)] {
            device.finger.plays(.match)
            settings.request(change)
            await settings.confirm()
            #expect(settings.failure == nil)
        }
        device.finger.plays(.match)
        let next = try await device.models()
        let policy = try next.lock.app.vault.status().policy
        #expect(policy.lockTiming == .fiveMinutes && policy.attemptLimit == 3 && !policy.countsBiometricFailures)
        await until { next.lock.state == .unlocked }
    }

    @Test func `after another enrollment the device's passcode opens, and takes the new faces in`() async throws {
        try await device.turnLockOn(try await device.models())
        device.finger.enroll("another finger")
        device.code.plays(.match)
        let prompts = device.finger.prompts
        let models = try await device.models()
        await until { models.lock.state == .unlocked }
        await models.load()
        #expect(device.finger.prompts == prompts, "the sensor was not asked")
        let settings = models.settings
        #expect(settings.enrollmentChanged)
        settings.request(.ownerAnew)
        await settings.confirm()
        #expect(settings.failure?.problem == .notRecognised && settings.enrollmentChanged, "nothing was changed")
        device.code.plays(.match)
        device.finger.plays(.match)
        settings.request(.ownerAnew)
        await settings.confirm()
        #expect(settings.failure == nil && !settings.enrollmentChanged)
        await device.settled(models)
        device.finger.plays(.match)
        let next = try await device.models()
        await until { next.lock.state == .unlocked }
        #expect(device.finger.prompts == prompts + 2)
    }

    @Test func `minimising locks where its user wants that, and what the app gave stays`() async throws {
        let models = try await device.models()
        try await device.turnLockOn(models)
        await models.preferences.change { $0.locksWhenMinimised = true }
        await models.lock.handle(.systemLocked)
        #expect(models.lock.isLocked, "given by the app")
        device.finger.plays(.match)
        let next = try await device.models()
        await until { next.lock.state == .unlocked }
        await next.load()
        await next.lock.handle(.minimised)
        #expect(next.lock.isLocked && next.lock.reason == .minimised)
        device.finger.plays(.match)
        await next.lock.handle(.didBecomeActive)
        await until { !next.lock.owner.isUnlocking && next.lock.owner.opensByLevel }
        await next.lock.owner.unlock()
        #expect(next.lock.state == .unlocked, "at the button")
        await next.load()
        await next.preferences.change { $0.locksWhenMinimised = false }
        await next.lock.handle(.minimised)
        #expect(next.lock.state == .unlocked && next.lock.isCovered)
    }
}
