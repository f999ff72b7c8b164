import Holdfast
import TestSupport
import Testing

@testable import HoldfastUI

/// The system's owner at the lock screen.
@MainActor @Suite(.patient) struct OwnerUnlockTests {
    /// An open vault whose rules take these ways of the owner.
    private func open(_ scratch: Scratch, _ steps: OwnerStep...) async throws -> ReadyModels {
        let models = try await scratch.open()
        for step in steps { try await models.enroll(step) }
        return models
    }

    @Test func aFingerOpensAfterThePasscodeAndTheSensorIsHeardLive() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await open(scratch, .biometrics)
        let (lock, owner) = (models.lock, models.lock.owner)
        await lock.play(.forceLock)
        await until { owner.offers == [.biometrics] }
        #expect(sensor.prompts == 0, "nobody is asked by himself after he locked it")
        #expect(owner.problem == nil && owner.dialog.step == nil)
        sensor.plays(
            .expects(.rightIndex), .says(.touch), .holds, .says(.retry), .holds, .says(.tooShort), .holds,
            .says(.notCentred), .holds, .says(.removeAndRetry), .holds, .noMatch, .says(.noMatch), .holds, .match)
        let asking = Task { await owner.ask() }
        for said: OwnerGuidance in [.touch, .retry, .tooShort, .notCentred, .removeAndRetry, .noMatch] {
            await until { owner.dialog.guidance == said }
            #expect(owner.dialog.finger == .rightIndex && owner.dialog.step == .biometrics)
            #expect(lock.isLocked && lock.isCovered)
            sensor.go()
        }
        await asking.value
        await until { !lock.isLocked }
        #expect(owner.dialog.step == nil && owner.dialog.guidance == nil && owner.offers.isEmpty)
        #expect(models.lock.app.vault.isUnlocked && owner.problem == nil)
    }

    @Test func whoComesBackIsAskedOnceByHimself() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await open(scratch, .biometrics)
        let (lock, owner) = (models.lock, models.lock.owner)
        await lock.handle(.didEnterBackground)
        #expect(lock.isLocked)
        sensor.plays(.says(.touch), .holds)
        await lock.handle(.didBecomeActive)
        await until { owner.dialog.guidance == .touch }
        owner.turnAway()
        await until { owner.dialog.step == nil }
        #expect(owner.problem == nil, "turning away needs no words")
        await until { owner.offers == [.biometrics] }
        // The prompt itself makes an app inactive and then active again.
        await lock.handle(.willResignActive)
        await lock.handle(.didBecomeActive)
        #expect(sensor.prompts == 1 && owner.dialog.step == nil)
        // Nobody asks for a finger behind another window.
        owner.setInFront(false)
        await lock.handle(.systemLocked)
        await lock.handle(.systemUnlocked)
        await lock.refresh()
        #expect(sensor.prompts == 1)
        sensor.plays(.match)
        owner.setInFront(true)
        await until { !lock.isLocked }
        #expect(sensor.prompts == 2)
    }

    @Test func whatOpensNothingIsSaidAndThePasscodeIsLeft() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await open(scratch, .biometrics)
        let (lock, owner) = (models.lock, models.lock.owner)
        await lock.play(.forceLock)
        await until { owner.offers == [.biometrics] }
        sensor.plays(.noMatch, .noMatch, .noMatch)
        await owner.ask()
        #expect(owner.problem == .notRecognised && owner.offers == [.biometrics] && lock.isLocked)
        sensor.plays(.timeOver)
        await owner.ask()
        #expect(owner.problem == .timedOut && owner.offers == [.biometrics])
        sensor.plays(.fails(.busy("elsewhere")))
        sensor.set(.busy("elsewhere"))
        await owner.ask()
        #expect(owner.problem == .ownerUnavailable(.busy) && owner.offers.isEmpty, "nothing to ask for now")
        await owner.ask(.biometrics)
        #expect(sensor.prompts == 3, "what is not offered is not asked for")
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .unlocked && owner.problem == nil)
        sensor.set(.available)
        await lock.play(.forceLock)
        await until { owner.offers == [.biometrics] }
        for last in [false, true] {
            sensor.plays(.noMatch, .noMatch, .noMatch)
            await owner.ask()
            #expect(owner.problem == (last ? .passcodeNeeded(.nonMatches) : .notRecognised))
        }
        #expect(owner.offers.isEmpty && lock.isLocked)
        let looks = sensor.enrollmentLooks
        await lock.unlock(.passcode, try secret("right"))
        // What is enrolled is noted by a thread of its own: only what changes after that is a change.
        await until { sensor.enrollmentLooks > looks }
        await lock.play(.forceLock)
        await until { owner.offers == [.biometrics] }
        sensor.enroll("left-thumb")
        sensor.plays(.match)
        await owner.ask()
        #expect(owner.problem == .passcodeNeeded(.enrollmentChanged) && owner.offers.isEmpty && lock.isLocked)
    }

    /// On a slow machine, what was read while the sensor was asked arrives when the prompt is over.
    @Test func aReadingFromBeforeThePromptsEndAsksNobodyAgain() async throws {
        let (scratch, sensor, readings) = (try Scratch(), PlayedSensor(.biometrics), HeldReadings())
        scratch.has(sensor)
        let models = try await open(scratch, .biometrics)
        models.lock.owner.setInFront(false)
        let lock = LockModel(models.lock.app, reading: { await readings.read($0) })
        await lock.play(.forceLock)
        await until { lock.owner.offers == [.biometrics] }
        sensor.plays(.says(.touch), .holds, .noMatch, .noMatch, .noMatch)
        readings.hold()
        let asking = Task { await lock.owner.ask() }
        await until { readings.sawPrompt }
        let early = HeldReadings.$isEarly.withValue(true) { Task { await lock.refresh() } }
        await until { readings.hasEarly }
        sensor.go()
        // The prompt is over, and the reading after it has begun; the one from before it arrives first.
        await until { lock.owner.dialog.step == nil && readings.sawNoPrompt }
        readings.letGoOfEarly()
        await early.value
        readings.letGo()
        await asking.value
        await lock.refresh()
        #expect(sensor.prompts == 1 && lock.owner.dialog.step == nil, "nobody is asked by himself")
        #expect(lock.owner.problem == .notRecognised && lock.isLocked)
    }

    @Test func afterAStartThePasscodeComesFirst() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        _ = try await open(scratch, .biometrics)
        let models = ReadyModels(try scratch.app(), interface: "test")
        await models.lock.handle(.launch)
        await models.lock.handle(.didBecomeActive)
        #expect(models.lock.owner.problem == .passcodeNeeded(.start) && models.lock.owner.offers.isEmpty)
        await models.lock.unlock(.passcode, try secret("right"))
        #expect(models.lock.owner.problem == nil)
        await models.lock.play(.forceLock)
        await until { models.lock.owner.offers == [.biometrics] }
        #expect(sensor.prompts == 0)
    }

    @Test func rulesWithoutAnOwnerSayNothingOfHim() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await scratch.open()
        await models.lock.handle(.didEnterBackground)
        await models.lock.handle(.didBecomeActive)
        #expect(models.lock.owner.offers.isEmpty && models.lock.owner.problem == nil && sensor.prompts == 0)
        await models.lock.owner.ask(.biometrics)
        #expect(sensor.prompts == 0)
    }

    @Test func theChainGoesOnWithTheAccountAndItsQuestionsAreAnswered() async throws {
        let (scratch, sensor, account) = (try Scratch(), PlayedSensor(.biometrics), PlayedSensor(.devicePasscode))
        scratch.has(sensor, account)
        let models = try await open(scratch, .biometrics, .devicePasscode)
        let (lock, owner) = (models.lock, models.lock.owner)
        await lock.play(.forceLock)
        await until { owner.offers == [.biometrics, .devicePasscode] }
        let question = OwnerPrompt.hidden("Password: ")
        for (answer, opens) in [("wrong", false), ("correct", true)] {
            account.plays(.tells(.information("Welcome")), .asks(question, "correct"))
            let asking = Task { await owner.ask(.devicePasscode) }
            await until { owner.dialog.question == question }
            #expect(owner.dialog.message == .information("Welcome") && owner.dialog.step == .devicePasscode)
            owner.dialog.answer(try secret(answer))
            #expect(owner.dialog.question == nil)
            await asking.value
            #expect(owner.problem == (opens ? nil : .notRecognised))
            if !opens { #expect(lock.isLocked) }
        }
        await until { !lock.isLocked }
        // Without a sensor the account is all that is offered, and it does not ask by itself.
        sensor.set(.missing("unplugged"))
        await lock.handle(.didEnterBackground)
        await lock.handle(.didBecomeActive)
        await until { owner.offers == [.devicePasscode] }
        #expect(account.prompts == 2)
        account.plays(.asks(question, "correct"))
        let asking = Task { await owner.ask() }
        await until { owner.dialog.question == question }
        owner.turnAway()
        await asking.value
        #expect(owner.problem == nil && lock.isLocked && owner.offers == [.devicePasscode])
    }

    @Test func thePasscodeThatIsTypedMeanwhileOpensAndEndsThePrompt() async throws {
        for isLockEnabled in [true, false] {
            let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
            scratch.has(sensor)
            let models = try await scratch.open(isLockEnabled: isLockEnabled)
            try await models.enroll(.biometrics)
            let (lock, owner) = (models.lock, models.lock.owner)
            await lock.play(.forceLock)
            await until { owner.offers == [.biometrics] }
            sensor.plays(.says(.touch), .holds)
            let asking = Task { await owner.ask() }
            await until { owner.dialog.guidance == .touch }
            await lock.unlock(.passcode, try secret("right"))
            #expect(lock.state == .unlocked)
            await asking.value
            #expect(lock.state == .unlocked && owner.dialog.step == nil && owner.problem == nil)
        }
    }

    @Test func aLockThatFallsEndsThePromptAndWhatComesOfIt() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let models = try await open(scratch, .biometrics)
        let (lock, owner) = (models.lock, models.lock.owner)
        await lock.play(.forceLock)
        await until { owner.offers == [.biometrics] }
        for event: LockMachine.Event in [.forceLock, .system(.systemLocked), .panic] {
            sensor.plays(.says(.touch), .holds, .match)
            let asking = Task { await owner.ask() }
            await until { owner.dialog.guidance == .touch }
            await lock.play(event)
            await asking.value
            #expect(lock.isLocked && !lock.app.vault.isUnlocked, "\(event)")
            await lock.handle(.systemUnlocked)
            await until { owner.offers == [.biometrics] && owner.dialog.step == nil }
        }
    }
}

extension ReadyModels {
    /// Takes a way of the owner into the rules, with the passcode.
    func enroll(_ step: OwnerStep) async throws {
        try await lock.app.lock.enrollOwner(step, passcode: try secret("right"))
        await settings.load()
    }
}
