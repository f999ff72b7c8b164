import Foundation
import Holdfast
import HoldfastUI
import KeyStores
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import DeviceOwner
@testable import HoldfastViews

/// The screens from the first start on, without a passcode.
@MainActor @Suite(.serialized, .patient) struct LadderScreenTests {
    let device: Device

    init() throws { device = try Device() }

    private func screen(_ models: ReadyModels, _ language: String = "en") async throws -> Screen {
        let screen = Screen(language: language) { Content(models: models) }
        try await screen.until("settings") { models.settings.policy != nil && models.protection.protection != nil }
        screen.finishAnimations()
        return screen
    }

    @Test func `a first start shows the app, by the app's own root`() async throws {
        let appModel = await device.start()
        let screen = Screen { AppView(appModel) { models in Content(models: models) } }
        try await screen.until("open") { screen.pictures(Content.secret) }
        #expect(screen.faults == [] && !screen.has("Locked"))
    }

    @Test(arguments: languages)
    func `each step of the ladder has words, and so have its sheets`(_ language: String) async throws {
        let models = try await device.models()
        let screen = try await screen(models, language)
        #expect(screen.faults == [], "at device")
        try await device.turnLockOn(models)
        try await screen.until("on") { models.settings.showsLockOn }
        #expect(screen.faults == [], "at owner")
        await models.protection.issuePhrase()
        device.finger.plays(.match)
        await models.protection.confirmPhrase()
        models.settings.request(.lock(false))
        screen.update()
        #expect(screen.presented == ["dialog"] && screen.faults == [], "the words are lost by that")
        models.settings.cancel()
        screen.update()
        screen.finishAnimations()
        device.finger.plays(.match)
        await models.protection.setPasscode(try secret("right"), repeated: try secret("right"), takingWeak: true)
        await device.settled(models)
        await models.settings.load()
        screen.update()
        screen.finishAnimations()
        #expect(models.protection.level == .secret && screen.faults == [], "at secret")
    }

    @Test func `the switch asks the device and goes back with an alert`() async throws {
        let models = try await device.models()
        let screen = try await screen(models)
        try await screen.until("looked") { models.settings.obstacle(to: .biometrics) == nil }
        try screen.tap("Ask before it opens")
        try await screen.until("refused") { models.settings.failure != nil }
        screen.finishAnimations()
        #expect(screen.presented == ["alert"] && screen.has("Nothing was changed") && !models.settings.showsLockOn)
        try screen.tap("OK")
        screen.finishAnimations()
        device.finger.plays(.match)
        try screen.tap("Ask before it opens")
        try await screen.until("on") { models.settings.policy?.isLockEnabled == true && !models.settings.isBusy }
        #expect(screen.presented == [] && screen.faults == [])
    }

    @Test func `words are shown, confirmed, and gone with their sheet`() async throws {
        let models = try await device.models()
        let screen = try await screen(models)
        try screen.tap("Write down 24 words")
        try await screen.until("shown") { screen.presented == ["sheet"] && screen.pictures("24. ") }
        #expect(screen.faults == [])
        screen.swipeDown()
        screen.finishAnimations()
        #expect(!models.protection.showsPhrase && models.protection.isLostWithDevice)
        try screen.tap("Write down 24 words")
        try await screen.until("again") { screen.presented == ["sheet"] && models.protection.showsPhrase }
        device.finger.plays(.match)
        try screen.tap("I have written it down")
        try await screen.until("confirmed") { !models.protection.isLostWithDevice }
        screen.finishAnimations()
        #expect(screen.faults == [])
    }

    @Test(arguments: [ScenePhase.inactive, .background, .active])
    func `the words are on no picture and in no recording, also where the app lock is off`(_ phase: ScenePhase)
        async throws
    {
        let models = try await device.models()
        #expect(!models.lock.isEnabled)
        let screen = try await screen(models)
        try screen.tap("Write down 24 words")
        try await screen.until("shown") { screen.presented == ["sheet"] && screen.pictures("24. ") }
        screen.phase = phase
        screen.isCaptured = phase == .active
        screen.update()
        #expect(!screen.pictures("24. "))
    }

