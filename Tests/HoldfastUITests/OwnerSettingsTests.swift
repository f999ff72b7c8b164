import Holdfast
import HoldfastUI
import Synchronization
import TestSupport
import Testing

/// Switches for the owner's finger, the account, and the chip.
@MainActor @Suite(.patient) struct OwnerSettingsTests {
    @Test func theSwitchProvesItselfWithTheFingerAndThePasscode() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await scratch.open()
        let settings = models.settings
        await settings.look()
        #expect(settings.obstacle(to: .biometrics) == nil && settings.canSwitch(.biometrics))
        settings.request(.owner(.biometrics, true))
        #expect(settings.showsOn(.biometrics) && settings.needed == .owner(.biometrics))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.needed == .owner(.biometrics), "the finger comes first")
        sensor.plays(.says(.touch), .holds, .match)
        let proving = Task { await settings.proveOwner() }
        await until { settings.dialog.guidance == .touch }
        #expect(models.lock.state == .unlocked, "a proof locks nothing")
        sensor.go()
        await proving.value
        #expect(settings.needed == .passcode && settings.showsOn(.biometrics))
        #expect(try !models.policy.usesBiometrics, "nothing is written before both were given")
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && settings.needed == nil && settings.showsOn(.biometrics))
        #expect(try models.policy.usesBiometrics)
        // Off again takes the passcode alone, also once the sensor is gone.
        sensor.set(.missing("unplugged"))
        await settings.look()
        #expect(settings.obstacle(to: .biometrics) == .missing && settings.canSwitch(.biometrics))
        settings.request(.owner(.biometrics, false))
        #expect(settings.needed == .passcode && !settings.showsOn(.biometrics))
        await settings.prove(passcode: try secret("wrong"))
        #expect(settings.failure?.problem == .wrongPasscode(remaining: 4) && settings.showsOn(.biometrics))
        settings.request(.owner(.biometrics, false))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure == nil && !settings.showsOn(.biometrics) && !settings.canSwitch(.biometrics))
        #expect(try models.policy == .standard, "nothing is left of it")
    }

    @Test(arguments: [
        (PlayedSensor.Move.noMatch, VaultProblem?.some(.notRecognised)), (.timeOver, .timedOut),
        (.fails(.lockedOut("")), .ownerUnavailable(.lockedOut)), (.fails(.missing("")), .ownerUnavailable(.missing)),
    ])
    func aFingerThatDoesNotProveItselfPutsTheSwitchBack(_ move: PlayedSensor.Move, _ problem: VaultProblem?)
        async throws
    {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await scratch.open()
        let settings = models.settings
        await settings.look()
        settings.request(.owner(.biometrics, true))
        sensor.plays(move)
        await settings.proveOwner()
        #expect(!settings.showsOn(.biometrics) && settings.needed == nil && settings.wanted == nil)
        #expect(settings.failure?.change == .owner(.biometrics, true) && settings.failure?.problem == problem)
        #expect(try models.policy == .standard && models.lock.app.vault.status().remainingAttempts == 5)
        await settings.prove(passcode: try secret("right"))
        #expect(try models.policy == .standard)
    }

    @Test func turningAwayAndTheLockPutTheSwitchBackWithoutAWord() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await scratch.open()
        let settings = models.settings
        let endings: [(String, @MainActor () -> Void)] = [
            ("cancel", { settings.cancel() }), ("dialog", { settings.dialog.cancel() }),
            ("lock", { models.lock.lock() }),
            ("panic", { models.lock.panic() }),
        ]
        for (name, end) in endings {
            if models.lock.isLocked { await models.lock.unlock(.passcode, try secret("right")) }
            settings.request(.owner(.biometrics, true))
            sensor.plays(.says(.touch), .holds, .match)
            let proving = Task { await settings.proveOwner() }
            await until { settings.dialog.guidance == .touch }
            end()
            await proving.value
            #expect(settings.dialog.step == nil && settings.needed == nil && !settings.showsOn(.biometrics), "\(name)")
            #expect(settings.failure == nil, "\(name)")
            await until { !models.lock.isLocked || !models.lock.app.vault.isUnlocked }
        }
        #expect(try models.policy == .standard)
    }

    @Test func theAccountProvesItselfWithItsPassword() async throws {
        let (scratch, account) = (try Scratch(), PlayedSensor(.devicePasscode))
        scratch.has(account)
        let models = try await scratch.open()
        let settings = models.settings
        await settings.look()
        #expect(settings.canSwitch(.devicePasscode) && !settings.canSwitch(.biometrics))
        for (typed, isRight) in [("wrong", false), ("correct", true)] {
            settings.request(.owner(.devicePasscode, true))
            account.plays(.asks(.hidden("Password: "), "correct"))
            let proving = Task { await settings.proveOwner() }
            await until { settings.dialog.question != nil }
            settings.dialog.answer(try secret(typed))
            await proving.value
            #expect(settings.needed == (isRight ? .passcode : nil))
            #expect(settings.failure?.problem == (isRight ? nil : .notRecognised))
        }
        await settings.prove(passcode: try secret("right"))
        #expect(settings.showsOn(.devicePasscode) && settings.failure == nil)
    }

    /// What the prompt shows stays until the next one is begun, and a second one is not begun meanwhile.
    @Test func oneProofAtATime() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await scratch.open()
        let settings = models.settings
        settings.request(.owner(.biometrics, true))
        sensor.plays(.says(.touch), .holds, .match)
        let proving = Task { await settings.proveOwner() }
        await until { settings.dialog.guidance == .touch }
        settings.request(.lock(false))
        #expect(settings.wanted == .owner(.biometrics, true))
        await settings.proveOwner()
        #expect(sensor.prompts == 1)
        sensor.go()
        await proving.value
        #expect(settings.needed == .passcode)
    }

    @Test func withoutAChipNothingIsPutUnderOne() async throws {
        let scratch = try Scratch()
        let words = try scratch.create()
        let models = ReadyModels(try scratch.app(), interface: "test")
        await models.lock.handle(.launch)
        await models.lock.handle(.didBecomeActive)
        await models.lock.unlock(.passcode, try secret("right"))
        let settings = models.settings
        await settings.load()
        settings.request(.chip(true))
        #expect(settings.needed == .passcodeAndPhrase && settings.showsChipOn)
        await settings.prove(passcode: try secret("right"))
        #expect(settings.needed == .passcodeAndPhrase, "the words are needed too")
        await settings.prove(passcode: try secret("right"), phrase: try secret("abandon abandon zzz"))
        #expect(settings.failure?.problem == .unreadablePhrase(.unknownWord(position: 3)) && !settings.showsChipOn)
        settings.request(.chip(true))
        await settings.prove(passcode: try secret("right"), phrase: try secret(words))
        #expect(settings.failure?.problem == .hardwareUnavailable && !settings.showsChipOn)
        #expect(try models.lock.app.vault.status().remainingAttempts == 5)
    }
}

extension ReadyModels {
    fileprivate var policy: VaultPolicy { get throws { try lock.app.vault.status().policy } }
}
