import Foundation
import Holdfast
import HoldfastUI
import HoldfastViews
import SwiftUI
import TestSupport
import Testing

@MainActor @Suite(.serialized, .patient) struct IdentityScreenTests {
    /// Opens each sheet that the page offers, looks at it, and leaves it.
    private func lookThrough(_ screen: Screen, _ language: String) async throws -> Int {
        screen.update()
        try await screen.rest()
        #expect(screen.faults == [])
        var sheets = 0
        for name in screen.nodes(.button).filter({ !$0.isDisabled }).map(\.label) where !name.contains("\n") {
            guard let row = try? screen.find(name), row.role != nil || row.children.count == 1 else { continue }
            let before = screen.photograph()
            try screen.tap(name)
            try await screen.rest()
            guard screen.presented == ["sheet"] else { continue }
            sheets += 1
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
        #expect(try await lookThrough(screen, language) == 3)
    }

    @Test(arguments: languages)
    func `with an account and a session every sheet has words and is covered`(_ language: String) async throws {
        let scratch = try Scratch()
        let models = try await scratch.open(identity: try NearServer())
        let identity = models.identity
        identity.prepare(.create)
        await identity.create(at: "https://auth.example")
        #expect(identity.facts.state == .created)
        let created = Screen(language: language) { NavigationStack { IdentityView(models) } }
        created.update()
        try await created.rest()
        #expect(created.faults == [])
        await identity.openSession()
        #expect(identity.facts.state == .authenticated)
        created.update()
        #expect(created.faults == [])
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
