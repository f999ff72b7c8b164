import Foundation
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI
import TestSupport
import Testing
import UIKit

/// Our views in a hosting controller of an app in UIKit, where nobody tells SwiftUI what the scene does: whatever its
/// environment says for good, the scene's own state is what counts.
@MainActor @Suite(.serialized, .patient) struct HostedTests {
    nonisolated static let defaults: [ScenePhase] = [.background, .inactive, .active]

    /// A window of a scene in front, with this in it.
    @MainActor private struct Hosted {
        let scene: UIWindowScene
        let window: UIWindow
        let screen: Screen

        init<V: View>(_ phase: ScenePhase, _ view: V) throws {
            Screen.hostedPhase = phase
            defer { Screen.hostedPhase = .active }
            scene = UIWindowScene()
            scene.played(UIScene.ActivationState.foregroundActive)
            window = UIWindow(windowScene: scene)
            window.rootViewController = UIHostingController(rootView: view)
            window.makeKeyAndVisible()
            screen = try #require(window.screen)
            screen.update()
        }
    }

    @Test(arguments: defaults)
    func `what must be on no picture is seen in front, and there alone`(_ phase: ScenePhase) async throws {
        let hosted = try Hosted(phase, Text(verbatim: "24 words").onlyInFront())
        try await hosted.screen.until("shown") { hosted.screen.pictures("24 words") }
        for state in [UIScene.ActivationState.foregroundInactive, .background, .foregroundInactive] {
            hosted.scene.played(state)
            hosted.screen.update()
            #expect(!hosted.screen.pictures("24 words"))
        }
        hosted.scene.played(.foregroundActive)
        try await hosted.screen.until("back") { hosted.screen.pictures("24 words") }
    }

    @Test(arguments: defaults)
    func `a sheet's cover is there while the scene is not in front`(_ phase: ScenePhase) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let hosted = try Hosted(phase, Text(verbatim: "a draft").covered(by: models))
        try await hosted.screen.until("shown") { hosted.screen.pictures("a draft") }
        hosted.scene.played(.foregroundInactive)
        hosted.screen.update()
        #expect(!hosted.screen.pictures("a draft"))
    }

    @Test(arguments: defaults)
    func `the lock is told of the scene, and of nothing that is not so`(_ phase: ScenePhase) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let hosted = try Hosted(phase, Content(models: models))
        try await hosted.screen.until("open") { hosted.screen.pictures(Content.secret) }
        try await hosted.screen.rest()
        #expect(models.lock.state == .unlocked && models.lock.absences == 0)
        hosted.scene.played(.background)
        hosted.screen.update()
        #expect(!hosted.screen.pictures(Content.secret))
        try await hosted.screen.until("locked") { models.lock.state == .locked }
        hosted.scene.played(.foregroundActive)
        try await hosted.screen.until("in front") { hosted.screen.has("Locked") }
    }

    @Test(arguments: defaults)
    func `what was half typed goes with the scene, and what was not now is tried again with it`(_ phase: ScenePhase)
        async throws
    {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let hosted = try Hosted(phase, LockView(models.lock))
        try await hosted.screen.until("locked") { hosted.screen.has("Locked") }
        try hosted.screen.type("righ", into: "Passcode")
        hosted.scene.played(.background)
        hosted.screen.update()
        #expect(try hosted.screen.find("Passcode").shown == "")

        var tries = 0
        let stop = StopModel(.notNow, canStartOver: false) { _ in
            tries += 1
            return nil
        }
        let stopped = try Hosted(phase, StopView(stop))
        try await stopped.screen.rest()
        stopped.scene.played(.background)
        stopped.screen.update()
        let before = tries
        stopped.scene.played(.foregroundActive)
        try await stopped.screen.until("tried") { tries == before + 1 }
    }

    @Test func `a lock screen that is asked to go while it still comes goes when it has come`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let root = UIViewController()
        let controller = LockViewController(models)
        root.present(controller, animated: true)
        await models.lock.unlock(.passcode, try secret("right"))
        await models.lock.handle(.didBecomeActive)
        await until { models.cover.shown == .nothing }
        try await Task.sleep(for: .milliseconds(50))
        #expect(root.presentedViewController != nil)
        controller.arrived()
        #expect(root.presentedViewController == nil)
    }

    @Test func `a lock screen that was presented takes the keyboard, and no key goes on to what is below`() async throws
    {
        let scratch = try Scratch()
        let models = try await scratch.models()
        let field = TextField(text: .constant("a note"), prompt: nil) { Text(verbatim: "Note") }
        let hosted = try Hosted(.active, field)
        try hosted.screen.type("a note", into: "Note")
        #expect(hosted.screen.hasKeyboard)
        let controller = LockViewController(models)
        let root = try #require(hosted.window.rootViewController)
        root.present(controller, animated: true)
        #expect(!hosted.screen.hasKeyboard)
        var responder: UIResponder? = controller.view
        while let here = responder {
            #expect(here !== root)
            responder = here.next
        }
    }
}
