import AppKit
import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing
import UIKit

@testable import SampleMacLock
@testable import SampleUIKitLock

/// The samples that show the ready settings: each sheet of these, at each level, in each scene.
@Suite(.serialized, .patient) struct SettingsSampleTests {
    @Test func `a lock in UIKit`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, UIKitFlow.run)
        }
    }

    @Test func `a lock in UIKit where something stands in the way at first`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, UIKitFlow.stopped)
        }
    }

    @Test func `a lock on a Mac`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, MacFlow.run)
        }
    }
}

/// The level rises from nothing to a passcode, and all that the settings can put up is put up at each.
@MainActor func climbs(_ user: SampleUser, _ screen: @MainActor () throws -> Screen) async throws {
    user.content = ["Ask before it opens", "Self-destruct"]
    try await user.until("settings") {
        user.models?.settings.policy != nil && user.models?.protection.protection != nil
    }
    let off = try await user.opensAll("off", sparing: ["Ask before it opens"], on: screen)
    #expect(off.isSuperset(of: ["Write down 24 words", "Set a passcode"]), "\(off)")
    try await user.turnsLockOn()
    let on = try await user.opensAll("on", sparing: ["Ask before it opens"], on: screen)
    #expect(on.isSuperset(of: ["Write down 24 words", "Set a passcode", "Self-destruct"]), "\(on)")

    let models = try #require(user.models)
    user.answers(.yes)
    #expect(
        await models.protection.setPasscode(try secret(SampleUser.passcode), repeated: try secret(SampleUser.passcode)))
    try await user.settles(screen)
    user.content.insert("Ask for the passcode")
    let secretive = try await user.opensAll("with a passcode", on: screen)
    #expect(
        secretive.isSuperset(of: ["Change the passcode", "Turn off the passcode", "Ask for the passcode"]),
        "\(secretive)")

    try await user.leaves("a wrong passcode")
    try await user.returns("a wrong passcode")
    try screen().type("wrong", into: "Passcode")
    try await user.taps("Unlock", on: screen(), until: "refused") {
        (try? screen().has("That passcode is wrong.")) == true
    }
    try await user.leavesAndReturns("a wrong passcode")
}

@MainActor private enum UIKitFlow {
    /// The app, and what the system keeps of it.
    @MainActor private final class Running {
        let delegate = AppDelegate()
        var delegates: [SceneDelegate] = []

        init() { UIApplication.shared.delegate = delegate }

        func connects() -> UIWindowScene {
            let (scene, delegate) = (UIWindowScene(), SceneDelegate())
            delegates.append(delegate)
            scene.delegate = delegate
            delegate.scene(scene, willConnectTo: UISceneSession(), options: UIScene.ConnectionOptions())
            scene.played(UIScene.ActivationState.foregroundActive)
            return scene
        }
    }

    static func run(_ user: SampleUser) async throws {
        let running = Running()
        user.scenes = [running.connects(), running.connects()]
        await running.delegate.appModel.opened()
        guard case .ready(let models) = running.delegate.appModel.phase else { throw Device.Failure.notReady }
        user.models = models
        for scene in user.scenes { await TestSupport.until { !scene.screens.isEmpty } }
        try await climbs(user) { try user.first }
    }

    static func stopped(_ user: SampleUser) async throws {
        await Running().delegate.appModel.opened()
        try FileManager.default.removeItem(atPath: NSHomeDirectory() + "/Library/Application Support/holdfast")
        let running = Running()
        user.scenes = [running.connects()]
        await TestSupport.until { (try? user.first) != nil }
        try await user.taps("Begin a new vault", on: user.first, until: "asked") {
            (try? user.first.presented) == ["dialog"]
        }
        try user.first.tap("Begin a new vault")
        try await user.until("the settings") { (try? user.first.has("Self-destruct")) == true }
    }
}

@MainActor private enum MacFlow {
    static func run(_ user: SampleUser) async throws {
        let app = MacLockApp()
        let running = RunningApp(app)
        let screen = try await user.starts(app)
        let lock = try #require(user.models).lock
        #expect(!running.restoresWindows, "a picture of a window's content is kept for that")
        let (menu, icon, extra) = (running.menu(0), running.menu(1), running.menu(2))
        #expect(!menu.shortcut("l", [.control, .command]), "there is nothing to lock")
        try await climbs(user) { screen }

        func comes(_ moment: String) async throws {
            try await user.typesPasscode(moment)
            try await user.opened(moment)
        }
        #expect(menu.shortcut("l", [.control, .command]))
        try await user.until("the menu") { lock.isLocked }
        user.look("locked by the menu")
        try await comes("the menu")
        try extra.tap("Lock Now")
        try await user.until("the bar of menus") { lock.isLocked }
        icon.update()
        #expect(icon.nodes(.image).count == 1 && !menu.shortcut("l", [.control, .command]))
        try await comes("the bar of menus")

        let workspace = NSWorkspace.shared.notificationCenter
        let ways: [(NotificationCenter, NSNotification.Name, NSNotification.Name)] = [
            (workspace, NSWorkspace.screensDidSleepNotification, NSWorkspace.screensDidWakeNotification),
            (workspace, NSWorkspace.willSleepNotification, NSWorkspace.didWakeNotification),
            (workspace, NSWorkspace.sessionDidResignActiveNotification, NSWorkspace.sessionDidBecomeActiveNotification),
            (
                DistributedNotificationCenter.default(), .init("com.apple.screenIsLocked"),
                .init("com.apple.screenIsUnlocked")
            ),
        ]
        for (center, leaves, returns) in ways {
            await tell(center, leaves)
            try await user.until("\(leaves.rawValue)") { lock.isLocked }
            user.look(leaves.rawValue)
            await tell(center, returns)
            try await comes(returns.rawValue)
        }
    }
}