    @Test func `words that were not confirmed stay in their sheet, with the reason`() async throws {
        let models = try await device.models()
        let screen = try await screen(models)
        try screen.tap("Write down 24 words")
        try await screen.until("shown") { screen.presented == ["sheet"] && screen.pictures("24. ") }
        device.finger.plays(.noMatch)
        try screen.tap("I have written it down")
        try await screen.until("refused") { models.protection.failure != nil && models.protection.running == nil }
        screen.finishAnimations()
        #expect(screen.presented == ["sheet"] && screen.pictures("24. ") && screen.faults == [])
        #expect(screen.has("You were not recognised. Try again, or use the passcode."))
        device.finger.plays(.match)
        try screen.tap("I have written it down")
        try await screen.until("confirmed") { screen.presented == [] }
        screen.finishAnimations()
        #expect(!models.protection.isLostWithDevice && screen.faults == [])
    }

    @Test func `a lock takes a step's sheet away, and what was typed in it`() async throws {
        let models = try await device.models()
        try await device.turnLockOn(models)
        let screen = try await screen(models)
        try screen.tap("Set a passcode")
        try screen.type("half a passcode", into: "Passcode")
        await models.lock.play(.forceLock)
        try await screen.until("locked") { screen.presented == [] }
        screen.finishAnimations()
        device.finger.plays(.match)
        await models.lock.owner.unlock()
        try await screen.until("open") { models.cover.shown == .nothing && models.settings.policy != nil }
        screen.finishAnimations()
        #expect(screen.presented == [])
        try screen.tap("Set a passcode")
        #expect(try screen.find("Passcode").shown == "" && screen.faults == [])
    }

    @Test func `self-destruct that the owner did not confirm at the end is confirmed again, or cancelled`() async throws
    {
        let models = try await device.models()
        try await device.turnLockOn(models)
        let screen = try await screen(models)
        let model = models.selfDestruct
        await model.load()
        for isConfirmed in [false, true] {
            device.finger.plays(.match)
            try screen.tap("Self-destruct")
            try await screen.until("confirming") { screen.presented == ["dialog"] }
            try screen.tap("Change")
            try await screen.until("counting") { if case .counting = model.step { true } else { false } }
            screen.finishAnimations()
            device.finger.plays(.noMatch)
            device.scratch.clock.advance(seconds: 31)
            model.tick()
            try await screen.until("refused") { screen.presented == ["alert"] }
            try screen.tap("OK")
            screen.finishAnimations()
            #expect(model.step == .authenticatingAgain(.enable) && screen.faults == [])
            if isConfirmed {
                device.finger.plays(.match)
                try screen.tap("Confirm again")
                try await screen.until("on") { model.isOn && screen.presented == ["alert"] }
                try screen.tap("OK")
                screen.finishAnimations()
                #expect(screen.texts.contains { $0 == model.receiptKey } && screen.faults == [])
            } else {
                try screen.tap("Cancel")
                try await screen.until("cancelled") { model.step == .idle }
                screen.finishAnimations()
                #expect(screen.presented == [] && !model.isOn && !model.showsOn)
            }
        }
    }

    @Test func `a passcode is set in its sheet, its strength told`() async throws {
        let models = try await device.models()
        let screen = try await screen(models)
        try screen.tap("Set a passcode")
        screen.update()
        try screen.type("1234", into: "Passcode")
        screen.update()
        #expect(screen.has("Guessed at once") && screen.faults == [])
        try screen.type("four unrelated words here", into: "Passcode")
        try screen.type("four unrelated words here", into: "Repeat passcode")
        device.finger.plays(.match)
        try screen.tap("Continue")
        try await screen.until("set") { screen.presented == [] }
        screen.finishAnimations()
        #expect(models.protection.level == .secret)
        #expect(screen.presented == [])
    }

    @Test(arguments: languages)
    func `a denied sensor is said at the lock and in the settings, with the way to allow it`(_ language: String)
        async throws
    {
        let models = try await device.models()
        try await device.turnLockOn(models)
        device.finger.set(.denied("not allowed"))
        func words(_ key: String) -> String { Texts.test(key, language) }
        let screen = try await screen(models, language)
        try await screen.until("said") { screen.has(words("problem.owner.denied")) }
        #expect(screen.faults == [])
        let cold = try await device.models()
        let locked = Screen(language: language) { LockView(cold.lock) }
        try await locked.until("said") { locked.has(words("problem.owner.denied")) }
        #expect(locked.faults == [])
        let opened = UIApplication.shared.opened.count
        try locked.tap(words("settings.openSystem"))
        #expect(UIApplication.shared.opened.count == opened + 1)
    }

