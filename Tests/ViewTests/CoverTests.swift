import Foundation
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI
import TestSupport
import Testing
import UIKit

@MainActor @Suite(.serialized, .patient) struct CoverTests {
    static let onSheet = "Changing settings requires your passcode."

    @Test(arguments: [ScenePhase.inactive, .background])
    func `content is not on the picture of the moment in which the scene leaves`(_ phase: ScenePhase) async throws {
        let app = try await OpenApp()
        #expect(app.screen.pictures(Content.secret))
        app.screen.phase = phase
        app.screen.update()
        #expect(!app.screen.pictures(Content.secret))
        app.screen.finishAnimations()
        #expect(!app.screen.pictures(Content.secret))
    }

    @Test(arguments: [ScenePhase.inactive, .background])
    func `nothing of an open sheet is on that picture`(_ phase: ScenePhase) async throws {
        let app = try await OpenApp()
        try app.screen.tap("Ask for the passcode")
        #expect(app.screen.presented == ["sheet"] && app.screen.pictures(CoverTests.onSheet))
        app.screen.phase = phase
        app.screen.update()
        #expect(!app.screen.pictures(Content.secret) && !app.screen.pictures(CoverTests.onSheet))
    }

    @Test func `an interruption brings the cover and no lock screen`() async throws {
        let app = try await OpenApp()
        app.screen.phase = .inactive
        app.screen.update()
        try await app.screen.rest()
        #expect(app.models.lock.state == .unlocked && app.screen.nodes(.secureField).isEmpty && !app.screen.hasKeyboard)
        app.screen.phase = .active
        try await app.screen.until("uncovered") { app.models.cover.shown == .nothing }
        app.screen.finishAnimations()
        #expect(app.screen.pictures(Content.secret))
    }

    @Test func `a scene that goes is covered, and the one that stays keeps the app open`() async throws {
        let app = try await OpenApp()
        let second = Screen { Content(models: app.models) }
        second.update()
        for phase in [ScenePhase.inactive, .background] {
            second.phase = phase
            second.update()
            try await app.screen.rest()
            for screen in [app.screen, second] { screen.finishAnimations() }
            #expect(app.models.lock.state == .unlocked)
            #expect(app.screen.pictures(Content.secret), "the first scene is in front")
            #expect(!second.pictures(Content.secret), "the second is covered")
        }
        app.screen.phase = .background
        try await app.screen.until("locked") { app.models.lock.state == .locked }
    }

    @Test func `where the app lock is off, nothing is covered`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: false)
        let screen = Screen { Content(models: models) }
        try await screen.until("open") { models.cover.shown == .nothing }
        screen.finishAnimations()
        screen.phase = .inactive
        screen.update()
        #expect(screen.pictures(Content.secret))
    }

    @Test func `content, and an open sheet, are covered while the screen is recorded, which the cover says`()
        async throws
    {
        let app = try await OpenApp()
        try app.screen.tap("Ask for the passcode")
        app.screen.isCaptured = true
        app.screen.update()
        #expect(!app.screen.pictures(Content.secret) && !app.screen.pictures(CoverTests.onSheet))
        #expect(app.screen.has("Hidden while this screen is recorded or shown elsewhere."))
        #expect(app.models.lock.state == .unlocked)
        app.screen.isCaptured = false
        app.screen.update()
        app.screen.finishAnimations()
        #expect(app.screen.pictures(CoverTests.onSheet))
    }

    @Test func `a recording covers nothing once the user has allowed it, nor where the app lock is off`() async throws {
        let app = try await OpenApp()
        app.screen.isCaptured = true
        await app.models.preferences.change { $0.coversCapture = false }
        app.screen.update()
        app.screen.finishAnimations()
        #expect(app.screen.pictures(Content.secret))
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: false)
        let screen = Screen { Content(models: models) }
        try await screen.until("open") { models.cover.shown == .nothing }
        screen.isCaptured = true
        screen.update()
        #expect(screen.pictures(Content.secret))
    }

    @Test func `the window comes while the scene is recorded, and goes with it`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let scene = UIWindowScene()
        let window = LockWindow(models)
        window.connect(to: scene)
        window.sceneDidBecomeActive()
        await until { models.cover.shown == .nothing }
        scene.played(.active)
        #expect(scene.windows.contains { !$0.isHidden })
        scene.played(.inactive)
        #expect(!scene.windows.contains { !$0.isHidden })
    }

    @Test func `the window covers an interruption without a lock screen, and shows it when the app is locked`()
        async throws
    {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let scene = UIWindowScene()
        let window = LockWindow(models)
        window.connect(to: scene)
        window.sceneDidBecomeActive()
        await until { models.cover.shown == .nothing }
        #expect(!scene.windows.contains { !$0.isHidden })
        window.sceneWillResignActive()
        let top = try #require(scene.windows.last { !$0.isHidden })
        let screen = try #require(top.screen)
        screen.update()
        #expect(screen.nodes(.secureField).isEmpty && !screen.hasKeyboard)
        window.sceneDidEnterBackground()
        try await screen.until("locked") { screen.has("Locked") }
        #expect(screen.nodes(.secureField).count == 1)
    }

    @Test(arguments: [UIScene.ActivationState.background, .foregroundInactive])
    func `a window that comes late takes its scene as it is by then`(_ state: UIScene.ActivationState) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        #expect(models.cover.shown == .nothing)
        let scene = UIWindowScene()
        scene.played(state)
        let window = LockWindow(models)
        window.connect(to: scene)
        #expect(scene.windows.contains { !$0.isHidden }, "its content is covered")
        if state == .background { await until { models.lock.isLocked } }
    }

    @Test func `what was half typed in the window is gone when the app leaves`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let scene = UIWindowScene()
        let window = LockWindow(models)
        window.connect(to: scene)
        let screen = try #require(scene.windows.last { !$0.isHidden }?.screen)
        try await screen.until("locked") { screen.has("Locked") }
        try screen.type("righ", into: "Passcode")
        window.sceneDidEnterBackground()
        screen.update()
        #expect(try screen.find("Passcode").shown == "")
    }

    @Test func `a lock screen that was presented leaves when the lock is open`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let root = UIViewController()
        weak var gone: LockViewController?
        do {
            let controller = LockViewController(models)
            gone = controller
            root.present(controller, animated: false)
        }
        #expect(root.presentedViewController != nil)
        await models.lock.unlock(.passcode, try secret("right"))
        await models.lock.handle(.didBecomeActive)
        await until { root.presentedViewController == nil }
        await until { gone == nil }
    }
}
