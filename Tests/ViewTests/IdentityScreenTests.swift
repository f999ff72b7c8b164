import Foundation
import Holdfast
import SwiftUI
import TestSupport
import Testing

@testable import HoldfastUI
@testable import HoldfastViews

@MainActor @Suite(.serialized, .patient) struct IdentityScreenTests {
    /// Opens each sheet that the page offers, looks at it, and leaves it. What acts at once, as opening a session,
    /// stands first on a page and comes last.
    private func lookThrough(_ screen: Screen, _ language: String) async throws -> [String] {
        screen.update()
        try await screen.rest()
        #expect(screen.faults == [])
        var sheets = [String]()
        let names = screen.nodes(.button).filter { !$0.isDisabled }.map(\.label)
        // With the session, what can be asked for in it would go.
        let ends = Texts.test("identity.endSession", language)
        for name in names.reversed() where !name.contains("\n") && name != ends {
            guard let row = try? screen.find(name), row.role != nil || row.children.count == 1 else { continue }
            // What the button before it began may still be under way.
            try await screen.until(name) { (try? screen.find(name))?.isDisabled == false }
            let before = screen.photograph()
            try screen.tap(name)
            try await screen.rest()
            if screen.presented == ["alert"] { try screen.tap(try #require(screen.nodes(.button).first).label) }
            screen.finishAnimations()
            guard screen.presented == ["sheet"] else { continue }
            sheets.append(name)
            #expect(screen.faults == [], "\(name)")
            #expect(screen.nodes(.button).contains { $0.role == .cancel }, "\(name)")
            screen.phase = .inactive
            screen.update()
            #expect(screen.photograph().allSatisfy { before.contains($0) || $0.isEmpty }, "\(name) is on the picture")
            screen.phase = .active
            screen.update()
            screen.swipeDown()
            screen.finishAnimations()
            #expect(screen.presented == [] && screen.faults == [])
        }
        return sheets
    }

    @Test(arguments: languages)
    func `without an account every sheet has words and is covered`(_ language: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let screen = Screen(language: language) { NavigationStack { IdentityView(models) } }
        #expect(try await lookThrough(screen, language).count == 3)
    }

    /// The pages of an identity, one after the other.
    @Test(arguments: languages)
    func `with an account, and with a session, every sheet has words and is covered`(_ language: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(identity: try NearServer())
        let identity = models.identity
        let screen = Screen(language: language) { NavigationStack { IdentityView(models) } }
        identity.prepare(.create)
        await identity.create(at: "https://auth.example")
        identity.outcome = nil
        #expect(identity.facts.state == .created)
        #expect(try await lookThrough(screen, language).count == 6, "link, unlink, phrase, drill, erase, delete")
        await identity.openSession()
        identity.outcome = nil
        #expect(identity.facts.state == .authenticated)
        #expect(try await lookThrough(screen, language).count == 7, "and a request")
    }

    @Test(arguments: languages)
    func `while another device has to link it, every sheet has words and is covered`(_ language: String) async throws {
        let scratch = try Scratch()
        let server = try NearServer()
        let first = try Scratch()
        let other = try await first.open(identity: server).identity
        other.prepare(.create)
        await other.create(at: "https://auth.example")
        let models = try await scratch.open(identity: server)
        let identity = models.identity
        await identity.makeContainer(for: try #require(other.facts.identity), at: "https://auth.example")
        identity.outcome = nil
        #expect(identity.facts.state == .linking)
        let screen = Screen(language: language) { NavigationStack { IdentityView(models) } }
        let sheets = try await lookThrough(screen, language)
        #expect(sheets.count == 2, "the container, erase: \(sheets)")
    }

    @Test(arguments: ["Create an account", "Recover an account"])
    func `the identity's words are on no picture, also where the app lock is off`(_ sheet: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(isLockEnabled: false)
        let screen = Screen { NavigationStack { IdentityView(models) } }
        screen.update()
        try await screen.rest()
        try screen.tap(sheet)
        if sheet == "Recover an account" { try screen.type("the old words", into: "The current 24 words") }
        try await screen.until("words") { screen.pictures("24. ") }
        screen.phase = .inactive
        screen.update()
        #expect(!screen.pictures("24. ") && !screen.pictures("the old words"))
    }

    @Test(arguments: languages)
    func `how an action ended is said on the page, and so is what became known on the way`(_ language: String)
        async throws
    {
        let scratch = try Scratch()
        let models = try await scratch.open(identity: try NearServer())
        let identity = models.identity
        let screen = Screen(language: language) { NavigationStack { IdentityView(models) } }
        screen.update()
        try await screen.rest()
        try screen.tap(Texts.test("identity.create", language))
        try screen.type("https://auth.example", into: Texts.test("identity.server", language))
        try await screen.until("words") { identity.prepared == .create }
        try screen.tap(Texts.test("settings.continue", language))
        try await screen.until("created") { screen.presented == [] && identity.facts.state == .created }
        screen.finishAnimations()
        #expect(screen.has(Texts.test("identity.done.create", language)) && screen.faults == [])
        try screen.tap(Texts.test("identity.openSession", language))
        try await screen.until("open") { screen.has(Texts.test("identity.done.openSession", language)) }
        #expect(!screen.has(Texts.test("identity.done.create", language)) && screen.presented == [])
        for action in IdentityAction.allCases {
            let outcome = IdentityModel.Outcome(action: action, problem: nil)
            let said = try #require(IdentityText.said(outcome, []))
            let settled = try #require(IdentityText.said(outcome, [.settled, .trustedFirstKey(key: "k", server: "s")]))
            let words = Screen(language: language) {
                Text(said, bundle: .texts)
                Text(settled, bundle: .texts)
            }
            words.update()
            #expect(words.faults == [] && words.texts[1] == Texts.test("identity.news.settled", language))
        }
    }

    @Test func `a failure on a sheet is not said again behind it`() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        let screen = Screen { IdentityView(models) }
        screen.update()
        try await screen.rest()
        try screen.tap("Join an account")
        try screen.type("x", into: "Identity")
        try screen.type("nonsense", into: "Server")
        try screen.tap("Continue")
        try await screen.until("refused") { models.identity.outcome?.problem != nil }
        try screen.tap("Cancel")
        screen.finishAnimations()
        #expect(screen.faults == [] && screen.presented == [])
    }
}