    @Test(arguments: languages)
    func `a face that came after the lock was turned on is taken at its user's word`(_ language: String) async throws {
        func words(_ key: String) -> String { Texts.test(key, language) }
        device.finger.set(.notEnrolled("no face yet"))
        device.code.plays(.match)
        let models = try await device.models()
        await models.settings.look()
        models.settings.request(.lock(true))
        await models.settings.confirm()
        try #require(models.settings.failure == nil && models.settings.level == .owner)
        await device.settled(models)
        device.finger.set(.available)
        let screen = try await screen(models, language)
        try await screen.until("offered") { screen.has(words("settings.biometricsCame")) }
        #expect(screen.faults == [])
        device.code.plays(.match)
        device.finger.plays(.match)
        try screen.tap(words("settings.ownerAnew"))
        try await screen.until("asked") { screen.presented == ["dialog"] || models.settings.needed == nil }
        screen.finishAnimations()
        if screen.presented == ["dialog"] { try screen.tap(words("settings.continue")) }
        try await screen.until("taken") { models.settings.policy?.usesBiometrics == true && !models.settings.isBusy }
        screen.finishAnimations()
        #expect(!models.settings.offersOwnerAnew && models.settings.failure == nil && screen.faults == [])
    }

    @Test(arguments: languages)
    func `a cold launch has a button and nothing to type`(_ language: String) async throws {
        try await device.turnLockOn(try await device.models())
        device.finger.plays(.noMatch)
        let cold = try await device.models()
        let screen = Screen(language: language) { Content(models: cold) }
        try await screen.until("refused") { cold.lock.owner.problem != nil && !cold.lock.owner.isUnlocking }
        screen.finishAnimations()
        #expect(screen.nodes(.secureField).isEmpty && screen.faults == [] && !screen.pictures(Content.secret))
        device.finger.plays(.match)
        if language == "en" { try screen.tap("Unlock") } else { await cold.lock.owner.unlock() }
        try await screen.until("open") { cold.lock.state == .unlocked }
    }

    @Test func `where nobody can be asked and the rules allow it the lock screen has the lesser store`() async throws {
        let models = try await device.models()
        try await device.turnLockOn(models)
        device.finger.plays(.match)
        let lock = models.lock.app.lock
        try await lock.changePolicy(proving: lock.prove()) { policy throws(VaultError) in
            let lesser = FallbackPolicy.Rule(.openCompartment, assurance: .none, when: [.unavailable, .notEnrolled])
            policy.fallback = (try? FallbackPolicy(policy.fallback.rules + [lesser])) ?? policy.fallback
        }
        var style = LockScreenStyle()
        style.lesser = { app in
            AnyView(
                Button {
                    try? app.vault.open.put(secret("draft"), for: "note")
                } label: {
                    Text(verbatim: "Keep it meanwhile")
                })
        }
        device.finger.plays(.holds)
        let cold = try await device.models()
        let screen = Screen { Content(models: cold).lockScreen(style) }
        try await screen.until("asked") { cold.lock.owner.dialog.step == .biometrics }
        #expect(!screen.has("Keep it meanwhile"))
        cold.lock.owner.turnAway()
        try await screen.until("turned away") { !cold.lock.owner.isUnlocking }
        #expect(!screen.has("Keep it meanwhile"), "a cancel leads nowhere")

        device.finger.set(.notEnrolled("no finger"))
        device.code.set(.missing("no passcode"))
        let poor = try await device.models()
        let other = Screen { Content(models: poor).lockScreen(style) }
        try await other.until("the lesser store") { other.has("Keep it meanwhile") }
        try other.tap("Keep it meanwhile")
        #expect(try poor.lock.app.vault.open.withValue(for: "note") { $0.byteCount } == 5)
        #expect(poor.lock.isLocked && !other.pictures(Content.secret) && other.faults == [])
    }

    @Test(arguments: languages, StopModel.Reason.allCases)
    func `what stands in the way is said, with what to do`(_ language: String, _ reason: StopModel.Reason) throws {
        let stop = StopModel(reason, canStartOver: true) { _ in .busy }
        let screen = Screen(language: language) { StopView(stop) }
        screen.update()
        #expect(screen.faults == [] && screen.nodes(.button).count == stop.remedies.count)
        if language == "en", stop.remedies.contains(.startOver) {
            try screen.tap("Begin a new vault")
            #expect(screen.presented == ["dialog"] && screen.faults == [])
        }
    }

    @Test func `a vault that is gone begins anew at its user's word`() async throws {
        _ = try await device.models()
        try FileManager.default.removeItem(atPath: device.path)
        let appModel = await device.start()
        let screen = Screen { AppView(appModel) { models in Content(models: models) } }
        try await screen.until("missing") { screen.has("The vault is not here") }
        try screen.tap("Begin a new vault")
        try screen.tap("Begin a new vault")
        try await screen.until("open") { screen.pictures(Content.secret) }
    }
}
