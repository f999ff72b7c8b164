import Holdfast
import HoldfastUI
import TestSupport
import Testing

/// The PIN under the chip, on the lock screen and in the settings.
@MainActor @Suite(.patient) struct PINModelTests {
    let scratch: Scratch
    let chip = PlayedChip()

    init() throws {
        scratch = try Scratch()
        scratch.tier = chip
    }

    /// An open vault with a chip.
    private func open() async throws -> ReadyModels {
        let models = try await scratch.open()
        await models.settings.load()
        return models
    }

    /// A locked one with a PIN.
    private func locked(_ pin: String = "2580") async throws -> ReadyModels {
        let models = try await open()
        #expect(try await models.settings.setPIN(secret(pin), passcode: secret("right")) == nil)
        await models.lock.play(.forceLock)
        return models
    }

    /// As after another start of the program.
    private func restarted() async throws -> LockModel {
        let lock = LockModel(try scratch.app())
        await lock.handle(.launch)
        await lock.handle(.didBecomeActive)
        return lock
    }

    @Test func itIsAskedForFirstOpensAndIsAskedForAgainAfterALock() async throws {
        let lock = try await locked().lock
        #expect(lock.prompt == .pin && lock.hasPIN && lock.otherPrompts == [.passcode, .recoveryPhrase])
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.state == .unlocked && lock.guidance == .none && !lock.isCovered)
        lock.lock()
        #expect(lock.isLocked && lock.isCovered && lock.prompt == .pin)
        await until { !lock.app.vault.isUnlocked }
        let later = try await restarted()
        #expect(later.isLocked && later.prompt == .pin)
        await later.unlock(.pin, try secret("2580"))
        #expect(later.state == .unlocked)
    }

    @Test func theOwnerMayAnswerWithThePasscodeAndComeBackAndHisChoiceStands() async throws {
        let lock = try await locked().lock
        lock.choose(.passcode)
        #expect(lock.prompt == .passcode && lock.otherPrompts == [.pin, .recoveryPhrase])
        await lock.refresh()
        #expect(lock.prompt == .passcode, "a reading takes no choice back")
        lock.choose(.recoveryPhrase)
        #expect(lock.prompt == .recoveryPhrase && lock.otherPrompts == [.pin, .passcode])
        lock.choose(.pin)
        await lock.refresh()
        #expect(lock.prompt == .pin)
        lock.choose(.passcode)
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .unlocked)
        await lock.play(.forceLock)
        #expect(lock.prompt == .pin)
    }

    @Test func withoutAPINNothingIsDifferent() async throws {
        let lock = try await open().lock
        await lock.play(.forceLock)
        #expect(lock.prompt == .passcode && !lock.hasPIN && lock.otherPrompts == [.recoveryPhrase])
        lock.choose(.pin)
        #expect(lock.prompt == .passcode)
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.isLocked && lock.guidance == .refused(.pinIsOver) && lock.prompt == .passcode)
        #expect(try lock.app.vault.status().remainingAttempts == 5)
    }

    /// A PIN that comes while the passcode is being typed does not take the form away.
    @Test func aPINFromElsewhereIsAskedForAfterTheNextLock() async throws {
        let lock = try await open().lock
        await lock.play(.forceLock)
        #expect(lock.prompt == .passcode)
        let other = try Vault(at: scratch.path, settings: scratch.settings)
        let right = try secret("right")
        try other.enrollPIN(secret("2580"), passcode: right, spending: other.burnAttempt())
        await lock.refresh()
        #expect(lock.prompt == .passcode && lock.otherPrompts == [.pin, .recoveryPhrase])
        await lock.unlock(.passcode, try secret("right"))
        await lock.play(.forceLock)
        #expect(lock.prompt == .pin)
        try other.removePIN(passcode: right, spending: other.burnAttempt())
        await lock.refresh()
        #expect(lock.prompt == .passcode && !lock.hasPIN, "one that went is not asked for")
    }

    @Test func aWrongOneTellsWhatIsLeftAndTheDelayIsThePasscodesToo() async throws {
        let lock = try await locked().lock
        await lock.unlock(.pin, try secret("9999"))
        #expect(lock.guidance == .refused(.wrongPIN(remaining: 4)) && lock.remainingAttempts == 4)
        #expect(lock.isLocked && lock.prompt == .pin && !lock.app.vault.isUnlocked)
        for pin in ["9998", "9997"] { await lock.unlock(.pin, try secret(pin)) }
        #expect(lock.state == .delayed && lock.delay == 30 && lock.isDelayed)
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.isLocked && lock.guidance == .refused(.delayed(seconds: 30)), "nothing was checked")
        lock.choose(.passcode)
        #expect(lock.isDelayed && lock.delay == 30)
        lock.choose(.recoveryPhrase)
        #expect(!lock.isDelayed)
        lock.choose(.pin)
        scratch.clock.advance(seconds: 30)
        lock.tick()
        await until { lock.state == .locked }
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.state == .unlocked)
    }

    /// A passcode sets the vault's count back and not the chip's.
    @Test func theChipsCountIsToldWhereItIsTheSmallerOne() async throws {
        let lock = try await locked().lock
        for pin in ["9999", "9998"] { await lock.unlock(.pin, try secret(pin)) }
        await lock.unlock(.passcode, try secret("right"))
        await lock.play(.forceLock)
        await lock.unlock(.pin, try secret("9997"))
        #expect(lock.remainingAttempts == 2)
        #expect(try lock.app.vault.status().remainingAttempts == 4)
        lock.choose(.passcode)
        #expect(lock.remainingAttempts == 4, "the passcode has more")
    }

    @Test func oneThatIsUsedUpLeavesThePasscodeUntilThereIsAnother() async throws {
        let models = try await locked()
        let lock = models.lock
        for number in 1...5 {
            await lock.unlock(.pin, try secret("999\(number)"))
            scratch.clock.advance(seconds: 3600)
            lock.tick()
            await lock.refresh()
        }
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.isLocked && lock.guidance == .refused(.pinIsOver) && lock.prompt == .passcode)
        await lock.refresh()
        #expect(lock.prompt == .passcode)
        await lock.unlock(.passcode, try secret("right"))
        #expect(lock.state == .unlocked)
        await lock.play(.forceLock)
        #expect(lock.prompt == .passcode, "nobody is asked for what opens nothing")
        await lock.unlock(.passcode, try secret("right"))
        #expect(try await models.settings.setPIN(secret("3691"), passcode: secret("right")) == nil)
        await lock.play(.forceLock)
        #expect(lock.prompt == .pin)
        await lock.unlock(.pin, try secret("3691"))
        #expect(lock.state == .unlocked)
    }

    @Test func aChipThatIsSilentCostsNothingAndLeavesThePasscode() async throws {
        let lock = try await locked().lock
        chip.unplug(true)
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.guidance == .refused(.pinUnavailable) && lock.prompt == .passcode)
        #expect(try lock.app.vault.status().remainingAttempts == 5)
        chip.unplug(false)
        await lock.play(.forceLock)
        #expect(lock.prompt == .pin, "it may answer again")
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.state == .unlocked)
        // Where this program has no chip at all, nobody is asked for it.
        scratch.tier = nil
        let elsewhere = try await restarted()
        #expect(elsewhere.prompt == .passcode && !elsewhere.hasPIN && elsewhere.otherPrompts == [.recoveryPhrase])
    }

    @Test func itsWrongOnesDestroyTheVaultWhereTheRulesSaySo() async throws {
        let models = try await locked()
        let vault = try Vault(at: scratch.path, settings: scratch.settings)
        try vault.changeSelfDestruct(to: true, passcode: secret("right"), spending: vault.burnAttempt()) {}
        let lock = models.lock
        await lock.refresh()
        #expect(lock.consequence == .destroys && lock.remainingAttempts == 5 && lock.prompt == .pin)
        for number in 1...5 {
            await lock.unlock(.pin, try secret("999\(number)"))
            scratch.clock.advance(seconds: 3600)
            lock.tick()
            await lock.refresh()
        }
        #expect(lock.state == .destroyed && lock.isCovered && chip.objectCount == 0)
    }

    @Test func whereNoPasscodeIsTakenNoPINIsEither() async throws {
        let lock = try await locked().lock
        let vault = try Vault(at: scratch.path, settings: scratch.settings)
        while try !vault.status().isPasscodeClosed {
            // As by a program that was killed before it checked anything.
            try spend(vault.burnAttempt())
            scratch.clock.advance(seconds: 3600)
        }
        await lock.refresh()
        #expect(lock.prompt == .recoveryPhrase && lock.guidance == .phraseOnly)
        #expect(!lock.hasPIN && lock.otherPrompts.isEmpty)
        lock.choose(.pin)
        #expect(lock.prompt == .recoveryPhrase)
        await lock.unlock(.pin, try secret("2580"))
        #expect(lock.isLocked && lock.guidance == .refused(.attemptsExhausted) && lock.prompt == .recoveryPhrase)
    }

    private func spend(_ attempt: consuming BurnedAttempt) {}
}
