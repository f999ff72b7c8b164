import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct SettingsModelTests {
    @Test func theSwitchHoldsOnlyOnceItIsProved() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: false)
        let settings = models.settings
        #expect(!settings.showsLockOn && settings.policy?.isLockEnabled == false)
        settings.request(.lock(true))
        #expect(settings.showsLockOn, "as it is wanted, while the passcode is asked for")
        await settings.prove(passcode: try secret("wrong"))
        #expect(!settings.showsLockOn && settings.wanted == nil, "put back")
        #expect(settings.failure?.change == .lock(true) && settings.failure?.problem == .wrongPasscode(remaining: 4))
        settings.request(.lock(true))
        #expect(settings.failure == nil)
        settings.cancel()
        #expect(!settings.showsLockOn && settings.failure == nil, "turning away is no failure")
        settings.request(.lock(true))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.showsLockOn && settings.failure == nil && settings.wanted == nil)
        #expect(try models.lock.app.vault.status().policy.isLockEnabled)
        await models.lock.refresh()
        #expect(models.lock.isEnabled && models.lock.state == .unlocked)
    }

    @Test func timingLimitAndWhatCountsAreChangedWithThePasscode() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: false)
        let settings = models.settings
        let changes: [SecuritySettingsModel.Change] = [
            .timing(.fiveMinutes), .attemptLimit(7), .countsBiometrics(false),
        ]
        for change in changes {
            settings.request(change)
            #expect(settings.wanted == change && settings.needed == .passcode)
            await settings.prove(passcode: try secret("right"))
            #expect(settings.failure == nil)
        }
        let policy = try models.lock.app.vault.status().policy
        #expect(policy.lockTiming == .fiveMinutes && policy.attemptLimit == 7)
        #expect(!policy.countsBiometricFailures)
        #expect(settings.shownTiming == .fiveMinutes && settings.shownAttemptLimit == 7)
        settings.request(.attemptLimit(11))
        await settings.prove(passcode: try secret("right"))
        #expect(settings.failure?.problem == .invalidRules && settings.shownAttemptLimit == 7)
    }

    @Test func whatHoldsAlreadyAsksForNothing() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: false)
        models.settings.request(.lock(false))
        #expect(models.settings.wanted == nil)
    }

    @Test func whatTheMachineHasIsUnknownUntilItWasLookedAt() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        for step in OwnerStep.allCases {
            #expect(models.settings.obstacle(to: step) == .missing && !models.settings.canSwitch(step))
        }
        #expect(models.settings.chipObstacle == .missing && !models.settings.canSwitchChip)
        #expect(models.settings.passcodeAssurance == .keyBound && !models.settings.showsChipOn)
    }

    @Test func anotherPasscode() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let settings = models.settings
        #expect(
            try await settings.changePasscode(from: secret("no"), to: secret("a new one"))
                == .wrongPasscode(remaining: 4))
        #expect(try await settings.changePasscode(from: secret("right"), to: secret("")) == .invalidPasscode)
        #expect(try await settings.changePasscode(from: secret("right"), to: secret("1234")) == .weakPasscode)
        #expect(try await settings.changePasscode(from: secret("right"), to: secret("1234"), takingWeak: true) == nil)
        #expect(try await settings.changePasscode(from: secret("1234"), to: secret("a new one")) == nil)
        models.lock.lock()
        await until { !models.lock.app.vault.isUnlocked }
        await models.lock.unlock(.passcode, try secret("a new one"))
        #expect(models.lock.state == .unlocked)
    }

    @Test func preferencesLieInTheVaultAndSurviveARestart() async throws {
        let scratch = try Scratch()
        do {
            let models = try await scratch.open()
            #expect(models.preferences.values == Preferences())
            await models.preferences.change {
                $0.focusLoss = .leaves
                $0.idleSeconds = nil
                $0.blursCover = false
            }
            #expect(models.preferences.problem == nil && models.cover.style == .plain)
            #expect(models.vault.items.isEmpty && models.vault.collections.isEmpty, "they are no items")
            models.lock.panic()
            await models.preferences.change { $0.clipboardSeconds = 10 }
            #expect(models.preferences.problem == .locked && models.preferences.values.clipboardSeconds == 30)
        }
        let models = ReadyModels(try scratch.app(), interface: "test")
        await models.lock.unlock(.passcode, try secret("right"))
        await models.load()
        #expect(models.preferences.values.focusLoss == .leaves && models.preferences.values.idleSeconds == nil)
        #expect(!models.preferences.values.blursCover)
    }

    @Test(arguments: [true, false])
    func `a closed lid locks at once, unless the user has turned that off`(_ locks: Bool) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        models.settings.request(.timing(.after(seconds: 300)))
        await models.settings.prove(passcode: try secret("right"))
        await models.preferences.change { $0.locksWhenLidCloses = locks }
        await models.lock.handle(.lidClosed)
        #expect(models.lock.isLocked == locks)
    }

    @Test(arguments: ["", "focus-loss=all\nblur=2\nidle=0\nclipboard=x\nreveal=-1", "noise", "=\n==\n"])
    func preferencesThatMeanNothingAreTheUsualOnes(_ text: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        try models.lock.app.vault.put(secret(text), for: "test", in: ".holdfast", replacing: true)
        await models.preferences.load()
        #expect(models.preferences.values == Preferences())
    }
}
