import Foundation
import Holdfast
import HoldfastUI
import SwiftUI
import TestSupport
import Testing

@testable import HoldfastViews
@testable import SampleAccountClient

/// A client of an identity server as Examples/Apple has it: the app up to the moment in which it would ask its server,
/// and its page over a real server.
@Suite(.serialized, .patient) struct AccountSampleTests {
    @Test func `the app as it is, up to its words`() async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String] in
            await SampleUser.plays(in: path, AccountFlow.alone)
        }
    }

    @Test(arguments: [false, true])
    func `an account from its first word to its end, over a server`(_ isLockOn: Bool) async throws {
        let home = try ScratchFolder("sample")
        await #expect(processExitsWith: .success) { [path = home.path as String, isLockOn = isLockOn as Bool] in
            await SampleUser.plays(in: path) { try await AccountFlow.served($0, isLockOn) }
        }
    }
}

@MainActor private enum AccountFlow {
    static func alone(_ user: SampleUser) async throws {
        user.content = ["Create an account", "I wrote them down"]
        let screen = try await user.starts(AccountClientApp())
        try await user.until("open", on: screen) { (try? screen.find("Create an account")) != nil }
        try await user.leavesAndReturns("off")
        try await words(user, screen, "off")
        try await user.turnsLockOn()
        try await user.leavesAndReturns("on")
        // A phrase that was not sent was dropped with the lock.
        try await words(user, screen, "on")
    }

    private static func words(_ user: SampleUser, _ screen: Screen, _ moment: String) async throws {
        try await user.taps("Create an account", on: screen, until: "words") { screen.has("I wrote them down") }
        let identity = try #require(user.models).identity
        let phrase = try #require(identity.withPhrase(text))
        #expect(screen.pictures(phrase), "who looks at it sees it")
        try await user.leavesAndReturns("words, \(moment)")
    }

    static func served(_ user: SampleUser, _ isLockOn: Bool) async throws {
        let server = try NearServer()
        let app = try await HoldfastApp.open(NSHomeDirectory() + "/holdfast")
        let models = ReadyModels(app, interface: "ios") { server.model($0) }
        await models.lock.handle(.launch)
        user.models = models
        user.content = ["Create an account", "Open a session", "End the session", "Delete the account"]
        let windows = (0..<2).map { _ in Screen { Account(model: models.identity).appLock(models) } }
        let screen = windows[0]
        user.scenes = windows
        try await user.opened("started")
        if isLockOn { try await user.turnsLockOn() }
        let identity = models.identity

        try await user.taps("Create an account", on: screen, until: "words") { screen.has("I wrote them down") }
        for phase in [ScenePhase.inactive, .active] {
            for scene in user.scenes { scene.goes(phase) }
            if phase == .inactive { #expect(!screen.pictures(identity.withPhrase(text) ?? "")) }
        }
        server.isCut.withLock { $0 = true }
        try await user.taps("I wrote them down", on: screen, until: "sent") { screen.has("Find out what happened") }
        try await user.leavesAndReturns("nobody answers")
        server.isCut.withLock { $0 = false }
        try await user.taps("Find out what happened", on: screen, until: "created") { identity.facts.state == .created }
        try await user.leavesAndReturns("created")
        try await user.taps("Open a session", on: screen, until: "opened") { identity.facts.state == .authenticated }
        try await user.leavesAndReturns("a session")
        if identity.facts.state == .authenticated {
            try await user.taps("Ask the server", on: screen, until: "answered") {
                identity.answer != nil || identity.outcome?.problem != nil
            }
            try await user.leavesAndReturns("an answer")
        }
        if identity.facts.state == .authenticated {
            try await user.taps("End the session", on: screen, until: "ended") { identity.facts.state == .created }
        }
        user.answers(.yes)
        try await user.taps("Delete the account", on: screen, until: "deleted") {
            identity.facts.state == .ready && identity.running == nil
        }
        try await user.leavesAndReturns("deleted")
    }
}
