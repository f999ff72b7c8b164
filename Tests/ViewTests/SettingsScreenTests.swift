import Foundation
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI
import TestSupport
import Testing

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
