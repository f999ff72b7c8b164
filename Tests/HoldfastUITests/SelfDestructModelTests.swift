import Foundation
import Holdfast
import HoldfastUI
import TestSupport
import Testing

@MainActor @Suite(.patient) struct SelfDestructModelTests {
    private func toCountdown(_ model: SelfDestructModel, _ change: SelfDestruct.Change) async throws {
        model.request(change)
        #expect(model.step == .authenticating(change))
        await model.authenticate(passcode: try secret("right"))
        #expect(model.step == .confirming(change))
        await model.confirm()
        #expect(model.step == .counting(change, left: 30, of: 30))
    }

    @Test func goesOnAndOffByTwoPasscodesAConfirmationAndTheCountdown() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let model = models.selfDestruct
        for change in SelfDestruct.Change.allCases {
            let wasOn = model.isOn
            try await toCountdown(model, change)
            #expect(model.showsOn == (change == .enable) && model.isOn == wasOn)
            scratch.clock.advance(seconds: 12)
            model.tick()
            #expect(model.step == .counting(change, left: 18, of: 30))
            scratch.clock.advance(seconds: 18)
            model.tick()
            #expect(model.step == .authenticatingAgain(change))
            await model.finish(passcode: try secret("right"))
            #expect(model.step == .idle && model.outcome == .done(change))
            #expect(model.isOn == (change == .enable))
            #expect((model.receiptKey?.count ?? 0) == (change == .enable ? 66 : 0))
            #expect(try models.lock.app.vault.status().policy.selfDestruct == model.isOn)
        }
    }

    @Test func cancellingAtAnyStepChangesNothing() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let model = models.selfDestruct
        model.request(.enable)
        await model.cancel()
        #expect(model.step == .idle && model.outcome == .cancelled && !model.showsOn)
        model.request(.enable)
        await model.authenticate(passcode: try secret("right"))
        await model.cancel()
        #expect(model.step == .idle)
        try await toCountdown(model, .enable)
        await model.cancel()
        scratch.clock.advance(seconds: 31)
        model.tick()
        #expect(model.step == .idle && !model.isOn)
        await model.finish(passcode: try secret("right"))
        #expect(!(try models.lock.app.vault.status().policy.selfDestruct))
    }

    @Test func aWrongPasscodeAtEitherEndEndsIt() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let model = models.selfDestruct
        model.request(.enable)
        await model.authenticate(passcode: try secret("wrong"))
        #expect(model.step == .idle && model.outcome == .refused(.wrongPasscode(remaining: 4)))
        try await toCountdown(model, .enable)
        scratch.clock.advance(seconds: 30)
        model.tick()
        await model.finish(passcode: try secret("wrong"))
        #expect(model.step == .idle && !model.isOn)
        #expect(!(try models.lock.app.vault.status().policy.selfDestruct))
    }

    @Test(arguments: [LockMachine.Event.system(.didEnterBackground), .system(.systemLocked), .forceLock])
    func leavingDuringTheCountdownChangesNothing(_ event: LockMachine.Event) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let model = models.selfDestruct
        try await toCountdown(model, .enable)
        await models.lock.play(event)
        await until { models.lock.isLocked }
        #expect(model.step == .idle && model.outcome == .givenUp)
        scratch.clock.advance(seconds: 60)
        #expect(!(try models.lock.app.vault.status().policy.selfDestruct))
    }
}
