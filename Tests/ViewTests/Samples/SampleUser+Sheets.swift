import Foundation
import SwiftUI
import Testing

extension SampleUser {
    static let passcode = "seven grey herons 7391"

    /// Opens all that this page can put up, fills in what there is to fill in, leaves the app and comes back with it,
    /// and puts it away. What does its work at once, without putting anything up, is done on the way.
    /// - Parameters:
    ///   - sparing: What is not pressed.
    ///   - screen: What stands in front now; another one where the lock came in between.
    /// - Returns: What put something up.
    func opensAll(_ page: String, sparing: Set<String> = [], on screen: @MainActor () throws -> Screen) async throws
        -> Set<String>
    {
        var opened: Set<String> = []
        try await settles(screen)
        let names = try controls(screen())
        for name in names where !sparing.contains(name) {
            try await settles(screen)
            guard let control = try? screen().find(name), !control.isDisabled else { continue }
            answers(.yes, .yes)
            try screen().tap(name)
            try await settles(screen)
            guard try !screen().presented.isEmpty else { continue }
            opened.insert(name)
            let moment = try "\(page), \(name), \(screen().presented)"
            try fillsIn(screen())
            look(moment)
            try await leavesAndReturns(moment)
            try await putsAway(screen)
        }
        let reports = try screen().reports
        #expect(reports == [], "\(page): \(reports)")
        return opened
    }

    /// What can be pressed, with the words that it has: not what the pressing of one brings.
    private func controls(_ screen: Screen) -> [String] {
        screen.update()
        return [Node.Kind.toggle, .button].flatMap { screen.nodes($0) }.filter { !$0.isDisabled }.map(\.label)
    }

    /// Whether something is under way that its user waits for: a change, or the device's own prompt for one.
    var isBusy: Bool {
        guard let models else { return false }
        let (settings, destruct) = (models.settings, models.selfDestruct)
        var asks = [settings.dialog, models.protection.dialog, destruct.dialog].contains { $0.step != nil }
        if case .owner = settings.needed { asks = true }
        if case .authenticating = destruct.step, destruct.confirmsOwner { asks = true }
        return asks || settings.needed == .confirmation && !settings.losesPhrase || settings.isBusy || destruct.isBusy
            || models.protection.running != nil || models.protection.moving != nil || models.identity.running != nil
    }

    func settles(_ screen: @MainActor () throws -> Screen) async throws {
        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(1))
            try screen().update()
        }
        await models?.protection.load()
        try await until("it is done", on: screen()) { !isBusy }
        try screen().finishAnimations()
    }

    /// Opens a lock that has a passcode.
    func typesPasscode(_ moment: String) async throws {
        guard let models, models.lock.level == .secret else { return }
        try await until("\(moment): asked") { (try? first.find("Passcode"))?.isDisabled == false }
        try first.type("half typed", into: "Passcode")
        look("\(moment), typing")
        try first.type(SampleUser.passcode, into: "Passcode")
        look("\(moment), typed")
        try first.submit("Passcode")
    }

    /// Types into each field that is in front.
    private func fillsIn(_ screen: Screen) throws {
        for field in screen.nodes(.secureField) where !field.isDisabled {
            try screen.type(SampleUser.passcode, into: field.label)
        }
        for (number, field) in screen.nodes(.field).enumerated() where !field.isDisabled {
            let words = "typed into field \(number)"
            if field.label.contains("words") || field.label == "Notes" {
                hidden.insert(words)
            } else {
                content.insert(words)
            }
            try screen.type(words, into: field.label)
        }
    }

    /// By the button that changes nothing, or by a swipe.
    func putsAway(_ screen: @MainActor () throws -> Screen) async throws {
        for _ in 0..<4 {
            try screen().finishAnimations()
            guard try !screen().presented.isEmpty else { return }
            let buttons = try screen().nodes(.button).filter { !$0.isDisabled }
            if let way = buttons.first(where: { $0.role == .cancel }) ?? buttons.first(where: { $0.label == "OK" }) {
                try screen().press(way)
            } else {
                try screen().swipeDown()
            }
            try await settles(screen)
        }
        #expect(try screen().presented == [])
    }
}
