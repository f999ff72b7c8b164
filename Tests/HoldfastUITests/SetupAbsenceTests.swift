import Foundation
import Holdfast
import HoldfastUI
import Synchronization
import TestSupport
import Testing

/// The owner goes away while the assistant is up: the session is locked, the machine goes to sleep.
@MainActor @Suite(.patient) struct SetupAbsenceTests {
    private func words(_ model: SetupModel) throws -> [String] {
        try #require(model.withPhrase(text)).split(separator: " ").map(String.init)
    }

    private func opens(_ words: [String], _ scratch: Scratch) throws -> Bool {
        let vault = try Vault(at: scratch.path, settings: scratch.settings)
        let phrase = try RecoveryPhrase(parsing: secret(words.joined(separator: " ")))
        return vault.isVaultPhrase(phrase)
    }

    @Test func wordsThatNobodyMayHaveWrittenDownGiveWayToOthers() async throws {
        let scratch = try Scratch()
        let model = SetupModel(scratch)
        model.begin()
        await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        let before = try words(model)
        await model.suspend(.suspended)
        #expect(model.step == .resume && model.withPhrase(text) == nil && !model.isPhraseChecked)
        await model.resume(passcode: try secret("wrong"))
        #expect(model.step == .resume && model.problem == .wrongPasscode(remaining: 4))
        #expect(try opens(before, scratch), "nothing changes for who does not know the passcode")
        await model.resume(passcode: try secret("a passcode"))
        #expect(model.step == .phrase && model.problem == nil)
        let after = try words(model)
        #expect(before != after)
        #expect(try !opens(before, scratch) && opens(after, scratch))
        model.phraseIsWritten()
        await model.suspend(.systemLocked)
        #expect(model.step == .resume, "asked for, but not given yet")
        await model.resume(passcode: try secret("a passcode"))
        try model.toProtection(words(model))
        await model.finish()
        #expect(try model.step == .finished && #require(model.app).vault.isUnlocked)
    }

    @Test func wordsThatAreOnPaperStay() async throws {
        let scratch = try Scratch()
        let model = SetupModel(scratch, [.chip])
        try await model.toProtection()
        model.enablesLock = true
        await model.suspend(.idleTimeout)
        #expect(model.step == .resume && model.isPhraseChecked)
        await model.resume(passcode: try secret("a passcode"))
        #expect(model.step == .protection && model.enablesLock)
        await model.finish()
        #expect(model.step == .finished, "the chip is offered to who has the words at hand")
    }

    @Test func anOpenVaultIsLockedAndItsLockScreenGoesOn() async throws {
        let (scratch, sensor) = (try Scratch(), PlayedSensor(.biometrics))
        scratch.has(sensor)
        let model = SetupModel(scratch, [.fingerprint])
        try await model.toProtection()
        model.enablesLock = true
        await model.finish()
        sensor.plays(.says(.touch), .holds)
        let proving = Task { await model.enrollFingerprint() }
        await until { model.dialog.guidance == .touch }
        await model.suspend(.suspended)
        let app = try #require(model.app)
        #expect(model.step == .finished && !app.vault.isUnlocked)
        await proving.value
        #expect(model.step == .finished && !model.isBusy && model.problem == nil)
        #expect(try !app.vault.status().policy.usesBiometrics)
    }

    @Test func whoGoesWhileTheVaultIsMadeFindsItMade() async throws {
        let scratch = try Scratch()
        let settings = scratch.settings
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let model = SetupModel(
            at: scratch.path,
            create: { (path, passcode) throws(VaultError) in
                begun.signal()
                goOn.wait()
                return try Vault.create(at: path, passcode: passcode, settings: settings)
            },
            open: { path throws(VaultError) in try HoldfastApp(vault: Vault(at: path, settings: settings)) })
        model.begin()
        let making = Task {
            await model.choose(passcode: try secret("a passcode"), repeated: try secret("a passcode"))
        }
        await Task.detached { SetupAbsenceTests.wait(begun) }.value
        await model.suspend(.lidClosed)
        goOn.signal()
        try await making.value
        #expect(model.step == .resume && model.withPhrase(text) == nil)
        await model.resume(passcode: try secret("a passcode"))
        #expect(try opens(words(model), scratch))
    }

    @Test func whatIsTypedGoes() async throws {
        let model = SetupModel(try Scratch())
        await model.suspend(.systemLocked)
        #expect(model.step == .welcome)
        model.begin()
        try secret("half of it").withBytes { model.estimate($0) }
        await model.suspend(.userSwitchedAway)
        #expect(model.step == .passcode && model.strength == nil)
    }

    private nonisolated static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}

extension SetupModel {
    /// Gives the words that are asked for.
    fileprivate func toProtection(_ words: [String]) throws {
        phraseIsWritten()
        for position in positions {
            #expect(try secret(words[position - 1]).withBytes { answer($0, at: position) })
        }
        #expect(finishCheck())
    }
}
