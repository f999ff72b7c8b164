import Foundation
import Holdfast
import HoldfastUI
import Observation
import Synchronization
import TestSupport
import Testing

@MainActor @Suite(.patient) struct LockModelTests {
    @Test func startsShutAndOpensWithThePasscode() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let lock = models.lock
        #expect(lock.state == .locked && lock.isCovered && lock.reason == .launch)
        #expect(models.cover.shown == .lockScreen)
        #expect(lock.guidance == .none && lock.remainingAttempts == nil, "nothing to say before the first attempt")
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .unlocked && !lock.isCovered)
        #expect(models.cover.shown == .nothing)
    }

    @Test func aModelThatNobodyFedIsShut() throws {
        let scratch = try Scratch()
        try scratch.create()
        let lock = LockModel(try scratch.app())
        #expect(lock.isLocked && lock.isCovered)
    }

    @Test func aRefusalTellsWhatIsLeft() async throws {
        let scratch = try Scratch()
        let lock = try await scratch.models().lock
        await lock.unlock(.passcode, try secret("wrong"))
        #expect(lock.guidance == .refused(.wrongPasscode(remaining: 4)))
        #expect(lock.remainingAttempts == 4 && lock.consequence == .slows)
        #expect(lock.state == .locked && !lock.app.vault.isUnlocked)
    }

    @Test func aDelayCountsDownAndEndsByTheClockAlone() async throws {
        let scratch = try Scratch()
        let lock = try await scratch.models().lock
        for word in ["one", "two", "three"] { await lock.unlock(.passcode, try secret(word)) }
        #expect(lock.state == .delayed && lock.delay == 30)
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.isLocked && lock.guidance == .refused(.delayed(seconds: 30)), "nothing was checked")
        scratch.clock.advance(seconds: 10)
        lock.tick()
        #expect(lock.delay == 20)
        scratch.clock.advance(seconds: 20)
        lock.tick()
        #expect(lock.delay == nil)
        await until { lock.state == .locked }
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .unlocked)
    }

    @Test func thePhraseOpensDuringADelayAndWordsThatAreNoPhraseSayWhy() async throws {
        let scratch = try Scratch()
        let words = try scratch.create()
        let lock = LockModel(try scratch.app())
        await lock.handle(.launch)
        for word in ["one", "two", "three"] { await lock.unlock(.passcode, try secret(word)) }
        #expect(lock.hasRecoveryPhrase)
        lock.choose(.recoveryPhrase)
        #expect(lock.prompt == .recoveryPhrase)
        await lock.unlock(.recoveryPhrase, try secret("abandon abandon zzz"))
        #expect(lock.guidance == .refused(.unreadablePhrase(.unknownWord(position: 3))))
        #expect(lock.isLocked)
        await lock.unlock(.recoveryPhrase, try secret(words.uppercased()))
        #expect(lock.state == .unlocked)
    }

    @Test func recoveringGivesANewPasscode() async throws {
        let scratch = try Scratch()
        let words = try scratch.create()
        let lock = LockModel(try scratch.app())
        await lock.handle(.launch)
        #expect(await lock.recover(phrase: try secret(words), newPasscode: try secret("123")) == nil)
        #expect(lock.guidance == .refused(.weakPasscode))
        let recovery = await lock.recover(phrase: try secret(words), newPasscode: try secret("another one"))
        #expect(recovery?.headerWasAltered == false)
        #expect(lock.state == .unlocked)
        await lock.play(.forceLock)
        #expect(lock.state == .locked && lock.reason == .forced)
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.isLocked)
        await lock.unlock(.passcode, try secret("another one"))
        #expect(lock.state == .unlocked)
    }

    @Test(arguments: [
        LockMachine.Event.system(.systemLocked), .system(.suspended), .system(.didEnterBackground), .system(.lidClosed),
        .system(.userSwitchedAway),
    ])
    func whatLocksHidesBeforeItReturns(_ event: LockMachine.Event) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        _ = await models.vault.put(try secret("v"), at: .init(collection: "work", name: "token"))
        #expect(models.vault.items.map(\.name) == ["token"])
        models.lock.post(event)
        #expect(models.lock.isCovered, "at once, whatever the lock is doing")
        await until { models.lock.isLocked }
        #expect(models.vault.items.isEmpty && models.vault.collections.isEmpty)
        #expect(!models.lock.app.vault.isUnlocked)
    }

    @Test func lockingByHandDropsWhatWasDecryptedAtOnce() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        _ = await models.vault.put(try secret("v"), at: .init(collection: "work", name: "token"))
        let detail = models.vault.detail(of: models.vault.items[0], preferences: models.preferences)
        await detail.reveal()
        #expect(detail.withText(text) == "v")
        await models.log.load()
        #expect(!models.log.lines.isEmpty)
        models.lock.lock()
        #expect(models.lock.isLocked)
        #expect(detail.content == .hidden && detail.withText(text) == nil)
        #expect(models.vault.items.isEmpty && models.log.lines.isEmpty && models.log.findings.isEmpty)
        await until { !models.lock.app.vault.isUnlocked }
    }

    @Test func `an answer does not overtake the lock that it is for`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        for _ in 0..<3 {
            models.lock.lock()
            #expect(models.lock.isLocked)
            await models.lock.unlock(.passcode, try secret("right"))
            #expect(models.lock.state == .unlocked && models.lock.guidance == .none)
        }
    }

    @Test func panicTakesTheKeysBeforeItReturns() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        models.lock.panic()
        #expect(!models.lock.app.vault.isUnlocked && models.lock.isLocked && models.lock.isCovered)
        await until { models.lock.reason == .panic }
    }

    @Test func inactiveCoversAnOpenLockAndActivityUncoversIt() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        models.lock.send(.willResignActive)
        #expect(models.lock.isCovered && !models.lock.isLocked && models.cover.shown == .cover)
        await models.lock.handle(.didBecomeActive)
        #expect(!models.lock.isCovered && models.cover.shown == .nothing)
    }

    @Test func aLockThatIsOffHidesNothingButStillStartsWithoutKeys() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models(isLockEnabled: false)
        #expect(models.lock.isLocked && !models.lock.isEnabled, "no keys, whatever the switch says")
        await models.lock.unlock(.passcode, try secret("right"))
        #expect(models.lock.state == .unlocked)
        await models.lock.handle(.didEnterBackground)
        #expect(models.lock.state == .unlocked && !models.lock.isCovered)
        await models.lock.handle(.didBecomeActive)
        models.lock.lock()
        #expect(models.lock.isLocked)
        await until { !models.lock.app.vault.isUnlocked }
    }

    @Test func keysThatGoPastTheFaceAreNoticed() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        models.lock.app.vault.lock()
        await models.lock.refresh()
        #expect(models.lock.isLocked && models.lock.isCovered)
    }

    @Test func theLimitWithSelfDestructEndsEverything() async throws {
        let scratch = try Scratch()
        try scratch.create()
        try enableSelfDestruct(scratch)
        let lock = LockModel(try scratch.app())
        await lock.handle(.launch)
        #expect(lock.consequence == .destroys && lock.remainingAttempts == 5, "told before the first attempt")
        for (count, word) in ["a", "b", "c", "d", "e"].enumerated() {
            #expect(lock.state != .destroyed, "after \(count)")
            await lock.unlock(.passcode, try secret(word))
            scratch.clock.advance(seconds: 3600)
            lock.tick()
            await lock.refresh()
        }
        #expect(lock.state == .destroyed && lock.isCovered)
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .destroyed)
        var options = AppModel.Options()
        options.beginning = .assistant
        let appModel = AppModel(at: scratch.path, interface: "test", options)
        guard case .destroyed(let receipt) = appModel.phase else { return #expect(Bool(false), "\(appModel.phase)") }
        #expect(FileManager.default.fileExists(atPath: receipt))
    }

    private func enableSelfDestruct(_ scratch: Scratch) throws {
        let vault = try Vault(at: scratch.path, settings: scratch.settings)
        let change = SelfDestructSwitch(vault: vault)
        let right = try secret("right")
        try change.begin(.enable, passcode: right)
        try change.confirm()
        scratch.clock.advance(seconds: 30)
        _ = try change.finish(passcode: right)
    }

    @Test func observersAreToldOfTheFall() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let told = Mutex(0)
        withObservationTracking {
            _ = models.cover.shown
        } onChange: {
            told.withLock { $0 += 1 }
        }
        models.lock.lock()
        #expect(told.withLock { $0 } == 1)
    }
}
