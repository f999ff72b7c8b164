import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing

@testable import HoldfastViews

@MainActor @Suite(.serialized, .patient) struct SettingsScreenTests {
    @Test(arguments: languages)
    func `every text and control has words, and so have the sheet, the dialog and the alert`(_ language: String)
        async throws
    {
        let app = try await OpenApp(language: language)
        let (models, screen) = (app.models, app.screen)
        #expect(screen.faults == [])
        models.settings.request(.lock(true))
        screen.update()
        #expect(screen.presented == ["sheet"] && screen.faults == [], "the passcode is asked for")
        await models.settings.prove(passcode: try secret("wrong"))
        screen.update()
        screen.finishAnimations()
        #expect(screen.presented == ["alert"] && screen.faults == [], "it was refused")
        models.settings.failure = nil
        screen.update()
        screen.finishAnimations()
        models.selfDestruct.request(.enable)
        screen.update()
        #expect(screen.presented == ["sheet"] && screen.faults == [])
        await models.selfDestruct.authenticate(passcode: try secret("right"))
        screen.update()
        screen.finishAnimations()
        #expect(screen.presented == ["dialog"] && screen.faults == [])
        await models.selfDestruct.confirm()
        screen.update()
        screen.finishAnimations()
        #expect(screen.presented == [] && screen.faults == [], "it counts")
        #expect(screen.nodes(.button).contains { !$0.label.isEmpty })
    }

    @Test func `what is asked after the passcode waits until its sheet is gone`() async throws {
        let app = try await OpenApp()
        try app.screen.tap("Self-destruct")
        #expect(app.screen.presented == ["sheet"])
        try app.screen.type("right", into: "Passcode")
        try app.screen.tap("Continue")
        try await app.screen.until("confirming") {
            if case .confirming = app.models.selfDestruct.step { true } else { false }
        }
        app.screen.finishAnimations()
        #expect(app.screen.presented == ["dialog"] && app.screen.faults == [])
    }

    @Test func `a refused passcode is said after its sheet`() async throws {
        let app = try await OpenApp()
        try app.screen.tap("Ask for the passcode")
        try app.screen.type("wrong", into: "Passcode")
        try app.screen.submit("Passcode")
        try await app.screen.until("refused") {
            app.models.settings.failure != nil && app.models.settings.needed == nil
        }
        app.screen.finishAnimations()
        #expect(app.screen.presented == ["alert"] && app.screen.has("That passcode is wrong."))
        try app.screen.tap("OK")
        #expect(app.models.settings.failure == nil && app.screen.faults == [])
    }

    @Test(arguments: [true, false])
    func `the sheet is left by its button or a swipe, and the switch goes back`(_ isByButton: Bool) async throws {
        let app = try await OpenApp()
        #expect(!app.models.settings.showsLockOn)
        try app.screen.tap("Ask for the passcode")
        #expect(app.models.settings.showsLockOn)
        if isByButton { try app.screen.tap("Cancel") } else { app.screen.swipeDown() }
        app.screen.finishAnimations()
        #expect(app.screen.presented == [] && !app.models.settings.showsLockOn)
    }

    @Test(arguments: [true, false], ["Change", "Cancel"])
    func `the dialog goes when it was answered, whichever comes first`(_ actsFirst: Bool, _ answer: String)
        async throws
    {
        Screen.actsFirst = actsFirst
        defer { Screen.actsFirst = true }
        let app = try await OpenApp()
        let model = app.models.selfDestruct
        model.request(.enable)
        await model.authenticate(passcode: try secret("right"))
        app.screen.update()
        app.screen.finishAnimations()
        #expect(app.screen.presented == ["dialog"])
        try app.screen.tap(answer)
        app.screen.finishAnimations()
        try await app.screen.until("answered") {
            switch model.step {
            case .counting: answer == "Change"
            case .idle: answer == "Cancel"
            case .authenticating, .authenticatingAgain, .confirming: false
            }
        }
        app.screen.finishAnimations()
        #expect(app.screen.presented == [] && app.screen.faults == [])
    }

    @Test func `a timing that was set elsewhere is shown`() async throws {
        let app = try await OpenApp()
        app.models.settings.request(.timing(.after(seconds: 45)))
        await app.models.settings.prove(passcode: try secret("right"))
        try await app.screen.until("set") { app.models.settings.shownTiming == .after(seconds: 45) }
        app.screen.finishAnimations()
        #expect(try app.screen.find("Lock after leaving").shown == "After 45 s")
    }

    @Test func `how a change of self-destruct ended is said`() async throws {
        let app = try await OpenApp()
        let model = app.models.selfDestruct
        try app.screen.tap("Self-destruct")
        try app.screen.type("wrong", into: "Passcode")
        try app.screen.tap("Continue")
        try await app.screen.until("refused") { model.outcome != nil }
        app.screen.finishAnimations()
        #expect(app.screen.presented == ["alert"] && app.screen.has("That passcode is wrong."))
        try app.screen.tap("OK")
        app.screen.finishAnimations()
        #expect(model.outcome == nil && app.screen.presented == [] && app.screen.faults == [])
    }

