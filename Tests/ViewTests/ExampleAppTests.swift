import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing

@testable import SampleApp

/// The example app of Apps/Apple: its items, its identity and its settings, with each sheet of them.
@Suite(.serialized, .patient) struct ExampleAppTests {
    @Test func `items and an identity, with the lock off and on`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, ExampleFlow.run)
        }
    }
}

@MainActor private enum ExampleFlow {
    static func run(_ user: SampleUser) async throws {
        user.content = ["mail", "ada", "Create an account"]
        user.hidden = Set(["tower bridge", "asked for twice a year"])
        var screen = try await user.starts(ExampleApp())
        try await user.until("open", on: screen) { (try? screen.find("New item")) != nil }
        try await makesLogin(user, screen)
        try await looksThrough(user, screen, "off")
        try await user.turnsLockOn()
        try await looksThrough(user, screen, "on")

        user.answers(.cancel)
        screen = try await user.starts(ExampleApp())
        try await user.until("asked", on: screen) { user.isTurnedAway }
        user.look("a cold launch")
        user.answers(.yes)
        try await user.taps("Unlock", on: screen, until: "open") { user.models?.vault.items.isEmpty == false }
        try await user.opened("a cold launch")
        #expect(screen.nodes(.button).contains { $0.label.hasPrefix("mail") })
    }

    private static func makesLogin(_ user: SampleUser, _ screen: Screen) async throws {
        try await user.taps("New item", on: screen, until: "a sheet") { screen.presented == ["sheet"] }
        for (field, words) in [
            ("Name", "mail"), ("User name", "ada"), ("Password", "tower bridge"), ("Notes", "asked for twice a year"),
        ] { try screen.type(words, into: field) }
        try await user.leavesAndReturns("a new item, typed")
        try await user.taps("Save", on: screen, until: "stored") { screen.presented == [] }
        screen.finishAnimations()
        try await user.until("listed", on: screen) { user.models?.vault.items.count == 1 }
    }

    private static func looksThrough(_ user: SampleUser, _ screen: Screen, _ lock: String) async throws {
        let items = try await user.opensAll("items, \(lock)") { screen }
        #expect(items.count == 3, "\(items)")
        try await shows(user, screen, lock)
        screen.turnToTab(1)
        let identity = try await user.opensAll("identity, \(lock)") { screen }
        #expect(identity.count == 3, "\(identity)")
        screen.turnToTab(0)
        screen.update()
    }

    /// The password of the item, by its button.
    private static func shows(_ user: SampleUser, _ screen: Screen, _ lock: String) async throws {
        let row = try #require(screen.nodes(.button).first { $0.label.hasPrefix("mail") })
        try screen.press(row)
        try await user.taps("Show", on: screen, until: "shown") { screen.has("tower bridge") }
        try await user.leavesAndReturns("a password is shown, \(lock)")
        try await user.putsAway { screen }
    }
}