    @Test func `a passcode that was typed and not given is gone with the lock`() async throws {
        let app = try await OpenApp()
        try app.screen.tap("Ask for the passcode")
        try app.screen.type("righ", into: "Passcode")
        await app.models.lock.play(.forceLock)
        try await app.screen.until("locked") { app.screen.presented == [] }
        app.screen.finishAnimations()
        await app.models.lock.unlock(.passcode, try secret("right"))
        try await app.screen.until("open") { app.models.cover.shown == .nothing && app.models.settings.policy != nil }
        app.screen.finishAnimations()
        #expect(app.screen.presented == [])
        try app.screen.tap("Ask for the passcode")
        #expect(try app.screen.find("Passcode").shown == "")
    }

    @Test(arguments: languages)
    func `the passcode is changed in its sheet, which says what was wrong`(_ language: String) async throws {
        let app = try await OpenApp(language: language)
        let screen = app.screen
        func words(_ key: String) -> String { Texts.test(key, language) }
        try screen.tap(words("settings.changePasscode"))
        #expect(screen.presented == ["sheet"] && screen.faults == [])
        func type(_ old: String, _ new: String, _ again: String) throws {
            try screen.type(old, into: words("settings.passcode.current"))
            try screen.type(new, into: words("settings.passcode.new"))
            try screen.type(again, into: words("setup.repeat"))
        }
        try type("right", "1234", "1234")
        #expect(try screen.find(words("settings.continue")).isDisabled && screen.faults == [], "guessed at once")
        try screen.tap(words("setup.takeWeak"))
        #expect(try !screen.find(words("settings.continue")).isDisabled)
        try type("right", "another one of mine", "yet another")
        try screen.tap(words("settings.continue"))
        #expect(screen.has(words("problem.passcodesDiffer")) && screen.faults == [])
        try type("wrong", "another one of mine", "another one of mine")
        try screen.tap(words("settings.continue"))
        try await screen.until("refused") { screen.has(words("problem.wrongPasscode")) }
        #expect(screen.presented == ["sheet"] && screen.nodes(.secureField).allSatisfy { $0.shown == "" })
        try type("right", "another one of mine", "another one of mine")
        try screen.tap(words("settings.continue"))
        try await screen.until("changed") { screen.presented == [] }
        screen.finishAnimations()
        #expect(screen.faults == [])
        await app.models.lock.play(.forceLock)
        await app.models.lock.unlock(.passcode, try secret("another one of mine"))
        #expect(app.models.lock.state == .unlocked)
    }

    @Test(arguments: languages)
    func `a PIN is set and removed`(_ language: String) async throws {
        let scratch = try Scratch()
        scratch.tier = PlayedChip()
        let models = try await scratch.open()
        func words(_ key: String) -> String { Texts.test(key, language) }
        let sheet = Screen(language: language) { PasscodeSheet(page: .pin, models: models) }
        sheet.update()
        for (field, text) in [
            ("settings.passcode.current", "right"), ("lock.pin", "1234"), ("settings.pin.repeat", "1234"),
        ] {
            try sheet.type(text, into: words(field))
        }
        try sheet.tap(words("settings.continue"))
        try await sheet.until("refused") { sheet.has(words("problem.invalidPIN")) }
        for (field, text) in [
            ("settings.passcode.current", "right"), ("lock.pin", "2580"), ("settings.pin.repeat", "2580"),
        ] {
            try sheet.type(text, into: words(field))
        }
        try sheet.tap(words("settings.continue"))
        try await sheet.until("set") { models.settings.hasPIN && !models.settings.isBusy }
        #expect(sheet.faults == [])
        let screen = Screen(language: language) { Content(models: models) }
        try await screen.until("open") { models.cover.shown == .nothing && models.settings.hasPIN }
        screen.finishAnimations()
        #expect(screen.faults == [])
        try screen.tap(words("settings.pin.remove"))
        try screen.type("right", into: words("lock.passcode"))
        try screen.tap(words("settings.continue"))
        try await screen.until("removed") { !models.settings.hasPIN && !models.settings.isBusy }
    }

    @Test func `the number of failures is changed where self-destruct stands, and its words follow`() async throws {
        let app = try await OpenApp()
        try app.screen.pick("3", in: "Failures allowed")
        try app.screen.type("right", into: "Passcode")
        try app.screen.tap("Continue")
        try await app.screen.until("changed") {
            app.models.settings.policy?.attemptLimit == 3 && !app.models.settings.isBusy
        }
        app.screen.finishAnimations()
        #expect(app.models.selfDestruct.attemptLimit == 3 && app.screen.presented == [] && app.screen.faults == [])
        #expect(try app.screen.find("Failures allowed").shown == "3")
    }

    @Test func `the cover is plain where the user wants that`() async throws {
        let app = try await OpenApp()
        #expect(app.models.cover.style == .blurred)
        try app.screen.tap("Blur the content when you leave")
        try await app.screen.until("plain") { app.models.cover.style == .plain }
        app.screen.phase = .inactive
        app.screen.update()
        #expect(!app.screen.pictures(Content.secret))
    }
}
